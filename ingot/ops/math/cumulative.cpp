// CumSum and CumProd: the sums or products of all numbers up to each along one axis.
#include <functional>
#include <limits>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/lanes.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

void infer(InferContext& c) {
  c.out_shape_like(0, 0);
  if (const Shape* s = c.shape(1)) c.require(may_equal(product(*s), 1), "axis is not one number");
  const auto axis = c.const_int(1);
  const auto rank = c.rank(0);
  if (axis && rank) c.axis(*axis, *rank);
}

/// Ones in the shape of x without the axis.
Value* ones_across(GraphBuilder& g, Value* x, std::int64_t axis, DType elem) {
  Value* dims = g.shape(x);
  Value* before = g.op("Slice", {dims, g.ints({0}), g.ints({axis})});
  Value* others =
      axis == -1 ? before : g.concat({before, g.op("Slice", {dims, g.ints({axis + 1}), g.ints({kEnd})})}, 0);
  return g.op("Expand", {g.scalar(1, elem), others});
}

/// (so far, x) -> (so far * x, what is put out).
GraphPtr multiplying_body(Graph& parent, DType elem, const std::optional<Shape>& slice, bool is_exclusive) {
  auto body = std::make_unique<Graph>(&parent);
  body->name = "cumulative";
  Value* so_far = body->add_input(parent.fresh_name("so_far"), Type::tensor(elem, slice));
  Value* x = body->add_input(parent.fresh_name("x"), Type::tensor(elem, slice));
  GraphBuilder g(*body);
  Value* product = g.mul(so_far, x);
  body->add_output(product);
  body->add_output(g.op("Identity", {is_exclusive ? so_far : product}));
  return body;
}

/// A scan along the axis: no formula of sums is exact for products.
Value* multiply_along(DecomposeContext& c, Value* x, std::int64_t axis, const std::optional<Shape>& slice) {
  const DType elem = c.elem(0);
  const std::int64_t is_reverse = c.attr("reverse", std::int64_t{0}) != 0;
  Node* scan = c.g.node("Scan", "", {ones_across(c.g, x, axis, elem), x},
                        {{"num_scan_inputs", 1},
                         {"scan_input_axes", {axis}},
                         {"scan_input_directions", {is_reverse}},
                         {"scan_output_axes", {axis}},
                         {"scan_output_directions", {is_reverse}}},
                        2);
  const bool is_exclusive = c.attr("exclusive", std::int64_t{0}) != 0;
  scan->attributes.append(Attribute("body", AttrValue(multiplying_body(c.g.graph(), elem, slice, is_exclusive))));
  InferSession session;
  infer_node(*scan, session);
  return scan->output(1);
}

/// Where the axis is computed: it becomes the middle one of three.
Value* multiply_along_computed(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* dims = g.shape(c.in(0));
  Value* given = g.reshape(g.cast(c.in(1), DType::i64), {1});
  Value* axis = g.op("Mod", {given, g.shape(dims)});
  Value* before = g.op("ReduceProd", {g.op("Slice", {dims, g.ints({0}), axis})});
  Value* size = g.op("Gather", {dims, axis});
  Value* after = g.op("ReduceProd", {g.op("Slice", {dims, g.add(axis, g.ints({1})), g.ints({kEnd})})});
  Value* x = g.op("Reshape", {c.in(0), g.concat({before, size, after}, 0)});
  return g.op("Reshape", {multiply_along(c, x, 1, Shape(2)), dims});
}

Values decompose_product(DecomposeContext& c) {
  if (c.elem(0) == DType::undefined || !c.has(1)) return {};
  std::optional<Shape> slice = c.in(0)->type.shape;
  const Tensor* given = c.constant(1);
  if (given && given->size() != 1) return {};
  const bool is_alone = slice && slice->size() == 1;  // whatever its number is
  if (!given && !is_alone) return {multiply_along_computed(c)};
  const std::int64_t axis = given ? given->to_ints().front() : 0;
  if (slice) {
    const auto rank = static_cast<std::int64_t>(slice->size());
    if (axis < -rank || axis >= rank) return {};
    slice->erase(slice->begin() + (axis < 0 ? axis + rank : axis));
  }
  return {multiply_along(c, c.in(0), axis, slice)};
}

