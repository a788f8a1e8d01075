// Trilu and Hardmax: parts of matrices that stay, or become one, where the others become zero.
#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

class Trilu final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.rank() < 2 || x.size() == 0 || x.dtype() == DType::string) return ops::find(c.node)->kernel(c);
    const bool is_upper = c.attr("upper", std::int64_t{1}) != 0;
    const std::int64_t k = c.has(1) ? ops::single_int(c, 1) : 0;
    const std::int64_t rows = x.dims()[x.dims().size() - 2], columns = x.dims().back();
    Array y = make_raw(c, 0, x.dtype(), x.dims());
    const std::int64_t bytes = static_cast<std::int64_t>(x.byte_size()) / x.size();
    const auto size_of = [&](std::int64_t n) { return static_cast<std::size_t>(n * bytes); };
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.size() / columns, std::max<std::int64_t>(1, kGrain / columns),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        for (std::int64_t row = begin; row < end; ++row) {
                          // Columns from `cut` on are above the diagonal or on it, or above it.
                          const std::int64_t i = row % rows, far = columns + rows;
                          const std::int64_t shift = std::clamp(k, -far, far) + (is_upper ? 0 : 1);
                          const std::int64_t cut = std::clamp<std::int64_t>(i + shift, 0, columns);
                          const std::byte* from = x.bytes() + row * columns * bytes;
                          std::byte* to = y.bytes() + row * columns * bytes;
                          if (is_upper)
                            std::memset(to, 0, size_of(cut));
                          else
                            std::memcpy(to, from, size_of(cut));
                          if (is_upper)
                            std::memcpy(to + cut * bytes, from + cut * bytes, size_of(columns - cut));
                          else
                            std::memset(to + cut * bytes, 0, size_of(columns - cut));
                        }
                      });
  }
};

/// One at the first of the largest numbers along an axis, zero elsewhere.
class Hardmax final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() == 0 || x.size() == 0) return ops::find(c.node)->kernel(c);
    const ops::Blocks b = ops::blocks_along(x.dims(), c.axis(c.attr("axis", std::int64_t{-1}), x.rank()));
    Array y = make_raw(c, 0, DType::f32, x.dims());
    const PlaceLoops loops = place_loops(true, DType::f32);
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    const std::int64_t block = b.size * b.inner;
    pool.parallel_for(b.outer, std::max<std::int64_t>(1, kGrain / block), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const float* from = in + i * block;
        float* to = out + i * block;
        std::fill_n(to, block, 0.0f);
        if (b.inner == 1) {
          to[loops.row(from, b.size, false)] = 1;
          continue;
        }
        for (std::int64_t first = 0; first < b.inner; first += PlaceLoops::kWide) {
          std::int64_t places[PlaceLoops::kWide];
          const std::int64_t wide = std::min(PlaceLoops::kWide, b.inner - first);
          loops.columns(from + first, b.size, b.inner, wide, false, places);
          for (std::int64_t k = 0; k < wide; ++k) to[places[k] * b.inner + first + k] = 1;
        }
      }
    });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_trilu(PrepareContext& c) {
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Trilu>();
}

std::unique_ptr<PreparedNode> prepare_hardmax(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  return std::make_unique<Hardmax>();
}

}  // namespace ingot::engine
