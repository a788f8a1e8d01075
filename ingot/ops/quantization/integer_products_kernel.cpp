// How ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul run: exactly in int32, scaled at the end.
#include "ingot/ops/quantization/integer_products_kernel.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/tensor/matmul.h"

namespace ingot::ops {
namespace {

/// Which axis of its operand a list of parameters belongs to.
enum class Along { rows, columns, filters };

/// A parameter that is one number, or a list along one axis of an operand of this rank, in a shape that broadcasts.
Array spread(const Array& parameter, Along along, std::int64_t rank) {
  if (parameter.size() == 1) return parameter.reshaped({});
  if (parameter.rank() != 1 || along == Along::columns) return parameter;
  Dims dims(along == Along::rows ? 2 : static_cast<std::size_t>(std::max<std::int64_t>(rank, 1)), 1);
  dims[0] = parameter.size();
  return parameter.reshaped(std::move(dims));
}

/// Input i less its zero point: as int32, or as float where it is of a floating type.
Array centred(KernelContext& c, std::size_t i, std::size_t zero_input, Along along) {
  const bool is_whole = is_integer(c.in(i).dtype());
  const DType type = is_whole ? DType::i32 : DType::f32;
  const Array x = converted(c.in(i), type, c.host());
  if (!c.has(zero_input)) return x;
  const Array zero = spread(converted(c.in(zero_input), type, c.host()), along, x.rank());
  if (broadcast_dims(c, {&x.dims(), &zero.dims()}) != x.dims()) c.fail("a zero point does not fit its operand");
  const Walk walk = broadcast(x.dims(), {&x.dims(), &zero.dims()});
  Array y = scratch(c, type, x.dims());
  dispatch(type, Types<std::int32_t, float>{}, [&]<class T>() {
    const T *a = x.data<T>().data(), *b = zero.data<T>().data();
    T* out = y.mutable_data<T>().data();
    const std::int64_t step_a = walk.strides[0].back(), step_b = walk.strides[1].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) *out++ = a[at[0] + k * step_a] - b[at[1] + k * step_b];
    });
  });
  return y;
}

/// The convolution of int32 operands; sums wrap around. Padding is 0, which stands for the zero point.
Array integer_conv(KernelContext& c, const Array& x, const Array& w, const Array& bias) {
  const std::int64_t group = c.attr("group", std::int64_t{1});
  const Dims kernel = spatial_dims(c, w.dims());
  const Sliding s = Sliding::over(c, x.dims(), &kernel);
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1], filters = w.dims()[0], depth = w.dims()[1];
  if (group < 1 || channels % group || channels / group != depth || filters % group)
    c.fail("the channels of input and kernel do not fit " + std::to_string(group) + " groups");
  if (bias && (bias.rank() != 1 || bias.size() != filters)) c.fail("the bias does not have one number per filter");
  Dims dims = {batch, filters};
  dims.insert(dims.end(), s.windows.begin(), s.windows.end());
  Array y = scratch(c, DType::i32, dims);
  if (y.size() == 0) return y;
  // The bits are those of int32; sums without a sign wrap.
  auto* sums = reinterpret_cast<std::uint32_t*>(y.mutable_data<std::int32_t>().data());
  for (std::int64_t plane = 0; plane < batch * filters; ++plane) {
    const std::int32_t first = bias ? bias.data<std::int32_t>()[static_cast<std::size_t>(plane % filters)] : 0;
    std::fill_n(sums + plane * s.window_count, s.window_count, static_cast<std::uint32_t>(first));
  }
  if (x.size() == 0 || w.size() == 0) return y;
  const std::int32_t *in = x.data<std::int32_t>().data(), *weights = w.data<std::int32_t>().data();
  Pace pace(c.host().budget());
  for (Taps taps(c, s); taps.next();)
    for (std::int64_t plane = 0; plane < batch * filters; ++plane) {
      const std::int64_t n = plane / filters, m = plane % filters;
      const std::int64_t first = n * channels + m / (filters / group) * depth;
      for (std::int64_t k = 0; k < depth; ++k) {
        const auto weight = static_cast<std::uint32_t>(weights[(m * depth + k) * s.tap_count + taps.index()]);
        const std::int32_t* from = in + (first + k) * s.plane_size;
        std::uint32_t* to = sums + plane * s.window_count;
        taps.each_row([&](std::int64_t window, std::int64_t element, std::int64_t count, std::int64_t step) {
          for (std::int64_t i = 0; i < count; ++i)
            to[window + i] += weight * static_cast<std::uint32_t>(from[element + i * step]);
        });
        pace.step(s.window_count);
      }
    }
  return y;
}

