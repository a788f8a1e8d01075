// The operator Gradient, which names what it differentiates: replaced by the derivatives themselves.
#include "ingot/train/expand_gradients.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"

namespace ingot::train {
namespace {

constexpr std::size_t kMostGradients = 1000;  // each may double the graph

bool is_gradient(const Node& node) { return node.is("Gradient", "ai.onnx.preview.training"); }

std::vector<Node*> gradients_in(Graph& root) {
  std::vector<Node*> found;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes())
      if (is_gradient(node)) found.push_back(&node);
  });
  return found;
}

void sort_nodes(Graph& graph) {
  const auto order = topological_order(graph);
  if (!order) throw Error(Code::cyclic_graph, "a Gradient depends on itself");
  for (Node* node : *order) graph.move_before(node, nullptr);
}

/// What a Gradient node says: y as a function of `named`, at the values `given`.
struct Request {
  Value* y = nullptr;
  Values named, given;
  std::size_t xs = 0;  // the first so many are differentiated by
};

Request read_request(const Node& node) {
  const auto fail = [&](const std::string& message) {
    throw Error(Code::bad_attribute, message).in_node(node.name, node.op, node.label());
  };
  const auto find = [&](const std::string& name) {
    Value* value = node.graph().find_visible(name);
    if (!value) fail("it names a value that is not there: '" + name + "'");
    return value;
  };
  Request request;
  const auto* xs = node.attributes.get<std::vector<std::string>>("xs");
  const auto* zs = node.attributes.get<std::vector<std::string>>("zs");
  if (!xs || xs->empty()) fail("attribute 'xs' is missing");
  request.xs = xs->size();
  for (const auto* list : {xs, zs})
    if (list)
      for (const std::string& name : *list) request.named.push_back(find(name));
  request.y = find(node.attributes.string_or("y", ""));
  if (node.input_count() < request.named.size()) fail("there are fewer inputs than names in 'xs' and 'zs'");
  for (std::size_t i = 0; i < request.named.size(); ++i) {
    if (!node.input(i)) fail("input " + std::to_string(i) + " is missing");
    request.given.push_back(node.input(i));
  }
  for (std::size_t i = 0; i <= request.xs; ++i) {
    const Value* v = i < request.xs ? request.given[i] : request.y;
    if (!v->type.is_tensor() || !is_float(v->type.elem))
      fail("'" + v->name() + "' is " + v->type.str() + ": only real numbers have gradients");
  }
  return request;
}

/// The nodes that y depends on, back to the named values, in order.
std::vector<Node*> nodes_behind(const Request& request) {
  const std::unordered_set<const Value*> ends(request.named.begin(), request.named.end());
  std::unordered_set<const Node*> behind;
  std::vector<const Value*> open = {request.y};
  Graph& graph = request.y->graph();
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    Node* node = v->producer();
    if (ends.contains(v) || !node || &node->graph() != &graph || !behind.insert(node).second) continue;
    const auto read = [&](const Node& reader) {
      for (const Value* input : reader.inputs())
        if (input) open.push_back(input);
    };
    read(*node);
    for_each_subgraph(*node, [&](Graph& root) {
      for_each_graph(root, [&](Graph& inner) {
        for (const Node& n : inner.nodes()) read(n);
        for (const Value* v_out : inner.outputs())
          if (v_out) open.push_back(v_out);
      });
    });
  }
  std::vector<Node*> sorted;
  const auto order = topological_order(graph);
  if (!order) throw Error(Code::cyclic_graph, "graph '" + graph.name + "' has a cycle");
  for (Node* node : *order)
    if (behind.contains(node)) sorted.push_back(node);
  return sorted;
}

/// Computes y again, in the node's own graph, with other values in the place of the named ones.
void evaluate_at_given(Node& node, Request& request) {
  Graph& graph = node.graph();
  const std::vector<Node*> nodes = nodes_behind(request);
  GraphBuilder g(graph);
  g.name_after(node);
  Graph::ValueMap map;
  // Values of their own: the same tensor may be given for two names.
  for (std::size_t i = 0; i < request.named.size(); ++i) {
    request.given[i] = g.op("Identity", {request.given[i]});
    map[request.named[i]] = request.given[i];
  }
  for (const Node* from : nodes) {
    Node* copy = graph.add_copy(*from, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i)
      if (copy->output(i) && from->output(i)) copy->output(i)->type = from->output(i)->type;
    ops::InferSession session;
    ops::infer_node(*copy, session);
  }
  const auto found = map.find(request.y);
  request.y = found == map.end() ? request.y : found->second;
  request.named = request.given;
}

void expand(Node& node) {
  Request request = read_request(node);
  Graph& graph = node.graph();
  if (request.named != request.given || &request.y->graph() != &graph) evaluate_at_given(node, request);
  Values derivatives(request.xs);
  const Values wrt(request.given.begin(), request.given.begin() + static_cast<std::ptrdiff_t>(request.xs));
  if (&request.y->graph() == &graph) {
    derivatives = differentiate(request.y, wrt);
  } else {  // y depends on none of them
    GraphBuilder g(graph);
    for (std::size_t i = 0; i < request.xs; ++i) {
      const Tensor zero = Tensor::scalar(0, wrt[i]->type.elem).reshaped({1});
      derivatives[i] = g.op("ConstantOfShape", {g.shape(wrt[i])}, {{"value", zero}});
    }
  }
  // Two outputs may be the same derivative, or an input; each gets a value of its own.
  Values made;
  GraphBuilder g(graph);
  g.name_after(node);
  for (std::size_t i = 0; i < node.output_count(); ++i)
    made.push_back(node.output(i) && i < request.xs ? g.op("Identity", {derivatives[i]}) : nullptr);
  replace_node(node, made);
  sort_nodes(graph);
}

}  // namespace

void expand_gradients(Graph& root) {
  std::vector<Node*> open = gradients_in(root);
  if (open.size() > kMostGradients)
    throw Error(Code::unsupported_feature, "the model has " + std::to_string(open.size()) + " Gradient nodes");
  while (!open.empty()) {
    // First one that differentiates no derivative that is still to be made.
    Node* next = nullptr;
    for (Node* node : open) {
      Request request = read_request(*node);
      const std::vector<Node*> behind = nodes_behind(request);
      if (std::ranges::none_of(behind, [](const Node* n) { return is_gradient(*n); })) {
        next = node;
        break;
      }
    }
    if (!next) throw Error(Code::cyclic_graph, "Gradient nodes differentiate each other in a circle");
    expand(*next);
    open = gradients_in(root);
  }
}

bool has_gradients(const Model& model) {
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (is_gradient(node)) return true;
  return false;
}

void expand_gradients(Model& model) {
  if (!has_gradients(model)) return;
  passes::inline_functions(model);
  passes::canonicalize(model);
  expand_gradients(*model.graph);
}

}  // namespace ingot::train
