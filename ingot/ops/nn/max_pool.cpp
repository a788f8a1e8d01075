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

/// The largest of shifted copies, one axis after the other: the windows are boxes.
Values decompose(DecomposeContext& c) {
  if (Values wider = bfloat16_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const auto& y = c.node.output(0) ? c.node.output(0)->type.shape : std::nullopt;
  if (!rank || *rank < 3 || !y || y->size() != c.in(0)->type.shape->size() || c.wants(1) || Window::is_open(c.node.attributes)) return {};
  const bool is_float = c.elem(0) == DType::f32 || c.elem(0) == DType::f64 || c.elem(0) == DType::f16;
  if (!is_float && c.elem(0) != DType::i8 && c.elem(0) != DType::u8) return {};
  const double lowest = is_float                 ? -std::numeric_limits<double>::infinity()
                        : c.elem(0) == DType::i8 ? std::numeric_limits<std::int8_t>::lowest()
                                                 : 0;
  const std::size_t spatial = static_cast<std::size_t>(*rank) - 2;
  const Window window = Window::read(c.node.attributes, spatial, nullptr);
  Value* x = c.in(0);
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<std::int64_t>(i + 2);
    const Dim in = (*c.in(0)->type.shape)[i + 2], out = (*y)[i + 2];
    if (!in.is_known() || !out.is_known() || !window.kernel[i].is_known()) return {};
    const auto [before, unused] = window.padding(i, in);
    const std::int64_t stride = window.strides[i], dilation = window.dilations[i], taps = window.kernel[i].value();
    if (taps == 1 && stride == 1 && before.value() == 0 && in.value() == out.value()) continue;
    constexpr std::int64_t kMostTaps = 256;
    if (taps > kMostTaps) return {};
    const std::int64_t reach = (out.value() - 1) * stride + 1;  // of one tap
    const std::int64_t after = (taps - 1) * dilation + reach - in.value() - before.value();
    if (before.value() > 0 || after > 0) {
      Value *pads = g.ints({before.value(), std::max<std::int64_t>(after, 0)}), *over = g.ints({axis});
      x = g.op("Pad", {x, pads, g.scalar(lowest, c.elem(0)), over});
    }
    Values shifted;
    Value *over = g.ints({axis}), *steps = g.ints({stride});
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      Value *begin = g.ints({tap * dilation}), *end = g.ints({tap * dilation + reach});
      shifted.push_back(g.op("Slice", {x, begin, end, over, steps}));
    }
    x = shifted.size() == 1 ? shifted[0] : g.op("Max", shifted);
  }
  return {x == c.in(0) ? g.op("Identity", {x}) : x};
}

}  // namespace

constinit const OpDef defs::MaxPool = {
    .name = "MaxPool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_max_pool,
};

}  // namespace ingot::ops
