// Attention, some rows of a head at a time: their scores stay in the cache.
#include <mutex>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/row_math.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

/// [batch, row, head, width], or [batch, head, row, width] where heads come first.
struct Heads {
  std::int64_t batch, rows, count, width;
  bool are_first;

  static Heads of(const Dims& d, bool are_first) {
    return {d[0], d[are_first ? 2 : 1], d[are_first ? 1 : 2], d[3], are_first};
  }
  Dims dims() const { return are_first ? Dims{batch, count, rows, width} : Dims{batch, rows, count, width}; }
  /// Where row `row` of head `head` begins, heads of all batches counted through.
  std::int64_t at(std::int64_t head, std::int64_t row) const {
    if (are_first) return (head * rows + row) * width;
    return ((head / count * rows + row) * count + head % count) * width;
  }
  std::int64_t row_stride() const { return are_first ? width : count * width; }
};

/// Memory for the scores of as many pieces of work as run at once.
class Rooms {
 public:
  Rooms(FastHost& host, std::int64_t count, std::int64_t floats)
      : memory_(host.allocate_raw(DType::f32, {count, floats})) {
    for (std::int64_t i = 0; i < count; ++i) free_.push_back(memory_.mutable_data<float>().data() + i * floats);
  }

  /// One of them, for as long as this lives.
  class Taken {
   public:
    explicit Taken(Rooms& rooms) : rooms_(rooms) {
      const std::lock_guard lock(rooms.mutex_);
      data_ = rooms.free_.back();
      rooms.free_.pop_back();
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() {
      const std::lock_guard lock(rooms_.mutex_);
      rooms_.free_.push_back(data_);
    }
    float* data() const { return data_; }

   private:
    Rooms& rooms_;
    float* data_;
  };

 private:
  Array memory_;
  std::mutex mutex_;
  std::vector<float*> free_;
};

class Attention final : public PreparedNode {
 public:
  Attention(float scale, std::int64_t heads_first) : scale_(scale), heads_first_(heads_first) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Heads q = heads(c, 0), k = heads(c, 1), v = heads(c, 2);
    if (k.batch != q.batch || v.batch != q.batch || k.count != q.count || v.count != q.count || k.width != q.width ||
        v.rows != k.rows)
      c.fail("queries, keys and values do not fit each other");
    const Mask mask(c, {q.batch, q.count, q.rows, k.rows});
    const Heads out{q.batch, q.rows, q.count, v.width, is_heads_first(3)};
    Array y = make_raw(c, 0, DType::f32, out.dims());
    if (y.size() == 0) return;
    const float *from_q = c.in(0).data<float>().data(), *from_k = c.in(1).data<float>().data(),
                *from_v = c.in(2).data<float>().data();
    float* to = y.mutable_data<float>().data();
    Budget& budget = c.host().budget();
    const std::int64_t all = q.batch * q.count, some = std::min(all, kHeadsAtOnce);
    const std::int64_t blocks = (q.rows + kRows - 1) / kRows;
    const Budget::MemoryGuard panels(budget,
                                     static_cast<std::uint64_t>(some * k.rows * (k.width + v.width)) * sizeof(float));
    Rooms rooms(static_cast<FastHost&>(c.host()), std::min<std::int64_t>(pool.threads(), some * blocks),
                std::min(kRows, q.rows) * k.rows);
    std::vector<PackedMatrix> across(static_cast<std::size_t>(some)), down(across.size());
    for (std::int64_t first = 0; first < all; first += some) {
      const std::int64_t count = std::min(some, all - first);
      pool.parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto at = static_cast<std::size_t>(i);
          across[at] = PackedMatrix(from_k + k.at(first + i, 0), k.width, k.rows, 1, k.row_stride());
          down[at] = PackedMatrix(from_v + v.at(first + i, 0), v.rows, v.width, v.row_stride(), 1);
        }
      });
      pool.parallel_for(count * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        const Rooms::Taken room(rooms);
        float* const scores = room.data();
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t head = first + i / blocks, row = i % blocks * kRows, rows = std::min(kRows, q.rows - row);
          const auto at = static_cast<std::size_t>(i / blocks);
          multiply(from_q + q.at(head, row), rows, q.row_stride(), across[at], scores, k.rows, {}, pool, budget);
          for (std::int64_t r = 0; r < rows; ++r) {
            float* line = scores + r * k.rows;
            if (scale_ != 1.0f) apply(Binary::multiply, line, 1, &scale_, 0, line, k.rows);
            if (mask.data)
              apply(Binary::add, line, 1, mask.data + mask.at(head / q.count, head % q.count, row + r),
                    mask.strides[3] ? 1 : 0, line, k.rows);
            softmax_row(line, line, k.rows);
          }
          multiply(scores, rows, k.rows, down[at], to + out.at(head, row), out.row_stride(), {}, pool, budget);
        }
      });
    }
  }

 private:
  static constexpr std::int64_t kHeadsAtOnce = 64;  // whose keys and values are packed together
  static constexpr std::int64_t kRows = 96;         // queries of one piece of work

  bool is_heads_first(int i) const { return (heads_first_ >> i & 1) != 0; }

  Heads heads(ops::KernelContext& c, int i) const {
    const Array& x = c.in(static_cast<std::size_t>(i));
    if (x.dtype() != DType::f32 || x.rank() != 4) c.fail("the inputs are not of the types that were inferred");
    return Heads::of(x.dims(), is_heads_first(i));
  }

  /// What is added to the scores, stretched to [batch, head, query, key].
  struct Mask {
    Mask(ops::KernelContext& c, const Dims& scores) : strides(4, 0) {
      if (!c.has(3)) return;
      const Array& x = c.in(3);
      if (x.dtype() != DType::f32) c.fail("the inputs are not of the types that were inferred");
      if (ops::broadcast_dims(c, {&scores, &x.dims()}) != scores)
        c.fail("the mask does not have the shape of the scores");
      const Dims dense = ops::strides_of(x.dims());
      const std::size_t missing = scores.size() - x.dims().size();
      for (std::size_t i = 0; i < dense.size(); ++i)
        if (x.dims()[i] != 1) strides[missing + i] = dense[i];
      data = x.data<float>().data();
    }
    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t row) const {
      return b * strides[0] + h * strides[1] + row * strides[2];
    }
    const float* data = nullptr;
    Dims strides;
  };

  float scale_;
  std::int64_t heads_first_;  // a bit for each of queries, keys, values and the result
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_attention(PrepareContext& c) {
  return std::make_unique<Attention>(c.node.attributes.float_or("scale", 1),
                                     c.node.attributes.int_or("heads_first", 0));
}

}  // namespace ingot::engine
