// Scalar expressions, and what is folded when they are made.
#include "ingot/lower/expr.h"

#include <algorithm>
#include <string>

#include "ingot/base/error.h"

namespace ingot::lower {
namespace {

bool are_indices(const Expr& a, const Expr& b) { return a.is_index() && b.is_index(); }

/// Whoever prints an expression, or looks into one, calls itself at each level.
constexpr int kMostDepth = 1000;

std::shared_ptr<ExprNode> node_over(Op op, Exprs args, Exprs dims = {}) {
  auto node = std::make_shared<ExprNode>();
  for (const Exprs* below : {&args, &dims})
    for (const Expr& e : *below) node->depth = std::max(node->depth, e->depth + 1);
  if (node->depth > kMostDepth)
    throw Error(Code::depth_limit, "an expression is more than " + std::to_string(kMostDepth) + " levels deep");
  node->op = op;
  node->args = std::move(args);
  node->dims = std::move(dims);
  return node;
}

Expr make_index(Op op, const Expr& a, const Expr& b) {
  auto node = node_over(op, {a, b});
  node->is_index = true;
  return Expr(std::move(node));
}

constexpr std::int64_t kMostElements = INT64_MAX / 16;  // their bytes can be counted

std::optional<std::int64_t> folded(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::size_mul:
      if (a < 0 || b < 0) return -1;
      return __builtin_mul_overflow(a, b, &result) || result > kMostElements ? -1 : result;
    case Op::floor_div:
      if (b == 0 || b == -1) return b == -1 && a != INT64_MIN ? std::optional(-a) : std::nullopt;
      return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
    case Op::modulo:
      if (b == 0 || b == -1) return b == -1 ? std::optional<std::int64_t>(0) : std::nullopt;
      return a % b + ((a % b != 0) && ((a < 0) != (b < 0)) ? b : 0);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

/// Of two constant indices.
std::optional<Expr> fold(Op op, const Expr& a, const Expr& b) {
  if (!are_indices(a, b) || !a.as_int() || !b.as_int()) return std::nullopt;
  if (const auto value = folded(op, *a.as_int(), *b.as_int())) return Expr(*value);
  return std::nullopt;
}

Expr binary(Op op, const Expr& a, const Expr& b) {
  if (const auto value = fold(op, a, b)) return *value;
  return are_indices(a, b) ? make_index(op, a, b) : Expr::make(op, a.type(), {a, b});
}

bool is_number(const Expr& e, std::int64_t n) { return e.is_index() && e.as_int() == n; }

Expr truth(bool value) { return Expr::integer(value, DType::boolean); }

/// The same number on both sides, and none of those that differ from themselves.
bool is_one_integer(const Expr& a, const Expr& b) { return is_integer(a.type()) && same(a, b); }

}  // namespace

Expr::Expr(std::int64_t index) {
  auto node = std::make_shared<ExprNode>();
  node->is_index = true;
  node->whole = index;
  node_ = std::move(node);
}

Expr Expr::constant(double value, DType type) {
  auto node = std::make_shared<ExprNode>();
  node->type = type;
  node->real = value;
  if (!is_float(type)) node->whole = static_cast<std::int64_t>(value);
  return Expr(std::move(node));
}

Expr Expr::integer(std::int64_t value, DType type) {
  auto node = std::make_shared<ExprNode>();
  node->type = type;
  node->whole = value;
  node->real = static_cast<double>(value);
  return Expr(std::move(node));
}

Expr Expr::variable(int id, DType type, bool is_index) {
  auto node = std::make_shared<ExprNode>();
  node->op = Op::variable;
  node->type = type;
  node->is_index = is_index;
  node->id = id;
  return Expr(std::move(node));
}

Expr Expr::load(int tensor, DType type, Exprs at, Exprs dims) {
  auto node = node_over(Op::load, std::move(at), std::move(dims));
  node->type = type;
  node->id = tensor;
  return Expr(std::move(node));
}

Expr Expr::make(Op op, DType type, Exprs args) {
  const bool compares = op == Op::equal || op == Op::less || op == Op::less_equal;
  if (compares && is_one_integer(args[0], args[1])) return truth(op != Op::less);
  auto node = node_over(op, std::move(args));
  node->type = type;
  return Expr(std::move(node));
}

DType Expr::type() const { return node_->type; }
bool Expr::is_index() const { return node_->is_index; }

std::optional<std::int64_t> Expr::as_int() const {
  if (!node_ || node_->op != Op::constant || is_float(node_->type)) return std::nullopt;
  return node_->whole;
}

Expr operator+(const Expr& a, const Expr& b) {
  if (is_number(a, 0) && b.is_index()) return b;
  if (is_number(b, 0) && a.is_index()) return a;
  // (x + 1) + 2 = x + 3
  if (are_indices(a, b) && b.as_int() && a->op == Op::add && a->args[1].as_int()) return a->args[0] + (a->args[1] + b);
  if (are_indices(a, b) && a.as_int() && !b.as_int()) return b + a;
  return binary(Op::add, a, b);
}

Expr operator-(const Expr& a, const Expr& b) {
  if (are_indices(a, b)) {
    if (const auto n = b.as_int(); n && *n != INT64_MIN && !a.as_int()) return a + Expr(-*n);
    if (same(a, b)) return 0;
  }
  return binary(Op::sub, a, b);
}

Expr operator*(const Expr& a, const Expr& b) {
  if (are_indices(a, b)) {
    if (is_number(a, 1)) return b;
    if (is_number(b, 1)) return a;
    if (is_number(a, 0) || is_number(b, 0)) return 0;
    if (a.as_int() && !b.as_int()) return b * a;
    if (b.as_int() && a->op == Op::mul && a->args[1].as_int()) return a->args[0] * (a->args[1] * b);
  }
  return binary(Op::mul, a, b);
}

Expr floor_div(const Expr& a, const Expr& b) { return is_number(b, 1) ? a : binary(Op::floor_div, a, b); }

Expr ceil_div(const Expr& a, const Expr& b) { return floor_div(a + b - 1, b); }

Expr modulo(const Expr& a, const Expr& b) { return is_number(b, 1) ? Expr(0) : binary(Op::modulo, a, b); }

Expr min(const Expr& a, const Expr& b) { return same(a, b) && a.is_index() ? a : binary(Op::min, a, b); }
Expr max(const Expr& a, const Expr& b) { return same(a, b) && a.is_index() ? a : binary(Op::max, a, b); }

Expr less(const Expr& a, const Expr& b) {
  if (are_indices(a, b) && a.as_int() && b.as_int()) return truth(*a.as_int() < *b.as_int());
  return Expr::make(Op::less, DType::boolean, {a, b});
}

Expr less_equal(const Expr& a, const Expr& b) {
  if (are_indices(a, b) && a.as_int() && b.as_int()) return truth(*a.as_int() <= *b.as_int());
  return Expr::make(Op::less_equal, DType::boolean, {a, b});
}

Expr equal(const Expr& a, const Expr& b) {
  if (are_indices(a, b) && a.as_int() && b.as_int()) return truth(same(a, b));
  return Expr::make(Op::equal, DType::boolean, {a, b});
}

Expr both(const Expr& a, const Expr& b) {
  if (a.as_int()) return *a.as_int() ? b : a;
  if (b.as_int()) return *b.as_int() ? a : b;
  return Expr::make(Op::both, DType::boolean, {a, b});
}

Expr either(const Expr& a, const Expr& b) {
  if (a.as_int()) return *a.as_int() ? a : b;
  if (b.as_int()) return *b.as_int() ? b : a;
  return Expr::make(Op::either, DType::boolean, {a, b});
}

Expr negate(const Expr& a) {
  if (a.as_int()) return truth(!*a.as_int());
  return Expr::make(Op::negate, DType::boolean, {a});
}

Expr select(const Expr& condition, const Expr& yes, const Expr& no) {
  if (condition.as_int()) return *condition.as_int() ? yes : no;
  if (!are_indices(yes, no)) return Expr::make(Op::select, yes.type(), {condition, yes, no});
  auto node = std::make_shared<ExprNode>();
  node->op = Op::select;
  node->is_index = true;
  node->args = {condition, yes, no};
  return Expr(std::move(node));
}

Expr cast(const Expr& x, DType type, std::int64_t rounding) {
  if (x.type() == type && !x.is_index()) return x;
  auto node = std::make_shared<ExprNode>();
  node->op = Op::cast;
  node->type = type;
  node->whole = rounding;
  node->args = {x};
  return Expr(std::move(node));
}

Expr as_index(const Expr& x) {
  if (x.is_index()) return x;
  if (const auto n = x.as_int()) return *n;
  if (x->op == Op::cast && x.type() == DType::i64 && x->args[0].is_index()) return x->args[0];
  auto node = std::make_shared<ExprNode>();
  node->op = Op::cast;
  node->is_index = true;
  node->args = {x};
  return Expr(std::move(node));
}

Expr from_index(const Expr& index, DType type) {
  if (const auto n = index.as_int()) return Expr::integer(*n, type);
  return cast(index, type);
}

Expr place_of(const Expr& index, const Expr& size) {
  const Expr i = as_index(index);
  if (const auto n = i.as_int(), d = size.as_int(); n && d && *n >= -*d && *n < *d) return *n < 0 ? *n + *d : *n;
  auto node = std::make_shared<ExprNode>();
  node->op = Op::clamp_index;
  node->is_index = true;
  node->args = {i, size};
  return Expr(std::move(node));
}

bool same(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  if (!a || !b || a->op != b->op || a.type() != b.type() || a->id != b->id || a->args.size() != b->args.size())
    return false;
  if (a->op == Op::constant) return a->whole == b->whole && a->real == b->real && a.is_index() == b.is_index();
  return std::ranges::equal(a->args, b->args, same) && std::ranges::equal(a->dims, b->dims, same);
}

Expr product(const Exprs& dims) {
  Expr size = 1;
  for (const Expr& d : dims) size = size * d;
  return size;
}

Expr checked_product(const Exprs& dims) {
  Expr size = 1, constant = 1;
  for (const Expr& d : dims) {
    if (d.as_int())
      constant = binary(Op::size_mul, constant, d);
    else
      size = is_number(size, 1) ? d : binary(Op::size_mul, size, d);
  }
  if (is_number(constant, 1)) return size;
  return is_number(size, 1) ? constant : binary(Op::size_mul, size, constant);
}

}  // namespace ingot::lower
