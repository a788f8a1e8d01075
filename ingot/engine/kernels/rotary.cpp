// RotaryEmbedding of floats: pairs of features turned by an angle that depends on the position.
#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/function_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

class RotaryEmbedding final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &cos = c.in(1), &sin = c.in(2);
    const bool is_packed = x.rank() == 3, is_looked_up = c.has(3);
    const std::int64_t heads = is_packed ? c.attr("num_heads", std::int64_t{0}) : x.rank() == 4 ? x.dims()[1] : 0;
    const bool is_plain = heads > 0 && x.size() > 0 && cos.rank() == (is_looked_up ? 2 : 3) && cos.dims() == sin.dims();
    if (!is_plain || x.dims().back() % (is_packed ? heads : 1) != 0) return ops::find(c.node)->kernel(c);
    const std::int64_t batch = x.dims()[0], length = x.dims()[is_packed ? 1 : 2];
    const std::int64_t size = is_packed ? x.dims()[2] / heads : x.dims()[3], wide = cos.dims().back();
    const std::int64_t partial = c.attr("rotary_embedding_dim", std::int64_t{0}), rotated = partial ? partial : size;
    if (rotated < 0 || rotated > size || rotated % 2 != 0 || wide < rotated / 2 || !has_angles(c, batch, length))
      return ops::find(c.node)->kernel(c);  // which says what is wrong
    const bool is_interleaved = c.attr("interleaved", std::int64_t{0}) != 0;
    Array y = make_raw(c, 0, DType::f32, x.dims());
    const float *in = x.data<float>().data(), *cosines = cos.data<float>().data(), *sines = sin.data<float>().data();
    const std::int64_t* positions = is_looked_up ? c.in(3).data<std::int64_t>().data() : nullptr;
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(
        batch * length * heads, std::max<std::int64_t>(1, (1 << 14) / size), [&](std::int64_t begin, std::int64_t end) {
          budget.poll();
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t step = is_packed ? row / heads : row / (heads * length) * length + row % length;
            const std::int64_t angle = (positions ? positions[step] : step) * wide;
            const float* from = in + row * size;
            float* to = out + row * size;
            rotate_pairs(from, cosines + angle, sines + angle, to, rotated / 2, is_interleaved);
            std::copy_n(from + rotated, size - rotated, to + rotated);
          }
        });
  }

 private:
  /// Whether there is an angle for each step of the input.
  static bool has_angles(const ops::KernelContext& c, std::int64_t batch, std::int64_t length) {
    const Dims& dims = c.in(1).dims();
    if (!c.has(3)) return dims[0] == batch && dims[1] == length;
    if (c.in(3).dims() != Dims{batch, length}) return false;
    return std::ranges::all_of(c.in(3).data<std::int64_t>(), [&](std::int64_t p) { return p >= 0 && p < dims[0]; });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_rotary(PrepareContext& c) {
  for (std::size_t i = 0; i < 3; ++i)
    if (c.elem(i) != DType::f32) return c.refuse("the inputs are not known to be of type float");
  return std::make_unique<RotaryEmbedding>();
}

}  // namespace ingot::engine
