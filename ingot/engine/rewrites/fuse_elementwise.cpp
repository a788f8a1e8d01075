// Chains of elementwise operators become one node each.
#include "ingot/engine/rewrites/fuse_elementwise.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/engine/domain.h"
#include "ingot/engine/element_step.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kMostSteps = 24, kMostInputs = 12;

/// A node and those before it that nobody else reads.
class Chain {
 public:
  explicit Chain(Node& last) : last_(last) { collect(last); }

  const std::vector<Node*>& nodes() const { return nodes_; }

  void write() const {
    std::unordered_map<const Value*, std::uint32_t> registers;
    for (std::size_t i = 0; i < inputs_.size(); ++i) registers[inputs_[i]] = static_cast<std::uint32_t>(i);
    std::vector<ElementStep> steps;
    for (Node* node : nodes_) {
      ElementStep step = *step_for(*node);
      step.x = registers.at(node->input(0));
      if (step.is_binary) step.y = registers.at(node->input(1));
      steps.push_back(step);
      const auto made = static_cast<std::uint32_t>(registers.size());
      registers[node->output(0)] = made;
    }
    Graph& graph = last_.graph();
    GraphBuilder g(graph, &last_);
    Node* fused = g.node("Elementwise", kEngineDomain, inputs_, attributes_of(steps), 1);
    fused->name = names_of(nodes_);
    fused->output(0)->type = last_.output(0)->type;
    graph.replace_all_uses(last_.output(0), fused->output(0));
    for (std::size_t i = nodes_.size(); i-- > 0;) graph.erase(nodes_[i]);
  }

 private:
  void collect(Node& node) {
    const std::size_t operands = step_for(node)->is_binary ? 2 : 1;
    for (std::size_t i = 0; i < operands; ++i) {
      Value* input = node.input(i);
      if (Node* before = absorbable(input)) {
        if (std::ranges::find(nodes_, before) == nodes_.end()) collect(*before);
      } else if (std::ranges::find(inputs_, input) == inputs_.end()) {
        inputs_.push_back(input);
      }
    }
    nodes_.push_back(&node);
  }

  /// The node that makes a value, if it can be a part of this chain.
  Node* absorbable(const Value* value) const {
    Node* node = value->producer();
    if (!node || &node->graph() != &last_.graph() || !step_for(*node) || !have_same_shape(value, last_.output(0)))
      return nullptr;
    for (const Use& use : value->uses())
      if (use.node != value->uses()[0].node || !use.node) return nullptr;
    return nodes_.size() + depth_ < kMostSteps && inputs_.size() < kMostInputs ? (++depth_, node) : nullptr;
  }

  Node& last_;
  std::vector<Node*> nodes_;
  Values inputs_;
  mutable std::size_t depth_ = 0;
};

/// An operand that was expanded to the shape of the other one is read as it was.
void read_before_expanding(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (const auto step = step_for(node); step && step->is_binary) nodes.push_back(&node);
  for (Node* node : nodes)
    for (std::size_t i = 0; i < 2; ++i) {
      Node* expand = node->input(i)->producer();
      if (!expand || !expand->is("Expand") || &expand->graph() != &graph || node->input(0) == node->input(1) ||
          !have_same_shape(node->input(1 - i), node->output(0)))
        continue;
      node->set_input(i, expand->input(0));
      if (expand->output(0)->uses().empty()) graph.erase(expand);
    }
}

}  // namespace

void fuse_elementwise(Graph& graph) {
  read_before_expanding(graph);
  // From the end: a chain is as long as it can be.
  const auto order = topological_order(graph);
  if (!order) return;
  std::unordered_set<const Node*> fused;
  for (std::size_t i = order->size(); i-- > 0;) {
    Node* node = (*order)[i];
    if (fused.contains(node) || !step_for(*node)) continue;
    const Chain chain(*node);
    fused.insert(chain.nodes().begin(), chain.nodes().end());
    chain.write();
  }
}

}  // namespace ingot::engine
