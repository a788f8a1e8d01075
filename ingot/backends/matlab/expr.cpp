// Expressions in MATLAB.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/backends/matlab/printer.h"
#include "ingot/base/error.h"
#include "ingot/lower/walk.h"

namespace ingot::backends::matlab {

using lower::Expr;
using lower::Op;

namespace {

bool is_small(DType type) { return is_float(type) && type != DType::f32 && type != DType::f64; }

const char* function_of(Op op) {
  switch (op) {
    case Op::abs:
      return "abs";
    case Op::sign:
      return "sign";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::trunc:
      return "fix";
    case Op::round:
      return "even_";
    case Op::sqrt:
      return "sqrt_";
    case Op::exp:
      return "exp";
    case Op::log:
      return "log_";
    case Op::log1p:
      return "log1p";
    case Op::erf:
      return "erf";
    case Op::sigmoid:
      return "sigmoid_";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::asin:
      return "asin_";
    case Op::acos:
      return "acos_";
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
      return "acosh_";
    case Op::atanh:
      return "atanh_";
    default:
      return nullptr;
  }
}

bool keeps_digits(Op op) {
  return op == Op::min || op == Op::max || op == Op::neg || op == Op::abs || op == Op::sign || op == Op::select ||
         op == Op::floor || op == Op::ceil || op == Op::round || op == Op::trunc;
}

}  // namespace

std::string class_of(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::i8:
    case DType::i4:
    case DType::i2:
      return "int8";
    case DType::u8:
    case DType::u4:
    case DType::u2:
      return "uint8";
    case DType::i16:
      return "int16";
    case DType::u16:
      return "uint16";
    case DType::i32:
      return "int32";
    case DType::u32:
      return "uint32";
    case DType::i64:
      return "int64";
    case DType::u64:
      return "uint64";
    case DType::boolean:
      return "logical";
    default:
      return "single";
  }
}

std::string Printer::call(const std::string& function, const std::string& arguments) {
  if (function.back() == '_') used_.insert(function);
  return fmt::format("{}({})", function, arguments);
}

std::string Printer::constant(const Expr& e) {
  if (e.type() == DType::boolean) return e->whole ? "true" : "false";
  if (e.is_index()) return e->whole < 0 ? fmt::format("({})", e->whole) : fmt::format("{}", e->whole);
  if (!is_float(e.type())) {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (e->whole > kExact || e->whole < -kExact) {
      const std::int64_t high = e->whole >> 32, low = e->whole & 0xFFFFFFFF;
      return fmt::format("({0}({1}) * {0}(4294967296) + {0}({2}))", class_of(e.type()), high, low);
    }
    return fmt::format("{}({})", class_of(e.type()), e->whole);
  }
  std::string text = std::isnan(e->real)   ? "NaN"
                     : std::isinf(e->real) ? (e->real < 0 ? "-Inf" : "Inf")
                                           : fmt::format("{}", e->real);
  return fmt::format("{}({})", class_of(e.type()), text);
}

std::string Printer::load(const Expr& e) {
  const std::string& name = buffer(e->id);
  if (axes_) {
    bool is_in_step = e->args.size() == axes_->size() && !axes_->empty();
    for (std::size_t i = 0; is_in_step && i < axes_->size(); ++i) {
      const lower::Axis& a = (*axes_)[i];
      is_in_step = same(e->dims[i], a.extent) &&
                   (a.extent.as_int() == 1 || (e->args[i]->op == Op::variable && e->args[i]->id == a.variable));
    }
    if (is_in_step && is_flat_) return name;
    if (is_in_step) return call("reshape", fmt::format("{}, dims", name));
  }
  const Expr place = lower::flat_place(e->args, e->dims);
  const bool varies = axes_ && lower::uses_axis(place, *axes_);
  if (varies && e->args.size() > 1)
    if (const std::string text = slice(e); !text.empty()) return text;
  if (!varies && !guarded_)
    return place.as_int() ? fmt::format("{}({})", name, *place.as_int() + 1)
                          : fmt::format("{}({} + 1)", name, expr(place));
  return call("pick_", fmt::format("{}, {}", name, expr(place)));
}

