// ConvInteger and QLinearConv of 8-bit integers: filters times what their taps meet, read where it is.
#include <algorithm>
#include <optional>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/integer_gemm.h"
#include "ingot/engine/kernels/integer_node.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/quantization/integer_products_kernel.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kFew = 4;  // products that are shared out each, not one by one

/// Elements element, element + step, ... of a plane, which positions window, window + 1, ... meet by one tap.
struct Run {
  std::int64_t window, element, count;
};

/// What each tap meets, positions in ascending order.
std::vector<std::vector<Run>> runs_of(ops::KernelContext& c, const ops::Sliding& s) {
  std::vector<std::vector<Run>> all;
  for (ops::Taps taps(c, s); taps.next();) {
    std::vector<Run>& runs = all.emplace_back();
    taps.each_row([&](std::int64_t window, std::int64_t element, std::int64_t count, std::int64_t step) {
      if (count <= 0) return;
      if (!runs.empty() && runs.back().window + runs.back().count == window &&
          runs.back().element + runs.back().count * step == element)
        runs.back().count += count;
      else
        runs.push_back({window, element, count});
    });
  }
  return all;
}

/// The sums of ConvInteger and QLinearConv, without a bias.
class IntegerConvolution {
 public:
  /// The inputs that the operands and their zero points are; `constant`: the filters if they, and their zero points,
  /// are always the same.
  IntegerConvolution(std::size_t x, std::size_t x_zero, std::size_t w, std::size_t w_zero, Tensor constant)
      : x_(x), x_zero_(x_zero), w_(w), w_zero_(w_zero), constant_(std::move(constant)) {}

  /// [N, filters, windows...] of int32; nothing for what only the reference kernel does.
  Array sums(ops::KernelContext& c, ThreadPool& pool) const {
    const Array &x = c.in(x_), &w = c.in(w_);
    const std::int64_t group = c.attr("group", std::int64_t{1});
    if (!is_byte(x.dtype()) || !is_byte(w.dtype()) || x.rank() < 3 || w.rank() != x.rank() || group < 1) return {};
    const std::int64_t batch = x.dims()[0], channels = x.dims()[1], filters = w.dims()[0], depth = w.dims()[1];
    if (channels % group || channels / group != depth || filters % group) return {};
    const auto x_zero = zeros_of(c, x_zero_, 1), w_zeros = zeros_of(c, w_zero_, filters);
    if (!x_zero || !w_zeros) return {};
    const Dims kernel = ops::spatial_dims(c, w.dims());
    const ops::Sliding s = ops::Sliding::over(c, x.dims(), &kernel);
    Dims dims = {batch, filters};
    dims.insert(dims.end(), s.windows.begin(), s.windows.end());
    if (x.size() == 0 || w.size() == 0) return {};
    Array out = static_cast<FastHost&>(c.host()).allocate_raw(DType::i32, std::move(dims));
    if (out.size() == 0) return out;
    Layer layer{s, runs_of(c, s), x, w, *w_zeros, 0, x_zero->empty() ? 0 : x_zero->front()};
    layer.groups = group;
    std::int32_t* result = out.mutable_data<std::int32_t>().data();
    if (depth == 1)
      slide(layer, result, pool, c.host().budget());
    else
      multiply_all(layer, result, pool, c.host().budget());
    return out;
  }

 private:
  struct Layer {
    const ops::Sliding& sliding;
    std::vector<std::vector<Run>> runs;  // by tap
    const Array &x, &w;
    std::vector<std::int32_t> w_zeros;
    std::int64_t groups;
    std::int32_t x_zero;

    std::int64_t filters() const { return w.dims()[0]; }
    std::int64_t depth() const { return w.dims()[1]; }
  };

  /// None, one, or one per filter; nothing if they are spread in another way.
  static std::optional<std::vector<std::int32_t>> zeros_of(ops::KernelContext& c, std::size_t input,
                                                           std::int64_t count) {
    std::vector<std::int32_t> zeros;
    if (!c.has(input)) return zeros;
    const Array& zero = c.in(input);
    if (!is_byte(zero.dtype()) || (zero.size() != 1 && (zero.rank() != 1 || zero.size() != count))) return {};
    for (const std::int64_t value : zero.to_ints()) zeros.push_back(static_cast<std::int32_t>(value));
    return zeros;
  }

