// Operators that work element by element.
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/frontends/tensorflow/complex.h"

namespace ingot::frontends::tensorflow {

Values identity(const TfNode& n, GraphBuilder&) { return {n.input(0)}; }
Values add(const TfNode& n, GraphBuilder& g) {
  if (n.is_complex(0)) return complex_add(n, g);
  if (n.elem(0) == DType::string) return {g.op("StringConcat", {n.input(0), n.input(1)})};
  return {g.add(n.input(0), n.input(1))};
}
Values sub(const TfNode& n, GraphBuilder& g) {
  if (n.is_complex(0)) return complex_sub(n, g);
  return {g.sub(n.input(0), n.input(1))};
}
Values mul(const TfNode& n, GraphBuilder& g) {
  if (n.is_complex(0)) return complex_mul(n, g);
  return {g.mul(n.input(0), n.input(1))};
}
Values add_n(const TfNode& n, GraphBuilder& g) {
  Value* sum = n.input(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) sum = g.add(sum, n.input(i));
  return {sum};
}
Values square(const TfNode& n, GraphBuilder& g) { return {g.mul(n.input(0), n.input(0))}; }
Values squared_difference(const TfNode& n, GraphBuilder& g) {
  Value* d = g.sub(n.input(0), n.input(1));
  return {g.mul(d, d)};
}
Values rsqrt(const TfNode& n, GraphBuilder& g) {
  Value* root = g.op("Sqrt", {n.input(0)});
  return {g.op("Reciprocal", {root})};
}
Values log1p(const TfNode& n, GraphBuilder& g) { return {g.op("Log", {g.add(n.input(0), 1)})}; }
Values expm1(const TfNode& n, GraphBuilder& g) { return {g.sub(g.op("Exp", {n.input(0)}), 1)}; }
Values erfc(const TfNode& n, GraphBuilder& g) { return {g.sub(1, g.op("Erf", {n.input(0)}))}; }
Values round(const TfNode& n, GraphBuilder& g) {
  return {is_float(n.elem(0)) ? g.op("Round", {n.input(0)}) : n.input(0)};
}
Values floor(const TfNode& n, GraphBuilder& g) {
  return {is_float(n.elem(0)) ? g.op("Floor", {n.input(0)}) : n.input(0)};
}
Values reciprocal(const TfNode& n, GraphBuilder& g) {
  return {is_float(n.elem(0)) ? g.op("Reciprocal", {n.input(0)}) : g.div(1, n.input(0))};
}

Values relu6(const TfNode& n, GraphBuilder& g) {
  Value* low = g.scalar(0, n.elem(0));
  Value* high = g.scalar(6, n.elem(0));
  return {g.op("Clip", {n.input(0), low, high})};
}
Values leaky_relu(const TfNode& n, GraphBuilder& g) {
  return {g.op("LeakyRelu", {n.input(0)}, {{"alpha", n.real("alpha", 0.2)}})};
}
Values elu(const TfNode& n, GraphBuilder& g) { return {g.op("Elu", {n.input(0)}, {{"alpha", 1.0}})}; }
Values selu(const TfNode& n, GraphBuilder& g) {
  return {g.op("Selu", {n.input(0)},
               {{"alpha", 1.6732632423543772848170429916717}, {"gamma", 1.0507009873554804934193349852946}})};
}
Values clip_by_value(const TfNode& n, GraphBuilder& g) {
  Value* low = g.op("Max", {n.input(0), n.input(1)});
  return {g.op("Min", {low, n.input(2)})};
}

Values is_finite(const TfNode& n, GraphBuilder& g) {
  Value* nan = g.op("IsNaN", {n.input(0)});
  Value* inf = g.op("IsInf", {n.input(0)});
  return {g.op("Not", {g.op("Or", {nan, inf})})};
}
Values not_equal(const TfNode& n, GraphBuilder& g) { return {g.op("Not", {g.op("Equal", {n.input(0), n.input(1)})})}; }
Values approximate_equal(const TfNode& n, GraphBuilder& g) {
  Value* distance = g.op("Abs", {g.sub(n.input(0), n.input(1))});
  return {g.op("Less", {distance, g.scalar(n.real("tolerance", 1e-5), n.elem(0))})};
}

// Division. A zero divisor stands for one so that what is thrown away stays finite.
namespace {

Value* zero_of(GraphBuilder& g, Value* like) { return g.scalar(0, like->type.elem); }

Value* divisor_or_one(GraphBuilder& g, Value* y, Value* is_zero) {
  return g.where(is_zero, g.scalar(1, y->type.elem), y);
}

/// x by y where y is not zero, else 0.
Value* quotient_or_zero(GraphBuilder& g, Value* x, Value* y) {
  Value* is_zero = g.op("Equal", {y, zero_of(g, y)});
  Value* quotient = g.div(x, divisor_or_one(g, y, is_zero));
  return g.where(is_zero, zero_of(g, x), quotient);
}

/// f(y) * x, and 0 wherever x is 0.
Value* product_or_zero(GraphBuilder& g, Value* x, Value* y) {
  Value* is_zero = g.op("Equal", {x, zero_of(g, x)});
  Value* product = g.mul(x, y);
  return g.where(is_zero, zero_of(g, x), product);
}

}  // namespace

Values div_no_nan(const TfNode& n, GraphBuilder& g) { return {quotient_or_zero(g, n.input(0), n.input(1))}; }
Values mul_no_nan(const TfNode& n, GraphBuilder& g) { return {product_or_zero(g, n.input(1), n.input(0))}; }
Values xlogy(const TfNode& n, GraphBuilder& g) {
  Value* log = g.op("Log", {n.input(1)});
  return {product_or_zero(g, n.input(0), log)};
}
Values xlog1py(const TfNode& n, GraphBuilder& g) {
  Value* log = g.op("Log", {g.add(n.input(1), 1)});
  return {product_or_zero(g, n.input(0), log)};
}
Values xdivy(const TfNode& n, GraphBuilder& g) {
  Value* is_zero = g.op("Equal", {n.input(0), zero_of(g, n.input(0))});
  Value* quotient = g.div(n.input(0), n.input(1));
  return {g.where(is_zero, zero_of(g, n.input(0)), quotient)};
}

Values floor_div(const TfNode& n, GraphBuilder& g) {
  Value *x = n.input(0), *y = n.input(1);
  Value* quotient = g.div(x, y);
  if (is_float(n.elem(0))) return {g.op("Floor", {quotient})};
  if (!is_signed_integer(n.elem(0))) return {quotient};
  // Cut off towards zero: one too many where what is left is not what is left of rounding down.
  Value* rest = g.sub(x, g.mul(quotient, y));
  Value* is_right = g.op("Equal", {rest, g.op("Mod", {x, y})});
  return {g.sub(quotient, g.cast(g.op("Not", {is_right}), n.elem(0)))};
}
Values floor_mod(const TfNode& n, GraphBuilder& g) {
  Value *x = n.input(0), *y = n.input(1);
  if (!is_float(n.elem(0))) return {g.op("Mod", {x, y})};
  // fmod is exact; its sign is that of x and must be that of y.
  Value* rest = g.op("Mod", {x, y}, {{"fmod", 1}});
  Value* has_rest = g.op("Not", {g.op("Equal", {rest, zero_of(g, x)})});
  Value* rest_is_negative = g.op("Less", {rest, zero_of(g, x)});
  Value* divisor_is_negative = g.op("Less", {y, zero_of(g, y)});
  Value* differ = g.op("Xor", {rest_is_negative, divisor_is_negative});
  Value* wrong = g.op("And", {has_rest, differ});
  return {g.where(wrong, g.add(rest, y), rest)};
}
Values truncate_mod(const TfNode& n, GraphBuilder& g) { return {g.op("Mod", {n.input(0), n.input(1)}, {{"fmod", 1}})}; }
Values truncate_div(const TfNode& n, GraphBuilder& g) {
  Value* quotient = g.div(n.input(0), n.input(1));
  if (!is_float(n.elem(0))) return {quotient};
  Value* down = g.op("Floor", {quotient});
  Value* up = g.op("Ceil", {quotient});
  Value* is_negative = g.op("Less", {quotient, zero_of(g, quotient)});
  return {g.where(is_negative, up, down)};
}

Value* angle_of(GraphBuilder& g, Value* y, Value* x) {
  const DType t = x->type.elem;
  Value* zero = g.scalar(0, t);
  Value* is_zero = g.op("Equal", {x, zero});
  Value* angle = g.op("Atan", {g.div(y, divisor_or_one(g, x, is_zero))});
  Value* is_up = g.op("GreaterOrEqual", {y, zero});
  Value* up = g.scalar(std::numbers::pi, t);
  Value* half_turn = g.where(is_up, up, g.scalar(-std::numbers::pi, t));
  Value* is_left = g.op("Less", {x, zero});
  Value* turned = g.where(is_left, g.add(angle, half_turn), angle);
  Value* vertical = g.mul(g.op("Sign", {y}), std::numbers::pi / 2);
  return g.where(is_zero, vertical, turned);
}
Values atan2(const TfNode& n, GraphBuilder& g) { return {angle_of(g, n.input(0), n.input(1))}; }

namespace {

/// ONNX shifts unsigned numbers: signed ones take the detour of powers of two.
Value* shifted(const TfNode& n, GraphBuilder& g, bool is_left) {
  Value *x = n.input(0), *by = n.input(1);
  if (!is_signed_integer(n.elem(0))) return g.op("BitShift", {x, by}, {{"direction", is_left ? "LEFT" : "RIGHT"}});
  Value* two = g.scalar(2, DType::i64);
  Value* power = g.op("Pow", {two, g.cast(by, DType::i64)});
  Value* wide = g.cast(x, DType::i64);
  if (is_left) return g.cast(g.mul(wide, power), n.elem(0));
  Value* rest = g.op("Mod", {wide, power});  // of the divisor's sign: rounds down
  return g.cast(g.div(g.sub(wide, rest), power), n.elem(0));
}

}  // namespace

Values left_shift(const TfNode& n, GraphBuilder& g) { return {shifted(n, g, true)}; }
Values right_shift(const TfNode& n, GraphBuilder& g) { return {shifted(n, g, false)}; }

Values zeros_like(const TfNode& n, GraphBuilder& g) {
  if (n.elem(0) == DType::string)
    return {g.op("Expand", {g.constant(Tensor::of_strings({}, {""})), g.shape(n.input(0))})};
  return {filled_like(g, n.input(0), 0)};
}
Values ones_like(const TfNode& n, GraphBuilder& g) { return {filled_like(g, n.input(0), 1)}; }

Values l2_loss(const TfNode& n, GraphBuilder& g) {
  Value* squares = g.op("ReduceSumSquare", {n.input(0)}, {{"keepdims", 0}});
  return {g.div(squares, 2)};
}

}  // namespace ingot::frontends::tensorflow
