// Products of matrices that change from run to run, read and written in the order of axes that their neighbours want.
#include <algorithm>
#include <numeric>

#include "ingot/base/threads.h"
#include "ingot/engine/kernels/dense_product.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

/// An array seen with its axes in another order.
struct Turned {
  Dims dims, strides;

  Turned(const Dims& own, const Dims& perm) {
    const Dims dense = ops::strides_of(own);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto axis = perm.empty() ? i : static_cast<std::size_t>(perm[i]);
      dims.push_back(own[axis]);
      strides.push_back(dense[axis]);
    }
  }
  std::size_t rank() const { return dims.size(); }
  std::int64_t dim_from_end(std::size_t i) const { return dims[rank() - i]; }
  std::int64_t stride_from_end(std::size_t i) const { return strides[rank() - i]; }
  /// Whether the rows of all matrices are as far apart as those of one.
  bool is_one_matrix() const {
    for (std::size_t i = 0; i + 2 < rank(); ++i)
      if (dims[i] != 1 && strides[i] != dims[i + 1] * strides[i + 1]) return false;
    return true;
  }
  /// The stride of axis i of a result of so many axes; 0 where this one repeats.
  std::int64_t stride_along(std::size_t i, std::size_t axes) const {
    if (i + rank() < axes) return 0;
    const std::size_t own = i + rank() - axes;
    return dims[own] == 1 ? 0 : strides[own];
  }
};

Dims inverse(const Dims& perm) {
  Dims back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return back;
}

class Product final : public PreparedNode {
 public:
  explicit Product(const Attributes& attributes)
      : perm_a_(attributes.ints_or("perm_a", {})),
        perm_b_(attributes.ints_or("perm_b", {})),
        perm_out_(attributes.ints_or("perm_out", {})) {
    if (!attributes.has("low")) return;
    low_ = attributes.float_or("low", 0);
    high_ = attributes.float_or("high", 0);
    has_limits_ = true;
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &left = c.in(0), &right = c.in(1);
    check(c, left, perm_a_);
    check(c, right, perm_b_);
    Turned a(left.dims(), perm_a_);
    const Turned b(right.dims(), perm_b_);
    const std::int64_t depth = a.dim_from_end(1), columns = b.dim_from_end(1);
    if (b.dim_from_end(2) != depth)
      c.fail("the inner dimensions " + std::to_string(depth) + " and " + std::to_string(b.dim_from_end(2)) + " differ");
    const Dims a_batch(a.dims.begin(), a.dims.end() - 2), b_batch(b.dims.begin(), b.dims.end() - 2);
    Dims dims = ops::broadcast_dims(c, {&a_batch, &b_batch});
    const std::size_t axes = dims.size();
    dims.push_back(a.dim_from_end(2));
    dims.push_back(columns);
    if (!perm_out_.empty() && perm_out_.size() != dims.size()) c.fail("the result has not the rank that was inferred");
    Dims made = dims;
    for (std::size_t i = 0; i < perm_out_.size(); ++i) made[i] = dims[static_cast<std::size_t>(perm_out_[i])];
    Array y = make_raw(c, 0, DType::f32, made);
    if (y.size() == 0) return;
    // The result in the order of axes of the product.
    const Turned out(made, perm_out_.empty() ? Dims() : inverse(perm_out_));
    const Epilogue epilogue = epilogue_of(c, columns, made);
    const MatrixView x{left.data<float>().data(), a.stride_from_end(2), a.stride_from_end(1)};
    const MatrixView w{right.data<float>().data(), b.stride_from_end(2), b.stride_from_end(1)};
    float* to = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    std::int64_t rows = dims[axes];
    if (axes > 0 && tensor_size(b_batch) == 1 && a.rank() == axes + 2 && a.is_one_matrix() && out.is_one_matrix()) {
      rows = y.size() / columns;
      DenseProduct(rows, depth, columns).run(x, w, to, out.stride_from_end(2), epilogue, pool, budget);
      return;
    }
    const std::int64_t count = y.size() / (rows * columns);
    const DenseProduct product(rows, depth, columns, count);
    constexpr double kPiece = 1 << 18;  // multiplications that one piece of work has at least
    const std::int64_t pieces = product.pieces();
    const auto grain = static_cast<std::int64_t>(std::min(kPiece / (product.work() + 1), 1e9)) + 1;
    pool.parallel_for(count * pieces, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t rest = i / pieces, at_a = 0, at_b = 0, at_out = 0;
        for (std::size_t axis = axes; axis-- > 0;) {
          const std::int64_t index = rest % dims[axis];
          rest /= dims[axis];
          at_a += index * a.stride_along(axis, axes + 2);
          at_b += index * b.stride_along(axis, axes + 2);
          at_out += index * out.strides[axis];
        }
        Epilogue own = epilogue;
        if (own.residual) own.residual += at_out;
        product.run(i % pieces, {x.data + at_a, x.row_stride, x.column_stride},
                    {w.data + at_b, w.row_stride, w.column_stride}, to + at_out, out.stride_from_end(2), own, budget,
                    {});
      }
    });
  }

 private:
  static void check(ops::KernelContext& c, const Array& x, const Dims& perm) {
    if (x.dtype() != DType::f32 || x.rank() < 2 || (!perm.empty() && perm.size() != x.dims().size()))
      c.fail("the inputs are not of the types that were inferred");
  }

  Epilogue epilogue_of(ops::KernelContext& c, std::int64_t columns, const Dims& made) const {
    Epilogue epilogue;
    if (c.has(2)) {
      if (c.in(2).dtype() != DType::f32 || c.in(2).size() != columns)
        c.fail("the bias does not have the size of a row");
      epilogue.bias = c.in(2).data<float>().data();
    }
    if (c.has(3)) {
      if (c.in(3).dtype() != DType::f32 || c.in(3).dims() != made)
        c.fail("what is added does not have the shape of the result");
      epilogue.residual = c.in(3).data<float>().data();
    }
    if (has_limits_) {
      epilogue.low = low_;
      epilogue.high = high_;
    }
    return epilogue;
  }

  Dims perm_a_, perm_b_, perm_out_;
  bool has_limits_ = false;
  float low_ = 0, high_ = 0;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_product(PrepareContext& c) {
  return std::make_unique<Product>(c.node.attributes);
}

}  // namespace ingot::engine
