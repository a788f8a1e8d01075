// Chains of elementwise functions of floats, a tile at a time: what is between two of them stays in the cache.
#include <algorithm>

#include "ingot/base/threads.h"
#include "ingot/engine/element_step.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

// So short that the CPU, which looks some hundred instructions ahead, asks memory for the next tile while it computes.
constexpr std::int64_t kTile = 256;
constexpr std::int64_t kShortRow = 64;  // rows below this are joined where an operand repeats in them
constexpr std::int64_t kGrain = 32 * 1024;

/// How an operand is read along a row.
enum class Reading { dense, single, periodic };

class Elementwise final : public PreparedNode {
 public:
  Elementwise(std::vector<ElementStep> steps, std::size_t inputs) : steps_(std::move(steps)), inputs_(inputs) {
    join_steps();
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
  /// Steps that are computed together; only the last of them has a tile.
  struct Part {
    std::size_t first = 0, count = 1;
    bool is_simple = true;  // or it is one step that takes longer
    std::size_t tile = 0;
  };

  /// What a thread needs to compute: memory, and where in it and in the inputs the steps of the present tile read.
  struct Room {
    struct Value {
      const float* data = nullptr;
      bool is_single = false;
    };
    std::vector<float> tiles;
    std::vector<Value> values;       // what the first step of each part reads
    std::vector<JoinedStep> joined;  // all steps
    std::vector<const float**> moving;
  };

  static bool reads(const ElementStep& s, std::size_t r) { return s.x == r || (s.is_binary && s.y == r); }

  /// Takes a simple step together with the one before it, if that is simple too and nobody else reads its result.
  void join_steps() {
    std::vector<std::size_t> readers(inputs_ + steps_.size());
    for (const ElementStep& s : steps_) {
      ++readers[s.x];
      if (s.is_binary && s.y != s.x) ++readers[s.y];
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const std::size_t before = inputs_ + i - 1;
      const bool is_simple = steps_[i].is_binary || engine::is_simple(steps_[i].unary);
      if (i > 0 && is_simple && parts_.back().is_simple && reads(steps_[i], before) && readers[before] == 1 &&
          parts_.back().count < kMostJoined)
        ++parts_.back().count;
      else
        parts_.push_back({.first = i, .is_simple = is_simple});
    }
  }

  /// Results that are read no more give their tile to later ones.
  void assign_tiles() {
    std::vector<std::size_t> last_read(inputs_ + steps_.size());  // by which part
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (std::size_t k = parts_[i].first; k < parts_[i].first + parts_[i].count; ++k) {
        last_read[steps_[k].x] = i;
        if (steps_[k].is_binary) last_read[steps_[k].y] = i;
      }
    tile_of_.resize(steps_.size());
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (free.empty()) free.push_back(tiles_++);
      parts_[i].tile = free.back();
      free.pop_back();
      tile_of_[parts_[i].first + parts_[i].count - 1] = parts_[i].tile;
      for (std::size_t k = 0; k < i; ++k)
        if (last_read[inputs_ + parts_[k].first + parts_[k].count - 1] == i) free.push_back(parts_[k].tile);
    }
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
    thread_local Room room;
    room.tiles.resize(std::max(room.tiles.size(), (tiles_ + inputs_) * static_cast<std::size_t>(kTile)));
    room.values.resize(std::max(room.values.size(), parts_.size()));
    room.joined.resize(std::max(room.joined.size(), steps_.size()));
    room.moving.clear();
    float* const tiles = room.tiles.data();
    float* const repeated = tiles + tiles_ * kTile;
    // Whole periods only, so that each tile begins with one. What has nothing between its steps needs no tiles.
    const std::int64_t length = period ? kTile / period * period : parts_.size() > 1 ? kTile : end - begin;
    if (period)
      for (std::size_t i = 0; i < inputs_; ++i)
        if (readings[i] == Reading::periodic)
          for (std::int64_t j = 0; j < length; j += period)
            std::copy_n(data[i], period, repeated + i * kTile + static_cast<std::size_t>(j));
    const auto is_single = [&](std::uint32_t r) { return r < inputs_ && readings[r] == Reading::single; };
    const auto point = [&](const float*& to, std::uint32_t r) {
      to = r >= inputs_                       ? tiles + tile_of_[r - inputs_] * kTile
           : readings[r] == Reading::periodic ? repeated + r * kTile
           : readings[r] == Reading::dense    ? data[r] + begin
                                              : data[r];
      if (r < inputs_ && readings[r] == Reading::dense) room.moving.push_back(&to);
    };
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      for (std::size_t k = part.first; k < part.first + part.count; ++k) {
        const ElementStep& s = steps_[k];
        // The value is what the step before made; the first of a part takes an operand that goes along the row.
        const bool is_second = s.is_binary && (k == part.first ? is_single(s.x) : s.y == inputs_ + k - 1);
        if (k == part.first) {
          room.values[i].is_single = is_single(is_second ? s.y : s.x);
          point(room.values[i].data, is_second ? s.y : s.x);
        }
        JoinedStep& joined = room.joined[k];
        joined = {.is_binary = s.is_binary, .unary = s.unary, .a = s.a, .b = s.b, .binary = s.binary};
        if (!s.is_binary || s.x == s.y) continue;
        joined.is_second = is_second;
        joined.step = is_single(is_second ? s.x : s.y) ? 0 : 1;
        point(joined.other, is_second ? s.x : s.y);
      }
    }
    for (std::int64_t first = begin; first < end; first += length) {
      const std::int64_t n = std::min(length, end - first);
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        float* to = i + 1 == parts_.size() ? out + first : tiles + part.tile * kTile;
        const float* x = room.values[i].data;
        if (room.values[i].is_single) {
          std::fill(to, to + n, *x);
          x = to;
        }
        const JoinedStep& joined = room.joined[part.first];
        if (part.is_simple)
          apply(std::span(&joined, part.count), x, to, n);
        else
          apply(joined.unary, x, to, n, joined.a, joined.b);
      }
      for (const float** at : room.moving) *at += length;
    }
  }

  std::vector<ElementStep> steps_;
  std::size_t inputs_;
  std::vector<Part> parts_;
  std::vector<std::size_t> tile_of_;  // of a step
  std::size_t tiles_ = 0;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_elementwise(PrepareContext& c) {
  return std::make_unique<Elementwise>(steps_of(c.node), c.node.input_count());
}

}  // namespace ingot::engine
