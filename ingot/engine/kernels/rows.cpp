// Softmax and layer normalisation of floats, row by row.
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/row_math.h"
#include "ingot/engine/kernels/vector_math.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

/// Calls f(offset) for each row of n elements of an array.
template <class F> void each_row(ops::KernelContext& c, ThreadPool& pool, std::int64_t size, std::int64_t n, F f) {
  const Budget& budget = c.host().budget();
  pool.parallel_for(size / n, std::max<std::int64_t>(1, kGrain / n), [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    for (std::int64_t row = begin; row < end; ++row) f(row * n);
  });
}

class Softmax final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() == 0) c.fail("the input is not of the type that was inferred");
    Array y = make_raw(c, 0, DType::f32, x.dims());
    if (y.size() == 0) return;
    const float* from = x.data<float>().data();
    float* to = y.mutable_data<float>().data();
    const std::int64_t n = x.dims().back();
    each_row(c, pool, y.size(), n, [&](std::int64_t at) { softmax_row(from + at, to + at, n); });
  }
};

/// How many elements the last axes have together.
std::int64_t size_of_last(const Dims& dims, std::int64_t axes) {
  std::int64_t size = 1;
  for (auto d = dims.end() - axes; d != dims.end(); ++d) size *= *d;
  return size;
}

class LayerNormalization final : public PreparedNode {
 public:
  LayerNormalization(float epsilon, std::int64_t axes) : epsilon_(epsilon), axes_(axes) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &scale = c.in(1);
    if (x.dtype() != DType::f32 || x.rank() < axes_) c.fail("the input is not of the type that was inferred");
    const std::int64_t n = size_of_last(x.dims(), axes_);
    if (scale.dtype() != DType::f32 || scale.size() != n) c.fail("the scale does not have the size of a row");
    const float* bias = nullptr;
    if (c.has(2)) {
      if (c.in(2).dtype() != DType::f32 || c.in(2).size() != n) c.fail("the bias does not have the size of a row");
      bias = c.in(2).data<float>().data();
    }
    Array y = make_raw(c, 0, DType::f32, x.dims());
    if (y.size() == 0) return;
    const float *from = x.data<float>().data(), *factors = scale.data<float>().data();
    float* to = y.mutable_data<float>().data();
    each_row(c, pool, y.size(), n,
             [&](std::int64_t at) { normalize_row(from + at, factors, bias, to + at, n, epsilon_); });
  }

 private:
  float epsilon_;
  std::int64_t axes_;
};

/// x / sqrt(mean of squares + epsilon) * scale
class RmsNormalization final : public PreparedNode {
 public:
  RmsNormalization(float epsilon, std::int64_t axes) : epsilon_(epsilon), axes_(axes) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &scale = c.in(1);
    if (x.dtype() != DType::f32 || x.rank() < axes_) c.fail("the input is not of the type that was inferred");
    const std::int64_t n = size_of_last(x.dims(), axes_);
    if (scale.dtype() != DType::f32 || scale.size() != n) c.fail("the scale does not have the size of a row");
    Array y = make_raw(c, 0, DType::f32, x.dims());
    if (y.size() == 0) return;
    const float *from = x.data<float>().data(), *factors = scale.data<float>().data();
    float* to = y.mutable_data<float>().data();
    each_row(c, pool, y.size(), n, [&](std::int64_t at) {
      const double square = squares_about(from + at, n, 0) / static_cast<double>(n);
      const auto factor = static_cast<float>(1 / std::sqrt(square + static_cast<double>(epsilon_)));
      apply(Binary::multiply, from + at, 1, &factor, 0, to + at, n);
      apply(Binary::multiply, to + at, 1, factors, 1, to + at, n);
    });
  }

 private:
  float epsilon_;
  std::int64_t axes_;
};

/// How many of the last axes a node normalises over, where each operand from the second on has just these; 0: it is not
/// known.
std::int64_t normalized_axes(const PrepareContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return 0;
  const auto rank = static_cast<std::int64_t>(x->size());
  std::int64_t axis = c.node.attributes.int_or("axis", -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  for (std::size_t i = 1; i < c.node.input_count(); ++i) {
    if (!c.has(i)) continue;
    const Shape* row = c.shape(i);
    if (!row || static_cast<std::int64_t>(row->size()) != rank - axis) return 0;
    for (std::size_t k = 0; k < row->size(); ++k)
      if (!same((*row)[k], (*x)[static_cast<std::size_t>(axis) + k])) return 0;
  }
  return rank - axis;
}

/// Whether an axis is the last one of the node's first input.
bool is_last_axis(const PrepareContext& c, std::int64_t axis) {
  return axis == -1 || (c.shape(0) && axis == static_cast<std::int64_t>(c.shape(0)->size()) - 1);
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_softmax(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the input is not known to be of type float");
  if (!is_last_axis(c, c.node.attributes.int_or("axis", -1))) return c.refuse("the axis is not known to be the last");
  return std::make_unique<Softmax>();
}

std::unique_ptr<PreparedNode> prepare_layer_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  if (c.node.output(1) || c.node.output(2)) return c.refuse("mean or deviation are outputs");
  const std::int64_t axes = normalized_axes(c);
  if (axes == 0) return c.refuse("scale and bias are not known to have the last axes");
  return std::make_unique<LayerNormalization>(c.node.attributes.float_or("epsilon", 1e-5f), axes);
}

std::unique_ptr<PreparedNode> prepare_rms_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  if (c.node.attributes.int_or("stash_type", 1) != 1) return c.refuse("it is not computed in float");
  const std::int64_t axes = normalized_axes(c);
  if (axes == 0) return c.refuse("the scale is not known to have the last axes");
  return std::make_unique<RmsNormalization>(c.node.attributes.float_or("epsilon", 1e-5f), axes);
}

}  // namespace ingot::engine
