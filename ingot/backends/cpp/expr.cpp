// Expressions in C.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ingot/backends/cpp/printer.h"
#include "ingot/backends/cpp/types.h"
#include "ingot/base/error.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::cpp {

using lower::Expr;
using lower::ExprNode;
using lower::Op;

namespace {

/// What C calls a function of one floating-point number.
const char* c_function(Op op) {
  switch (op) {
    case Op::abs:
      return "fabs";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::round:
      return "nearbyint";
    case Op::trunc:
      return "trunc";
    case Op::sqrt:
      return "sqrt";
    case Op::exp:
      return "exp";
    case Op::log:
      return "log";
    case Op::log1p:
      return "log1p";
    case Op::erf:
      return "erf";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::asin:
      return "asin";
    case Op::acos:
      return "acos";
    case Op::atan:
      return "atan";
    case Op::sinh:
      return "sinh";
    case Op::cosh:
      return "cosh";
    case Op::tanh:
      return "tanh";
    case Op::asinh:
      return "asinh";
    case Op::acosh:
      return "acosh";
    case Op::atanh:
      return "atanh";
    default:
      return nullptr;
  }
}

const char* base_name(Op op) {
  switch (op) {
    case Op::add:
      return "add";
    case Op::sub:
      return "sub";
    case Op::mul:
      return "mul";
    case Op::div:
      return "div";
    case Op::remainder:
      return "remainder";
    case Op::modulo:
      return "modulo";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::shift_left:
      return "shift_left";
    default:
      return "shift_right";
  }
}

/// Results that no rounding to a small type changes.
bool keeps_digits(Op op) {
  return op == Op::min || op == Op::max || op == Op::neg || op == Op::abs || op == Op::sign || op == Op::select ||
         op == Op::load || op == Op::variable || op == Op::floor || op == Op::ceil || op == Op::round;
}

std::string whole_number(std::int64_t value, DType type) {
  if (type == DType::u64) return fmt::format("UINT64_C({})", static_cast<std::uint64_t>(value));
  if (value == INT64_MIN) return "INT64_MIN";
  if (value > INT32_MAX || value < -INT32_MAX) return fmt::format("INT64_C({})", value);
  return fmt::format("{}", value);
}

std::string in_type(const std::string& text, const char* type) { return fmt::format("({})({})", type, text); }

}  // namespace

std::string Printer::constant(const Expr& e) const {
  if (e.type() == DType::boolean) return e->whole ? "true" : "false";
  if (!is_float(e.type())) {
    const std::string text = whole_number(e->whole, e.type());
    return e.is_index() || e.type() == DType::i32
               ? (e->whole < 0 ? "(" + text + ")" : text)
               : fmt::format("({}){}", c_type(e.type()).value, e->whole < 0 ? "(" + text + ")" : text);
  }
  const bool is_double = e.type() == DType::f64;
  if (std::isnan(e->real)) return is_double ? "(double)NAN" : "NAN";
  if (std::isinf(e->real)) return fmt::format("({}INFINITY)", e->real < 0 ? "-" : "");
  std::string text = is_double ? fmt::format("{}", e->real) : fmt::format("{}", static_cast<float>(e->real));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (text == "inf" || text == "-inf")
    text = text == "inf" ? "INFINITY" : "-INFINITY";  // beyond float
  else if (!is_double)
    text += "f";
  return text[0] == '-' ? "(" + text + ")" : text;
}

std::string Printer::load(const Expr& e) {
  std::string place;
  if (flat_axes_ && !e->args.empty() && lower::product(e->dims).as_int() != 1 &&
      std::ranges::any_of(e->args, [](const Expr& a) { return a->op == Op::variable; }))
    place = "i";
  else
    place = expr(lower::flat_place(e->args, e->dims));
  const std::string text = fmt::format("{}[{}]", buffer(e->id), place);
  return is_small_float(e.type()) ? fmt::format("{}({})", support_.use("load", e.type()), text) : text;
}

std::string Printer::stored(const Expr& value, DType type) {
  std::string text = expr(value);
  // Already rounded; an infinity stays one.
  return is_small_float(type) ? fmt::format("{}({}, 1)", support_.use("store", type), text) : text;
}

std::string Printer::call(const char* function, const Expr& e) {
  const std::string f = e.type() == DType::f64 ? "" : "f";
  return fmt::format("{}{}({})", function, f, expr(e->args[0]));
}

