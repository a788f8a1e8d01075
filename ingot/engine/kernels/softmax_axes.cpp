// Softmax along any axis and LogSoftmax: strips of neighbouring columns, a row of each at a time.
#include "ingot/engine/kernels/softmax_axes.h"

#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kWide = 256;       // columns of a strip
constexpr std::int64_t kGrain = 1 << 14;  // elements of one piece of work

/// The loops of one run.
struct Loops {
  bool is_log;
  FoldLoops most = fold_loops(Fold::maximum, DType::f32), total = fold_loops(Fold::sum, DType::f32);

  void strip(const float* in, float* out, const ops::Blocks& b, std::int64_t n) const {
    std::array<float, kWide> top, sum{}, e;
    std::copy_n(in, n, top.data());
    for (std::int64_t k = 1; k < b.size; ++k) apply(Binary::maximum, top.data(), 1, in + k * b.inner, 1, top.data(), n);
    for (std::int64_t k = 0; k < b.size; ++k) {
      float* to = out + k * b.inner;
      apply(Binary::subtract, in + k * b.inner, 1, top.data(), 1, to, n);
      float* power = is_log ? e.data() : to;
      apply(Unary::exp, to, power, n);
      apply(Binary::add, sum.data(), 1, power, 1, sum.data(), n);
    }
    if (is_log) apply(Unary::log, sum.data(), sum.data(), n);
    const Binary last = is_log ? Binary::subtract : Binary::divide;
    for (std::int64_t k = 0; k < b.size; ++k) apply(last, out + k * b.inner, 1, sum.data(), 1, out + k * b.inner, n);
  }

  /// One row, its columns a tile at a time.
  void row(const float* in, float* out, std::int64_t n) const {
    float top = in[0];
    most.row(in, n, &top);
    apply(Binary::subtract, in, 1, &top, 0, out, n);
    std::array<float, kWide> e;
    double sum = 0;
    for (std::int64_t i = 0; i < n; i += kWide) {
      const std::int64_t some = std::min(kWide, n - i);
      apply(Unary::exp, out + i, is_log ? e.data() : out + i, some);
      const float* power = is_log ? e.data() : out + i;
      total.row(power, some, &sum);
    }
    auto all = static_cast<float>(sum);
    if (is_log) apply(Unary::log, &all, &all, 1);
    apply(is_log ? Binary::subtract : Binary::divide, out, 1, &all, 0, out, n);
  }
};

class SoftmaxAlong final : public PreparedNode {
 public:
  SoftmaxAlong(std::int64_t axis, bool is_log) : axis_(axis), is_log_(is_log) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32) c.fail("the input is not of the type that was inferred");
    const std::int64_t axis = c.axis(axis_, x.rank());
    Array y = make_raw(c, 0, DType::f32, x.dims());
    softmax_along(x, axis, is_log_, y, pool, c.host().budget());
  }

 private:
  std::int64_t axis_;
  bool is_log_;
};

}  // namespace

void softmax_along(const Array& x, std::int64_t axis, bool is_log, Array& y, ThreadPool& pool, const Budget& budget) {
  if (y.size() == 0) return;
  const ops::Blocks b = ops::blocks_along(x.dims(), axis);
  const float* in = x.data<float>().data();
  float* out = y.mutable_data<float>().data();
  const Loops loops{is_log};
  if (b.inner == 1)
    return pool.parallel_for(b.outer, std::max<std::int64_t>(1, kGrain / b.size),
                             [&](std::int64_t begin, std::int64_t end) {
                               budget.poll();
                               for (std::int64_t i = begin; i < end; ++i)
                                 loops.row(in + i * b.size, out + i * b.size, b.size);
                             });
  const std::int64_t strips = (b.inner + kWide - 1) / kWide, wide = std::min(kWide, b.inner);
  pool.parallel_for(b.outer * strips, std::max<std::int64_t>(1, kGrain / (b.size * wide)),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i) {
                        const std::int64_t first = i % strips * kWide, at = i / strips * b.size * b.inner + first;
                        loops.strip(in + at, out + at, b, std::min(kWide, b.inner - first));
                      }
                    });
}

std::unique_ptr<PreparedNode> prepare_softmax_along(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the input is not known to be of type float");
  return std::make_unique<SoftmaxAlong>(c.node.attributes.int_or("axis", -1), c.node.op == "LogSoftmax");
}

}  // namespace ingot::engine
