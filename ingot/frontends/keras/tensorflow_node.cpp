// Nodes of TensorFlow in models of Keras, through TensorFlow's own table of operators.
#include "ingot/frontends/keras/tensorflow_node.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::keras {
namespace {

namespace tf = formats::tensorflow;

tf::NodeDef constant_node(std::string name, const Tensor& tensor) {
  auto proto = std::make_shared<tf::TensorProto>();
  proto->dtype = tf::data_type_of(tensor.dtype());
  proto->shape.dims = tensor.dims();
  proto->elements = tensor.bytes();
  return {
      .name = std::move(name),
      .op = "Const",
      .device = {},
      .inputs = {},
      .attrs = {{"dtype", tf::data_type_of(tensor.dtype())}, {"value", std::shared_ptr<const tf::TensorProto>(proto)}}};
}

tf::NodeDef placeholder(std::string name, const IrValue& value) {
  tf::TensorShape shape;
  shape.unknown_rank = !value.type.shape.has_value();
  if (value.type.shape)
    for (const Dim& dim : *value.type.shape) shape.dims.push_back(dim.as_int().value_or(-1));
  return {.name = std::move(name),
          .op = "Placeholder",
          .device = {},
          .inputs = {},
          .attrs = {{"dtype", tf::data_type_of(value.type.elem)}, {"shape", shape}}};
}

/// Copies what a translation made; `given` are the values of its inputs.
Values copied(GraphBuilder& b, const Graph& from, const std::map<std::string, IrValue*>& given) {
  Graph& into = b.graph();
  Graph::ValueMap map;
  for (const IrValue* v : from.initializers())
    map[v] = into.add_initializer(into.fresh_name(v->name()), *v->initializer);
  for (const IrValue* v : from.inputs()) map[v] = given.at(v->name());
  for (const ingot::Node& node : from.nodes()) {
    ingot::Node* made = into.add_copy(node, map, b.before());
    ops::InferSession session;
    ops::infer_node(*made, session);
  }
  Values outputs;
  for (const IrValue* v : from.outputs()) outputs.push_back(map.at(v));
  return outputs;
}

/// A node as a configuration writes it: protobuf's JSON.
tf::NodeDef node_of(Call& call, const Config& stated) {
  if (!stated.is_object())
    call.refuse("a node in protobuf's binary form has no translation", "save the model with TensorFlow 2.1 or later");
  const std::string text = R"({"modelTopology": {"node": [)" + stated.dump() + "]}}";
  tf::GraphDef graph = formats::tfjs::read_graph_model(Bytes::own(text), "", {}, call.import.budget).graph;
  call.require(graph.nodes.size() == 1, "its node cannot be read");
  return std::move(graph.nodes[0]);
}

/// The type of a constant that the configuration has as numbers: that of the other operands where it is one of them.
DType type_of_constant(const tf::NodeDef& node, const Config& value) {
  const tf::AttrValue* stated = node.find("T");
  const auto* type = stated ? std::get_if<tf::DataType>(stated) : nullptr;
  Config first = value;
  while (first.is_list() && first.size()) first = first[0];
  const bool is_whole = first.is_integer();
  if (!type) return is_whole ? DType::i32 : DType::f32;
  const DType elem = tf::dtype_of(*type);
  return is_float(elem) == is_whole ? (is_whole ? DType::i32 : DType::f32) : elem;
}

}  // namespace

Values translate_node(Call& call, tf::NodeDef node, const std::vector<NodeInput>& inputs, std::size_t outputs) {
  tf::GraphDef graph;
  graph.producer = 1205;  // of TensorFlow 2.11; old ones mean other things by some operators
  std::map<std::string, IrValue*> given;
  tensorflow::ImportOptions options;
  options.budget = &call.import.budget;
  node.name = call.layer.scope;
  std::ranges::replace(node.name, ':', '_');
  node.inputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = node.name + "/input" + std::to_string(i);
    IrValue* tensor = inputs[i].tensor;
    const Tensor* constant = inputs[i].constant ? &*inputs[i].constant
                             : tensor->initializer && tensor->producer() == nullptr && !is_float(tensor->type.elem)
                                 ? &*tensor->initializer
                                 : nullptr;
    graph.nodes.push_back(constant ? constant_node(name, *constant) : placeholder(name, *tensor));
    node.inputs.push_back(name);
    if (constant) continue;
    given.emplace(name, tensor);
    options.inputs.push_back(name);
  }
  for (std::size_t i = 0; i < outputs; ++i) options.outputs.push_back(node.name + (i ? ":" + std::to_string(i) : ""));
  graph.nodes.push_back(std::move(node));
  tensorflow::ImportResult made = tensorflow::import_graph(graph, options);
  for (std::string& note : made.notes) call.import.notes.add(std::move(note));
  Values values = copied(call.b, *made.model.graph, given);
  call.require(values.size() == outputs, "its node gives another number of results");
  return values;
}

void tensorflow_op_layer(Call& call) {
  const Config constants = call.at("constants");
  tf::NodeDef node = node_of(call, call.at("node_def"));
  std::vector<NodeInput> inputs;
  std::size_t next = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].starts_with('^')) continue;
    const Config constant = constants[std::string_view(std::to_string(i))];
    if (constant.exists())
      inputs.push_back({.constant = literal(call, constant, type_of_constant(node, constant))});
    else
      inputs.push_back({.tensor = call.in(next++)});
  }
  std::size_t outputs = 1;
  for (const char* count : {"num_split", "num"})
    if (const tf::AttrValue* stated = node.find(count))
      if (const auto* number = std::get_if<std::int64_t>(stated); number && *number > 0 && *number <= 4096)
        outputs = static_cast<std::size_t>(*number);
  if (node.op == "TopKV2") outputs = 2;
  for (IrValue* value : translate_node(call, std::move(node), inputs, outputs))
    call.outputs.push_back({value, nullptr});
}

}  // namespace ingot::frontends::keras
