// TopK: the k largest or smallest numbers along an axis, and where they are.
#include <algorithm>
#include <numeric>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/lanes.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (const Shape* s = c.shape(1)) c.require(may_equal(product(*s), 1), "k is not one number");
  const auto known = c.ints(1);
  const Dim k = known && known->size() == 1 ? known->front() : Dim();
  c.require(!k.is_known() || k.value() >= 0, "k is negative");
  const Shape* x = c.shape(0);
  if (!x) return;
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), static_cast<std::int64_t>(x->size()));
  Shape y = *x;
  Dim& size = y[static_cast<std::size_t>(axis)];
  if ((k - size).is_at_least(1)) c.fail("k is " + k.str() + ", but there are only " + size.str());
  size = k.is_unknown() ? c.data_dim(c.wants(0) ? 0 : 1, axis) : k;
  c.out_shape(0, y);
  c.out_shape(1, std::move(y));
}

// Version 1 has k as an attribute.
void up_to_input(StepContext& c) {
  if (const auto* k = c.node.attributes.get<std::int64_t>("k")) c.node.set_input(1, c.g.ints({*k}));
  c.node.attributes.erase("k");
}

void down_to_attribute(StepContext& c) {
  const auto k = c.need_ints(1, "k");
  if (k.size() != 1) c.cannot("k is not one number");
  c.node.attributes.set(Attribute("k", AttrValue(k.front())));
  c.node.resize_inputs(1);
}

constexpr Step kSteps[] = {{.since = 10, .up = up_to_input, .down = down_to_attribute}};

/// Whether a comes before b among the largest: NaN counts as larger than every number.
template <class T> bool is_larger(T a, T b) { return is_nan(a) ? !is_nan(b) : a > b; }

// In order, whether asked to or not; of equal numbers the first comes first.
void run(KernelContext& c) {
  const Array x = computable(c, 0);
  if (c.in(1).size() != 1) c.fail("k is not one number");
  const std::int64_t k = c.in(1).to_ints().front();
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), x.rank());
  const bool is_largest = c.attr("largest", std::int64_t{1}) != 0;
  Dims dims = x.dims();
  std::int64_t& size = dims[static_cast<std::size_t>(axis)];
  if (k < 0 || k > size) c.fail("k is " + std::to_string(k) + ", but there are " + std::to_string(size));
  size = k;
  const Lanes lanes = lanes_along(x, axis);
  Array values = scratch(c, x.dtype(), dims);
  Array indices = scratch(c, DType::i64, dims);
  Array order = scratch(c, DType::i64, {lanes.size});
  const auto places = order.mutable_data<std::int64_t>();
  dispatch(x.dtype(), ComputeNumbers{}, [&]<class T>() {
    const T* in = x.data<T>().data();
    T* best = values.mutable_data<T>().data();
    std::int64_t* where = indices.mutable_data<std::int64_t>().data();
    for_each_lane(lanes, c.host().budget(), [&](std::int64_t first) {
      const T* lane = in + first;
      std::iota(places.begin(), places.end(), 0);
      const auto is_before = [&](std::int64_t a, std::int64_t b) {
        const T p = lane[a * lanes.inner], q = lane[b * lanes.inner];
        if (is_larger(p, q)) return is_largest;
        if (is_larger(q, p)) return !is_largest;
        return a < b;
      };
      std::partial_sort(places.begin(), places.begin() + k, places.end(), is_before);
      const std::int64_t start = first / (lanes.size * lanes.inner) * k * lanes.inner + first % lanes.inner;
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        best[start + i * lanes.inner] = lane[place * lanes.inner];
        where[start + i * lanes.inner] = place;
      }
    });
  });
  put(c, 0, values, c.in(0).dtype());
  c.set(1, indices);
}

Values gradient_topk(GradContext& c) {
  if (!c.dy()) return {};
  Value* places = c.ensure_output(1);
  return {c.g.op("ScatterElements", {c.zeros(c.x()), places, c.dy()}, {{"axis", c.attr("axis", std::int64_t{-1})}})};
}

}  // namespace

constinit const OpDef defs::TopK = {
    .name = "TopK",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run,
    .gradient = gradient_topk,
};

}  // namespace ingot::ops
