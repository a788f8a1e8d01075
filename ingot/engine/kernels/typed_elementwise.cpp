// Elementwise operators on other types than float, and tests: one loop per operator and type, shared out by rows.
#include <cmath>

#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/cast_loops.h"
#include "ingot/engine/kernels/function_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/typed_loops.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

struct Operator {
  std::string_view op;
  Pair loop;
  bool is_test = false, is_swapped = false;
};

constexpr Operator kOperators[] = {
    {"Add", Pair::add},
    {"And", Pair::bit_and, true},
    {"BitwiseAnd", Pair::bit_and},
    {"BitwiseOr", Pair::bit_or},
    {"BitwiseXor", Pair::bit_xor},
    {"Div", Pair::divide},
    {"Equal", Pair::equal, true},
    {"Greater", Pair::greater, true},
    {"GreaterOrEqual", Pair::greater_or_equal, true},
    {"Less", Pair::greater, true, true},
    {"LessOrEqual", Pair::greater_or_equal, true, true},
    {"Max", Pair::maximum},
    {"Min", Pair::minimum},
    {"Mul", Pair::multiply},
    {"Or", Pair::bit_or, true},
    {"Sub", Pair::subtract},
    {"Xor", Pair::bit_xor, true},
};

/// What an operator of two operands does to numbers of a type.
struct TypedLoop {
  PairLoop loop = nullptr;
  DType in = DType::undefined, out = DType::undefined;
  bool is_swapped = false, refuses_zero = false;
};

TypedLoop loop_of(const Node& node, DType type) {
  TypedLoop found{.in = type, .out = type};
  if (node.op == "BitShift") {
    const bool is_left = node.attributes.string_or("direction", "") == "LEFT";
    found.loop = pair_loop(is_left ? Pair::shift_left : Pair::shift_right, type);
  }
  if (node.op == "Mod" && is_integer(type)) {
    found.loop = pair_loop(node.attributes.int_or("fmod", 0) != 0 ? Pair::remainder : Pair::modulo, type);
    found.refuses_zero = true;
  }
  for (const Operator& row : kOperators) {
    if (row.op != node.op) continue;
    found.loop = pair_loop(row.loop, type);
    found.is_swapped = row.is_swapped;
    found.refuses_zero = row.loop == Pair::divide && is_integer(type);
    if (row.is_test) found.out = DType::boolean;
  }
  return found;
}

/// Calls row(x, x step, y, y step, z, n) for pieces of rows of two operands that are broadcast to z, given as bytes.
template <class F> void zip_rows(ops::KernelContext& c, ThreadPool& pool, DType in, DType out, F row) {
  const Array &x = c.in(0), &y = c.in(1);
  if (x.dtype() != in || y.dtype() != in) c.fail("the inputs are not of the types that were inferred");
  // Where little is computed, as in loops over small states, finding the way through the axes would take longer.
  const auto repeats = [](const Array& one, const Array& all) { return one.size() == 1 && one.rank() <= all.rank(); };
  const bool is_like_x = x.dims() == y.dims() || repeats(y, x);
  if (const Array& all = is_like_x ? x : y; (is_like_x || repeats(x, y)) && all.size() <= kGrain) {
    Array z = make_raw(c, 0, out, all.dims());
    const std::int64_t n = z.size();
    if (n > 0) row(x.bytes(), x.size() == n ? 1 : 0, y.bytes(), y.size() == n ? 1 : 0, z.bytes(), n);
    return;
  }
  const Dims dims = ops::broadcast_dims(c, {&x.dims(), &y.dims()});
  const ops::Walk walk = ops::broadcast(dims, {&x.dims(), &y.dims()});
  Array z = make_raw(c, 0, out, dims);
  const std::int64_t wide = bits_of(in) / 8, out_wide = bits_of(out) / 8;
  const std::byte *a = x.bytes(), *b = y.bytes();
  std::byte* to = z.bytes();
  share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
    row(a + at[0] * wide, walk.strides[0].back(), b + at[1] * wide, walk.strides[1].back(), to + first * out_wide, n);
  });
}

class Typed final : public PreparedNode {
 public:
  explicit Typed(const TypedLoop& loop) : loop_(loop) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    if (loop_.refuses_zero && has_zero(loop_.in, c.in(1).bytes(), c.in(1).size()) && c.in(0).size() > 0)
      return ops::find(c.node)->kernel(c);  // which says so
    zip_rows(c, pool, loop_.in, loop_.out,
             [&](const std::byte* x, std::int64_t x_step, const std::byte* y, std::int64_t y_step, std::byte* z,
                 std::int64_t n) {
               if (loop_.is_swapped)
                 loop_.loop(y, y_step, x, x_step, z, n);
               else
                 loop_.loop(x, x_step, y, y_step, z, n);
             });
  }

 private:
  TypedLoop loop_;
};

class Power final : public PreparedNode {
 public:
  explicit Power(DType type) : type_(type) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    dispatch(type_, Types<float, double>{}, [&]<class T>() {
      zip_rows(c, pool, type_, type_,
               [](const std::byte* xs, std::int64_t x_step, const std::byte* ys, std::int64_t y_step, std::byte* zs,
                  std::int64_t n) {
                 const T *x = reinterpret_cast<const T*>(xs), *y = reinterpret_cast<const T*>(ys);
                 T* z = reinterpret_cast<T*>(zs);
                 for (std::int64_t i = 0; i < n; ++i) z[i] = std::pow(x[i * x_step], y[i * y_step]);
               });
    });
  }

 private:
  DType type_;
};

