// Products of floats by panels; a constant right operand is packed once.
#include <utility>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {

std::vector<Places> broadcast_places(const Dims& batch, const Dims& x, const Dims& y, Budget& budget) {
  std::vector<Places> places;
  const ops::Walk walk = ops::broadcast(batch, {&x, &y});
  ops::for_each_row(walk, budget, [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      places.emplace_back(at[0] + i * walk.strides[0].back(), at[1] + i * walk.strides[1].back());
  });
  return places;
}

namespace {

class MatMul final : public PreparedNode {
 public:
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
    Array out = make_raw(c, 0, DType::f32, std::move(dims));
    if (out.size() == 0) return;
    Budget& budget = c.host().budget();
    const Budget::MemoryGuard panels(budget, static_cast<std::uint64_t>(depth * columns) * sizeof(float));
    const float *left = a.data<float>().data(), *right = b.data<float>().data();
    float* result = out.mutable_data<float>().data();
    if (y_batch.empty() || tensor_size(y_batch) == 1) {
      // One matrix on the right: all batches on the left are rows of one.
      const std::int64_t all_rows = rows * tensor_size(batch);
      const PackedMatrix packed(right, depth, columns, columns, 1, &pool, budget);
      multiply(left, all_rows, depth, packed, result, columns, {}, pool, budget);
      return;
    }
    // Each product is a piece of work, or is shared out where there are few.
    const std::vector<Places> places = broadcast_places(batch, x_batch, y_batch, budget);
    const std::int64_t count = std::ssize(places);
    pool.parallel_for(count, count < kFew ? count : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto [from_x, from_y] = places[static_cast<std::size_t>(i)];
        const PackedMatrix packed(right + from_y * depth * columns, depth, columns, columns, 1, &pool, budget);
        multiply(left + from_x * rows * depth, rows, depth, packed, result + i * rows * columns, columns, {}, pool,
                 budget);
      }
    });
  }

 private:
  static constexpr std::int64_t kFew = 4;
};

/// x times a constant matrix, a WeightMatrix or a BitOperand, with what is added to it.
template <class Matrix> class Linear final : public PreparedNode {
 public:
  Linear(const Attributes& attributes, auto&&... matrix) : matrix_(std::forward<decltype(matrix)>(matrix)...) {
    if (attributes.has("low")) {
      epilogue_.low = attributes.float_or("low", 0);
      epilogue_.high = attributes.float_or("high", 0);
    }
    if (attributes.has("function")) {
      epilogue_.has_function = true;
      epilogue_.function = static_cast<Unary>(attributes.int_or("function", 0));
      epilogue_.a = attributes.float_or("a", 0);
      epilogue_.b = attributes.float_or("b", 0);
    }
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() == 0) c.fail("the input is not of the type that was inferred");
    Dims dims = x.dims();
    if (dims.back() != matrix_.rows())
      c.fail("the inner dimensions " + std::to_string(dims.back()) + " and " + std::to_string(matrix_.rows()) +
             " differ");
    dims.back() = matrix_.columns();
    Epilogue epilogue = epilogue_;
    if (c.has(2)) epilogue.bias = c.in(2).data<float>().data();
    if (c.has(3)) {
      if (c.in(3).dims() != dims) c.fail("what is added does not have the shape of the result");
      epilogue.residual = c.in(3).data<float>().data();
    }
    Array y = make_raw(c, 0, DType::f32, std::move(dims));
    if (y.size() == 0) return;
    const Budget& budget = c.host().budget();
    matrix_.use(pool, budget, [&](const auto& matrix) {
      multiply(x.data<float>().data(), y.size() / matrix_.columns(), matrix_.rows(), matrix,
               y.mutable_data<float>().data(), matrix_.columns(), epilogue, pool, budget);
    });
  }

  bool reads(std::size_t i) const override { return i != 1 && i < 4; }

 private:
  Matrix matrix_;
  Epilogue epilogue_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_matmul(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  return std::make_unique<MatMul>();
}

std::unique_ptr<PreparedNode> prepare_linear(PrepareContext& c) {
  Tensor b = c.weights(1);
  const bool is_transposed = c.node.attributes.int_or("transB", 0) != 0;
  if (const std::int64_t block = c.node.attributes.int_or("block", 0))
    return std::make_unique<Linear<BitOperand>>(
        c.node.attributes, BitWeights{std::move(b), is_transposed, block, c.weights(4), c.weights(5)});
  const std::int64_t first = b.dims()[0], second = b.dims()[1];
  return std::make_unique<Linear<WeightMatrix>>(c.node.attributes, std::move(b), is_transposed ? second : first,
                                                is_transposed ? first : second, is_transposed);
}

}  // namespace ingot::engine
