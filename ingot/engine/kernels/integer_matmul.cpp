// MatMulInteger and QLinearMatMul of 8-bit integers by panels; a constant right operand is packed once.
#include <optional>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/integer_gemm.h"
#include "ingot/engine/kernels/integer_node.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/quantization/integer_products_kernel.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kFew = 4;         // products that are shared out each, not one by one
constexpr std::int64_t kManyRows = 144;  // from here it pays to pack a matrix that is used once

/// Zero points of the rows, or of the columns, of all matrices of an operand of these dimensions: none, one for all, or
/// one each. Nothing if they are spread in another way.
std::optional<std::vector<std::int32_t>> zeros_of(ops::KernelContext& c, std::size_t input, const Dims& x,
                                                  bool are_rows) {
  if (!c.has(input)) return std::vector<std::int32_t>();
  Array zero = c.in(input);
  if (!is_byte(zero.dtype())) return {};
  std::vector<std::int32_t> values;
  for (const std::int64_t value : zero.to_ints()) values.push_back(static_cast<std::int32_t>(value));
  if (zero.size() == 1) return values;
  if (zero.rank() == 1 && are_rows) zero = zero.reshaped({zero.size(), 1});
  Dims dims = x;
  dims[dims.size() - (are_rows ? 1 : 2)] = 1;
  if (zero.rank() > std::ssize(dims) || ops::broadcast_dims(c, {&dims, &zero.dims()}) != dims) return {};
  std::vector<std::int32_t> all;
  all.reserve(static_cast<std::size_t>(tensor_size(dims)));
  const ops::Walk walk = ops::broadcast(dims, {&zero.dims()});
  ops::for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      all.push_back(values[static_cast<std::size_t>(at[0] + i * walk.strides[0].back())]);
  });
  return all;
}

/// The sums of MatMulInteger and QLinearMatMul.
class IntegerProduct {
 public:
  /// The inputs that the operands and their zero points are; `constant`: the right operand if it is always the same.
  IntegerProduct(std::size_t a, std::size_t a_zero, std::size_t b, std::size_t b_zero, Tensor constant)
      : a_(a), a_zero_(a_zero), b_(b), b_zero_(b_zero), constant_(std::move(constant)) {}

  /// [batch..., rows, columns] of int32; nothing for what only the reference kernel does.
  Array sums(ops::KernelContext& c, ThreadPool& pool) const {
    const Array &a = c.in(a_), &b = c.in(b_);
    if (!is_byte(a.dtype()) || !is_byte(b.dtype()) || a.rank() < 2 || b.rank() < 2) return {};
    const Dims &x = a.dims(), &y = b.dims();
    const std::int64_t rows = x[x.size() - 2], depth = x.back(), columns = y.back();
    if (y[y.size() - 2] != depth) return {};
    const auto a_zeros = zeros_of(c, a_zero_, x, true), b_zeros = zeros_of(c, b_zero_, y, false);
    if (!a_zeros || !b_zeros) return {};
    const Dims x_batch(x.begin(), x.end() - 2), y_batch(y.begin(), y.end() - 2);
    const Dims batch = ops::broadcast_dims(c, {&x_batch, &y_batch});
    Dims dims = batch;
    dims.insert(dims.end(), {rows, columns});
    Array out = static_cast<FastHost&>(c.host()).allocate_raw(DType::i32, std::move(dims));
    if (out.size() == 0) return out;
    Budget& budget = c.host().budget();
    const std::int64_t left_rows = a.size() / std::max<std::int64_t>(1, depth);
    const std::int64_t a_rows = depth ? left_rows : rows * tensor_size(x_batch);
    const Budget::MemoryGuard guard(budget, CentredRows::byte_size(a_rows, depth));
    const CentredRows left(a.bytes(), a.dtype(), a_rows, depth, *a_zeros, pool, budget);
    std::int32_t* result = out.mutable_data<std::int32_t>().data();
    if (tensor_size(y_batch) == 1) {
      // One matrix on the right: all batches on the left are rows of one.
      multiply_by(c, left, 0, a_rows, b, 0, *b_zeros, result, pool);
      return out;
    }
    const std::vector<Places> places = broadcast_places(batch, x_batch, y_batch, budget);
    const std::int64_t count = std::ssize(places);
    pool.parallel_for(count, count < kFew ? count : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto [from_x, from_y] = places[static_cast<std::size_t>(i)];
        ColumnZeros zeros = *b_zeros;
        if (std::ssize(zeros) > 1)
          zeros.assign(b_zeros->begin() + from_y * columns, b_zeros->begin() + (from_y + 1) * columns);
        multiply_by(c, left, from_x * rows, rows, b, from_y, zeros, result + i * rows * columns, pool);
      }
    });
    return out;
  }

 private:
  /// Some rows times the matrix at `index` of b.
  void multiply_by(ops::KernelContext& c, const CentredRows& left, std::int64_t first, std::int64_t count,
                   const Array& b, std::int64_t index, const ColumnZeros& zeros, std::int32_t* result,
                   ThreadPool& pool) const {
    Budget& budget = c.host().budget();
    const std::int64_t depth = left.depth(), columns = b.dims().back();
    const ByteMatrix matrix = ByteMatrix::dense(b.bytes() + index * depth * columns, b.dtype(), depth, columns);
    if (constant_) {
      const PackedBytes& packed = constant_.get([&] { return PackedBytes(matrix, pool, budget); });
      multiply(left, first, count, packed, zeros, result, columns, pool, budget);
      return;
    }
    if (count < kManyRows) {
      multiply(left, first, count, matrix, zeros, result, columns, pool, budget);
      return;
    }
    const Budget::MemoryGuard guard(budget, PackedBytes::byte_size(depth, columns));
    multiply(left, first, count, PackedBytes(matrix, pool, budget), zeros, result, columns, pool, budget);
  }

  std::size_t a_, a_zero_, b_, b_zero_;
  PackedOnce<PackedBytes> constant_;
};