std::string Printer::binary(const Expr& e) {
  const std::string a = expr(e->args[0]), b = expr(e->args[1]);
  const DType type = e.type();
  const auto infix = [&](const char* op) { return fmt::format("({} {} {})", a, op, b); };
  const auto function = [&](const std::string& name) { return fmt::format("{}({}, {})", name, a, b); };
  if (e.is_index()) {
    const bool are_natural = lower::is_natural(e->args[0], program_) && e->args[1].as_int() && *e->args[1].as_int() > 0;
    switch (e->op) {
      case Op::add:
        return infix("+");
      case Op::sub:
        return infix("-");
      case Op::mul:
        return infix("*");
      case Op::floor_div:
        return are_natural ? infix("/") : function(support_.use("floor_div"));
      case Op::modulo:
        return are_natural ? infix("%") : function(support_.use("floor_mod"));
      case Op::clamp_index:
        return function(support_.use("place"));
      case Op::size_mul:
        return function(support_.use("size_times"));
      default:
        return function(support_.use(base_name(e->op), DType::i64));
    }
  }
  if (is_float(type)) {
    const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
    switch (e->op) {
      case Op::add:
        return infix("+");
      case Op::sub:
        return infix("-");
      case Op::mul:
        return infix("*");
      case Op::div:
        return infix("/");
      case Op::remainder:
        return function(wide == DType::f64 ? "fmod" : "fmodf");
      default:
        break;
    }
    // A number that is no NaN needs one comparison only.
    const bool is_number = e->args[1]->op == Op::constant && !std::isnan(e->args[1]->real);
    if (is_number && e->op == Op::max) return function(support_.use("at_least", wide));
    if (is_number && e->op == Op::min) return function(support_.use("at_most", wide));
    return function(support_.use(base_name(e->op), wide));
  }
  return function(support_.use(base_name(e->op), type));
}

std::string Printer::unary(const Expr& e) {
  const Expr& x = e->args[0];
  const DType type = e.type();
  if (e->op == Op::negate) return fmt::format("(!{})", expr(x));
  if (e->op == Op::is_nan) return is_float(x.type()) ? fmt::format("isnan({})", expr(x)) : "false";
  if (e->op == Op::is_inf) return is_float(x.type()) ? fmt::format("isinf({})", expr(x)) : "false";
  if (e->op == Op::bit_not) return in_type("~" + expr(x), c_type(type).value);
  if (!is_float(type)) {
    if (e->op == Op::floor || e->op == Op::ceil || e->op == Op::round || e->op == Op::trunc) return expr(x);
    const char* name = e->op == Op::neg ? "neg" : e->op == Op::abs ? "abs" : "sign";
    return fmt::format("{}({})", support_.use(name, type), expr(x));
  }
  if (e->op == Op::neg) return fmt::format("(-{})", expr(x));
  const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
  if (e->op == Op::sign || e->op == Op::sigmoid)
    return fmt::format("{}({})", support_.use(e->op == Op::sign ? "sign" : "sigmoid", wide), expr(x));
  const char* function = c_function(e->op);
  const bool is_written_out = e->op == Op::exp || e->op == Op::tanh || e->op == Op::erf;
  if (wide == DType::f32 && is_written_out) return fmt::format("{}({})", support_.use(function, wide), expr(x));
  if (!function) throw Error(Code::internal, "an expression that is not printed");
  return call(function, e);
}

std::string Printer::cast(const Expr& e) {
  const Expr& x = e->args[0];
  const std::string text = expr(x);
  const DType to = e.type(), from = x.type();
  const CType c = c_type(to);
  if (to == DType::boolean) return fmt::format("({} != 0)", text);
  if (is_small_float(to))
    return fmt::format("{}({}({}, {}))", support_.use("load", to), support_.use("store", to), text, e->whole);
  if (is_float(to)) return from == to ? text : in_type(text, c.value);
  const bool is_sub_byte_int = is_sub_byte(to);
  if (is_float(from) && !is_sub_byte_int) return fmt::format("{}({})", support_.use("whole", to), text);
  if (to == DType::u4 || to == DType::u2)
    return fmt::format("(uint8_t)({} & {})", is_float(from) ? in_type(text, "int64_t") : text,
                       to == DType::u4 ? 15 : 3);
  if (to == DType::i4 || to == DType::i2) {
    const int half = to == DType::i4 ? 8 : 2;
    return fmt::format("(int8_t)((({} & {}) ^ {}) - {})", is_float(from) ? in_type(text, "int64_t") : text,
                       2 * half - 1, half, half);
  }
  if (from == to && x.is_index() == e.is_index()) return text;
  if (from == DType::i64 && to == DType::i64) return text;
  return in_type(text, c.value);
}

