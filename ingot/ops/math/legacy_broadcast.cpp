// The step of binary operators between "one run of dimensions from axis" and numpy's broadcasting.
#include "ingot/ops/math/legacy_broadcast.h"

#include <algorithm>
#include <numeric>

namespace ingot::ops {
namespace {

bool is_one(const Dim& d) { return d.as_int() == 1; }

/// Which dimensions of `b`, aligned with the end of `a`, are a run of those of `a`: all others are 1.
struct Run {
  std::size_t first = 0, last = 0;  // of b's dimensions
  std::size_t axis = 0;             // of a's
};

std::optional<Run> find_run(const Shape& a, const Shape& b) {
  if (b.size() > a.size()) return std::nullopt;
  Run run;
  while (run.first < b.size() && is_one(b[run.first])) ++run.first;
  run.last = b.size();
  while (run.last > run.first && is_one(b[run.last - 1])) --run.last;
  run.axis = a.size() - b.size() + run.first;
  for (std::size_t i = run.first; i < run.last; ++i)
    if (!same(b[i], a[run.axis + i - run.first])) return std::nullopt;
  return run;
}

bool all_same(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) { return same(x, y); });
}

bool broadcast_second(StepContext& c, const Shape& a, const Shape& b) {
  const auto run = find_run(a, b);
  if (!run) return false;
  c.node.attributes.set({"broadcast", 1});
  if (run->first == run->last) return true;  // one element goes with any shape
  std::vector<std::int64_t> ones;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (i < run->first || i >= run->last) ones.push_back(static_cast<std::int64_t>(i));
  if (!ones.empty()) c.node.set_input(1, c.g.op("Squeeze", {c.node.input(1)}, {{"axes", ones}}));
  c.node.attributes.set(Attribute("axis", AttrValue(static_cast<std::int64_t>(run->axis))));
  return true;
}

void down(StepContext& c, bool may_swap) {
  const auto& a = c.type(0).shape;
  const auto& b = c.type(1).shape;
  if (!a || !b) c.cannot("operator set 6 broadcasts by explicit axes, which needs the shapes of both inputs");
  if (all_same(*a, *b) || broadcast_second(c, *a, *b)) return;
  if (may_swap) {
    const Shape first = *a, second = *b;
    Value* swapped = c.node.input(0);
    c.node.set_input(0, c.node.input(1));
    c.node.set_input(1, swapped);
    if (broadcast_second(c, second, first)) return;
  }
  c.cannot("operator set 6 cannot broadcast these shapes");
}

/// The step up where a rank is known only at run time.
void align_at_run_time(StepContext& c, std::int64_t axis) {
  GraphBuilder& g = c.g;
  Value* behind = g.ints({-axis});
  if (axis >= 0) {
    Value* rank_a = rank_of(g, c.node.input(0));
    behind = g.sub(rank_a, g.ints({axis}));
  }
  Value* rank_b = rank_of(g, c.node.input(1));
  Value* count = g.sub(behind, rank_b);
  c.node.set_input(1, with_trailing_ones(g, c.node.input(1), count));
}

}  // namespace

Value* rank_of(GraphBuilder& g, Value* x) {
  Value* shape = g.shape(x);
  return g.shape(shape);
}

Value* with_trailing_ones(GraphBuilder& g, Value* x, Value* count) {
  Value* ones = g.op("Tile", {g.ints({1}), count});
  Value* shape = g.shape(x);
  return g.op("Reshape", {x, g.concat({shape, ones}, 0)});
}

void up_from_legacy_broadcast(StepContext& c) {
  const bool is_broadcast = c.node.attributes.int_or("broadcast", 0) != 0;
  const bool has_axis = c.node.attributes.has("axis");
  const std::int64_t axis = c.node.attributes.int_or("axis", 0);
  c.node.attributes.erase("broadcast");
  c.node.attributes.erase("axis");
  if (!is_broadcast || !has_axis) return;
  const auto& b = c.type(1).shape;
  if (b && std::ranges::all_of(*b, is_one)) return;
  if (!c.rank(0) || !c.rank(1)) return align_at_run_time(c, axis);
  const std::int64_t rank_a = *c.rank(0), rank_b = *c.rank(1);
  const std::int64_t first = axis < 0 ? axis + rank_a : axis;
  if (first < 0 || first > rank_a - rank_b)
    c.cannot("the second input does not fit into the first one at axis " + std::to_string(axis));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank_a - first - rank_b));
  if (axes.empty()) return;
  std::iota(axes.begin(), axes.end(), rank_b);
  c.node.set_input(1, c.g.op("Unsqueeze", {c.node.input(1)}, {{"axes", axes}}));
}

void down_to_legacy_broadcast(StepContext& c) { down(c, false); }
void down_to_legacy_broadcast_commuting(StepContext& c) { down(c, true); }

}  // namespace ingot::ops
