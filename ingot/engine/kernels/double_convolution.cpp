// Convolutions of doubles along any number of axes: windows become columns of a matrix, some at a time.
#include <algorithm>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/double_product.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/conv.h"

namespace ingot::engine {
namespace {

/// Which element of a plane each tap of some neighbouring windows meets.
class Columns {
 public:
  Columns(const ops::Sliding& s, std::int64_t first, std::int64_t count) : count_(count) {
    for (std::int64_t tap = 0; tap < s.tap_count; ++tap)
      for (std::int64_t window = first; window < first + count; ++window) places_.push_back(place(s, tap, window));
  }

  /// A row for each tap.
  void copy(const double* plane, double* rows) const {
    for (const std::int64_t at : places_) *rows++ = at < 0 ? 0 : plane[at];
  }
  std::int64_t count() const { return count_; }

 private:
  /// -1: padding.
  static std::int64_t place(const ops::Sliding& s, std::int64_t tap, std::int64_t window) {
    std::int64_t at = 0, stride = 1;
    for (std::size_t i = s.rank(); i-- > 0; tap /= s.kernel[i], window /= s.windows[i]) {
      const std::int64_t along =
          window % s.windows[i] * s.strides[i] - s.before[i] + tap % s.kernel[i] * s.dilations[i];
      if (along < 0 || along >= s.plane[i]) return -1;
      at += along * stride;
      stride *= s.plane[i];
    }
    return at;
  }

  std::int64_t count_;
  std::vector<std::int64_t> places_;
};

class DoubleConvolution final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &w = c.in(1);
    if (x.dtype() != DType::f64 || w.dtype() != DType::f64)
      c.fail("the inputs are not of the types that were inferred");
    const ops::ConvSizes sizes(c, x.dims(), w.dims());
    const ops::Sliding& s = sizes.sliding;
    const std::int64_t high = sizes.depth * s.tap_count;
    if (high == 0 || high > kMost) return ops::find(c.node)->kernel(c);
    Array y = make_raw(c, 0, DType::f64, sizes.result);
    if (y.size() == 0) return;
    if (c.has(2))
      ops::fill_with_bias(c, y, 2);
    else
      std::ranges::fill(y.mutable_data<double>(), 0.0);
    const std::int64_t wide = std::clamp<std::int64_t>(kMost / high, 8, 1024);
    const std::int64_t pieces = (s.window_count + wide - 1) / wide, filters = sizes.filters / sizes.group;
    const double *in = x.data<double>().data(), *weights = w.data<double>().data();
    double* out = y.mutable_data<double>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(sizes.batch * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> windows(static_cast<std::size_t>(high * wide));
      std::vector<double> sums(static_cast<std::size_t>(filters * wide));
      for (std::int64_t piece = begin; piece < end; ++piece) {
        const std::int64_t image = piece / pieces, first = piece % pieces * wide;
        const Columns columns(s, first, std::min(wide, s.window_count - first));
        for (std::int64_t g = 0; g < sizes.group; ++g) {
          for (std::int64_t k = 0; k < sizes.depth; ++k)
            columns.copy(in + ((image * sizes.group + g) * sizes.depth + k) * s.plane_size,
                         windows.data() + k * s.tap_count * columns.count());
          multiply({weights + g * filters * high, filters, high, high},
                   {windows.data(), high, columns.count(), columns.count()}, sums.data(), pool, budget);
          for (std::int64_t m = 0; m < filters; ++m) {
            double* to = out + ((image * sizes.group + g) * filters + m) * s.window_count + first;
            for (std::int64_t i = 0; i < columns.count(); ++i)
              to[i] += sums[static_cast<std::size_t>(m * columns.count() + i)];
          }
        }
      }
    });
  }

 private:
  static constexpr std::int64_t kMost = 1 << 16;  // elements of windows at once
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_double_convolution(PrepareContext& c) {
  if (c.elem(0) != DType::f64 || c.elem(1) != DType::f64) return c.refuse("the inputs are not double");
  return std::make_unique<DoubleConvolution>();
}

}  // namespace ingot::engine
