// MaxPool: the largest element of each window, and where it stands.
#include <cmath>
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 10, .down = drop_dilations}};

/// The number of an element of a plane when the first axis is counted fastest.
std::int64_t column_major(const Dims& plane, std::int64_t element) {
  std::int64_t result = 0, size = 1, stride = 1;
  for (const std::int64_t d : plane) size *= d;
  for (const std::int64_t d : plane) {
    size /= d;
    result += element / size * stride;
    element %= size;
    stride *= d;
  }
  return result;
}

/// What padding counts as: no element is less.
template <class T> constexpr T least() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

template <class T> bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

void run(KernelContext& c) {
  const Array x = computable(c, 0);
  const Sliding s = Sliding::over(c, x.dims());
  const std::int64_t order = c.attr("storage_order", std::int64_t{0});
  if (order != 0 && order != 1) c.fail("attribute 'storage_order' is " + std::to_string(order));
  const Dims dims = pooled_dims(x.dims(), s.windows);
  Array y = scratch(c, x.dtype(), dims);
  std::int64_t* indices = c.wants(1) ? c.make(1, DType::i64, dims).mutable_data<std::int64_t>().data() : nullptr;
  Pace pace(c.host().budget());
  dispatch(x.dtype(), JoinTypes<ComputeFloats, Types<std::int8_t, std::uint8_t>>{}, [&]<class T>() {
    const auto in = x.data<T>();
    const auto out = y.mutable_data<T>();
    std::int64_t first = 0;  // element of the plane
    for (std::size_t i = 0; i < out.size(); first += s.plane_size)
      for (Positions positions(s); positions.next(); ++i) {
        T best = least<T>();
        std::int64_t where = -1;  // stays so in a window of nothing but padding
        positions.box().each([&](std::int64_t element) {
          const T value = in[static_cast<std::size_t>(first + element)];
          // Not a number, once met, stays.
          const bool is_better = where < 0 || value > best || (!(value <= best) && !is_nan(best));
          if (!is_better) return;
          best = value;
          where = element;
        });
        out[i] = best;
        if (indices) {
          const std::int64_t place = order == 1 && where >= 0 ? column_major(s.plane, where) : where;
          indices[i] = where < 0 ? -1 : first + place;
        }
        pace.step(positions.box().size + 1);
      }
  });
  put(c, 0, y, c.in(0).dtype());
}

// Where windows overlap, what arrives adds up; of equal elements MaxPool names the first.
Values gradient_max_pool(GradContext& c) {
  if (!c.dy()) return {};
  Value* places = nullptr;
  if (c.attr("storage_order", std::int64_t{0}) == 0) {
    places = c.ensure_output(1);
  } else {
    const Attrs attrs = c.same_attrs({"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"});
    places = c.g.op("MaxPool", {c.x()}, attrs, 2)[1];
  }
  return {c.add_at(c.x(), places, c.dy())};
}

}  // namespace

constinit const OpDef defs::MaxPool = {
    .name = "MaxPool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run,
    .gradient = gradient_max_pool,
};

}  // namespace ingot::ops