/// A load whose places along each axis depend on one counter at most, each on another: a part of the array that is cut
/// out as a whole. Empty: it is not so.
std::string Printer::slice(const Expr& e) {
  const std::size_t rank = std::max({e->args.size(), axes_->size(), std::size_t{2}});
  std::vector<std::size_t> from(rank, rank);  // which axis of the tensor, last first, a dimension of the result is
  std::string places, dims, extents;
  bool is_in_order = true;
  for (std::size_t i = e->args.size(), last = 0; i-- > 0;) {
    std::string extent = "1";
    for (std::size_t a = 0; a < axes_->size(); ++a) {
      if (!lower::uses_axis(e->args[i], {(*axes_)[a]})) continue;
      const std::size_t dimension = axes_->size() - 1 - a;
      if (extent != "1" || from[dimension] != rank) return {};
      from[dimension] = e->args.size() - 1 - i;
      extent = expr((*axes_)[a].extent);
      is_in_order &= dimension + 1 > last;
      last = dimension + 1;
    }
    places += (places.empty() ? "" : ", ") + expr(e->args[i]);
    dims += expr(e->dims[i]) + " ";
    extents += extent + " ";
  }
  if (is_in_order) {
    extents.clear();
    for (std::size_t d = 0; d < rank; ++d)
      extents += (from[d] == rank ? "1" : expr((*axes_)[axes_->size() - 1 - d].extent)) + " ";
  }
  const std::string part = call("slice_", fmt::format("{}, [{}1], {{{}}}, [{}]", buffer(e->id), dims, places,
                                                      extents + (is_in_order ? "" : "1")));
  if (is_in_order) return part;
  std::vector<bool> is_used(rank, false);
  for (const std::size_t d : from)
    if (d < rank) is_used[d] = true;
  std::string order;
  for (std::size_t& d : from) {
    if (d == rank) d = static_cast<std::size_t>(std::ranges::find(is_used, false) - is_used.begin());
    is_used[d] = true;
    order += fmt::format("{} ", d + 1);
  }
  return call("permute", fmt::format("{}, [{}]", part, order));
}

std::string Printer::rounded(const std::string& text, DType type, std::int64_t how) {
  const char* format = "";
  switch (type) {
    case DType::f16:
      format = "10, 15, 65504, 1";
      break;
    case DType::bf16:
      format = "7, 127, 3.38953138925153547590470800371487867e38, 1";
      break;
    case DType::f8e4m3fn:
      format = "3, 7, 448, 0";
      break;
    case DType::f8e4m3fnuz:
      format = "3, 8, 240, 0";
      break;
    case DType::f8e5m2:
      format = "2, 15, 57344, 1";
      break;
    case DType::f8e5m2fnuz:
      format = "2, 16, 57344, 0";
      break;
    case DType::f4e2m1:
      return call("small_", fmt::format("{}, 1, 1, 6, 0, true", text));
    default:
      return call("power_", fmt::format("{}, {}", text, how));
  }
  const bool saturates = bits_of(type) < 16 && !(how & lower::kOverflow);
  return call("small_", fmt::format("{}, {}, {}", text, format, saturates));
}

std::string Printer::binary(const Expr& e) {
  const std::string a = expr(e->args[0]), b = expr(e->args[1]);
  const auto infix = [&](const char* op) { return fmt::format("({} {} {})", a, op, b); };
  const auto function = [&](const char* name) { return call(name, a + ", " + b); };
  const bool is_whole = !is_float(e.type()), wraps = is_whole && !e.is_index();
  switch (e->op) {
    case Op::add:
      return wraps ? function("plus_") : infix("+");
    case Op::sub:
      return wraps ? function("minus_") : infix("-");
    case Op::mul:
      return wraps ? function("times_") : infix(".*");
    case Op::size_mul:
      return infix(".*");
    case Op::div:
      return is_whole ? function("quotient_") : infix("./");
    case Op::remainder:
      return function("rem");
    case Op::modulo:
      return e.is_index() || is_whole ? function("mod") : function("mod");
    case Op::floor_div:
      return fmt::format("floor({} ./ {})", a, b);
    case Op::min:
      return e.is_index() || is_whole ? function("min") : function("least_");
    case Op::max:
      return e.is_index() || is_whole ? function("max") : function("greatest_");
    case Op::clamp_index:
      return function("place_");
    case Op::shift_left:
      return call("shift_", fmt::format("{}, double({})", a, b));
    case Op::shift_right:
      return call("shift_", fmt::format("{}, -double({})", a, b));
    default:
      throw Error(Code::internal, "an expression that is not printed");
  }
}

