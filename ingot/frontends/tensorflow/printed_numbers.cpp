// AsString: numbers as C's printf writes them.
#include <cmath>
#include <limits>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* text(GraphBuilder& g, const std::string& value) { return g.constant(Tensor::of_strings({}, {value})); }

/// How wide a number is written, and the flag of printf that says how the rest is filled.
struct Field {
  std::int64_t width = 0;
  char fill = 0;
};

/// An unsigned number in digits, and how many these are.
struct Digits {
  Value *text, *count;
};

Digits digits_of(GraphBuilder& g, Value* whole) {
  std::vector<std::int64_t> powers;
  for (std::int64_t power = 10, k = 1; k <= 18; ++k, power *= k <= 18 ? 10 : 1) powers.push_back(power);
  Value* reaches = g.op("GreaterOrEqual", {g.unsqueeze(whole, {-1}), g.ints(powers)});
  Value* more = g.reduce_sum(g.cast(reaches, DType::i64), {-1}, false);
  Value* written = g.cast(whole, DType::string);
  return {written, g.add(more, g.index(1))};
}

/// Of each element of `count`, as many of the character; at most `most`.
Value* several(GraphBuilder& g, char character, Value* count, std::int64_t most) {
  std::vector<std::string> runs;
  for (std::int64_t k = 0; k <= most; ++k) runs.emplace_back(static_cast<std::size_t>(k), character);
  Value* table = g.constant(Tensor::of_strings({most + 1}, runs));
  Value* place = g.op("Max", {count, g.index(0)});
  return g.op("Gather", {table, place});
}

/// Sign and digits in their field.
Value* in_field(GraphBuilder& g, Value* is_negative, const Digits& digits, const Field& field) {
  const std::string plus = field.fill == '+' ? "+" : field.fill == ' ' ? " " : "";
  Value* minus = text(g, "-");
  Value* sign = g.where(is_negative, minus, text(g, plus));
  if (field.width <= 0) return g.op("StringConcat", {sign, digits.text});
  Value* signs = plus.empty() ? g.cast(is_negative, DType::i64) : g.index(1);
  Value* rest = g.sub(g.sub(g.index(field.width), digits.count), signs);
  Value* filling = several(g, field.fill == '0' ? '0' : ' ', rest, field.width);
  if (field.fill == '0') return g.op("StringConcat", {g.op("StringConcat", {sign, filling}), digits.text});
  Value* number = g.op("StringConcat", {sign, digits.text});
  if (field.fill == '-') return g.op("StringConcat", {number, filling});
  return g.op("StringConcat", {filling, number});
}

Value* printed_integer(const TfNode& n, GraphBuilder& g, const Field& field) {
  if (n.elem(0) == DType::u64) n.unsupported("a width of numbers of 64 bits without sign");
  Value* x = g.cast(n.input(0), DType::i64);
  Value* is_negative = g.op("Less", {x, g.index(0)});
  Digits digits = digits_of(g, g.op("Abs", {x}));
  if (n.elem(0) == DType::i64) {  // the one number that has no opposite
    Value* is_lowest = g.op("Equal", {x, g.index(std::numeric_limits<std::int64_t>::min())});
    digits.text = g.where(is_lowest, text(g, "9223372036854775808"), digits.text);
    digits.count = g.where(is_lowest, g.index(19), digits.count);
  }
  return in_field(g, is_negative, digits, field);
}

/// frac * scale rounded to a whole number as if the product were exact, ties to even; `whole` decides a tie where there
/// are no digits behind the point.
Value* rounded_product(GraphBuilder& g, Value* frac, double scale, Value* whole) {
  const double splitter = 134217729;  // 2^27 + 1: halves of 26 bits, whose products are exact
  const double big = splitter * scale, scale_high = big - (big - scale), scale_low = scale - scale_high;
  Value* product = g.mul(frac, scale);
  Value* spread = g.mul(frac, splitter);
  Value* high = g.sub(spread, g.sub(spread, frac));
  Value* low = g.sub(frac, high);
  Value* error = g.sub(g.mul(high, scale_high), product);
  error = g.add(error, g.mul(high, scale_low));
  error = g.add(error, g.mul(low, scale_high));
  error = g.add(error, g.mul(low, scale_low));
  Value* below = g.op("Floor", {product});
  Value* beyond_half = g.add(g.sub(g.sub(product, below), 0.5), error);
  Value* parity = scale == 1 ? whole : below;
  Value* half = g.op("Floor", {g.mul(parity, 0.5)});
  Value* is_odd = g.op("Greater", {parity, g.mul(half, 2.0)});
  Value* zero = g.scalar(0, DType::f64);
  Value* is_tie = g.op("And", {g.op("Equal", {beyond_half, zero}), is_odd});
  Value* goes_up = g.op("Or", {g.op("Greater", {beyond_half, zero}), is_tie});
  return g.add(below, g.cast(goes_up, DType::f64));
}