/// Output 0: sums * (a * b / y) + zero point, with scales a, b, y that broadcast to the sums.
void put_scaled(KernelContext& c, const Array& sums, const Array& a, const Array& b, const Array& y, const Array& zero,
                DType to) {
  const Dims& dims = sums.dims();
  if (broadcast_dims(c, {&dims, &a.dims(), &b.dims(), &y.dims(), &zero.dims()}) != dims)
    c.fail("the scales do not fit the result");
  const Walk walk = broadcast(dims, {&dims, &a.dims(), &b.dims(), &y.dims(), &zero.dims()});
  const Array numbers = converted(sums, DType::f32, c.host());
  Array result = scratch(c, DType::f32, dims);
  float* out = result.mutable_data<float>().data();
  const float* in[5];
  std::size_t k = 0;
  for (const Array* operand : {&numbers, &a, &b, &y, &zero}) in[k++] = operand->data<float>().data();
  const auto range = [&]() -> std::pair<float, float> {
    if (to == DType::i8) return {-128.0f, 127.0f};
    return {0.0f, 255.0f};
  }();
  const bool is_whole = is_integer(to);
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto value = [&](std::size_t operand) {
        return in[operand][at[operand] + i * walk.strides[operand].back()];
      };
      const float scaled = value(0) * (value(1) * value(2) / value(3));
      if (is_whole)
        *out++ =
            std::clamp(std::isnan(scaled) ? value(4) : std::nearbyint(scaled) + value(4), range.first, range.second);
      else
        *out++ = scaled + value(4);
    }
  });
  put(c, 0, result, to);
}

/// A scale or a zero point in float.
Array parameter(KernelContext& c, std::size_t i, Along along, std::int64_t rank) {
  return spread(converted(c.in(i), DType::f32, c.host()), along, rank);
}

void check_bytes(const KernelContext& c, const Array& x) {
  if (!is_integer(x.dtype()) || bits_of(x.dtype()) != 8) c.fail("an operand is not of 8-bit integers");
}

}  // namespace

void run_matmul_integer(KernelContext& c) {
  check_bytes(c, c.in(0));
  check_bytes(c, c.in(1));
  const Array a = centred(c, 0, 2, Along::rows), b = centred(c, 1, 3, Along::columns);
  c.set(0, matrix_product(c, a, b));
}

void run_qlinear_matmul(KernelContext& c) {
  Array a = centred(c, 0, 2, Along::rows), b = centred(c, 3, 5, Along::columns);
  // Integers times floats of 8 bits are computed in float.
  if (a.dtype() != b.dtype()) {
    a = converted(a, DType::f32, c.host());
    b = converted(b, DType::f32, c.host());
  }
  const Array sums = matrix_product(c, a, b);
  const Array scale_a = parameter(c, 1, Along::rows, 2), scale_b = parameter(c, 4, Along::columns, 2);
  const Array scale_y = parameter(c, 6, Along::rows, 2), zero_y = parameter(c, 7, Along::rows, 2);
  put_scaled(c, sums, scale_a, scale_b, scale_y, zero_y, c.in(7).dtype());
}

void run_conv_integer(KernelContext& c) {
  check_bytes(c, c.in(0));
  check_bytes(c, c.in(1));
  const Array x = centred(c, 0, 2, Along::filters), w = centred(c, 1, 3, Along::filters);
  c.set(0, integer_conv(c, x, w, Array()));
}

void run_qlinear_conv(KernelContext& c) {
  check_bytes(c, c.in(0));
  check_bytes(c, c.in(3));
  const Array x = centred(c, 0, 2, Along::filters), w = centred(c, 3, 5, Along::filters);
  const Array sums = integer_conv(c, x, w, c.has(8) ? c.in(8) : Array());
  // Scales of the filters lie along the channels of the result, one axis further in than along those of the kernel.
  Array filter_scales = converted(c.in(4), DType::f32, c.host());
  if (filter_scales.size() != 1) {
    if (filter_scales.rank() != 1) c.fail("the scales of the filters are no list");
    Dims dims(static_cast<std::size_t>(sums.rank() - 1), 1);
    dims[0] = filter_scales.size();
    filter_scales = filter_scales.reshaped(std::move(dims));
  } else {
    filter_scales = filter_scales.reshaped({});
  }
  const Array scale_x = parameter(c, 1, Along::columns, 0), scale_y = parameter(c, 6, Along::columns, 0);
  put_scaled(c, sums, scale_x, filter_scales, scale_y, parameter(c, 7, Along::columns, 0), c.in(7).dtype());
}

}  // namespace ingot::ops
