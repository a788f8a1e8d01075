#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ingot/base/dtype.h"

namespace ingot::lower {

/// What one scalar expression does with its arguments.
enum class Op : std::uint8_t {
  constant,
  variable,
  load,
  // Of two numbers of one type. Integers wrap around and divide towards zero.
  add,
  sub,
  mul,
  div,
  remainder,  // has the sign of the first
  modulo,     // has the sign of the second
  floor_div,  // of indices
  size_mul,   // of sizes; -1 where one is negative or no memory is so large
  pow,        // a floating-point base; the exponent may be of any type
  min,        // NaN if one is
  max,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  // Tests.
  less,
  less_equal,
  equal,
  both,
  either,
  negate,
  is_nan,
  is_inf,
  // Of one number.
  neg,
  abs,
  sign,
  bit_not,
  floor,
  ceil,
  round,  // halves to even
  trunc,
  sqrt,
  exp,
  log,
  log1p,
  erf,
  sigmoid,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  select,       // the second if the first holds, else the third; only the chosen one is evaluated
  cast,         // as Cast does it: towards zero, integers wrap; `whole` says how into small floats (Rounding)
  bit_cast,     // the same bits
  clamp_index,  // the place that an index names in an axis: negative ones count from the end, others are held inside
};

/// How a cast into float8 and smaller rounds: flags of ExprNode::whole.
enum Rounding : std::int64_t {
  kSaturate = 0,   // what is too large becomes the largest number
  kOverflow = 1,   // what is too large becomes infinity or NaN
  kPowerDown = 2,  // float8e8m0: the power of two below
  kPowerNear = 4,  // float8e8m0: the nearest one; else the one above
};

struct ExprNode;

/// A scalar computed from loop variables and elements of tensors; immutable and shared. Sizes and places are
/// expressions of type int64 for which `is_index` holds; what is known of them is folded as they are made.
class Expr {
 public:
  Expr() = default;
  Expr(std::int64_t index);
  Expr(int index) : Expr(std::int64_t{index}) {}
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

  static Expr constant(double value, DType type);
  static Expr integer(std::int64_t value, DType type);
  static Expr variable(int id, DType type, bool is_index);
  static Expr load(int tensor, DType type, std::vector<Expr> at, std::vector<Expr> dims);
  static Expr make(Op op, DType type, std::vector<Expr> args);

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode* get() const { return node_.get(); }
  explicit operator bool() const { return node_ != nullptr; }
  DType type() const;
  bool is_index() const;
  /// The number, if this is a constant integer.
  std::optional<std::int64_t> as_int() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};
using Exprs = std::vector<Expr>;

struct ExprNode {
  Op op = Op::constant;
  DType type = DType::i64;
  bool is_index = false;
  int id = -1;             // of a variable or tensor
  std::int64_t whole = 0;  // of a constant integer or bool; of a cast: Rounding
  double real = 0;         // of another constant
  int depth = 0;           // of what it is made of
  Exprs args;              // of a load: where
  Exprs dims;              // of a load: the shape it is seen in
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
/// Of indices, rounded down.
Expr floor_div(const Expr& a, const Expr& b);
Expr ceil_div(const Expr& a, const Expr& b);
Expr modulo(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr less(const Expr& a, const Expr& b);
Expr less_equal(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);
Expr both(const Expr& a, const Expr& b);
Expr either(const Expr& a, const Expr& b);
Expr negate(const Expr& a);
Expr select(const Expr& condition, const Expr& yes, const Expr& no);
Expr cast(const Expr& x, DType type, std::int64_t rounding = kSaturate);
/// An integer as a size or place.
Expr as_index(const Expr& x);

/// A size or place as a number of a tensor.
Expr from_index(const Expr& index, DType type);
/// The place that an index of a tensor names in an axis: negative ones count from the end, and none leads outside.
Expr place_of(const Expr& index, const Expr& size);

/// True only if they are provably the same.
bool same(const Expr& a, const Expr& b);
/// The product of sizes.
Expr product(const Exprs& dims);
/// The same, or -1: a size is negative, or no memory is so large.
Expr checked_product(const Exprs& dims);

}  // namespace ingot::lower