/// "%f": all digits before the point and `precision` behind it.
Value* printed_real(const TfNode& n, GraphBuilder& g, std::int64_t precision, const Field& field) {
  Value* x = g.cast(n.input(0), DType::f64);
  Value* zero = g.scalar(0, DType::f64);
  Value* is_minus_zero = g.op("Less", {g.div(1.0, x), zero});
  Value* is_negative = g.op("Or", {g.op("Less", {x, zero}), is_minus_zero});
  Value* is_nan = g.op("IsNaN", {x});
  Value* is_special = g.op("Or", {is_nan, g.op("IsInf", {x})});
  Value* size = g.where(is_special, zero, g.op("Abs", {x}));
  const double scale = std::pow(10.0, static_cast<double>(precision));
  Value* floor = g.op("Floor", {size});
  Value* behind = rounded_product(g, g.sub(size, floor), scale, floor);
  Value* carries = g.op("GreaterOrEqual", {behind, g.scalar(scale, DType::f64)});
  Value* carry = g.cast(carries, DType::f64);
  Value* whole = precision ? g.add(floor, carry) : g.add(floor, behind);
  // Larger numbers stop the run: they look for what a list of one element does not have.
  Value* is_large = g.op("GreaterOrEqual", {whole, g.scalar(9.2e18, DType::f64)});
  Value* stop = g.op("Gather", {g.ints({0}), g.cast(is_large, DType::i64)});
  Value* limited = g.where(is_large, zero, whole);
  Digits digits = digits_of(g, g.add(g.cast(limited, DType::i64), stop));
  if (precision) {
    Value* rest = g.cast(g.sub(behind, g.mul(carry, scale)), DType::i64);
    const Digits fraction = digits_of(g, rest);
    Value* missing = g.sub(g.index(precision), fraction.count);
    Value* zeros = several(g, '0', missing, precision);
    Value* point = g.op("StringConcat", {digits.text, text(g, ".")});
    Value* padded = g.op("StringConcat", {zeros, fraction.text});
    digits = {g.op("StringConcat", {point, padded}), g.add(digits.count, g.index(precision + 1))};
  }
  Value* number = in_field(g, is_negative, digits, field);
  // What is no number has no zeros in front.
  const Field plain{field.width, field.fill == '0' ? '\0' : field.fill};
  Value* inf = text(g, "inf");
  Value* word = g.where(is_nan, text(g, "nan"), inf);
  Value* has_minus = g.op("And", {is_negative, g.op("Not", {is_nan})});
  return g.where(is_special, in_field(g, has_minus, {word, g.index(3)}, plain), number);
}

}  // namespace

Values as_string(const TfNode& n, GraphBuilder& g) {
  const DType type = n.elem(0);
  if (type == DType::boolean) {
    Value* yes = text(g, "true");
    return {g.where(n.input(0), yes, text(g, "false"))};
  }
  const std::string fill = n.text("fill", "");
  if (fill.size() > 1 || (!fill.empty() && std::string_view(" +-0").find(fill[0]) == std::string_view::npos))
    n.unsupported("the fill '" + fill + "'");
  const Field field{n.integer("width", -1), fill.empty() ? '\0' : fill[0]};
  if (field.width > 100) n.unsupported("a width of more than 100");
  const std::int64_t precision = n.integer("precision", -1);
  if (n.flag("scientific", false) || n.flag("shortest", false))
    n.unsupported("exponents: ONNX cannot compute the digits of a number by its power of ten exactly");
  if (is_integer(type)) {
    if (precision >= 0) n.unsupported("a precision of whole numbers");
    if (field.width <= 0 && field.fill != '+' && field.fill != ' ') return {g.cast(n.input(0), DType::string)};
    return {printed_integer(n, g, field)};
  }
  if (!is_float(type)) n.unsupported("elements of this type");
  if (precision > 15) n.unsupported("more than 15 digits behind the point");
  return {printed_real(n, g, precision < 0 ? 6 : precision, field)};
}

}  // namespace ingot::frontends::tensorflow
