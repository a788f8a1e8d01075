// GraphProto, NodeProto, AttributeProto and FunctionProto on the way out.
#include "ingot/onnx/write_graph.h"

#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/stated_values.h"

namespace ingot::onnx {
namespace {

void write_value_info(protobuf::Writer& w, std::uint32_t field, std::string_view name, const Type& type,
                      std::string_view doc_string, const Metadata& metadata, std::string_view unknown) {
  w.message(field, [&] {
    write_text(w, ValueInfoField::name, name);
    if (type || type.notes) w.message(ValueInfoField::type, [&] { write_type(w, type); });
    write_text(w, ValueInfoField::doc_string, doc_string);
    write_entries(w, ValueInfoField::metadata_props, metadata);
    write_unknown(w, unknown);
  });
}

void write_value_info(protobuf::Writer& w, std::uint32_t field, const Value& value) {
  write_value_info(w, field, value.name(), value.type, value.doc_string, value.metadata, value.unknown);
}

void write_value_info(protobuf::Writer& w, std::uint32_t field, const ValueInfo& info) {
  write_value_info(w, field, info.name, info.type, info.doc_string, info.metadata, info.unknown);
}

class GraphWriter {
 public:
  GraphWriter(protobuf::Writer& w, const ExternalLayout* layout) : w_(w), layout_(layout) {}

  void graph(const Graph& graph);
  void node(const Node& node);
  void attribute(const Attribute& attribute);

 private:
  void operator()(std::monostate) {}
  void operator()(float v) { w_.fixed_float(AttributeField::f, v); }
  void operator()(std::int64_t v) { w_.int64(AttributeField::i, v); }
  void operator()(const std::string& v) { w_.string(AttributeField::s, v); }
  void operator()(const Tensor& v) {
    w_.message(AttributeField::t, [&] { write_tensor(w_, v); });
  }
  void operator()(const GraphPtr& v) {
    w_.message(AttributeField::g, [&] {
      if (v) graph(*v);
    });
  }
  void operator()(const std::vector<float>& values) {
    for (const float v : values) w_.fixed_float(AttributeField::floats, v);
  }
  void operator()(const std::vector<std::int64_t>& values) {
    for (const std::int64_t v : values) w_.int64(AttributeField::ints, v);
  }
  void operator()(const std::vector<std::string>& values) {
    for (const std::string& v : values) w_.string(AttributeField::strings, v);
  }
  void operator()(const std::vector<Tensor>& values) {
    for (const Tensor& v : values) w_.message(AttributeField::tensors, [&] { write_tensor(w_, v); });
  }
  void operator()(const std::vector<GraphPtr>& values) {
    for (const GraphPtr& v : values) w_.message(AttributeField::graphs, [&] { graph(*v); });
  }
  void operator()(const SparseTensor& v) {
    w_.message(AttributeField::sparse_tensor, [&] { write_sparse_tensor(w_, v); });
  }
  void operator()(const std::vector<SparseTensor>& values) {
    for (const SparseTensor& v : values)
      w_.message(AttributeField::sparse_tensors, [&] { write_sparse_tensor(w_, v); });
  }
  void operator()(const Type& v) {
    w_.message(AttributeField::tp, [&] { write_type(w_, v); });
  }
  void operator()(const std::vector<Type>& values) {
    for (const Type& v : values) w_.message(AttributeField::type_protos, [&] { write_type(w_, v); });
  }