using MatMulInteger = SumsNode<IntegerProduct, ops::run_matmul_integer>;

class QLinearMatMul final : public PreparedNode {
 public:
  explicit QLinearMatMul(Tensor constant) : product_(0, 2, 3, 5, std::move(constant)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const auto is_list = [&](std::size_t i, std::int64_t size) {
      const Array& x = c.in(i);
      return x.dtype() == DType::f32 && (x.size() == 1 || (x.rank() == 1 && x.size() == size));
    };
    const Dims &x = c.in(0).dims(), &y = c.in(3).dims();
    if (x.size() < 2 || y.size() < 2 || !is_byte(c.in(7).dtype()) || c.in(7).size() != 1 ||
        !is_list(1, x[x.size() - 2]) || !is_list(4, y.back()) || !is_list(6, x[x.size() - 2]))
      return ops::run_qlinear_matmul(c);
    const Array sums = product_.sums(c, pool);
    if (!sums) return ops::run_qlinear_matmul(c);
    const DType type = c.in(7).dtype();
    const float zero = static_cast<float>(c.in(7).to_ints()[0]);
    Array out = make_raw(c, 0, type, sums.dims());
    if (out.size() == 0) return;
    const std::int64_t rows = x[x.size() - 2], columns = y.back();
    const auto a = c.in(1).data<float>(), b = c.in(4).data<float>(), result = c.in(6).data<float>();
    const auto factors_of = [&](std::int64_t row) {
      const float scale = a[a.size() == 1 ? 0 : static_cast<std::size_t>(row)];
      const float divisor = result[result.size() == 1 ? 0 : static_cast<std::size_t>(row)];
      std::vector<float> factors;
      for (const float other : b) factors.push_back(scale * other / divisor);
      return factors;
    };
    const bool differ = a.size() > 1 || result.size() > 1;  // the factors of rows
    const std::vector<float> common = factors_of(0);
    const std::int32_t* from = sums.data<std::int32_t>().data();
    pool.parallel_for(sums.size() / columns, std::max<std::int64_t>(1, (1 << 14) / columns),
                      [&](std::int64_t begin, std::int64_t end) {
                        c.host().budget().poll();
                        for (std::int64_t i = begin; i < end; ++i) {
                          const std::vector<float> own = differ ? factors_of(i % rows) : std::vector<float>();
                          const std::vector<float>& factors = differ ? own : common;
                          requantize(from + i * columns, columns, 0, factors.data(), factors.size() == 1 ? 0 : 1, zero,
                                     type, out.bytes() + i * columns);
                        }
                      });
  }

 private:
  IntegerProduct product_;
};

/// The tensor of a constant right operand that is one matrix; empty if it is none.
Tensor constant_matrix(const PrepareContext& c, std::size_t i) {
  Tensor tensor = c.weights(i);
  return tensor && tensor.rank() == 2 ? tensor : Tensor();
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_matmul_integer(PrepareContext& c) {
  return prepare_bytes<MatMulInteger>(c, 0, 1, constant_matrix(c, 1));
}

std::unique_ptr<PreparedNode> prepare_qlinear_matmul(PrepareContext& c) {
  return prepare_bytes<QLinearMatMul>(c, 0, 3, constant_matrix(c, 3));
}

}  // namespace ingot::engine
