// Pools of plain images of any rank: the rows that a window meets become one row, then its parts become numbers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::engine {
namespace {

/// The taps of a window along one axis.
struct Span {
  std::int64_t first = 0, count = 0;  // that lie on the plane
  std::int64_t padded = 0;            // or on its padding
};

std::vector<Span> spans_along(const ops::Sliding& s, std::size_t axis) {
  std::vector<Span> spans;
  const std::int64_t step = s.dilations[axis];
  for (std::int64_t i = 0; i < s.windows[axis]; ++i) {
    const std::int64_t start = i * s.strides[axis] - s.before[axis];
    const auto before = [&](std::int64_t end) {
      return end <= start ? 0 : std::min(s.kernel[axis], (end - start + step - 1) / step);
    };
    const std::int64_t skipped = before(0);
    spans.push_back({start + skipped * step, before(s.plane[axis]) - skipped, before(s.plane[axis] + s.after[axis])});
  }
  return spans;
}

enum class Kind { max, average, power };

class PlainPool final : public PreparedNode {
 public:
  PlainPool(Kind kind, double p) : kind_(kind), p_(p) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() < 3 || x.size() == 0) return ops::find(c.node)->kernel(c);
    const ops::Sliding s = ops::Sliding::over(c, x.dims());
    Array y = make_raw(c, 0, DType::f32, ops::pooled_dims(x.dims(), s.windows));
    if (y.size() == 0) return;
    std::vector<std::vector<Span>> spans;
    for (std::size_t i = 0; i < s.rank(); ++i) spans.push_back(spans_along(s, i));
    const bool counts_padding = c.attr("count_include_pad", std::int64_t{0}) != 0;
    const std::int64_t planes = x.dims()[0] * x.dims()[1], lines = s.window_count / s.windows.back();
    const std::int64_t work = s.tap_count / s.kernel.back() * s.plane.back() + s.windows.back() * s.kernel.back();
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(planes * lines, std::max<std::int64_t>(1, kGrain / (work + 1)),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        std::vector<float> row(static_cast<std::size_t>(2 * s.plane.back() + s.windows.back()));
                        std::vector<Span> outer(s.rank() - 1);
                        for (std::int64_t i = begin; i < end; ++i)
                          line(s, spans, outer, in + i / lines * s.plane_size, i % lines, counts_padding, row.data(),
                               out + i * s.windows.back());
                      });
  }

 private:
  static constexpr std::int64_t kGrain = 1 << 15;

  /// The windows of one line of the result.
  void line(const ops::Sliding& s, const std::vector<std::vector<Span>>& spans, std::vector<Span>& outer,
            const float* plane, std::int64_t at, bool counts_padding, float* row, float* out) const {
    const std::size_t last = s.rank() - 1;
    std::int64_t rows = 1, padded = 1;
    for (std::size_t i = last; i-- > 0; at /= s.windows[i]) {
      outer[i] = spans[i][static_cast<std::size_t>(at % s.windows[i])];
      rows *= outer[i].count;
      padded *= outer[i].padded;
    }
    const std::int64_t wide = s.plane[last];
    std::fill_n(row, wide, kind_ == Kind::max ? -std::numeric_limits<float>::infinity() : 0.0f);
    for (std::int64_t k = 0; k < rows; ++k) {
      std::int64_t rest = k, from = 0, stride = wide;
      for (std::size_t i = last; i-- > 0; stride *= s.plane[i]) {
        from += (outer[i].first + rest % outer[i].count * s.dilations[i]) * stride;
        rest /= outer[i].count;
      }
      take(plane + from, row, wide);
    }
    const std::vector<Span>& across = spans[last];
    const auto one_by_one = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Span& span = across[static_cast<std::size_t>(i)];
        out[i] = result(row + span.first, span.count, s.dilations[last],
                        counts_padding ? padded * span.padded : rows * span.count);
      }
    };
    // Those windows that lie on the plane as a whole are computed side by side.
    const auto is_whole = [&](const Span& span) { return span.count == s.kernel[last]; };
    const auto first = std::ranges::find_if(across, is_whole);
    const auto end = std::find_if_not(first, across.end(), is_whole);
    one_by_one(0, first - across.begin());
    if (first != end)
      side_by_side(s, row + first->first, end - first, (counts_padding ? padded : rows) * s.kernel[last],
                   row + 2 * wide, out + (first - across.begin()));
    one_by_one(end - across.begin(), s.windows[last]);
  }

  /// n whole windows along the last axis, the first of which begins at `row`.
  void side_by_side(const ops::Sliding& s, const float* row, std::int64_t n, std::int64_t all, float* picked,
                    float* out) const {
    const std::size_t last = s.rank() - 1;
    const std::int64_t stride = s.strides[last];
    for (std::int64_t k = 0; k < s.kernel[last]; ++k) {
      const float* taps = row + k * s.dilations[last];
      if (stride != 1) {
        float* to = k == 0 ? out : picked;
        for (std::int64_t i = 0; i < n; ++i) to[i] = taps[i * stride];
        taps = to;
      } else if (k == 0) {
        std::copy_n(taps, n, out);
      }
      if (k > 0) apply(kind_ == Kind::max ? Binary::maximum : Binary::add, out, 1, taps, 1, out, n);
    }
    const auto count = static_cast<float>(all);
    if (kind_ == Kind::average) apply(Binary::divide, out, 1, &count, 0, out, n);
    if (kind_ != Kind::power || p_ == 1) return;
    if (p_ == 2) return apply(Unary::sqrt, out, out, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(std::pow(static_cast<double>(out[i]), 1 / p_));
  }

  void take(const float* from, float* row, std::int64_t n) const {
    if (kind_ == Kind::max) return apply(Binary::maximum, row, 1, from, 1, row, n);
    if (kind_ == Kind::average || p_ == 1) {
      if (kind_ == Kind::average) return apply(Binary::add, row, 1, from, 1, row, n);
      apply(Unary::abs, from, row + n, n);
    } else if (p_ == 2) {
      apply(Unary::square, from, row + n, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        row[n + i] = static_cast<float>(std::pow(std::abs(static_cast<double>(from[i])), p_));
    }
    apply(Binary::add, row, 1, row + n, 1, row, n);
  }

  float result(const float* row, std::int64_t count, std::int64_t step, std::int64_t all) const {
    if (kind_ == Kind::max) {
      float best = -std::numeric_limits<float>::infinity();
      for (std::int64_t k = 0; k < count; ++k) {
        const float value = row[k * step];
        best = !(value <= best) && best == best ? value : best;  // not a number, once met, stays
      }
      return best;
    }
    float sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += row[k * step];
    if (kind_ == Kind::average) return sum / static_cast<float>(all);
    return p_ == 1 ? sum : p_ == 2 ? std::sqrt(sum) : static_cast<float>(std::pow(static_cast<double>(sum), 1 / p_));
  }

  Kind kind_;
  double p_;
};

/// MaxPool of bytes and doubles.
template <class T> class TypedMaxPool final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != dtype_of<T> || x.rank() < 3 || x.size() == 0) return ops::find(c.node)->kernel(c);
    const ops::Sliding s = ops::Sliding::over(c, x.dims());
    Array y = make_raw(c, 0, dtype_of<T>, ops::pooled_dims(x.dims(), s.windows));
    if (y.size() == 0) return;
    std::vector<std::vector<Span>> spans;
    for (std::size_t i = 0; i < s.rank(); ++i) spans.push_back(spans_along(s, i));
    const std::int64_t wide = s.windows.back(), lines = s.window_count / wide;
    const std::int64_t work = s.tap_count / s.kernel.back() * s.plane.back() + wide * s.kernel.back();
    const T* in = x.data<T>().data();
    T* out = y.mutable_data<T>().data();
    const Budget& budget = c.host().budget();
    constexpr std::int64_t kGrain = 1 << 16;
    pool.parallel_for(x.dims()[0] * x.dims()[1] * lines, std::max<std::int64_t>(1, kGrain / (work + 1)),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        std::vector<T> row(static_cast<std::size_t>(s.plane.back()));
                        std::vector<T> picked(static_cast<std::size_t>(wide));
                        for (std::int64_t i = begin; i < end; ++i) {
                          take_rows(s, spans, in + i / lines * s.plane_size, i % lines, row.data());
                          take_columns(s, spans.back(), row.data(), picked.data(), out + i * wide);
                        }
                      });
  }

 private:
  /// The largest of the rows of a plane that the windows of a line meet.
  void take_rows(const ops::Sliding& s, const std::vector<std::vector<Span>>& spans, const T* plane, std::int64_t line,
                 T* row) const {
    loops_.start(row, s.plane.back());
    std::vector<Span> outer(s.rank() - 1);
    std::int64_t rows = 1;
    for (std::size_t i = outer.size(); i-- > 0; line /= s.windows[i]) {
      outer[i] = spans[i][static_cast<std::size_t>(line % s.windows[i])];
      rows *= outer[i].count;
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      std::int64_t rest = k, from = 0, stride = s.plane.back();
      for (std::size_t i = outer.size(); i-- > 0; stride *= s.plane[i]) {
        from += (outer[i].first + rest % outer[i].count * s.dilations[i]) * stride;
        rest /= outer[i].count;
      }
      loops_.columns(plane + from, s.plane.back(), row);
    }
  }

  /// Whole windows side by side, those at the ends one by one.
  void take_columns(const ops::Sliding& s, const std::vector<Span>& across, const T* row, T* picked, T* out) const {
    const std::size_t last = s.rank() - 1;
    const auto is_whole = [&](const Span& span) { return span.count == s.kernel[last]; };
    const auto first = std::ranges::find_if(across, is_whole), end = std::find_if_not(first, across.end(), is_whole);
    const std::int64_t skipped = first - across.begin(), n = end - first;
    loops_.start(out, s.windows[last]);
    for (std::int64_t i = 0; i < s.windows[last]; ++i) {
      if (i == skipped) i += n;
      if (i >= s.windows[last]) break;
      const Span& span = across[static_cast<std::size_t>(i)];
      for (std::int64_t k = 0; k < span.count; ++k)
        loops_.columns(row + span.first + k * s.dilations[last], 1, out + i);
    }
    for (std::int64_t k = 0; n > 0 && k < s.kernel[last]; ++k) {
      const T* taps = row + first->first + k * s.dilations[last];
      if (s.strides[last] != 1) {
        for (std::int64_t i = 0; i < n; ++i) picked[i] = taps[i * s.strides[last]];
        taps = picked;
      }
      loops_.columns(taps, n, out + skipped);
    }
  }

  FoldLoops loops_ = fold_loops(Fold::maximum, dtype_of<T>);
};

