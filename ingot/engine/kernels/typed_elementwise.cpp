// Elementwise operators on other types than float, and tests: one loop per operator and type, shared out by rows.
#include <cmath>
#include <functional>

#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

/// z[i] = f(x[i * x_step], y[i * y_step]); the usual steps have loops of their own.
template <class T, class Out, class F>
void map_row(const T* __restrict x, std::int64_t x_step, const T* __restrict y, std::int64_t y_step, Out* __restrict z,
             std::int64_t n, F f) {
  if (x_step == 1 && y_step == 1) {
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(x[i], y[i]));
  } else if (x_step == 1 && y_step == 0) {
    const T other = *y;
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(x[i], other));
  } else if (x_step == 0 && y_step == 1) {
    const T other = *x;
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(other, y[i]));
  } else {
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<Out>(f(x[i * x_step], y[i * y_step]));
  }
}

template <class T, class Out, class F> void map_two(ops::KernelContext& c, ThreadPool& pool, F f) {
  const Array &x = c.in(0), &y = c.in(1);
  if (x.dtype() != dtype_of<T> || y.dtype() != dtype_of<T>)
    c.fail("the inputs are not of the types that were inferred");
  const Dims dims = ops::broadcast_dims(c, {&x.dims(), &y.dims()});
  const ops::Walk walk = ops::broadcast(dims, {&x.dims(), &y.dims()});
  Array z = make_raw(c, 0, dtype_of<Out>, dims);
  const T *a = x.data<T>().data(), *b = y.data<T>().data();
  Out* out = z.mutable_data<Out>().data();
  share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
    map_row(a + at[0], walk.strides[0].back(), b + at[1], walk.strides[1].back(), out + first, n, f);
  });
}

using Run = void (*)(ops::KernelContext&, ThreadPool&);

/// Integers wrap around.
template <class T, class Op> void arithmetic(ops::KernelContext& c, ThreadPool& pool) {
  map_two<T, T>(c, pool, [](T x, T y) {
    using Wide = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>;
    using W = typename Wide::type;
    return static_cast<T>(Op()(static_cast<W>(x), static_cast<W>(y)));
  });
}

template <class T, class Test> void compare(ops::KernelContext& c, ThreadPool& pool) {
  map_two<T, bool>(c, pool, [](T x, T y) { return Test()(x, y); });
}

template <class T> Run compare_as(std::string_view op) {
  if (op == "Equal") return compare<T, std::equal_to<>>;
  if (op == "Greater") return compare<T, std::greater<>>;
  if (op == "GreaterOrEqual") return compare<T, std::greater_equal<>>;
  if (op == "Less") return compare<T, std::less<>>;
  return op == "LessOrEqual" ? Run(compare<T, std::less_equal<>>) : nullptr;
}

void power(ops::KernelContext& c, ThreadPool& pool) {
  map_two<float, float>(c, pool, [](float x, float y) { return std::pow(x, y); });
}

template <class T> Run numeric(std::string_view op) {
  if (op == "Add") return arithmetic<T, std::plus<>>;
  if (op == "Sub") return arithmetic<T, std::minus<>>;
  if (op == "Mul") return arithmetic<T, std::multiplies<>>;
  if constexpr (std::is_floating_point_v<T>)
    if (op == "Div") return arithmetic<T, std::divides<>>;
  return compare_as<T>(op);
}

Run logical(std::string_view op) {
  if (op == "And") return compare<bool, std::logical_and<>>;
  if (op == "Or") return compare<bool, std::logical_or<>>;
  return op == "Xor" || op == "Equal"
             ? Run(op == "Xor" ? compare<bool, std::not_equal_to<>> : compare<bool, std::equal_to<>>)
             : nullptr;
}

class Typed final : public PreparedNode {
 public:
  explicit Typed(Run loop) : loop_(loop) {}
  void run(ops::KernelContext& c, ThreadPool& pool) const override { loop_(c, pool); }

 private:
  Run loop_;
};

class Where final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &condition = c.in(0), &x = c.in(1), &y = c.in(2);
    if (x.dtype() != y.dtype() || condition.dtype() != DType::boolean || x.dtype() == DType::string)
      c.fail("the inputs are not of the types that were inferred");
    const Dims dims = ops::broadcast_dims(c, {&condition.dims(), &x.dims(), &y.dims()});
    const ops::Walk walk = ops::broadcast(dims, {&condition.dims(), &x.dims(), &y.dims()});
    Array z = make_raw(c, 0, x.dtype(), dims);
    const bool* test = condition.data<bool>().data();
    ops::dispatch_cell(x.dtype(), [&]<class T>() {
      if constexpr (!std::is_same_v<T, std::string>) {
        const T *a = ops::cells<T>(x), *b = ops::cells<T>(y);
        T* out = ops::cells<T>(z);
        const std::int64_t by = walk.strides[0].back(), by_a = walk.strides[1].back(), by_b = walk.strides[2].back();
        share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
          const bool* yes = test + at[0];
          const T *from = a + at[1], *other = b + at[2];
          for (std::int64_t i = 0; i < n; ++i) out[first + i] = yes[i * by] ? from[i * by_a] : other[i * by_b];
        });
      }
    });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_typed(PrepareContext& c) {
  const std::string_view op = c.node.op;
  Run loop = nullptr;
  if (c.node.input_count() == 2 && c.elem(0) == c.elem(1)) {
    if (c.elem(0) == DType::f32) loop = op == "Pow" ? power : compare_as<float>(op);
    if (c.elem(0) == DType::f64) loop = numeric<double>(op);
    if (c.elem(0) == DType::i32) loop = numeric<std::int32_t>(op);
    if (c.elem(0) == DType::i64) loop = numeric<std::int64_t>(op);
    if (c.elem(0) == DType::boolean) loop = logical(op);
  }
  if (!loop) return c.refuse("the types are not known, or not those of most models");
  return std::make_unique<Typed>(loop);
}

std::unique_ptr<PreparedNode> prepare_where(PrepareContext& c) {
  if (c.elem(1) == DType::undefined || c.elem(1) == DType::string || c.elem(1) != c.elem(2))
    return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Where>();
}

}  // namespace ingot::engine
