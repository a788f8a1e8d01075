// The sums of all numbers up to each along an axis: of several rows, or of neighbouring columns, at once.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

/// Floats are summed up in double, integers wrap around.
template <class T> using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// `kLanes` lanes, `apart` elements from each other, of n elements, `step` from each other (from the back if negative).
template <std::size_t kLanes, class T>
void sum_lanes(const T* in, T* out, std::int64_t n, std::int64_t step, std::int64_t apart, bool is_exclusive) {
  std::array<Sum<T>, kLanes> sums{};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = i * step;
    for (std::size_t k = 0; k < kLanes; ++k) {
      const std::int64_t place = at + static_cast<std::int64_t>(k) * apart;
      const Sum<T> next = sums[k] + static_cast<Sum<T>>(in[place]);
      out[place] = static_cast<T>(is_exclusive ? sums[k] : next);
      sums[k] = next;
    }
  }
}

class CumSum final : public PreparedNode {
 public:
  explicit CumSum(DType type) : type_(type) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != type_) c.fail("the input is not of the type that was inferred");
    if (c.in(1).size() != 1) c.fail("axis is not one number");
    const ops::Blocks b = ops::blocks_along(x.dims(), c.axis(c.in(1).to_ints().front(), x.rank()));
    Array y = make_raw(c, 0, type_, x.dims());
    if (y.size() == 0) return;
    if (b.inner >= kColumns) return columns(c, pool, b, x, y);
    dispatch(type_, Types{}, [&]<class T>() { rows(c, pool, b, x.data<T>().data(), y.mutable_data<T>().data()); });
  }

  using Types = ingot::Types<float, double, std::int64_t, std::int32_t>;

 private:
  static constexpr std::int64_t kColumns = 16, kRows = 4;

  /// Lanes that are far apart: a few at once, so that one addition need not wait for the other.
  template <class T>
  static void rows(ops::KernelContext& c, ThreadPool& pool, const ops::Blocks& b, const T* in, T* out) {
    const bool is_exclusive = c.attr("exclusive", std::int64_t{0}) != 0;
    const bool is_reverse = c.attr("reverse", std::int64_t{0}) != 0;
    const std::int64_t step = is_reverse ? -b.inner : b.inner, first = is_reverse ? (b.size - 1) * b.inner : 0;
    const std::int64_t block = b.size * b.inner, groups = (b.outer + kRows - 1) / kRows;
    const Budget& budget = c.host().budget();
    pool.parallel_for(groups * b.inner, std::max<std::int64_t>(1, kGrain / (kRows * b.size)),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          budget.poll();
                          const std::int64_t outer = i / b.inner * kRows, at = first + i % b.inner + outer * block;
                          if (outer + kRows <= b.outer) {
                            sum_lanes<kRows>(in + at, out + at, b.size, step, block, is_exclusive);
                            continue;
                          }
                          for (std::int64_t k = 0; k < b.outer - outer; ++k)
                            sum_lanes<1>(in + at + k * block, out + at + k * block, b.size, step, 0, is_exclusive);
                        }
                      });
  }

  /// Neighbouring columns, a row after the other.
  void columns(ops::KernelContext& c, ThreadPool& pool, const ops::Blocks& b, const Array& x, Array& y) const {
    const bool is_exclusive = c.attr("exclusive", std::int64_t{0}) != 0;
    const bool is_reverse = c.attr("reverse", std::int64_t{0}) != 0;
    constexpr std::int64_t kWide = 256;
    const std::int64_t strips = (b.inner + kWide - 1) / kWide, bytes = bits_of(type_) / 8;
    const RunningLoop loop = running_loop(type_);
    const Budget& budget = c.host().budget();
    pool.parallel_for(b.outer * strips, std::max<std::int64_t>(1, kGrain / (kWide * b.size)),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          budget.poll();
                          const std::int64_t first = i % strips * kWide, wide = std::min(kWide, b.inner - first);
                          std::array<double, kWide> sums{};
                          for (std::int64_t k = 0; k < b.size; ++k) {
                            const std::int64_t row = i / strips * b.size + (is_reverse ? b.size - 1 - k : k);
                            const std::int64_t at = (row * b.inner + first) * bytes;
                            loop(x.bytes() + at, wide, is_exclusive, sums.data(), y.bytes() + at);
                          }
                        }
                      });
  }

  DType type_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_cumulative(PrepareContext& c) {
  if (!TypeSet(CumSum::Types{}).has(c.elem(0))) return c.refuse("the input is not of a type that is summed here");
  return std::make_unique<CumSum>(c.elem(0));
}

}  // namespace ingot::engine
