#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "ingot/passes/layout/min_cut.h"
#include "ingot/passes/layout/rules.h"
#include "ingot/passes/layout/tags.h"

namespace ingot::passes {

/// How a node takes part in the choice of layouts.
struct NodeRole {
  enum class Kind : std::uint8_t {
    opaque,    // all its ports stay as they are
    spatial,   // input 0 and output 0 have the layout that is wanted of it
    flexible,  // its tied ports have one layout, which is to be chosen
    flip,      // a Transpose between the two layouts: no more than a name for the same data
    adapting,  // takes and gives any layout at no cost: another Transpose, Shape, Size
    loop,      // state of a Loop, outputs of an If: one choice each, shared with the inside
  };
  Kind kind = Kind::opaque;
  const LayoutRule* rule = nullptr;
  Ports ports{};
  Layout from = Layout::channels_first;  // of tied ports, as the model stands
  std::vector<int> variables{};          // kept per node; adapting: of input and output; loop: per output
};

/// A layout that is fixed or the value of a variable.
struct LayoutChoice {
  int variable = -1;
  Layout fixed = Layout::channels_first;
};

/// All choices of layouts in a graph and its subgraphs, and the cheapest way to make them.
class LayoutProblem {
 public:
  LayoutProblem(Graph& root, const LayoutOptions& options);

  std::int64_t solve();

  const std::vector<Graph*>& graphs() const { return graphs_; }
  const NodeRole& role(const Node& node) const { return roles_.at(&node); }
  /// As the model stands.
  Layout tag(const Value* value) const { return tags_.of(value); }
  std::optional<Layout> known_tag(const Value* value) const { return tags_.known(value); }
  // After solve().
  Layout layout(const LayoutChoice& choice) const;
  Layout produced(const Value* value) const { return layout(producer(value)); }
  Layout consumed(const Value* value, const Use& use) const { return layout(consumer(value, use)); }
  Layout of_node(const Node& node) const;

  /// The bytes that a permutation of this value moves, with assumed sizes; 0 if only dimensions of size 1 move.
  std::int64_t bytes(const Value* value, const Perm& perm) const;
  std::int64_t bytes(const Value* value) const;

 private:
  void assign_roles();
  void plan(Node& node);
  void plan_transpose(Node& node, NodeRole& role);
  void plan_control_flow(Node& node, NodeRole& role);
  bool tie(const Node& node, const Ports& ports);
  void add_variables();
  void add_value_costs(const Value* value);
  void add_node_costs(const Node& node);
  LayoutChoice producer(const Value* value) const;
  LayoutChoice consumer(const Value* value, const Use& use) const;

  const LayoutOptions& options_;
  std::vector<Graph*> graphs_;
  LayoutTags tags_;
  std::unordered_map<const Node*, NodeRole> roles_;
  /// Inputs and outputs of subgraphs whose layout is a choice of the node outside.
  std::unordered_map<const Value*, int> inner_inputs_;
  std::unordered_map<const Graph*, std::vector<int>> inner_outputs_;
  MinCut cut_;
  std::unordered_map<int, Layout> when_free_;
};

}  // namespace ingot::passes