std::string Printer::unary(const Expr& e) {
  const std::string x = expr(e->args[0]);
  if (e->op == Op::negate) return fmt::format("(~{})", x);
  if (e->op == Op::is_nan) return call("isnan", x);
  if (e->op == Op::is_inf) return call("isinf", x);
  if (e->op == Op::neg && is_integer(e.type()) && !e.is_index())
    return call("minus_", fmt::format("{}(0), {}", class_of(e.type()), x));
  if (e->op == Op::neg) return fmt::format("(-{})", x);
  // Turning all bits over is a subtraction, which signed classes know too.
  if (e->op == Op::bit_not)
    return is_signed_integer(e.type()) ? fmt::format("(-1 - {})", x)
                                       : fmt::format("(intmax('{}') - {})", class_of(e.type()), x);
  const char* function = function_of(e->op);
  if (!function) throw Error(Code::internal, "an expression that is not printed");
  return call(function, x);
}

std::string Printer::cast(const Expr& e) {
  const Expr& from = e->args[0];
  const std::string x = expr(from);
  const DType to = e.type();
  if (e.is_index()) return is_float(from.type()) ? fmt::format("fix(double({}))", x) : fmt::format("double({})", x);
  if (to == DType::boolean) return fmt::format("({} ~= 0)", x);
  if (is_small(to)) return rounded(fmt::format("double({})", x), to, e->whole);
  if (to == DType::f32 || to == DType::f64) return call(class_of(to), x);
  if (is_sub_byte(to))
    return call("wrap_", fmt::format("{}, '{}', {}", x, class_of(to),
                                     static_cast<int>(bits_of(to)) * (is_signed_integer(to) ? -1 : 1)));
  if (from.is_index() || from.type() == DType::boolean) return call(class_of(to), x);
  if (is_float(from.type())) return call(class_of(to), fmt::format("fix({})", x));
  return call("wrap_", fmt::format("{}, '{}', 0", x, class_of(to)));
}

std::string Printer::expr(const Expr& e) {
  const auto test = [&](const char* op) { return fmt::format("({} {} {})", expr(e->args[0]), op, expr(e->args[1])); };
  // Octave's functions of bits stretch no axes by themselves.
  const auto bits = [&](const char* f) {
    return call("bsxfun", fmt::format("@{}, {}, {}", f, expr(e->args[0]), expr(e->args[1])));
  };
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
      return test(axes_ ? "&" : "&&");
    case Op::either:
      return test(axes_ ? "|" : "||");
    case Op::bit_and:
      return bits("bitand");
    case Op::bit_or:
      return bits("bitor");
    case Op::bit_xor:
      return bits("bitxor");
    case Op::select: {
      const std::string condition = expr(e->args[0]);
      ++guarded_;
      const std::string yes = expr(e->args[1]), no = expr(e->args[2]);
      --guarded_;
      return call("choose_", fmt::format("{}, {}, {}", condition, yes, no));
    }
    case Op::cast:
      return cast(e);
    case Op::bit_cast:
      if (is_small(e.type()) || is_small(e->args[0].type()) || e.type() == DType::boolean || is_sub_byte(e.type()))
        throw Error(Code::not_expressible,
                    "the bits of " + std::string(name_of(e.type())) + " cannot be named in MATLAB");
      return call("bits_", fmt::format("{}, '{}'", expr(e->args[0]), class_of(e.type())));
    case Op::pow:
      text = call("power_of_", fmt::format("{}, {}", expr(e->args[0]), expr(e->args[1])));
      break;
    default:
      text = e->args.size() == 2 ? binary(e) : unary(e);
  }
  return is_small(e.type()) && !keeps_digits(e->op) ? rounded(text, e.type(), 0) : text;
}

}  // namespace ingot::backends::matlab