/// One operand.
class Single final : public PreparedNode {
 public:
  Single(AloneLoop loop, DType in, DType out) : loop_(loop), in_(in), out_(out) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != in_) c.fail("the input is not of the type that was inferred");
    Array y = make_raw(c, 0, out_, x.dims());
    const std::int64_t wide = bits_of(in_) / 8, out_wide = bits_of(out_) / 8;
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      loop_(x.bytes() + begin * wide, y.bytes() + begin * out_wide, end - begin);
    });
  }

 private:
  AloneLoop loop_;
  DType in_, out_;
};

/// Between two numbers, either of which may be missing.
class Clip final : public PreparedNode {
 public:
  explicit Clip(DType type)
      : type_(type), raise_(pair_loop(Pair::maximum, type)), lower_(pair_loop(Pair::minimum, type)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    for (const std::size_t i : {1u, 2u})
      if (c.has(i) && (c.in(i).dtype() != type_ || c.in(i).size() != 1 || is_nan(c.in(i))))
        return ops::find(c.node)->kernel(c);
    if (x.dtype() != type_) c.fail("the input is not of the type that was inferred");
    if (!c.has(1) && !c.has(2)) return c.set(0, x);
    Array y = make_raw(c, 0, type_, x.dims());
    const std::int64_t wide = bits_of(type_) / 8;
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.size(), kTile, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      const std::byte* from = x.bytes() + begin * wide;
      std::byte* to = y.bytes() + begin * wide;
      std::byte raised[8 * kTile];
      if (c.has(1)) raise_(from, 1, c.in(1).bytes(), 0, c.has(2) ? raised : to, end - begin);
      if (c.has(2)) lower_(c.has(1) ? raised : from, 1, c.in(2).bytes(), 0, to, end - begin);
    });
  }

 private:
  static constexpr std::int64_t kTile = 1 << 11;

  static bool is_nan(const Array& bound) { return is_float(bound.dtype()) && std::isnan(bound.to_doubles()[0]); }

  DType type_;
  PairLoop raise_, lower_;
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
    const std::int64_t bytes = std::max(1u, bits_of(x.dtype()) / 8);
    const ChoiceLoop choose = choice_loop(bytes);
    const std::byte *a = x.bytes(), *b = y.bytes();
    std::byte* out = z.bytes();
    const std::int64_t by = walk.strides[0].back(), by_a = walk.strides[1].back(), by_b = walk.strides[2].back();
    share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
      choose(test + at[0], by, a + at[1] * bytes, by_a, b + at[2] * bytes, by_b, out + first * bytes, n);
    });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_typed(PrepareContext& c) {
  const DType type = c.elem(0);
  if (c.node.input_count() != 2 || type != c.elem(1)) return c.refuse("the types are not known, or not the same");
  if (c.node.op == "Pow" && (type == DType::f32 || type == DType::f64)) return std::make_unique<Power>(type);
  const TypedLoop loop = loop_of(c.node, type);
  if (!loop.loop) return c.refuse("there is no loop for this type");
  return std::make_unique<Typed>(loop);
}

std::unique_ptr<PreparedNode> prepare_single(PrepareContext& c) {
  const DType type = c.elem(0);
  const std::string_view op = c.node.op;
  const AloneLoop loop = op == "Abs"          ? alone_loop(Alone::absolute, type)
                         : op == "Neg"        ? alone_loop(Alone::negative, type)
                         : op == "Sign"       ? alone_loop(Alone::sign, type)
                         : op == "BitwiseNot" ? alone_loop(Alone::not_, type)
                         : op == "IsNaN"      ? alone_loop(Alone::is_nan, type)
                         : op == "Not"        ? alone_loop(Alone::is_zero, type)
                                              : nullptr;
  if (!loop) return c.refuse("there is no loop for this type");
  return std::make_unique<Single>(loop, type, op == "IsNaN" || op == "Not" ? DType::boolean : type);
}

std::unique_ptr<PreparedNode> prepare_function(PrepareContext& c) {
  struct Named {
    std::string_view op;
    Function function;
  };
  static constexpr Named kFunctions[] = {
      {"Acos", Function::acos},   {"Acosh", Function::acosh}, {"Asin", Function::asin},
      {"Asinh", Function::asinh}, {"Atan", Function::atan},   {"Atanh", Function::atanh},
      {"Cos", Function::cos},     {"Cosh", Function::cosh},   {"Exp", Function::exp},
      {"Log", Function::log},     {"Mish", Function::mish},   {"Sigmoid", Function::sigmoid},
      {"Sin", Function::sin},     {"Sinh", Function::sinh},   {"Softsign", Function::softsign},
      {"Sqrt", Function::sqrt},   {"Tan", Function::tan},     {"Tanh", Function::tanh},
  };
  for (const Named& row : kFunctions)
    if (row.op == c.node.op)
      if (const AloneLoop loop = function_loop(row.function, c.elem(0)))
        return std::make_unique<Single>(loop, c.elem(0), c.elem(0));
  return c.refuse("the input is neither float nor double");
}

std::unique_ptr<PreparedNode> prepare_clip(PrepareContext& c) {
  if (!pair_loop(Pair::maximum, c.elem(0))) return c.refuse("there is no loop for this type");
  return std::make_unique<Clip>(c.elem(0));
}

std::unique_ptr<PreparedNode> prepare_where(PrepareContext& c) {
  if (c.elem(1) == DType::undefined || c.elem(1) == DType::string || c.elem(1) != c.elem(2))
    return c.refuse("the elements are not known to be of one size");
  if (bits_of(c.elem(1)) > 64) return c.refuse("the elements are too large");
  return std::make_unique<Where>();
}

}  // namespace ingot::engine
