// MaxPool of plain images, with the places of the largest elements, as training asks for them.
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/sliding.h"

namespace ingot::engine {
namespace {

/// The taps of one axis that lie on the plane: `first` and every `step`-th element after it, `count` of them.
struct Taps {
  std::int64_t first, count;
};

Taps taps_at(const ops::Sliding& s, std::size_t axis, std::int64_t window) {
  const std::int64_t begin = window * s.strides[axis] - s.before[axis], step = s.dilations[axis];
  const std::int64_t skipped = begin < 0 ? (-begin + step - 1) / step : 0;
  const std::int64_t first = begin + skipped * step, room = s.plane[axis] - first;
  const std::int64_t fitting = room > 0 ? (room + step - 1) / step : 0;
  return {first, std::max<std::int64_t>(0, std::min(s.kernel[axis] - skipped, fitting))};
}

class PlainMaxPool final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() != 4 || x.size() == 0 || c.attr("storage_order", std::int64_t{0}) != 0)
      return ops::find(c.node)->kernel(c);
    const ops::Sliding s = ops::Sliding::over(c, x.dims());
    const Dims dims = {x.dims()[0], x.dims()[1], s.windows[0], s.windows[1]};
    Array y = make_raw(c, 0, DType::f32, dims);
    std::int64_t* places = nullptr;
    Array where;
    if (c.wants(1)) {
      where = make_raw(c, 1, DType::i64, dims);
      places = where.mutable_data<std::int64_t>().data();
    }
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    std::vector<Taps> columns;
    for (std::int64_t i = 0; i < s.windows[1]; ++i) columns.push_back(taps_at(s, 1, i));
    const Budget& budget = c.host().budget();
    pool.parallel_for(dims[0] * dims[1], kPlanes, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t plane = begin; plane < end; ++plane)
        one_plane(s, columns, in, plane * s.plane_size, out + plane * s.window_count,
                  places ? places + plane * s.window_count : nullptr);
    });
  }

 private:
  static constexpr std::int64_t kPlanes = 8;

  static void one_plane(const ops::Sliding& s, const std::vector<Taps>& columns, const float* in, std::int64_t first,
                        float* out, std::int64_t* places) {
    for (std::int64_t i = 0; i < s.windows[0]; ++i) {
      const Taps rows = taps_at(s, 0, i);
      for (const Taps& across : columns) {
        float best = -std::numeric_limits<float>::infinity();
        std::int64_t where = -1;  // stays so in a window of nothing but padding
        for (std::int64_t r = 0; r < rows.count; ++r) {
          std::int64_t at = first + (rows.first + r * s.dilations[0]) * s.plane[1] + across.first;
          for (std::int64_t k = 0; k < across.count; ++k, at += s.dilations[1]) {
            const float value = in[at];
            // Not a number, once met, stays. Without branches, which random numbers make expensive.
            const bool is_better =
                static_cast<int>(where < 0) | (static_cast<int>(!(value <= best)) & static_cast<int>(best == best));
            best = is_better ? value : best;
            where = is_better ? at : where;
          }
        }
        *out++ = best;
        if (places) *places++ = where;
      }
    }
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_plain_max_pool(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  return std::make_unique<PlainMaxPool>();
}

}  // namespace ingot::engine
