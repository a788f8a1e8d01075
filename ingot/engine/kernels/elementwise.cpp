// Chains of elementwise functions of floats, a tile at a time: what is between two of them stays in the cache.
#include "ingot/engine/elementwise.h"

#include <algorithm>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kTile = 1024;
constexpr std::int64_t kShortRow = 64;  // rows below this are joined where an operand repeats in them
constexpr std::int64_t kGrain = 32 * kTile;

/// How an operand is read along a row.
enum class Reading { dense, single, periodic };

class Elementwise final : public PreparedNode {
 public:
  Elementwise(std::vector<ElementStep> steps, std::size_t inputs) : steps_(std::move(steps)), inputs_(inputs) {
    assign_tiles();
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    Dims dims;
    std::vector<const float*> data;
    for (std::size_t i = 0; i < inputs_; ++i) {
      const Array& x = c.in(i);
      if (x.dtype() != DType::f32) c.fail("the inputs are not of the types that were inferred");
      dims = i == 0 ? x.dims() : ops::broadcast_dims(c, {&dims, &x.dims()});
      data.push_back(x.data<float>().data());
    }
    Array y = make_raw(c, 0, DType::f32, dims);
    if (y.size() == 0) return;
    float* out = y.mutable_data<float>().data();
    ops::Walk walk{dims, {}};
    for (std::size_t i = 0; i < inputs_; ++i) {
      const Dims& from = c.in(i).dims();
      const Dims dense = ops::strides_of(from);
      Dims strides(dims.size(), 0);
      for (std::size_t k = 0; k < from.size(); ++k)
        if (from[k] != 1) strides[dims.size() - from.size() + k] = dense[k];
      walk.strides.push_back(std::move(strides));
    }
    ops::join_axes(walk);
    const std::int64_t period = join_short_rows(walk);
    std::vector<Reading> readings;
    for (const Dims& strides : walk.strides)
      readings.push_back(strides.back() == 1   ? Reading::dense
                         : strides.back() == 0 ? Reading::single
                                               : Reading::periodic);
    const std::int64_t row = walk.dims.back(), rows = y.size() / row;
    const Budget& budget = c.host().budget();
    if (rows == 1) {
      // Each part begins where an operand that repeats begins anew.
      const std::int64_t unit = std::max<std::int64_t>(1, period);
      pool.parallel_for(row / unit, std::max<std::int64_t>(1, kGrain / unit),
                        [&](std::int64_t begin, std::int64_t end) {
                          budget.poll();
                          compute(data.data(), readings, period, begin * unit, end * unit, out);
                        });
      return;
    }
    pool.parallel_for(rows, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      std::vector<const float*> at(inputs_);
      for (std::int64_t r = begin; r < end; ++r) {
        std::int64_t rest = r;
        at = data;
        for (std::size_t axis = walk.dims.size() - 1; axis-- > 0;) {
          const std::int64_t index = rest % walk.dims[axis];
          rest /= walk.dims[axis];
          for (std::size_t i = 0; i < inputs_; ++i) at[i] += index * walk.strides[i][axis];
        }
        compute(at.data(), readings, period, 0, row, out + r * row);
      }
    });
  }

 private:
  /// Results that are read no more give their tile to later ones.
  void assign_tiles() {
    std::vector<std::size_t> last_read(inputs_ + steps_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      last_read[steps_[i].x] = i;
      if (steps_[i].is_binary) last_read[steps_[i].y] = i;
    }
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (free.empty()) free.push_back(tiles_++);
      tile_of_.push_back(free.back());
      free.pop_back();
      for (std::size_t r = inputs_; r < inputs_ + i; ++r)
        if (last_read[r] == i && std::ranges::find(free, tile_of_[r - inputs_]) == free.end() &&
            is_newest(r - inputs_, i))
          free.push_back(tile_of_[r - inputs_]);
    }
  }
  /// Whether no step between `first` and `now` took the tile over.
  bool is_newest(std::size_t first, std::size_t now) const {
    for (std::size_t i = first + 1; i <= now; ++i)
      if (tile_of_[i] == tile_of_[first]) return false;
    return true;
  }

  /// Where the last axis is short and an operand repeats from row to row, makes one row of both axes. Returns the
  /// length after which such an operand repeats; it then has the stride -1.
  static std::int64_t join_short_rows(ops::Walk& walk) {
    const std::size_t rank = walk.dims.size();
    if (rank < 2 || walk.dims.back() >= kShortRow) return 0;
    const std::int64_t period = walk.dims.back();
    for (const Dims& s : walk.strides) {
      const std::int64_t outer = s[rank - 2], inner = s[rank - 1];
      const bool fits = (inner == 1 && (outer == period || outer == 0)) || (inner == 0 && outer == 0);
      if (!fits) return 0;
    }
    walk.dims[rank - 2] *= period;
    walk.dims.pop_back();
    for (Dims& s : walk.strides) {
      const std::int64_t outer = s[rank - 2], inner = s[rank - 1];
      s.pop_back();
      s.back() = inner == 0 ? 0 : outer == 0 ? -1 : 1;
    }
    return period;
  }

  /// Elements [begin, end) of one row.
  void compute(const float* const* data, const std::vector<Reading>& readings, std::int64_t period, std::int64_t begin,
               std::int64_t end, float* out) const {
    thread_local std::vector<float> room;
    room.resize(std::max(room.size(), (tiles_ + inputs_) * static_cast<std::size_t>(kTile)));
    float* const tiles = room.data();
    float* const repeated = tiles + tiles_ * kTile;
    // Whole periods only, so that each tile begins with one.
    const std::int64_t step = period ? kTile / period * period : kTile;
    if (period)
      for (std::size_t i = 0; i < inputs_; ++i)
        if (readings[i] == Reading::periodic)
          for (std::int64_t j = 0; j < step; ++j)
            repeated[i * kTile + static_cast<std::size_t>(j)] = data[i][j % period];
    for (std::int64_t first = begin; first < end; first += step) {
      const std::int64_t n = std::min(step, end - first);
      const auto operand = [&](std::uint32_t r) -> const float* {
        if (r >= inputs_) return tiles + tile_of_[r - inputs_] * kTile;
        if (readings[r] == Reading::periodic) return repeated + r * kTile;
        return readings[r] == Reading::dense ? data[r] + first : data[r];
      };
      const auto stride = [&](std::uint32_t r) -> std::int64_t {
        return r < inputs_ && readings[r] == Reading::single ? 0 : 1;
      };
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        const ElementStep& s = steps_[i];
        float* to = i + 1 == steps_.size() ? out + first : tiles + tile_of_[i] * kTile;
        if (s.is_binary) {
          apply(s.binary, operand(s.x), stride(s.x), operand(s.y), stride(s.y), to, n);
        } else if (stride(s.x) == 0) {
          float y = 0;
          apply(s.unary, operand(s.x), &y, 1, s.a, s.b);
          std::fill(to, to + n, y);
        } else {
          apply(s.unary, operand(s.x), to, n, s.a, s.b);
        }
      }
    }
  }

  std::vector<ElementStep> steps_;
  std::size_t inputs_;
  std::vector<std::size_t> tile_of_;
  std::size_t tiles_ = 0;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_elementwise(PrepareContext& c) {
  return std::make_unique<Elementwise>(steps_of(c.node), c.node.input_count());
}

}  // namespace ingot::engine