  protobuf::Writer& w_;
  const ExternalLayout* layout_;
};

void GraphWriter::attribute(const Attribute& a) {
  write_text(w_, AttributeField::name, a.name);
  const bool is_sparse = a.type() == AttrType::sparse_tensor || a.type() == AttrType::sparse_tensors;
  const auto write_value = [&] { std::visit([&](const auto& v) { (*this)(v); }, a.value); };
  // doc_string (13) stands after the fields up to 11 and before tp (14).
  const bool is_type = a.type() == AttrType::type_proto || a.type() == AttrType::type_protos;
  if (!is_sparse && !is_type) write_value();
  write_text(w_, AttributeField::doc_string, a.doc_string);
  if (is_type) write_value();
  if (a.type() != AttrType::undefined) w_.int32(AttributeField::type, static_cast<std::int32_t>(a.type()));
  write_text(w_, AttributeField::ref_attr_name, a.reference);
  if (is_sparse) write_value();
  write_unknown(w_, a.unknown);
}

void GraphWriter::node(const Node& n) {
  for (std::size_t i = 0; i < n.input_count(); ++i)
    w_.string(NodeField::input, n.input(i) ? std::string_view(n.input(i)->name()) : std::string_view());
  for (std::size_t i = 0; i < n.output_count(); ++i)
    w_.string(NodeField::output, n.output(i) ? std::string_view(n.output(i)->name()) : std::string_view());
  write_text(w_, NodeField::name, n.name);
  write_text(w_, NodeField::op_type, n.op);
  for (const Attribute& a : n.attributes) w_.message(NodeField::attribute, [&] { attribute(a); });
  write_text(w_, NodeField::doc_string, n.doc_string);
  write_text(w_, NodeField::domain, n.domain);
  write_text(w_, NodeField::overload, n.overload);
  write_entries(w_, NodeField::metadata_props, n.metadata);
  write_unknown(w_, n.device_configurations);
  write_unknown(w_, n.unknown);
}

void GraphWriter::graph(const Graph& g) {
  for (const Node& n : g.nodes()) w_.message(GraphField::node, [&] { node(n); });
  write_text(w_, GraphField::name, g.name);
  for (const Value* v : g.initializers())
    if (v->initializer)
      w_.message(GraphField::initializer, [&] { write_tensor(w_, *v->initializer, v->name(), layout_); });
  write_text(w_, GraphField::doc_string, g.doc_string);
  for (const Value* v : g.inputs()) write_value_info(w_, GraphField::input, *v);
  for (const Value* v : g.outputs()) write_value_info(w_, GraphField::output, *v);
  for (const Value* v : stated_values(g)) write_value_info(w_, GraphField::value_info, *v);
  for (const ValueInfo& info : g.stray_infos) write_value_info(w_, GraphField::value_info, info);
  for (const QuantizationAnnotation& q : g.quantization) {
    w_.message(GraphField::quantization_annotation, [&] {
      write_text(w_, AnnotationField::tensor_name, q.tensor_name);
      write_entries(w_, AnnotationField::quant_parameter_tensor_names, q.parameters);
      write_unknown(w_, q.unknown);
    });
  }
  for (const Value* v : g.initializers())
    if (v->sparse_initializer)
      w_.message(GraphField::sparse_initializer, [&] { write_sparse_tensor(w_, *v->sparse_initializer, v->name()); });
  write_entries(w_, GraphField::metadata_props, g.metadata);
  write_unknown(w_, g.unknown);
}

}  // namespace

void write_opset_imports(protobuf::Writer& w, std::uint32_t field, const OpsetImports& imports) {
  for (const OpsetImport& import : imports) {
    w.message(field, [&] {
      write_text(w, OpsetField::domain, import.domain);
      w.int64(OpsetField::version, import.version);
      write_unknown(w, import.unknown);
    });
  }
}

void write_graph(protobuf::Writer& w, const Graph& graph, const ExternalLayout* layout) {
  GraphWriter(w, layout).graph(graph);
}

void write_function(protobuf::Writer& w, const Function& f) {
  if (!f.body->initializers().empty())
    throw Error(Code::bad_function,
                fmt::format("function '{}' has an initializer, which ONNX functions cannot have", f.name))
        .hint("use a Constant node");
  GraphWriter writer(w, nullptr);
  const Graph& body = *f.body;
  write_text(w, FunctionField::name, f.name);
  for (const Value* v : body.inputs()) w.string(FunctionField::input, v->name());
  for (const Value* v : body.outputs()) w.string(FunctionField::output, v->name());
  for (const std::string& name : f.attributes) w.string(FunctionField::attribute, name);
  for (const Node& n : body.nodes()) w.message(FunctionField::node, [&] { writer.node(n); });
  write_text(w, FunctionField::doc_string, f.doc_string);
  write_opset_imports(w, FunctionField::opset_import, f.opsets);
  write_text(w, FunctionField::domain, f.domain);
  for (const Attribute& a : f.attribute_defaults)
    w.message(FunctionField::attribute_proto, [&] { writer.attribute(a); });
  for (const Value* v : stated_function_values(body)) write_value_info(w, FunctionField::value_info, *v);
  for (const ValueInfo& info : body.stray_infos) write_value_info(w, FunctionField::value_info, info);
  write_text(w, FunctionField::overload, f.overload);
  write_entries(w, FunctionField::metadata_props, f.metadata);
  write_unknown(w, f.unknown);
}

}  // namespace ingot::onnx
