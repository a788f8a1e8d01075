// Numbers of one type as numbers of another.
#include <fmt/format.h>

#include "ingot/backends/mlir/printer.h"
#include "ingot/backends/mlir/types.h"

namespace ingot::backends::mlir {

using lower::Expr;
using lower::Op;

std::string Printer::to_integer(const Expr& e, const std::string& x) {
  const DType to = e.type(), from = e->args[0].type();
  const MType m = m_type(to);
  const std::string source = type_of(e->args[0]);
  std::string whole = x, type = source;
  if (is_float(from)) {
    const std::string wide = source == "f64" ? x : value(fmt::format("arith.extf {} : f32 to f64", x));
    if (!is_sub_byte(to)) return helper(support_.use("whole", to), {wide}, {"f64"}, m.value);
    whole = helper(support_.use("whole", DType::i64), {wide}, {"f64"}, "i64");
    type = "i64";
  }
  if (type == "index") {
    whole = value(fmt::format("arith.index_cast {} : index to i64", whole));
    type = "i64";
  }
  const auto width = [](const std::string& t) { return std::stoi(t.substr(1)); };
  if (width(type) != width(m.value)) {
    const char* op = width(type) > width(m.value) ? "trunci" : is_unsigned(from) ? "extui" : "extsi";
    whole = value(fmt::format("arith.{} {} : {} to {}", op, whole, type, m.value));
  }
  if (!is_sub_byte(to)) return whole;
  const int bits = static_cast<int>(bits_of(to));
  whole = value(fmt::format("arith.andi {}, {} : i8", whole, constant(std::to_string((1 << bits) - 1), "i8")));
  if (is_unsigned(to)) return whole;
  const std::string half = constant(std::to_string(1 << (bits - 1)), "i8");
  return value(fmt::format("arith.subi {}, {} : i8", value(fmt::format("arith.xori {}, {} : i8", whole, half)), half));
}

std::string Printer::cast(const Expr& e) {
  const Expr& from = e->args[0];
  const std::string x = expr(from), source = type_of(from);
  const DType to = e.type();
  if (e.is_index()) {
    if (source == "index") return x;
    if (is_float(from.type()) || source == "i1" || source != "i64") {
      const Expr whole = Expr::make(Op::cast, DType::i64, {from});
      return value(fmt::format("arith.index_cast {} : i64 to index", to_integer(whole, x)));
    }
    return value(fmt::format("arith.index_cast {} : i64 to index", x));
  }
  if (to == DType::boolean) {
    if (source == "i1") return x;
    if (is_float(from.type()))
      return value(fmt::format("arith.cmpf une, {}, {} : {}", x, constant("0.0", source), source));
    const std::string zero = source == "index" ? index(0) : constant("0", source);
    return value(fmt::format("arith.cmpi ne, {}, {} : {}", x, zero, source));
  }
  if (!is_float(to)) return from.type() == to && !from.is_index() ? x : to_integer(e, x);
  // Into floats, through f64 if the digits are cut further.
  const std::string wide = is_small_float(to) ? "f64" : m_type(to).value;
  std::string y = x;
  if (is_float(from.type())) {
    if (source != wide)
      y = value(fmt::format("arith.{} {} : {} to {}", wide == "f64" ? "extf" : "truncf", x, source, wide));
  } else {
    std::string type = source;
    if (type == "index") {
      y = value(fmt::format("arith.index_cast {} : index to i64", x));
      type = "i64";
    }
    y = value(fmt::format("arith.{} {} : {} to {}", is_unsigned(from.type()) ? "uitofp" : "sitofp", y, type, wide));
  }
  return is_small_float(to) ? rounded(y, to, e->whole) : y;
}

std::string Printer::bits(const Expr& e) {
  const Expr& from = e->args[0];
  const DType to = e.type();
  if (to == DType::boolean) return cast(e);
  if (is_sub_byte(to) && is_integer(to) && is_integer(from.type())) return expr(Expr::make(Op::cast, to, {from}));
  std::string x = stored(from, from.type());
  const MType a = m_type(from.type()), b = m_type(to);
  if (std::string_view(a.storage) != b.storage)
    x = value(fmt::format("arith.bitcast {} : {} to {}", x, a.storage, b.storage));
  return is_small_float(to) ? helper(support_.use("load", to), {x}, {b.storage}, "f32") : x;
}

}  // namespace ingot::backends::mlir