/// Floats are summed up in double, so that errors do not add up as well.
template <class Op> void run(KernelContext& c, int start) {
  const Array x = computable(c, 0);
  if (c.in(1).size() != 1) c.fail("axis is not one number");
  const std::int64_t axis = c.axis(c.in(1).to_ints().front(), x.rank());
  const bool is_exclusive = c.attr("exclusive", std::int64_t{0}) != 0;
  const bool is_reverse = c.attr("reverse", std::int64_t{0}) != 0;
  const Lanes lanes = lanes_along(x, axis);
  Array y = scratch(c, x.dtype(), x.dims());
  dispatch(x.dtype(), ComputeNumbers{}, [&]<class T>() {
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    const T* in = x.data<T>().data();
    T* out = y.mutable_data<T>().data();
    for_each_lane(lanes, c.host().budget(), [&](std::int64_t first) {
      auto so_far = static_cast<Sum>(start);
      for (std::int64_t i = 0; i < lanes.size; ++i) {
        const std::int64_t at = first + (is_reverse ? lanes.size - 1 - i : i) * lanes.inner;
        const Sum next = Op()(so_far, static_cast<Sum>(in[at]));
        out[at] = static_cast<T>(is_exclusive ? so_far : next);
        so_far = next;
      }
    });
  });
  put(c, 0, y, c.in(0).dtype());
}
void run_sum(KernelContext& c) { run<std::plus<>>(c, 0); }
void run_product(KernelContext& c) { run<std::multiplies<>>(c, 1); }

// Each number was added to all sums from its own on: those are summed from the other end.
Values gradient_cumsum(GradContext& c) {
  Attrs attrs = c.same_attrs({"exclusive"});
  attrs.emplace_back("reverse", c.attr("reverse", std::int64_t{0}) == 0);
  return {c.g.op("CumSum", {c.dy(), c.x(1)}, attrs)};
}

/// d product / d x needs the product of all others up to each place, which no quotient gives where x is zero. In a
/// table of (place, factor) along two new axes, the products without each factor are those before it times those after
/// it.
Values gradient_cumprod(GradContext& c) {
  GraphBuilder& g = c.g;
  const Tensor* given = c.constant(1);
  if (!given || given->size() != 1) c.fail("the gradient needs a constant axis");
  const std::int64_t rank = c.rank();
  const std::int64_t axis = c.axis(given->to_ints().front());
  // Axes: ..., place p, factor k; the factor takes the axis' own place, the places come last.
  Value* x = g.unsqueeze(c.x(), {rank});
  Value* size = g.op("Shape", {c.x()}, {{"start", axis}, {"end", axis + 1}});
  Value* count = g.squeeze(size, {0});
  Value *first = g.index(0), *step = g.index(1);
  Value* places = g.op("Range", {first, count, step});
  std::vector<std::int64_t> column(static_cast<std::size_t>(rank) + 1, 1);
  column[static_cast<std::size_t>(axis)] = -1;
  Value* factor = g.reshape(places, column);
  const bool is_reverse = c.attr("reverse", std::int64_t{0}) != 0;
  const bool is_exclusive = c.attr("exclusive", std::int64_t{0}) != 0;
  Value *low = is_reverse ? places : factor, *high = is_reverse ? factor : places;
  Value* takes_part = g.op(is_exclusive ? ops::Name("Less") : ops::Name("LessOrEqual"), {low, high});
  Value* table = g.where(takes_part, x, c.number(1));
  Value* along = g.index(axis);
  Value* before = g.op("CumProd", {table, along}, {{"exclusive", 1}});
  Value* after = g.op("CumProd", {table, along}, {{"exclusive", 1}, {"reverse", 1}});
  Value* others = c.keep(takes_part, g.mul(before, after));
  // dy lies along the places.
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i <= rank; ++i) perm.push_back(i == axis ? rank : i == rank ? axis : i);
  Value* arriving = g.transpose(g.unsqueeze(c.dy(), {rank}), perm);
  return {g.reduce_sum(g.mul(others, arriving), {rank}, false)};
}

}  // namespace

constinit const OpDef defs::CumProd = {
    .name = "CumProd",
    .infer = infer,
    .decompose = decompose_product,
    .kernel = run_product,
    .gradient = gradient_cumprod,
};
constinit const OpDef defs::CumSum = {
    .name = "CumSum",
    .infer = infer,
    .decompose = halves_in_float,
    .kernel = run_sum,
    .gradient = gradient_cumsum,
};

}  // namespace ingot::ops
