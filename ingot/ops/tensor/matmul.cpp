// MatMul and Gemm: products of matrices.
#include "ingot/ops/tensor/matmul.h"

#include <algorithm>

#include "ingot/base/checked.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

void check_inner(const InferContext& c, const Dim& a, const Dim& b) {
  if (!may_equal(a, b)) c.fail("the inner dimensions are " + a.str() + " and " + b.str());
}

void infer_gemm(InferContext& c) {
  const bool trans_a = c.attr("transA", std::int64_t{0}) != 0, trans_b = c.attr("transB", std::int64_t{0}) != 0;
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto rank = c.rank(i); rank && *rank != 2) c.fail("operand " + std::to_string(i) + " is not a matrix");
  check_inner(c, c.dim(0, trans_a ? 0 : 1), c.dim(1, trans_b ? 1 : 0));
  Shape y = {c.dim(0, trans_a ? 1 : 0), c.dim(1, trans_b ? 0 : 1)};
  if (const Shape* bias = c.shape(2)) {
    if (bias->size() > 2) c.fail("the third operand has rank " + std::to_string(bias->size()) + ", more than 2");
    broadcast(c, y, *bias);
  }
  c.out_shape(0, std::move(y));
}

// Until 6, C had the shape of the result or was broadcast where an attribute said so: by its last dimensions.
void down_to_broadcast_attribute(StepContext& c) {
  const Type& type = c.type(2);
  if (!type.shape) c.need_rank(2);
  const Shape& bias = *type.shape;
  if (bias.size() == 2 && !may_equal(bias[1], 1)) {
    c.node.attributes.set({"broadcast", same(bias[0], Dim(1)) ? 1 : 0});
  } else if (bias.size() <= 1) {
    c.node.attributes.set({"broadcast", 1});
  } else {
    c.cannot("a column cannot be broadcast before opset 7");
  }
}

// Until 10, C was required: 0 has no effect.
void down_to_required_bias(StepContext& c) {
  if (c.node.input(2)) return;
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the element type of the operands is not known");
  c.node.set_input(2, c.g.scalar(0, elem));
}

constexpr Step kGemmSteps[] = {
    {.since = 7,
     .up = [](StepContext& c) { c.node.attributes.erase("broadcast"); },
     .down = down_to_broadcast_attribute},
    {.since = 11, .down = down_to_required_bias},
};

void infer(InferContext& c) { infer_matmul(c, 0, 1); }

/// Sums of floats are kept in double; integers wrap around.
template <class T> using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// row += sum over k of a[k] * b[k, :].
template <class T> void add_row(const T* a, const T* b, std::int64_t k, std::span<Wide<T>> row) {
  for (std::int64_t i = 0; i < k; ++i) {
    const auto factor = static_cast<Wide<T>>(a[i]);
    const T* other = b + i * static_cast<std::int64_t>(row.size());
    for (std::size_t j = 0; j < row.size(); ++j) row[j] += factor * static_cast<Wide<T>>(other[j]);
  }
}

using ProductTypes = JoinTypes<ComputeFloats, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

void run_matmul(KernelContext& c) {
  const Array a = computable(c, 0), b = computable(c, 1);
  put(c, 0, matrix_product(c, a, b), c.in(0).dtype());
}

Array transposed(KernelContext& c, const Array& x) {
  Array y = scratch(c, x.dtype(), {x.dims()[1], x.dims()[0]});
  Walk walk{y.dims(), {{1, x.dims()[1]}}};
  join_axes(walk);
  gather_walk(walk, x, 0, y, c.host().budget());
  return y;
}

/// Of integers exact where the factors are whole numbers, else computed in double and rounded towards zero.
template <class T> T scaled_sum(T product, float alpha, T bias, float beta) {
  if constexpr (std::is_integral_v<T>) {
    if (alpha == 1 && beta == 1) return wrapping_add(product, bias);
    return saturate_cast<T>(double{alpha} * static_cast<double>(product) + double{beta} * static_cast<double>(bias));
  } else {
    return static_cast<T>(double{alpha} * product + double{beta} * bias);
  }
}

void run_gemm(KernelContext& c) {
  Array a = computable(c, 0), b = computable(c, 1);
  if (a.rank() != 2 || b.rank() != 2) c.fail("an operand is not a matrix");
  if (c.attr("transA", std::int64_t{0}) != 0) a = transposed(c, a);
  if (c.attr("transB", std::int64_t{0}) != 0) b = transposed(c, b);
  const float alpha = c.attr("alpha", 1.0f), beta = c.attr("beta", 1.0f);
  Array y = matrix_product(c, a, b);
  const bool has_bias = c.has(2);
  dispatch(y.dtype(), ProductTypes{}, [&]<class T>() {
    const Array bias = has_bias ? computable(c, 2) : Array::scalar(T{0});
    if (broadcast_dims(c, {&y.dims(), &bias.dims()}) != y.dims()) c.fail("the third operand does not broadcast");
    const Walk walk = ops::broadcast(y.dims(), {&bias.dims()});
    const T* addend = bias.data<T>().data();
    T* out = y.mutable_data<T>().data();
    const std::int64_t step = walk.strides[0].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i, ++out) *out = scaled_sum(*out, alpha, addend[at[0] + i * step], beta);
    });
  });
  put(c, 0, y, c.in(0).dtype());
}

Value* swap_last_axes(GraphBuilder& g, Value* x, std::int64_t rank) {
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  perm.push_back(rank - 1);
  perm.push_back(rank - 2);
  return g.transpose(x, perm);
}

