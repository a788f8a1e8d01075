// Expressions as operations of arith and math.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ingot/backends/mlir/printer.h"
#include "ingot/backends/mlir/types.h"
#include "ingot/base/error.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::mlir {

using lower::Expr;
using lower::Op;

namespace {

/// The operation of `math` of one floating-point number.
const char* math_function(Op op) {
  switch (op) {
    case Op::abs:
      return "absf";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::round:
      return "roundeven";
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

/// Results that no rounding to a small type changes.
bool keeps_digits(Op op) {
  return op == Op::min || op == Op::max || op == Op::neg || op == Op::abs || op == Op::sign || op == Op::select ||
         op == Op::load || op == Op::variable || op == Op::floor || op == Op::ceil || op == Op::round;
}

std::string real_literal(double value, bool is_double) {
  if (!is_double) return fmt::format("0x{:08X}", std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value));
}

/// Readable where that says the number exactly.
std::string literal(double value, bool is_double) {
  const double kept = is_double ? value : static_cast<double>(static_cast<float>(value));
  if (kept == std::trunc(kept) && std::fabs(kept) < 1e6 && !(kept == 0 && std::signbit(kept)))
    return fmt::format("{:.1f}", kept);
  return real_literal(value, is_double);
}

DType wide_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

std::string Printer::type_of(const Expr& e) const { return e.is_index() ? "index" : m_type(e.type()).value; }

std::string Printer::constant(const Expr& e) {
  if (e.is_index()) return index(e->whole);
  if (e.type() == DType::boolean) return constant(e->whole ? "true" : "false", "");
  if (is_float(e.type())) {
    const bool is_double = e.type() == DType::f64;
    return constant(literal(e->real, is_double), is_double ? "f64" : "f32");
  }
  const unsigned bits = std::max(8u, bits_of(e.type()));
  // Within the width, as a signed number.
  std::int64_t whole = e->whole;
  if (bits < 64) whole = static_cast<std::int64_t>(static_cast<std::uint64_t>(whole) << (64 - bits)) >> (64 - bits);
  return constant(std::to_string(whole), m_type(e.type()).value);
}

std::string Printer::helper(const std::string& name, const std::vector<std::string>& args,
                            const std::vector<std::string>& types, const std::string& result) {
  return value(
      fmt::format("func.call @{}({}) : ({}) -> {}", name, fmt::join(args, ", "), fmt::join(types, ", "), result));
}

std::string Printer::load(const Expr& e) {
  if (!flat_.empty() && !e->args.empty() && lower::product(e->dims).as_int() != 1 &&
      std::ranges::any_of(e->args, [](const Expr& a) { return a->op == Op::variable; }))
    return loaded(e->id, flat_);
  return loaded(e->id, place(e->args, e->dims));
}

std::string Printer::loaded(int tensor, const std::string& at) {
  const DType type = program_.buffers[static_cast<std::size_t>(tensor)].type;
  const MType m = m_type(type);
  const std::string x = value(fmt::format("memref.load {}[{}] : {}", buffer(tensor), at, memref_of(type)));
  if (type == DType::boolean) {
    const std::string zero = constant("0", "i8");
    return value(fmt::format("arith.cmpi ne, {}, {} : i8", x, zero));
  }
  return is_small_float(type) ? helper(support_.use("load", type), {x}, {m.storage}, "f32") : x;
}

/// As it lies in memory; it is already rounded, and an infinity stays one.
std::string Printer::stored(const Expr& e, DType type) {
  const std::string x = expr(e);
  if (type == DType::boolean) return value(fmt::format("arith.extui {} : i1 to i8", x));
  if (!is_small_float(type)) return x;
  if (type == DType::f16) {
    const std::string half = value(fmt::format("arith.truncf {} : f32 to f16", x));
    return value(fmt::format("arith.bitcast {} : f16 to i16", half));
  }
  const std::string wide = value(fmt::format("arith.extf {} : f32 to f64", x));
  return helper(support_.use("store", type), {wide, constant("1", "i32")}, {"f64", "i32"}, m_type(type).storage);
}

/// A number of f32 or f64 ("x" has the type that `wide` says) as the small type has it, in f32.
std::string Printer::rounded(const std::string& x, DType type, std::int64_t how) {
  const std::string bits = helper(support_.use("store", type), {x, constant(std::to_string(how), "i32")},
                                  {"f64", "i32"}, m_type(type).storage);
  return helper(support_.use("load", type), {bits}, {m_type(type).storage}, "f32");
}

std::string Printer::of_indices(const Expr& e, const std::string& a, const std::string& b) {
  const bool are_natural = lower::is_natural(e->args[0], program_) && e->args[1].as_int() && *e->args[1].as_int() > 0;
  const auto plain = [&](const char* op) { return value(fmt::format("arith.{} {}, {} : index", op, a, b)); };
  const auto call = [&](const char* name) { return helper(support_.use(name), {a, b}, {"index", "index"}, "index"); };
  switch (e->op) {
    case Op::add:
      return plain("addi");
    case Op::sub:
      return plain("subi");
    case Op::mul:
      return plain("muli");
    case Op::min:
      return plain("minsi");
    case Op::max:
      return plain("maxsi");
    case Op::floor_div:
      return are_natural ? plain("divui") : call("floor_div");
    case Op::modulo:
      return are_natural ? plain("remui") : call("floor_mod");
    case Op::clamp_index:
      return call("place");
    case Op::size_mul:
      return call("size_times");
    default:
      throw Error(Code::internal, "an expression of places that is not printed");
  }
}

std::string Printer::of_integers(const Expr& e, const std::string& a, const std::string& b) {
  const std::string type = m_type(e.type()).value;
  const bool is_natural = is_unsigned(e.type());
  const auto plain = [&](const std::string& op) { return value(fmt::format("arith.{} {}, {} : {}", op, a, b, type)); };
  const auto call = [&](const char* name) { return helper(support_.use(name, e.type()), {a, b}, {type, type}, type); };
  switch (e->op) {
    case Op::add:
      return plain("addi");
    case Op::sub:
      return plain("subi");
    case Op::mul:
      return plain("muli");
    case Op::min:
      return plain(is_natural ? "minui" : "minsi");
    case Op::max:
      return plain(is_natural ? "maxui" : "maxsi");
    case Op::bit_and:
      return plain("andi");
    case Op::bit_or:
      return plain("ori");
    case Op::bit_xor:
      return plain("xori");
    case Op::div:
      return call("div");
    case Op::remainder:
      return call("remainder");
    case Op::modulo:
      return call("modulo");
    case Op::shift_left:
      return call("shift_left");
    case Op::shift_right:
      return call("shift_right");
    default:
      throw Error(Code::internal, "an expression of integers that is not printed");
  }
}

std::string Printer::of_floats(const Expr& e, const std::string& a, const std::string& b) {
  const std::string type = m_type(e.type()).value;
  const auto plain = [&](const char* op, const char* flags = "") {
    return value(fmt::format("arith.{} {}, {}{} : {}", op, a, b, flags, type));
  };
  const auto select = [&](const std::string& test, const std::string& yes, const std::string& no) {
    return value(fmt::format("arith.select {}, {}, {} : {}", test, yes, no, type));
  };
  // A number that is no NaN needs one comparison only.
  const bool is_number = e->args[1]->op == Op::constant && !std::isnan(e->args[1]->real);
  switch (e->op) {
    case Op::add:
      return plain("addf");
    case Op::sub:
      return plain("subf");
    case Op::mul:
      return plain("mulf");
    case Op::div:
      return plain("divf");
    case Op::remainder:
      return plain("remf");
    case Op::max:
      return is_number ? select(plain("cmpf olt,"), b, a) : plain("maximumf");
    case Op::min:
      return is_number ? select(plain("cmpf ogt,"), b, a) : plain("minimumf");
    case Op::modulo: {
      const std::string r = plain("remf"), zero = constant("0.0", type);
      const auto below = [&](const std::string& x) {
        return value(fmt::format("arith.cmpf olt, {}, {} : {}", x, zero, type));
      };
      const std::string some = value(fmt::format("arith.cmpf une, {}, {} : {}", r, zero, type));
      const std::string differ = value(fmt::format("arith.xori {}, {} : i1", below(r), below(b)));
      const std::string both = value(fmt::format("arith.andi {}, {} : i1", some, differ));
      return select(both, value(fmt::format("arith.addf {}, {} : {}", r, b, type)), r);
    }
    default:
      throw Error(Code::internal, "an expression of numbers that is not printed");
  }
}

std::string Printer::unary(const Expr& e) {
  const Expr& from = e->args[0];
  const DType type = e.type();
  const std::string x = expr(from), t = m_type(from.type()).value;
  if (e->op == Op::negate) return value(fmt::format("arith.xori {}, {} : i1", x, constant("true", "")));
  if (e->op == Op::is_nan || e->op == Op::is_inf) {
    if (!is_float(from.type())) return constant("false", "");
    if (e->op == Op::is_nan) return value(fmt::format("arith.cmpf uno, {0}, {0} : {1}", x, t));
    const std::string infinity = constant(real_literal(__builtin_inf(), t == "f64"), t);
    return value(
        fmt::format("arith.cmpf oeq, {}, {} : {}", value(fmt::format("math.absf {} : {}", x, t)), infinity, t));
  }
  if (e->op == Op::bit_not) return value(fmt::format("arith.xori {}, {} : {}", x, constant("-1", t), t));
  const auto select = [&](const std::string& test, const std::string& yes, const std::string& no) {
    return value(fmt::format("arith.select {}, {}, {} : {}", test, yes, no, t));
  };
  if (!is_float(type)) {
    const std::string zero = constant("0", t);
    const auto negative = [&] { return value(fmt::format("arith.subi {}, {} : {}", zero, x, t)); };
    const auto compare = [&](const char* how) {
      return value(fmt::format("arith.cmpi {}, {}, {} : {}", how, x, zero, t));
    };
    if (e->op == Op::neg) return negative();
    if (e->op == Op::abs) return is_unsigned(type) ? x : select(compare("slt"), negative(), x);
    if (e->op == Op::sign) {
      const std::string sign = select(compare("ne"), constant("1", t), zero);
      return is_unsigned(type) ? sign : select(compare("slt"), constant("-1", t), sign);
    }
    return x;  // whole already
  }
  const std::string zero = constant("0.0", t), one = constant("1.0", t);
  if (e->op == Op::neg) return value(fmt::format("arith.negf {} : {}", x, t));
  const auto below = [&] { return value(fmt::format("arith.cmpf olt, {}, {} : {}", x, zero, t)); };
  if (e->op == Op::sign) {
    const std::string above = value(fmt::format("arith.cmpf ogt, {}, {} : {}", x, zero, t));
    return select(above, one, select(below(), constant("-1.0", t), x));
  }
  if (e->op == Op::sigmoid) {  // e^-|x| never overflows
    const std::string size = value(fmt::format("math.absf {} : {}", x, t));
    const std::string power =
        value(fmt::format("math.exp {} : {}", value(fmt::format("arith.negf {} : {}", size, t)), t));
    const std::string sum = value(fmt::format("arith.addf {}, {} : {}", power, one, t));
    return value(fmt::format("arith.divf {}, {} : {}", select(below(), power, one), sum, t));
  }
  if (e->op == Op::tanh && t == "f32") return hyperbolic_tangent(x);
  const char* function = math_function(e->op);
  if (!function) throw Error(Code::internal, "an expression that is not printed");
  return value(fmt::format("math.{} {} : {}", function, x, t));
}

/// By e^x, which there are vectors of: (1 - e^-2|x|) / (1 + e^-2|x|), and near zero, where that loses digits, by
/// x - x^3 / 3 + 2 x^5 / 15 - 17 x^7 / 315.
std::string Printer::hyperbolic_tangent(const std::string& x) {
  const auto number = [&](double v) { return constant(literal(v, false), "f32"); };
  const auto of = [&](const char* op, const std::string& a, const std::string& b) {
    return value(fmt::format("arith.{} {}, {} : f32", op, a, b));
  };
  const std::string size = value(fmt::format("math.absf {} : f32", x));
  const std::string power = value(fmt::format("math.exp {} : f32", of("mulf", size, number(-2))));
  const std::string far = of("divf", of("subf", number(1), power), of("addf", number(1), power));
  const std::string signed_far = value(fmt::format("math.copysign {}, {} : f32", far, x));
  const std::string square = of("mulf", x, x);
  std::string sum = number(-17.0 / 315);
  for (const double factor : {2.0 / 15, -1.0 / 3, 1.0}) sum = of("addf", of("mulf", sum, square), number(factor));
  const std::string near = of("mulf", x, sum);
  const std::string is_near = value(fmt::format("arith.cmpf olt, {}, {} : f32", size, number(0.1)));
  return value(fmt::format("arith.select {}, {}, {} : f32", is_near, near, signed_far));
}

std::string Printer::power(const Expr& e) {
  const DType a = e.type(), b = e->args[1].type();
  const MType m = m_type(a);
  if (!is_float(a) && !is_float(b)) {
    const std::string x = expr(Expr::make(Op::cast, DType::i64, {e->args[0]}));
    const std::string y = expr(Expr::make(Op::cast, DType::i64, {e->args[1]}));
    const std::string wide = helper(support_.use("whole_power"), {x, y}, {"i64", "i64"}, "i64");
    return std::string(m.value) == "i64" ? wide : value(fmt::format("arith.trunci {} : i64 to {}", wide, m.value));
  }
  const Expr& exponent = e->args[1];
  if (is_float(a) && exponent->op == Op::constant && exponent->real == 2) {
    const std::string x = expr(e->args[0]);
    return value(fmt::format("arith.mulf {0}, {0} : {1}", x, m.value));
  }
  const std::string x = expr(lower::cast(e->args[0], DType::f64)), y = expr(lower::cast(e->args[1], DType::f64));
  const std::string wide = value(fmt::format("math.powf {}, {} : f64", x, y));
  if (is_integer(a)) return helper(support_.use("whole", a), {wide}, {"f64"}, m.value);
  return a == DType::f64 ? wide : value(fmt::format("arith.truncf {} : f64 to f32", wide));
}

std::string Printer::test(const Expr& e) {
  const std::string a = expr(e->args[0]), b = expr(e->args[1]), type = type_of(e->args[0]);
  const bool is_equal = e->op == Op::equal, may_equal = e->op == Op::less_equal;
  if (is_float(e->args[0].type()) && type != "index")
    return value(fmt::format("arith.cmpf {}, {}, {} : {}", is_equal ? "oeq" : may_equal ? "ole" : "olt", a, b, type));
  const char sign = type != "index" && is_unsigned(e->args[0].type()) ? 'u' : 's';
  const std::string how = is_equal ? "eq" : fmt::format("{}{}", sign, may_equal ? "le" : "lt");
  return value(fmt::format("arith.cmpi {}, {}, {} : {}", how, a, b, type));
}

bool Printer::is_harmless(const Expr& e) {
  if (const auto it = harmless_.find(e.get()); it != harmless_.end()) return it->second;
  const bool harmless =
      e->op != Op::load && std::ranges::all_of(e->args, [&](const Expr& a) { return is_harmless(a); });
  kept_.push_back(e);
  return harmless_[e.get()] = harmless;
}

/// select, both and either: what is not wanted is not read.
std::string Printer::chosen(const Expr& e) {
  const std::string type = type_of(e), condition = expr(e->args[0]);
  const bool is_select = e->op == Op::select;
  const Expr yes = is_select || e->op == Op::both ? e->args[1] : Expr::integer(1, DType::boolean);
  const Expr no = is_select ? e->args[2] : e->op == Op::both ? Expr::integer(0, DType::boolean) : e->args[1];
  if (is_harmless(yes) && is_harmless(no)) {
    if (!is_select)
      return value(
          fmt::format("arith.{} {}, {} : i1", e->op == Op::both ? "andi" : "ori", condition, expr(e->args[1])));
    const std::string a = expr(yes), b = expr(no);
    return value(fmt::format("arith.select {}, {}, {} : {}", condition, a, b, type));
  }
  const std::string name = fmt::format("%v{}", next_value_++);
  open(fmt::format("{} = scf.if {} -> ({}) {{", name, condition, type));
  const auto side = [&](const Expr& s) {
    memo_.emplace_back();
    line(fmt::format("scf.yield {} : {}", expr(s), type));
    memo_.pop_back();
  };
  side(yes);
  close("} else {");
  ++function_->depth;
  side(no);
  close("}");
  return name;
}

std::string Printer::made(const Expr& e) {
  switch (e->op) {
    case Op::load:
      return load(e);
    case Op::less:
    case Op::less_equal:
    case Op::equal:
      return test(e);
    case Op::both:
    case Op::either:
    case Op::select:
      return chosen(e);
    case Op::cast:
      return cast(e);
    case Op::bit_cast:
      return bits(e);
    default:
      break;
  }
  std::string x;
  if (e->op == Op::pow) {
    x = power(e);
  } else if (e->args.size() == 2) {
    const std::string a = expr(e->args[0]), b = expr(e->args[1]);
    x = e.is_index() ? of_indices(e, a, b) : is_float(e.type()) ? of_floats(e, a, b) : of_integers(e, a, b);
  } else {
    x = unary(e);
  }
  if (!is_small_float(e.type()) || keeps_digits(e->op)) return x;
  if (e.type() == DType::f16) {
    const std::string half = value(fmt::format("arith.truncf {} : f32 to f16", x));
    return value(fmt::format("arith.extf {} : f16 to f32", half));
  }
  return rounded(value(fmt::format("arith.extf {} : {} to f64", x, m_type(wide_type(e.type())).value)), e.type(), 0);
}

std::string Printer::expr(const Expr& e) {
  if (e->op == Op::constant) return constant(e);
  if (e->op == Op::variable) return variable(e->id);
  for (std::size_t i = memo_.size(); i-- > 0;)
    if (const auto it = memo_[i].find(e.get()); it != memo_[i].end()) return it->second.second;
  const std::string name = made(e);
  if (!memo_.empty()) memo_.back().try_emplace(e.get(), e, name);
  return name;
}

std::string Printer::place(const lower::Exprs& at, const lower::Exprs& dims) {
  return expr(lower::flat_place(at, dims));
}

}  // namespace ingot::backends::mlir
