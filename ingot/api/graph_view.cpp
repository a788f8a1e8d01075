// The graph as plain structs.
#include "ingot/api/graph_view.h"

#include "ingot/ir/has_default.h"
#include "ingot/ir/model.h"

namespace ingot {
namespace {

GraphView view_of(const Graph& graph);

std::string name_or_empty(const Value* value) { return value ? value->name() : std::string(); }

struct ToView {
  AttributeValue operator()(const GraphPtr& graph) const {
    std::vector<GraphView> one;
    if (graph) one.push_back(view_of(*graph));
    return one;
  }
  AttributeValue operator()(const std::vector<GraphPtr>& graphs) const {
    std::vector<GraphView> all;
    for (const GraphPtr& graph : graphs) all.push_back(view_of(*graph));
    return all;
  }
  template <class T> AttributeValue operator()(const T& value) const { return value; }
};

NodeView view_of(const Node& node) {
  NodeView view;
  view.name = node.name;
  view.domain = node.domain;
  view.op = node.op;
  for (const Value* v : node.inputs()) view.inputs.push_back(name_or_empty(v));
  for (const Value* v : node.outputs()) view.outputs.push_back(name_or_empty(v));
  for (const Attribute& a : node.attributes)
    view.attributes.push_back({a.name, std::visit(ToView{}, a.value), a.reference});
  view.metadata = node.metadata;
  return view;
}

std::vector<PortView> inputs_of(const Graph& graph) {
  std::vector<PortView> all;
  for (const Value* v : graph.inputs()) all.push_back({v->name(), v->type, has_default(*v)});
  return all;
}

std::vector<PortView> outputs_of(const Graph& graph) {
  std::vector<PortView> all;
  for (const Value* v : graph.outputs())
    if (v) all.push_back({v->name(), v->type});
  return all;
}

std::vector<InitializerView> initializers_of(const Graph& graph) {
  std::vector<InitializerView> all;
  for (const Value* v : graph.initializers()) {
    InitializerView view{v->name(), v->initializer.value_or(Tensor())};
    if (v->sparse_initializer) view.sparse = *v->sparse_initializer;
    all.push_back(std::move(view));
  }
  return all;
}

std::vector<NodeView> nodes_of(const Graph& graph) {
  std::vector<NodeView> all;
  all.reserve(graph.node_count());
  for (const Node& node : graph.nodes()) all.push_back(view_of(node));
  return all;
}

GraphView view_of(const Graph& graph) {
  return {graph.name, inputs_of(graph), outputs_of(graph), initializers_of(graph), nodes_of(graph)};
}

}  // namespace

std::vector<PortView> inputs_of(const Model& model) { return inputs_of(*model.graph); }
std::vector<PortView> outputs_of(const Model& model) { return outputs_of(*model.graph); }
std::vector<InitializerView> initializers_of(const Model& model) { return initializers_of(*model.graph); }
std::vector<NodeView> nodes_of(const Model& model) { return nodes_of(*model.graph); }

std::vector<PortView> values_of(const Model& model) {
  std::vector<PortView> all;
  for (const Node& node : model.graph->nodes())
    for (const Value* v : node.outputs())
      if (v && v->type) all.push_back({v->name(), v->type});
  return all;
}

std::vector<FunctionView> functions_of(const Model& model) {
  std::vector<FunctionView> all;
  for (const auto& function : model.functions) {
    FunctionView view{function->domain, function->name, function->attributes, view_of(*function->body)};
    for (const Attribute& a : function->attribute_defaults) view.attributes.push_back(a.name);
    all.push_back(std::move(view));
  }
  return all;
}

}  // namespace ingot