// A vector counts as a matrix of one row or, on the right, of one column.
Values gradient_matmul(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t left = c.rank(0), right = c.rank(1);
  Value* a = left == 1 ? g.unsqueeze(c.x(0), {0}) : c.x(0);
  Value* b = right == 1 ? g.unsqueeze(c.x(1), {1}) : c.x(1);
  Value* dy = c.dy();
  if (right == 1) dy = g.unsqueeze(dy, {-1});
  if (left == 1) dy = g.unsqueeze(dy, {-2});
  Value *da = nullptr, *db = nullptr;
  if (c.wants(0)) {
    Value* turned = swap_last_axes(g, b, std::max<std::int64_t>(right, 2));
    da = c.sum_to(g.op("MatMul", {dy, turned}), a);
    if (left == 1) da = g.squeeze(da, {0});
  }
  if (c.wants(1) && right <= 2 && left > 2) {
    // One matrix for the whole batch: its rows are the rows of one long matrix.
    Value *inner = size_along(g, a, -1), *columns = size_along(g, b, -1);
    Value* rows = g.op("Reshape", {a, g.concat({g.ints({-1}), inner}, 0)});
    Value* arriving = g.op("Reshape", {dy, g.concat({g.ints({-1}), columns}, 0)});
    db = g.op("MatMul", {g.transpose(rows, {1, 0}), arriving});
  } else if (c.wants(1)) {
    Value* turned = swap_last_axes(g, a, std::max<std::int64_t>(left, 2));
    db = c.sum_to(g.op("MatMul", {turned, dy}), b);
  }
  if (db && right == 1) db = g.squeeze(db, {1});
  return {da, db};
}

Values gradient_gemm(GradContext& c) {
  GraphBuilder& g = c.g;
  const bool turns_a = c.attr("transA", std::int64_t{0}) != 0, turns_b = c.attr("transB", std::int64_t{0}) != 0;
  const auto product = [&](Value* a, bool turn_a, Value* b, bool turn_b) {
    return g.op("Gemm", {a, b}, {{"transA", turn_a}, {"transB", turn_b}, {"alpha", c.attr("alpha", 1.0f)}});
  };
  Value *da = nullptr, *db = nullptr, *dc = nullptr;
  if (c.wants(0)) da = turns_a ? product(c.x(1), turns_b, c.dy(), true) : product(c.dy(), false, c.x(1), !turns_b);
  if (c.wants(1)) db = turns_b ? product(c.dy(), true, c.x(0), turns_a) : product(c.x(0), !turns_a, c.dy(), false);
  if (c.wants(2)) {
    const float beta = c.attr("beta", 1.0f);
    dc = c.sum_to(beta == 1 ? c.dy() : g.mul(c.dy(), beta), c.x(2));
  }
  return {da, db, dc};
}

}  // namespace

void infer_matmul(InferContext& c, std::size_t left, std::size_t right) {
  const Shape *a = c.shape(left), *b = c.shape(right);
  for (const Shape* s : {a, b}) c.require(!s || !s->empty(), "an operand is a scalar");
  if (!a || !b) return;
  check_inner(c, a->back(), b->size() > 1 ? (*b)[b->size() - 2] : b->back());
  const Shape batch_a(a->begin(), a->end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(a->size())));
  const Shape batch_b(b->begin(), b->end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(b->size())));
  Shape y = broadcast(c, batch_a, batch_b);
  if (a->size() > 1) y.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) y.push_back(b->back());
  c.out_shape(0, std::move(y));
}

Array matrix_product(KernelContext& c, const Array& a, const Array& b) {
  if (a.rank() == 0 || b.rank() == 0) c.fail("an operand is a scalar");
  // A vector is a row on the left, a column on the right.
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  const std::int64_t m = is_row ? 1 : a.dims()[a.dims().size() - 2], k = a.dims().back();
  const std::int64_t n = is_column ? 1 : b.dims().back(), inner = b.dims()[b.dims().size() - (is_column ? 1 : 2)];
  if (k != inner) c.fail("the inner dimensions are " + std::to_string(k) + " and " + std::to_string(inner));
  const Dims batch_a(a.dims().begin(), a.dims().end() - (is_row ? 1 : 2));
  const Dims batch_b(b.dims().begin(), b.dims().end() - (is_column ? 1 : 2));
  const Dims batch = broadcast_dims(c, {&batch_a, &batch_b});
  Dims dims = batch;
  if (!is_row) dims.push_back(m);
  if (!is_column) dims.push_back(n);
  Array y = scratch(c, a.dtype(), dims);
  if (y.size() == 0) return y;

  const Walk walk = ops::broadcast(batch, {&batch_a, &batch_b});
  dispatch(a.dtype(), ProductTypes{}, [&]<class T>() {
    const T *left = a.data<T>().data(), *right = b.data<T>().data();
    T* out = y.mutable_data<T>().data();
    Array room = scratch(c, dtype_of<Wide<T>>, {n});
    const auto row = room.mutable_data<Wide<T>>();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const T* x = left + (at[0] + i * walk.strides[0].back()) * m * k;
        const T* z = right + (at[1] + i * walk.strides[1].back()) * k * n;
        for (std::int64_t r = 0; r < m; ++r) {
          c.host().budget().poll();
          std::ranges::fill(row, Wide<T>{0});
          add_row(x + r * k, z, k, row);
          for (const Wide<T> sum : row) *out++ = static_cast<T>(sum);
        }
      }
    });
  });
  return y;
}

constinit const OpDef defs::MatMul = {
    .name = "MatMul",
    .infer = infer,
    .kernel = run_matmul,
    .gradient = gradient_matmul,
};
constinit const OpDef defs::Gemm = {
    .name = "Gemm",
    .infer = infer_gemm,
    .steps = kGemmSteps,
    .kernel = run_gemm,
    .gradient = gradient_gemm,
};

}  // namespace ingot::ops
