// What all reductions share: which axes go, in shapes and between versions.
#include "ingot/ops/reduction/reduced_axes.h"

#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/short_list.h"

namespace ingot::ops {
namespace {

bool keeps_dims(const InferContext& c) { return c.attr("keepdims", std::int64_t{1}) != 0; }
bool is_noop_when_empty(const Attributes& attributes) { return attributes.int_or("noop_with_empty_axes", 0) != 0; }

void fold_vector(InferContext& c, Dim (*fold)(std::span<const Dim>)) {
  const auto known = known_elements(c, 0);
  if (!known || known->empty()) return;
  const Dim result = as_held(fold(*known), c.elem(0));
  if (!result.is_unknown()) c.out_ints(0, {result});
}

/// The axes are not known: only how many there are may be.
void infer_unknown_axes(InferContext& c, std::int64_t rank) {
  if (keeps_dims(c)) {
    c.out_rank(0, rank);
    return;
  }
  const auto count = c.dim(1, 0).as_int();
  if (count && *count > 0 && *count <= rank) c.out_rank(0, rank - *count);
}

}  // namespace

void infer_reduction(InferContext& c, Dim (*fold)(std::span<const Dim>)) {
  if (const auto rank = c.rank(1)) c.require(*rank == 1, "axes is no vector");
  require_short_list(c, 1);
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  const auto axes = c.has(1) ? c.const_ints(1) : std::vector<std::int64_t>{};
  if (!axes) return infer_unknown_axes(c, rank);
  const bool is_noop = axes->empty() && is_noop_when_empty(c.node().attributes);
  std::vector<bool> is_reduced(x->size(), axes->empty() && !is_noop);
  for (const std::int64_t a : *axes) is_reduced[static_cast<std::size_t>(c.axis(a, rank, "axes"))] = true;
  Shape y;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (!is_reduced[i])
      y.push_back((*x)[i]);
    else if (keeps_dims(c))
      y.emplace_back(1);
  }
  c.out_shape(0, std::move(y));
  if (fold && rank == 1 && is_reduced[0]) fold_vector(c, fold);
}

void up_to_axes_input(StepContext& c) { c.attribute_to_input("axes", 1); }

void down_to_axes_attribute(StepContext& c, Value* (*noop)(GraphBuilder&, Value*)) {
  const bool is_noop = is_noop_when_empty(c.node.attributes);
  const auto axes = c.node.input(1) ? c.need_ints(1, "axes") : std::vector<std::int64_t>{};
  c.node.attributes.erase("noop_with_empty_axes");
  if (axes.empty() && is_noop) {
    Value* x = c.node.input(0);
    c.replace({noop ? noop(c.g, x) : c.g.op("Identity", {x})});
    return;
  }
  if (!axes.empty()) c.node.attributes.set(Attribute("axes", AttrValue(axes)));
  c.node.resize_inputs(1);
}

Values reduce_computed_axes(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!c.has(1) || c.constant(1) || !rank || *rank == 0) return {};
  // 1 for each axis that goes, 0 for the others.
  Value* from_front = g.op("Mod", {g.cast(c.in(1), DType::i64), g.ints({*rank})});
  std::vector<std::int64_t> all(static_cast<std::size_t>(*rank));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  Value* named = g.op("Equal", {g.unsqueeze(from_front, {1}), g.ints(all)});
  Value* times = g.reduce_sum(g.cast(named, DType::i64), {0}, false);
  if (!is_noop_when_empty(c.node.attributes)) {
    Value* is_empty = g.op("Equal", {g.op("Size", {c.in(1)}), g.index(0)});
    times = g.where(is_empty, g.ints(std::vector<std::int64_t>(all.size(), 1)), times);
  }
  Value* goes = g.op("Min", {times, g.index(1)});
  Value *x = c.in(0), *shape = g.shape(x);
  for (const std::int64_t k : all) {
    // The elements with their reduction behind them: one or the other is cut out.
    Value *at = g.ints({k}), *next = g.ints({k + 1});
    Value* reduced = g.op(Name(*find(c.node)), {x, at}, {{"keepdims", 1}});
    Value* both = g.concat({x, reduced}, k);
    Value* size = g.op("Slice", {shape, at, next});
    Value* choice = g.op("Slice", {goes, at, next});
    Value* start = g.mul(size, choice);
    Value* end = g.add(size, choice);
    x = g.op("Slice", {both, start, end, at});
  }
  if (c.attr("keepdims", std::int64_t{1}) != 0) return {x};
  // An axis more, so that there is always one to squeeze: no axes at all would mean all of size 1.
  Value* places = g.reshape(g.op("NonZero", {goes}), {-1});
  Value* axes = g.concat({g.ints({0}), g.add(places, g.ints({1}))}, 0);
  return {g.op("Squeeze", {g.unsqueeze(x, {0}), axes})};
}

}  // namespace ingot::ops