std::string Printer::expr(const Expr& e) {
  if (const auto it = named_.find(e.get()); it != named_.end()) return it->second;
  const auto test = [&](const char* op) { return fmt::format("({} {} {})", expr(e->args[0]), op, expr(e->args[1])); };
  std::string text;
  switch (e->op) {
    case Op::constant:
      return constant(e);
    case Op::variable:
      return variable(e->id);
    case Op::load:
      return load(e);
    case Op::less:
      return test("<");
    case Op::less_equal:
      return test("<=");
    case Op::equal:
      return test("==");
    case Op::both:
      return test("&&");
    case Op::either:
      return test("||");
    case Op::bit_and:
      return in_type(test("&"), c_type(e.type()).value);
    case Op::bit_or:
      return in_type(test("|"), c_type(e.type()).value);
    case Op::bit_xor:
      return in_type(test("^"), c_type(e.type()).value);
    case Op::select:
      return fmt::format("({} ? {} : {})", expr(e->args[0]), expr(e->args[1]), expr(e->args[2]));
    case Op::cast:
      return cast(e);
    case Op::bit_cast:
      if (e.type() == DType::boolean) return fmt::format("({} != 0)", expr(e->args[0]));
      if (is_sub_byte(e.type()) && is_integer(e.type()) && is_integer(e->args[0].type()))
        return expr(Expr::make(Op::cast, e.type(), {e->args[0]}));
      return fmt::format("{}({})", support_.use("bits", e->args[0].type(), e.type()), expr(e->args[0]));
    case Op::pow: {
      const DType a = e.type(), b = e->args[1].type();
      const std::string x = expr(e->args[0]), y = expr(e->args[1]);
      if (is_integer(a) && is_integer(b)) return fmt::format("{}({}, {})", support_.use("pow", a, b), x, y);
      if (is_integer(a)) return fmt::format("{}(pow((double){}, (double){}))", support_.use("whole", a), x, y);
      text = a == DType::f64 ? fmt::format("pow({}, (double){})", x, y)
                             : fmt::format("(float)pow((double){}, (double){})", x, y);
      break;
    }
    default:
      text = e->args.size() == 2 ? binary(e) : unary(e);
  }
  if (is_small_float(e.type()) && !keeps_digits(e->op))
    return fmt::format("{}({}({}, 0))", support_.use("load", e.type()), support_.use("store", e.type()), text);
  return text;
}

/// Parts that are read several times, at least once in any case, get names; inner ones first.
std::vector<Printer::Named> Printer::hoisted(const Expr& root, int depth) {
  std::map<const ExprNode*, int> reads;
  std::map<const ExprNode*, bool> is_certain;
  std::vector<Expr> order;
  const std::function<void(const Expr&, bool)> count = [&](const Expr& e, bool certain) {
    if (e->op == Op::constant || e->op == Op::variable) return;
    is_certain[e.get()] = is_certain[e.get()] || certain;
    if (reads[e.get()]++) return;
    const bool may_skip = e->op == Op::select || e->op == Op::both || e->op == Op::either;
    for (std::size_t i = 0; i < e->args.size(); ++i) count(e->args[i], certain && (!may_skip || i == 0));
    order.push_back(e);
  };
  count(root, true);
  std::vector<Named> made;
  for (const Expr& e : order) {
    if (reads[e.get()] < 2 || !is_certain[e.get()]) continue;
    const std::string value = expr(e);
    const std::string name = fmt::format("v{}", next_part_++);
    made.push_back(
        {e.get(), name, fmt::format("{}const {} {} = {};\n", indent(depth), c_type(e.type()).value, name, value)});
    named_[e.get()] = name;
  }
  return made;
}

void Printer::unname(const std::vector<Named>& made) {
  for (const Named& n : made) named_.erase(n.node);
}

}  // namespace ingot::backends::cpp