/// One window over all of each plane.
class GlobalPool final : public PreparedNode {
 public:
  explicit GlobalPool(Kind kind) : kind_(kind) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() < 2 || x.size() == 0) return ops::find(c.node)->kernel(c);
    Array y = make_raw(c, 0, DType::f32, ops::pooled_dims(x.dims(), Dims(x.dims().size() - 2, 1)));
    const std::int64_t size = x.size() / y.size();
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(y.size(), std::max<std::int64_t>(1, (1 << 15) / size), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) out[i] = result(in + i * size, size);
    });
  }

 private:
  float result(const float* plane, std::int64_t n) const {
    if (kind_ == Kind::average) return static_cast<float>(sum_of(plane, n) / static_cast<double>(n));
    if (kind_ == Kind::power) return static_cast<float>(std::sqrt(squares_about(plane, n, 0)));
    float best = plane[0];
    fold_loops(Fold::maximum, DType::f32).row(plane, n, &best);
    return best;
  }

  Kind kind_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_global_pool(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  if (c.node.op == "GlobalLpPool" && c.node.attributes.int_or("p", 2) != 2) return c.refuse("it is not of order 2");
  return std::make_unique<GlobalPool>(c.node.op == "GlobalMaxPool"  ? Kind::max
                                      : c.node.op == "GlobalLpPool" ? Kind::power
                                                                    : Kind::average);
}

std::unique_ptr<PreparedNode> prepare_plain_pool(PrepareContext& c) {
  if (c.node.output(1)) return c.refuse("the places of the largest elements are wanted");
  if (c.node.op == "MaxPool" && c.elem(0) == DType::u8) return std::make_unique<TypedMaxPool<std::uint8_t>>();
  if (c.node.op == "MaxPool" && c.elem(0) == DType::i8) return std::make_unique<TypedMaxPool<std::int8_t>>();
  if (c.node.op == "MaxPool" && c.elem(0) == DType::f64) return std::make_unique<TypedMaxPool<double>>();
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  if (c.node.attributes.int_or("storage_order", 0) != 0) return c.refuse("places are counted in columns");
  const std::int64_t p = c.node.attributes.int_or("p", 2);
  if (c.node.op == "LpPool" && p < 1) return c.refuse("attribute 'p' is less than 1");
  const Kind kind = c.node.op == "MaxPool" ? Kind::max : c.node.op == "LpPool" ? Kind::power : Kind::average;
  return std::make_unique<PlainPool>(kind, static_cast<double>(p));
}

}  // namespace ingot::engine
