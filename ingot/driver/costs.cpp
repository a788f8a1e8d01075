// What each node of a model costs.
#include "ingot/driver/costs.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "ingot/driver/adjust.h"
#include "ingot/driver/work.h"
#include "ingot/ir/model.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/sort_nodes.h"

namespace ingot::driver {
namespace {

constexpr std::string_view kMoves[] = {"Cast",           "CastLike", "Concat",    "Constant",     "ConstantOfShape",
                                       "DepthToSpace",   "Dropout",  "Expand",    "Flatten",      "Gather",
                                       "GatherElements", "GatherND", "Identity",  "Pad",          "Reshape",
                                       "Shape",          "Size",     "Slice",     "SpaceToDepth", "Split",
                                       "Squeeze",        "Tile",     "Transpose", "Unsqueeze",    "Where"};

std::optional<std::uint64_t> elements_of(const Value* v) {
  const auto dims = v && v->type.is_tensor() ? static_dims(v->type.shape) : std::nullopt;
  if (!dims) return std::nullopt;
  std::uint64_t n = 1;
  for (const std::int64_t d : *dims) n *= static_cast<std::uint64_t>(std::max<std::int64_t>(d, 0));
  return n;
}

std::optional<std::uint64_t> bytes_of(const Value* v) {
  const auto elements = elements_of(v);
  return elements ? byte_count(v->type.elem, *elements) : std::nullopt;
}

bool reads_windows(const Node& node) {
  return node.op.starts_with("Reduce") || node.op.starts_with("Global") || node.is("ArgMax") || node.is("ArgMin");
}

std::optional<double> operations_of(const Node& node) {
  if (is_product(node)) return product_operations(node);
  if (std::ranges::find(kMoves, node.op) != std::end(kMoves)) return 0;
  const auto made = elements_of(node.output());
  if (!made) return std::nullopt;
  double each = 1;
  if (node.is("MaxPool") || node.is("AveragePool"))
    for (const std::int64_t k : node.attributes.ints_or("kernel_shape", {})) each *= static_cast<double>(k);
  if (reads_windows(node)) {
    const auto read = elements_of(node.input(0));
    return read ? std::optional(static_cast<double>(*read)) : std::nullopt;
  }
  return each * static_cast<double>(*made);
}

bool has_subgraphs(const Node& node) {
  bool has_any = false;
  for_each_subgraph(node, [&](Graph&) { has_any = true; });
  return has_any;
}

// Told in the notes of nodes, which stay where functions are inlined: those of a call go to what stands in its place.
constexpr std::string_view kPlace = "ingot.place";

void note_places(Graph& root) {
  std::size_t place = 0;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) node.metadata.emplace_back(kPlace, std::to_string(place++));
  });
}

/// The last one is ours, whatever the file has.
std::size_t place_of(const Node& node, std::size_t other) {
  for (auto note = node.metadata.rbegin(); note != node.metadata.rend(); ++note)
    if (note->first == kPlace) {
      std::from_chars(note->second.data(), note->second.data() + note->second.size(), other);
      break;
    }
  return other;
}

/// `counted`: the weights of nodes before it; `around`: the place of the node that it stands in.
NodeCost cost_of(const Node& node, std::unordered_set<const Value*>& counted, std::size_t around) {
  NodeCost cost{node.name.empty() ? node.label() : node.name, node.op, "", std::nullopt, 0, std::uint64_t{0}};
  cost.place = place_of(node, around);
  if (node.output()) cost.output = node.output()->type.str();
  if (!has_subgraphs(node)) cost.operations = operations_of(node);
  for (const Value* v : node.inputs())
    if (v && v->initializer && counted.insert(v).second)  // below IR version 4 each is an input too
      cost.weights += v->initializer->bytes().size();
  for (const Value* v : node.outputs()) {
    if (!v) continue;
    const auto bytes = bytes_of(v);
    cost.activations = bytes && cost.activations ? std::optional(*cost.activations + *bytes) : std::nullopt;
  }
  for_each_subgraph(node, [&](Graph& body) {
    for (const Node& inner : body.nodes()) cost.bodies.push_back(cost_of(inner, counted, cost.place));
  });
  return cost;
}

/// Bytes that are alive while each node runs.
class Liveness {
 public:
  explicit Liveness(const std::vector<Node*>& order) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  }

  void start(const Value* v) {
    if (const auto bytes = bytes_of(v)) alive_ += *bytes;
  }
  void note_last_uses(Graph& graph, const std::vector<Node*>& order) {
    ends_.resize(order.size());
    if (order.empty()) return;
    const auto look = [&](const Value* v, std::size_t made) {
      if (!v || v->initializer) return;
      std::size_t last = made;
      for (const Use& use : v->uses()) {
        const auto found = use.node ? place_.find(use.node) : place_.end();
        // Outputs of the graph, and what graphs inside read, stay to the end.
        if (found == place_.end()) return;
        last = std::max(last, found->second);
      }
      ends_[last].push_back(v);
    };
    for (const Value* v : graph.inputs()) look(v, 0);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Value* v : order[i]->outputs()) look(v, i);
  }
  std::uint64_t run(const Node& node) {
    for (const Value* v : node.outputs()) start(v);
    const std::uint64_t now = alive_;
    for (const Value* v : ends_[place_.at(&node)])
      if (const auto bytes = bytes_of(v)) alive_ -= std::min(alive_, *bytes);
    return now;
  }

 private:
  std::unordered_map<const Node*, std::size_t> place_;
  std::vector<std::vector<const Value*>> ends_;
  std::uint64_t alive_ = 0;
};

}  // namespace

Costs costs_of(const Model& original, const InputShapes& shapes) {
  Model model = original.clone();
  set_input_shapes(model, shapes);
  note_places(*model.graph);
  passes::inline_functions(model);
  passes::sort_nodes(*model.graph);
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  passes::infer(model, tolerant);
  Costs costs;
  Graph& graph = *model.graph;
  std::vector<Node*> order;
  for (Node& node : graph.nodes()) order.push_back(&node);
  Liveness liveness(order);
  liveness.note_last_uses(graph, order);
  for (const Value* v : graph.inputs())
    if (!v->initializer) liveness.start(v);
  std::unordered_set<const Value*> counted;
  for (const Node* node : order) {
    NodeCost cost = cost_of(*node, counted, 0);
    costs.operations += cost.operations.value_or(0);
    costs.weights += cost.weights;
    costs.activations += cost.activations.value_or(0);
    costs.unknown += !cost.operations || !cost.activations;
    if (const std::uint64_t now = liveness.run(*node); now > costs.peak) {
      costs.peak = now;
      costs.peak_node = cost.node;
    }
    costs.nodes.push_back(std::move(cost));
  }
  return costs;
}

std::unordered_map<const Node*, std::size_t> places_of(const Model& model) {
  std::unordered_map<const Node*, std::size_t> places;
  for_each_graph(*model.graph, [&](Graph& graph) {
    for (const Node& node : graph.nodes()) places.emplace(&node, places.size());
  });
  return places;
}

}  // namespace ingot::driver
