// MatMul and Gemm of doubles.
#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/double_product.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

void require_doubles(const ops::KernelContext& c) {
  for (std::size_t i = 0; i < c.input_count(); ++i)
    if (c.has(i) && c.in(i).dtype() != DType::f64) c.fail("the inputs are not of the types that were inferred");
}

[[noreturn]] void refuse_sizes(const ops::KernelContext& c) { c.fail("the inner dimensions differ"); }

class DoubleMatMul final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    require_doubles(c);
    const Array &a = c.in(0), &b = c.in(1);
    if (a.rank() == 0 || b.rank() == 0) c.fail("an operand is a scalar");
    // A vector is a row on the left, a column on the right.
    const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
    const std::int64_t m = is_row ? 1 : a.dims()[a.dims().size() - 2], k = a.dims().back();
    const std::int64_t n = is_column ? 1 : b.dims().back();
    if (b.dims()[b.dims().size() - (is_column ? 1 : 2)] != k) refuse_sizes(c);
    const Dims batch_a(a.dims().begin(), a.dims().end() - (is_row ? 1 : 2));
    const Dims batch_b(b.dims().begin(), b.dims().end() - (is_column ? 1 : 2));
    const Dims batch = ops::broadcast_dims(c, {&batch_a, &batch_b});
    Dims dims = batch;
    if (!is_row) dims.push_back(m);
    if (!is_column) dims.push_back(n);
    Array y = make_raw(c, 0, DType::f64, dims);
    if (y.size() == 0) return;
    double* out = y.mutable_data<double>().data();
    if (k == 0) return void(std::fill_n(out, y.size(), 0.0));
    for (const auto& [left, right] : broadcast_places(batch, batch_a, batch_b, c.host().budget())) {
      multiply({a.data<double>().data() + left * m * k, m, k, k}, {b.data<double>().data() + right * k * n, k, n, n},
               out, pool, c.host().budget());
      out += m * n;
    }
  }
};

class DoubleGemm final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    require_doubles(c);
    if (c.in(0).rank() != 2 || c.in(1).rank() != 2) c.fail("an operand is not a matrix");
    const DoubleMatrix a = matrix(c, 0, "transA"), b = matrix(c, 1, "transB");
    if (a.columns != b.rows) refuse_sizes(c);
    Array y = make_raw(c, 0, DType::f64, {a.rows, b.columns});
    if (y.size() == 0) return;
    double* out = y.mutable_data<double>().data();
    if (a.columns == 0)
      std::fill_n(out, y.size(), 0.0);
    else
      multiply(a, b, out, pool, c.host().budget());
    const double alpha = c.attr("alpha", 1.0f), beta = c.attr("beta", 1.0f);
    if (alpha == 1 && !c.has(2)) return;
    const Array bias = c.has(2) ? c.in(2) : Array::scalar(0.0);
    if (ops::broadcast_dims(c, {&y.dims(), &bias.dims()}) != y.dims()) c.fail("the third operand does not broadcast");
    const ops::Walk walk = ops::broadcast(y.dims(), {&bias.dims()});
    const double* addend = bias.data<double>().data();
    const std::int64_t step = walk.strides[0].back();
    share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) out[first + i] = alpha * out[first + i] + beta * addend[at[0] + i * step];
    });
  }

 private:
  static DoubleMatrix matrix(const ops::KernelContext& c, std::size_t i, const char* turned) {
    const Array& x = c.in(i);
    const std::int64_t rows = x.dims()[0], columns = x.dims()[1];
    const double* data = x.data<double>().data();
    if (c.attr(turned, std::int64_t{0}) != 0) return {data, columns, rows, 1, columns};
    return {data, rows, columns, columns};
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_double_matmul(PrepareContext& c) {
  if (c.elem(0) != DType::f64 || c.elem(1) != DType::f64) return c.refuse("the inputs are not double");
  return std::make_unique<DoubleMatMul>();
}

std::unique_ptr<PreparedNode> prepare_double_gemm(PrepareContext& c) {
  if (c.elem(0) != DType::f64 || c.elem(1) != DType::f64) return c.refuse("the inputs are not double");
  return std::make_unique<DoubleGemm>();
}

}  // namespace ingot::engine
