// IsInf and IsNaN: which floating numbers are none.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

// A float holds every number of the smaller types, their infinities and NaN included.
Values in_float(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (!is_float(elem) || elem == DType::f32 || elem == DType::f64) return {};
  return in_wider_type(c, elem, DType::f32);
}

Values decompose_is_inf(DecomposeContext& c) {
  if (Values wider = in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  if (c.elem(0) != DType::f32 && c.elem(0) != DType::f64) return {};
  const double infinity = std::numeric_limits<double>::infinity();
  const bool negative = c.attr("detect_negative", std::int64_t{1}) != 0;
  const bool positive = c.attr("detect_positive", std::int64_t{1}) != 0;
  Value* x = negative && positive ? g.op("Abs", {c.in(0)}) : c.in(0);
  if (positive || negative) return {g.op("Equal", {x, g.scalar(positive ? infinity : -infinity, c.elem(0))})};
  return {g.op("Less", {x, g.scalar(-infinity, c.elem(0))})};  // nothing is
}

template <class Test> void map_to_truth(KernelContext& c, Test test) {
  const Array x = computable(c, 0);
  Array& y = c.make(0, DType::boolean, x.dims());
  dispatch(x.dtype(), ComputeFloats{},
           [&]<class T>() { std::ranges::transform(x.data<T>(), y.mutable_data<bool>().begin(), test); });
}

void run_is_inf(KernelContext& c) {
  const bool is_negative_sought = c.attr("detect_negative", std::int64_t{1}) != 0;
  const bool is_positive_sought = c.attr("detect_positive", std::int64_t{1}) != 0;
  map_to_truth(c, [&](auto x) { return std::isinf(x) && (x < 0 ? is_negative_sought : is_positive_sought); });
}

void run_is_nan(KernelContext& c) {
  map_to_truth(c, [](auto x) { return std::isnan(x); });
}

}  // namespace

constinit const OpDef defs::IsInf = {
    .name = "IsInf",
    .infer = infer_same_shape,
    .decompose = decompose_is_inf,
    .kernel = run_is_inf,
};
constinit const OpDef defs::IsNaN = {
    .name = "IsNaN",
    .infer = infer_same_shape,
    .decompose = in_float,
    .kernel = run_is_nan,
};

}  // namespace ingot::ops
