// Graphs as protobuf messages.
#include <limits>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/write_messages.h"
#include "ingot/formats/tensorflow/writer.h"

namespace ingot::formats::tensorflow {
namespace {

using protobuf::Writer;

void write_value(Writer& w, const AttrValue& value);

void write_attrs(Writer& w, std::uint32_t field, const std::vector<Attr>& attrs) {
  for (const Attr& attr : attrs)
    w.message(field, [&] {
      w.string(1, attr.name);
      w.message(2, [&] { write_value(w, attr.value); });
    });
}

void write_function_name(Writer& w, const FunctionName& function) {
  w.string(1, function.name);
  write_attrs(w, 2, function.attrs);
}

void write_list(Writer& w, const AttrList& list) {
  for (const std::string& s : list.strings) w.string(2, s);
  if (!list.ints.empty()) w.packed(3, std::span<const std::int64_t>(list.ints));
  if (!list.floats.empty()) w.packed(4, std::span<const float>(list.floats));
  for (const bool b : list.bools) w.boolean(5, b);
  for (const DataType t : list.types) w.int32(6, static_cast<std::int32_t>(t));
  for (const TensorShape& s : list.shapes) w.message(7, [&] { write_shape(w, s); });
  for (const TensorProto& t : list.tensors) w.message(8, [&] { write_tensor(w, t); });
  for (const auto& f : list.functions) w.message(9, [&] { write_function_name(w, *f); });
}

struct ValueWriter {
  Writer& w;
  void operator()(std::monostate) const {}
  void operator()(const std::string& s) const { w.string(2, s); }
  void operator()(std::int64_t i) const { w.int64(3, i); }
  void operator()(float f) const { w.fixed_float(4, f); }
  void operator()(bool b) const { w.boolean(5, b); }
  void operator()(DataType t) const { w.int32(6, static_cast<std::int32_t>(t)); }
  void operator()(const TensorShape& s) const {
    w.message(7, [&] { write_shape(w, s); });
  }
  void operator()(const std::shared_ptr<const TensorProto>& t) const {
    w.message(8, [&] { write_tensor(w, *t); });
  }
  void operator()(const std::shared_ptr<const AttrList>& l) const {
    w.message(1, [&] { write_list(w, *l); });
  }
  void operator()(const AttrPlaceholder& p) const { w.string(9, p.name); }
  void operator()(const std::shared_ptr<const FunctionName>& f) const {
    w.message(10, [&] { write_function_name(w, *f); });
  }
};

void write_value(Writer& w, const AttrValue& value) { std::visit(ValueWriter{w}, value); }

void write_node(Writer& w, const NodeDef& node) {
  w.string(1, node.name);
  w.string(2, node.op);
  for (const std::string& input : node.inputs) w.string(3, input);
  if (!node.device.empty()) w.string(4, node.device);
  write_attrs(w, 5, node.attrs);
}

void write_args(Writer& w, std::uint32_t field, const std::vector<ArgDef>& args) {
  for (const ArgDef& arg : args)
    w.message(field, [&] {
      w.string(1, arg.name);
      if (arg.type != DataType::invalid) w.int32(3, static_cast<std::int32_t>(arg.type));
      if (!arg.type_attr.empty()) w.string(4, arg.type_attr);
      if (!arg.number_attr.empty()) w.string(5, arg.number_attr);
      if (!arg.type_list_attr.empty()) w.string(6, arg.type_list_attr);
    });
}

bool is_stateful(const NodeDef& node) {
  constexpr std::string_view kStateful[] = {"AssignVariableOp",
                                            "If",
                                            "Multinomial",
                                            "RandomStandardNormal",
                                            "RandomUniform",
                                            "ReadVariableOp",
                                            "RestoreV2",
                                            "SaveV2",
                                            "StatefulPartitionedCall",
                                            "VarHandleOp",
                                            "While"};
  for (const std::string_view op : kStateful)
    if (node.op == op) return true;
  return false;
}

void write_function(Writer& w, const FunctionDef& function) {
  w.message(1, [&] {
    w.string(1, function.name);
    write_args(w, 2, function.inputs);
    write_args(w, 3, function.outputs);
    for (const NodeDef& node : function.nodes)
      if (is_stateful(node)) {
        w.boolean(17, true);
        break;
      }
    for (const std::string& output : function.control_outputs) w.string(20, output);
  });
  for (const NodeDef& node : function.nodes) w.message(3, [&] { write_node(w, node); });
  const auto entry = [&](std::uint32_t field, const std::string& key, const std::string& value) {
    w.message(field, [&] {
      w.string(1, key);
      w.string(2, value);
    });
  };
  for (const auto& [output, value] : function.returns) entry(4, output, value);
  write_attrs(w, 5, function.attrs);
  for (const std::string& output : function.control_outputs) entry(6, output, output);
}

}  // namespace

void write_shape(Writer& w, const TensorShape& shape) {
  for (const std::int64_t d : shape.dims) w.message(2, [&] { w.int64(1, d); });
  if (shape.unknown_rank) w.boolean(3, true);
}

void write_tensor(Writer& w, const TensorProto& tensor) {
  w.int32(1, static_cast<std::int32_t>(tensor.dtype));
  w.message(2, [&] { write_shape(w, tensor.shape); });
  if (!tensor.elements.empty()) w.bytes(4, tensor.elements);
  for (const std::string& s : tensor.strings) w.string(8, s);
}

void write_graph(Writer& w, const GraphDef& graph) {
  for (const NodeDef& node : graph.nodes) w.message(1, [&] { write_node(w, node); });
  if (!graph.functions.empty())
    w.message(2, [&] {
      for (const FunctionDef& f : graph.functions) w.message(1, [&] { write_function(w, f); });
    });
  w.message(4, [&] {
    w.int64(1, graph.producer);
    if (graph.min_consumer) w.int64(2, graph.min_consumer);
  });
}

void require_readable_size(std::uint64_t bytes) {
  if (bytes <= std::numeric_limits<std::int32_t>::max()) return;
  throw Error(Code::not_writable, "the graph has more than 2 GB, which no reader of TensorFlow's takes")
      .hint("a SavedModel with --variables keeps weights in files of their own");
}

void write_graph(const GraphDef& graph, Sink& sink) {
  const auto fill = [&](Writer& w) { write_graph(w, graph); };
  require_readable_size(protobuf::message_size(fill));
  protobuf::write_message(sink, fill);
}

}  // namespace ingot::formats::tensorflow
