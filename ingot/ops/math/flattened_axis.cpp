// The step of Softmax, LogSoftmax and Hardmax between "matrix split at axis" and "along axis".
#include "ingot/ops/math/flattened_axis.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ingot::ops {
namespace {

/// The same operator over the second half of the matrix, in the input's shape again.
Value* over_rows(StepContext& c, GraphBuilder& g, std::int64_t axis) {
  Value* x = c.node.input(0);
  Value* matrix = g.op("Flatten", {x}, {{"axis", axis}});
  Value* y = g.op(Name(*find(c.node)), {matrix}, {{"axis", -1}});
  return g.op("Reshape", {y, g.shape(x)});
}

/// Whether all is one row, and that may be empty: its shape cannot be given back to it, since a 0 means another thing.
bool is_one_empty_row(const StepContext& c, std::int64_t axis) {
  const auto& shape = c.type(0).shape;
  if (axis != 0 && !(shape && axis == -std::ssize(*shape))) return false;
  return !shape || std::ranges::any_of(*shape, [](const Dim& d) { return !d.is_at_least(1); });
}

/// No matrix is needed, whose shape could not be given back either.
bool is_empty(const StepContext& c) {
  const auto& shape = c.type(0).shape;
  return shape && std::ranges::any_of(*shape, [](const Dim& d) { return d.is_known() && d.value() == 0; });
}

GraphPtr branch(Graph& parent, const char* name, const std::function<Value*(GraphBuilder&)>& build) {
  auto graph = std::make_unique<Graph>(&parent);
  graph->name = name;
  GraphBuilder g(*graph, nullptr, false);
  graph->add_output(build(g));
  return graph;
}

}  // namespace

void up_from_flattened_axis(StepContext& c) {
  const std::int64_t axis = c.node.attributes.int_or("axis", 1);
  const auto rank = c.rank(0);
  if (axis == -1 || (rank && axis == *rank - 1)) {
    c.node.attributes.set({"axis", -1});
    return;
  }
  if (is_empty(c)) return c.replace({c.g.op("Identity", {c.node.input(0)})});
  if (!is_one_empty_row(c, axis)) return c.replace({over_rows(c, c.g, axis)});
  Value* x = c.node.input(0);
  Graph& graph = c.node.graph();
  Value* has_none = c.g.op("Equal", {c.g.op("Size", {x}), c.g.index(0)});
  Node* choice = c.g.node("If", "", {has_none}, {}, 1);
  GraphPtr nothing = branch(graph, "nothing", [&](GraphBuilder& g) { return g.op("Identity", {x}); });
  GraphPtr row = branch(graph, "row", [&](GraphBuilder& g) { return over_rows(c, g, axis); });
  choice->attributes.set(Attribute("then_branch", AttrValue(std::move(nothing))));
  choice->attributes.set(Attribute("else_branch", AttrValue(std::move(row))));
  c.replace({choice->output()});
}

void down_to_flattened_axis(StepContext& c) {
  std::int64_t axis = c.node.attributes.int_or("axis", -1);
  if (axis == -1) {
    c.node.attributes.set({"axis", -1});
    return;
  }
  const std::int64_t rank = c.need_rank(0);
  if (axis < -rank || axis >= rank) c.cannot("axis " + std::to_string(axis) + " is out of range");
  if (axis < 0) axis += rank;
  if (axis == rank - 1) {
    c.node.attributes.set(Attribute("axis", AttrValue(axis)));
    return;
  }
  std::vector<std::int64_t> swap(static_cast<std::size_t>(rank));
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[static_cast<std::size_t>(axis)], swap.back());
  Value* x = c.g.transpose(c.node.input(0), swap);
  Value* y = c.g.op(Name(*find(c.node)), {x}, {{"axis", rank - 1}});
  c.replace({c.g.transpose(y, swap)});
}

}  // namespace ingot::ops
