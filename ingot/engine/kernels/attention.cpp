// Attention, head by head: the scores of one head stay in the cache.
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

const Array& heads(ops::KernelContext& c, std::size_t i) {
  const Array& x = c.in(i);
  if (x.dtype() != DType::f32 || x.rank() != 4) c.fail("the inputs are not of the types that were inferred");
  return x;
}

class Attention final : public PreparedNode {
 public:
  explicit Attention(float scale) : scale_(scale) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &q = heads(c, 0), &k = heads(c, 1), &v = heads(c, 2);
    const std::int64_t batch = q.dims()[0], rows = q.dims()[1], count = q.dims()[2], depth = q.dims()[3];
    const std::int64_t keys = k.dims()[1], width = v.dims()[3];
    if (k.dims() != Dims{batch, keys, count, depth} || v.dims() != Dims{batch, keys, count, width})
      c.fail("queries, keys and values do not fit each other");
    const Mask mask(c, {batch, count, rows, keys});
    Array y = make_raw(c, 0, DType::f32, {batch, rows, count, width});
    if (y.size() == 0) return;
    const float *from_q = q.data<float>().data(), *from_k = k.data<float>().data(), *from_v = v.data<float>().data();
    float* out = y.mutable_data<float>().data();
    FastHost& host = static_cast<FastHost&>(c.host());
    Array all = host.allocate_raw(DType::f32, {std::min<std::int64_t>(batch * count, kAtOnce), rows, keys});
    const Budget& budget = c.host().budget();
    // As many heads at a time as there is room for scores; a head is one piece of work.
    for (std::int64_t first = 0; first < batch * count; first += kAtOnce) {
      const std::int64_t some = std::min(kAtOnce, batch * count - first);
      float* room = all.mutable_data<float>().data();
      pool.parallel_for(some, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t b = (first + i) / count, h = (first + i) % count;
          float* scores = room + i * rows * keys;
          const PackedMatrix across(from_k + (b * keys * count + h) * depth, depth, keys, 1, count * depth);
          multiply(from_q + (b * rows * count + h) * depth, rows, count * depth, across, scores, keys, {}, pool,
                   budget);
          for (std::int64_t row = 0; row < rows; ++row) {
            float* line = scores + row * keys;
            if (scale_ != 1.0f) apply(Binary::multiply, line, 1, &scale_, 0, line, keys);
            if (mask.data)
              apply(Binary::add, line, 1, mask.data + mask.at(b, h, row), mask.strides[3] ? 1 : 0, line, keys);
            softmax_row(line, line, keys);
          }
          const PackedMatrix down(from_v + (b * keys * count + h) * width, keys, width, count * width, 1);
          multiply(scores, rows, keys, down, out + (b * rows * count + h) * width, count * width, {}, pool, budget);
        }
      });
    }
  }

 private:
  static constexpr std::int64_t kAtOnce = 64;

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
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_attention(PrepareContext& c) {
  return std::make_unique<Attention>(c.node.attributes.float_or("scale", 1));
}

}  // namespace ingot::engine