  /// One channel per group: tap by tap.
  static void slide(const Layer& layer, std::int32_t* result, ThreadPool& pool, const Budget& budget) {
    const ops::Sliding& s = layer.sliding;
    const bool x_is_signed = layer.x.dtype() == DType::i8;
    const std::int64_t step = s.strides.back(), filters = layer.filters(), per_group = filters / layer.groups;
    const std::vector<std::int64_t> weights = layer.w.to_ints();
    pool.parallel_for(layer.x.dims()[0] * filters, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        budget.poll();
        const std::int64_t n = plane / filters, m = plane % filters;
        const std::byte* from = layer.x.bytes() + (n * layer.groups + m / per_group) * s.plane_size;
        std::int32_t* to = result + plane * s.window_count;
        std::fill(to, to + s.window_count, 0);
        const std::int32_t zero =
            layer.w_zeros.empty() ? 0 : layer.w_zeros[layer.w_zeros.size() == 1 ? 0 : static_cast<std::size_t>(m)];
        for (std::int64_t tap = 0; tap < s.tap_count; ++tap) {
          const auto weight =
              static_cast<std::int32_t>(weights[static_cast<std::size_t>(m * s.tap_count + tap)]) - zero;
          for (const Run& run : layer.runs[static_cast<std::size_t>(tap)]) {
            if (step == 1) {
              add_scaled(from + run.element, x_is_signed, layer.x_zero, weight, to + run.window, run.count);
              continue;
            }
            for (std::int64_t i = 0; i < run.count; ++i) {
              const std::byte* at = from + run.element + i * step;
              const std::int32_t value =
                  x_is_signed ? std::to_integer<std::int8_t>(*at) : std::to_integer<std::uint8_t>(*at);
              to[run.window + i] =
                  static_cast<std::int32_t>(static_cast<std::uint32_t>(to[run.window + i]) +
                                            static_cast<std::uint32_t>(weight * (value - layer.x_zero)));
            }
          }
        }
      }
    });
  }

  /// Filters times columns of what their taps meet.
  void multiply_all(const Layer& layer, std::int32_t* result, ThreadPool& pool, Budget& budget) const {
    const ops::Sliding& s = layer.sliding;
    const std::int64_t filters = layer.filters(), depth = layer.depth() * s.tap_count;
    const auto centred = [&] {
      return CentredRows(layer.w.bytes(), layer.w.dtype(), filters, depth, layer.w_zeros, pool, budget);
    };
    const CentredRows own = constant_ ? CentredRows() : centred();
    const CentredRows& rows = constant_ ? constant_.get(centred) : own;
    const std::int64_t count = layer.x.dims()[0] * layer.groups, per_group = filters / layer.groups;
    const ColumnZeros zeros = {layer.x_zero};
    pool.parallel_for(count, count < kFew ? count : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t group = i % layer.groups;
        const std::byte* image = layer.x.bytes() + i * layer.depth() * s.plane_size;
        ByteMatrix columns{depth, s.window_count, layer.x.dtype() == DType::i8, {}};
        columns.read = [&layer, &s, image](std::int64_t row, std::int64_t first, std::int64_t n, std::uint8_t* to) {
          const auto* plane = reinterpret_cast<const std::uint8_t*>(image) + row / s.tap_count * s.plane_size;
          read_column(layer.runs[static_cast<std::size_t>(row % s.tap_count)], plane, s.strides.back(),
                      static_cast<std::uint8_t>(layer.x_zero), first, n, to);
        };
        multiply(rows, group * per_group, per_group, columns, zeros, result + i * per_group * s.window_count,
                 s.window_count, pool, budget);
      }
    });
  }

  /// What one tap meets at positions [first, first + n); the zero point where it meets padding.
  static void read_column(const std::vector<Run>& runs, const std::uint8_t* plane, std::int64_t step, std::uint8_t zero,
                          std::int64_t first, std::int64_t n, std::uint8_t* to) {
    std::int64_t done = first;
    const std::int64_t end = first + n;
    auto run = std::ranges::lower_bound(runs, first, std::ranges::less_equal(),
                                        [](const Run& r) { return r.window + r.count; });
    for (; run != runs.end() && run->window < end; ++run) {
      const std::int64_t begin = std::max(run->window, first), stop = std::min(run->window + run->count, end);
      std::fill(to + (done - first), to + (begin - first), zero);
      const std::uint8_t* from = plane + run->element + (begin - run->window) * step;
      if (step == 1)
        std::copy(from, from + (stop - begin), to + (begin - first));
      else
        for (std::int64_t i = 0; i < stop - begin; ++i) to[begin - first + i] = from[i * step];
      done = stop;
    }
    std::fill(to + (done - first), to + n, zero);
  }

  std::size_t x_, x_zero_, w_, w_zero_;
  PackedOnce<CentredRows> constant_;
};

