// MatMul and Gemm of floats by panels; a constant right operand is packed when the plan is made.
#include <optional>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

class MatMul final : public PreparedNode {
 public:
  explicit MatMul(std::optional<PackedMatrix> right) : right_(std::move(right)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &a = c.in(0), &b = c.in(1);
    if (a.dtype() != DType::f32 || b.dtype() != DType::f32)
      c.fail("the inputs are not of the types that were inferred");
    if (a.rank() == 0 || b.rank() == 0) c.fail("MatMul takes no scalars");
    // A vector is a row on the left and a column on the right; its axis does not appear in the result.
    Dims x = a.dims(), y = b.dims();
    const bool is_row = x.size() == 1, is_column = y.size() == 1;
    if (is_row) x.insert(x.begin(), 1);
    if (is_column) y.push_back(1);
    const std::int64_t rows = x[x.size() - 2], depth = x.back(), columns = y.back();
    if (y[y.size() - 2] != depth)
      c.fail("the inner dimensions " + std::to_string(depth) + " and " + std::to_string(y[y.size() - 2]) + " differ");
    const Dims x_batch(x.begin(), x.end() - 2), y_batch(y.begin(), y.end() - 2);
    const Dims batch = ops::broadcast_dims(c, {&x_batch, &y_batch});
    Dims dims = batch;
    if (!is_row) dims.push_back(rows);
    if (!is_column) dims.push_back(columns);
    Array& out = c.make(0, DType::f32, std::move(dims));
    if (out.size() == 0) return;
    const float *left = a.data<float>().data(), *right = b.data<float>().data();
    float* result = out.mutable_data<float>().data();
    if (y_batch.empty() || tensor_size(y_batch) == 1) {
      // One matrix on the right: all batches on the left are rows of one.
      const std::int64_t all_rows = rows * tensor_size(batch);
      const PackedMatrix packed = right_ ? *right_ : PackedMatrix(right, depth, columns, columns, 1);
      multiply(left, all_rows, depth, packed, result, columns, {}, pool);
      return;
    }
    const ops::Walk walk = ops::broadcast(batch, {&x_batch, &y_batch});
    ops::for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t from_x = at[0] + i * walk.strides[0].back(), from_y = at[1] + i * walk.strides[1].back();
        const PackedMatrix packed(right + from_y * depth * columns, depth, columns, columns, 1);
        multiply(left + from_x * rows * depth, rows, depth, packed, result, columns, {}, pool);
        result += rows * columns;
      }
    });
  }

 private:
  std::optional<PackedMatrix> right_;
};

class Gemm final : public PreparedNode {
 public:
  Gemm(const Node& node, std::optional<PackedMatrix> right)
      : right_(std::move(right)), transposes_right_(node.attributes.int_or("transB", 0) != 0) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &a = c.in(0), &b = c.in(1);
    if (a.dtype() != DType::f32 || b.dtype() != DType::f32)
      c.fail("the inputs are not of the types that were inferred");
    if (a.rank() != 2 || b.rank() != 2) c.fail("Gemm takes matrices");
    const std::int64_t rows = a.dims()[0], depth = a.dims()[1];
    const std::int64_t columns = b.dims()[transposes_right_ ? 0 : 1];
    if (b.dims()[transposes_right_ ? 1 : 0] != depth) c.fail("the inner dimensions differ");
    Array& out = c.make(0, DType::f32, {rows, columns});
    if (out.size() == 0) return;
    Epilogue epilogue;
    if (c.has(2)) {
      const Array& bias = c.in(2);
      if (bias.dtype() != DType::f32 || bias.size() != columns || bias.dims().back() != columns)
        c.fail("the bias is not the vector that was inferred");
      epilogue.bias = bias.data<float>().data();
    }
    const float* right = b.data<float>().data();
    const PackedMatrix packed = right_              ? *right_
                                : transposes_right_ ? PackedMatrix(right, depth, columns, 1, depth)
                                                    : PackedMatrix(right, depth, columns, columns, 1);
    multiply(a.data<float>().data(), rows, depth, packed, out.mutable_data<float>().data(), columns, epilogue, pool);
  }

 private:
  std::optional<PackedMatrix> right_;
  bool transposes_right_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_matmul(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  std::optional<PackedMatrix> packed;
  if (const Array* b = c.constant(1); b && b->rank() == 2)
    packed.emplace(b->data<float>().data(), b->dims()[0], b->dims()[1], b->dims()[1], 1);
  return std::make_unique<MatMul>(std::move(packed));
}

std::unique_ptr<PreparedNode> prepare_gemm(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  const Attributes& attributes = c.node.attributes;
  if (attributes.int_or("transA", 0) != 0) return c.refuse("the left operand is transposed");
  if (attributes.float_or("alpha", 1) != 1) return c.refuse("alpha is not 1");
  if (c.has(2)) {
    if (attributes.float_or("beta", 1) != 1) return c.refuse("beta is not 1");
    // Broadcasting other than a row over all rows is rare.
    const Array* bias = c.constant(2);
    const Array* weight = c.constant(1);
    if (!bias || !weight || weight->rank() != 2) return c.refuse("weight and bias are not constants");
    const std::int64_t columns = weight->dims()[attributes.int_or("transB", 0) ? 0 : 1];
    if (bias->rank() == 0 || bias->size() != columns || bias->dims().back() != columns)
      return c.refuse("the bias is not a row");
  }
  std::optional<PackedMatrix> packed;
  if (const Array* b = c.constant(1); b && b->rank() == 2) {
    const float* data = b->data<float>().data();
    const std::int64_t first = b->dims()[0], second = b->dims()[1];
    packed.emplace(attributes.int_or("transB", 0) ? PackedMatrix(data, second, first, 1, second)
                                                  : PackedMatrix(data, first, second, second, 1));
  }
  return std::make_unique<Gemm>(c.node, std::move(packed));
}

}  // namespace ingot::engine
