// CumSum and CumProd: the sums or products of all numbers up to each along one axis.
#include <functional>
#include <limits>

#include "ingot/ops/compute.h"
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
  const Tensor* given = c.constant(1);
  if (!given) return {multiply_along_computed(c)};
  if (given->size() != 1) return {};
  const std::int64_t axis = given->to_ints().front();
  std::optional<Shape> slice = c.in(0)->type.shape;
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

}  // namespace

constinit const OpDef defs::CumProd = {
    .name = "CumProd",
    .infer = infer,
    .decompose = decompose_product,
    .kernel = run_product,
};
constinit const OpDef defs::CumSum = {
    .name = "CumSum",
    .infer = infer,
    .decompose = halves_in_float,
    .kernel = run_sum,
};

}  // namespace ingot::ops