using ConvInteger = SumsNode<IntegerConvolution, ops::run_conv_integer>;

class QLinearConv final : public PreparedNode {
 public:
  explicit QLinearConv(Tensor constant) : convolution_(0, 2, 3, 5, std::move(constant)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const std::int64_t filters = c.in(3).rank() > 0 ? c.in(3).dims()[0] : 0;
    const auto is_list = [&](const Array& x, DType type, std::int64_t size) {
      return x.dtype() == type && (x.size() == 1 || (x.rank() == 1 && x.size() == size));
    };
    const bool has_bias = c.has(8);
    if (!is_byte(c.in(7).dtype()) || c.in(7).size() != 1 || !is_list(c.in(1), DType::f32, 1) ||
        !is_list(c.in(4), DType::f32, filters) || !is_list(c.in(6), DType::f32, 1) ||
        (has_bias && (c.in(8).rank() != 1 || c.in(8).size() != filters || c.in(8).dtype() != DType::i32)))
      return ops::run_qlinear_conv(c);
    const Array sums = convolution_.sums(c, pool);
    if (!sums) return ops::run_qlinear_conv(c);
    const DType type = c.in(7).dtype();
    const float zero = static_cast<float>(c.in(7).to_ints()[0]);
    Array out = make_raw(c, 0, type, sums.dims());
    if (out.size() == 0) return;
    const float scale = c.in(1).data<float>()[0], divisor = c.in(6).data<float>()[0];
    const auto filter_scales = c.in(4).data<float>();
    const std::int64_t planes = sums.dims()[0] * filters, size = sums.size() / planes;
    const std::int32_t* from = sums.data<std::int32_t>().data();
    pool.parallel_for(planes, std::max<std::int64_t>(1, (1 << 14) / size), [&](std::int64_t begin, std::int64_t end) {
      c.host().budget().poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const auto filter = static_cast<std::size_t>(i % filters);
        const float factor = scale * filter_scales[filter_scales.size() == 1 ? 0 : filter] / divisor;
        const std::int32_t bias = has_bias ? c.in(8).data<std::int32_t>()[filter] : 0;
        requantize(from + i * size, size, bias, &factor, 0, zero, type, out.bytes() + i * size);
      }
    });
  }

 private:
  IntegerConvolution convolution_;
};

/// The filters, if they and their zero points are the same in every run.
Tensor constant_filters(const PrepareContext& c, std::size_t w, std::size_t zero) {
  return !c.has(zero) || c.weights(zero) ? c.weights(w) : Tensor();
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_conv_integer(PrepareContext& c) {
  return prepare_bytes<ConvInteger>(c, 0, 1, constant_filters(c, 1, 3));
}

std::unique_ptr<PreparedNode> prepare_qlinear_conv(PrepareContext& c) {
  return prepare_bytes<QLinearConv>(c, 0, 3, constant_filters(c, 3, 5));
}

}  // namespace ingot::engine
