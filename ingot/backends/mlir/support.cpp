// The text of small functions that printed code calls.
#include "ingot/backends/mlir/support.h"

#include <fmt/format.h>

#include "ingot/backends/mlir/support_text.h"
#include "ingot/backends/mlir/types.h"
#include "ingot/base/error.h"

namespace ingot::backends::mlir {
namespace {

// $T is the type, $N the suffix, $I the attributes.
constexpr Text kOfSigned[] = {
    {"div", R"(  func.func private @div_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %one = arith.constant 1 : $T
    %minus = arith.constant -1 : $T
    %is_zero = arith.cmpi eq, %b, %zero : $T
    %is_minus = arith.cmpi eq, %b, %minus : $T
    %is_odd = arith.ori %is_zero, %is_minus : i1
    %safe = arith.select %is_odd, %one, %b : $T
    %q = arith.divsi %a, %safe : $T
    %n = arith.subi %zero, %a : $T
    %r = arith.select %is_minus, %n, %q : $T
    %s = arith.select %is_zero, %zero, %r : $T
    return %s : $T
  }
)"},
    {"remainder", R"(  func.func private @remainder_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %one = arith.constant 1 : $T
    %minus = arith.constant -1 : $T
    %is_zero = arith.cmpi eq, %b, %zero : $T
    %is_minus = arith.cmpi eq, %b, %minus : $T
    %is_odd = arith.ori %is_zero, %is_minus : i1
    %safe = arith.select %is_odd, %one, %b : $T
    %r = arith.remsi %a, %safe : $T
    return %r : $T
  }
)"},
    {"modulo", R"(  func.func private @modulo_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %r = func.call @remainder_$N(%a, %b) : ($T, $T) -> $T
    %some = arith.cmpi ne, %r, %zero : $T
    %x = arith.cmpi slt, %r, %zero : $T
    %y = arith.cmpi slt, %b, %zero : $T
    %differ = arith.xori %x, %y : i1
    %both = arith.andi %some, %differ : i1
    %other = arith.addi %r, %b : $T
    %s = arith.select %both, %other, %r : $T
    return %s : $T
  }
)"},
    {"shift_right", R"(  func.func private @shift_right_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %bits = arith.constant $B : $T
    %far = arith.cmpi uge, %b, %bits : $T
    %safe = arith.select %far, %zero, %b : $T
    %s = arith.shrsi %a, %safe : $T
    %r = arith.select %far, %zero, %s : $T
    return %r : $T
  }
)"},
};

constexpr Text kOfUnsigned[] = {
    {"div", R"(  func.func private @div_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %one = arith.constant 1 : $T
    %is_zero = arith.cmpi eq, %b, %zero : $T
    %safe = arith.select %is_zero, %one, %b : $T
    %q = arith.divui %a, %safe : $T
    %s = arith.select %is_zero, %zero, %q : $T
    return %s : $T
  }
)"},
    {"remainder", R"(  func.func private @remainder_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %one = arith.constant 1 : $T
    %is_zero = arith.cmpi eq, %b, %zero : $T
    %safe = arith.select %is_zero, %one, %b : $T
    %r = arith.remui %a, %safe : $T
    return %r : $T
  }
)"},
    {"modulo", R"(  func.func private @modulo_$N(%a: $T, %b: $T) -> $T $I {
    %r = func.call @remainder_$N(%a, %b) : ($T, $T) -> $T
    return %r : $T
  }
)"},
    {"shift_right", R"(  func.func private @shift_right_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %bits = arith.constant $B : $T
    %far = arith.cmpi uge, %b, %bits : $T
    %safe = arith.select %far, %zero, %b : $T
    %s = arith.shrui %a, %safe : $T
    %r = arith.select %far, %zero, %s : $T
    return %r : $T
  }
)"},
};

constexpr std::string_view kShiftLeft = R"(  func.func private @shift_left_$N(%a: $T, %b: $T) -> $T $I {
    %zero = arith.constant 0 : $T
    %bits = arith.constant $B : $T
    %far = arith.cmpi uge, %b, %bits : $T
    %safe = arith.select %far, %zero, %b : $T
    %s = arith.shli %a, %safe : $T
    %r = arith.select %far, %zero, %s : $T
    return %r : $T
  }
)";

// What lies outside goes to the nearest end, NaN to 0.
constexpr std::string_view kWhole = R"(  func.func private @whole_$N(%x: f64) -> $T $I {
    %zero = arith.constant 0.0 : f64
    %low = arith.constant $LOW : f64
    %high = arith.constant $HIGH : f64
    %none = arith.constant 0 : $T
    %min = arith.constant $MIN : $T
    %max = arith.constant $MAX : $T
    %is_nan = arith.cmpf uno, %x, %x : f64
    %is_low = arith.cmpf ole, %x, %low : f64
    %is_high = arith.cmpf oge, %x, %high : f64
    %a = arith.ori %is_nan, %is_low : i1
    %b = arith.ori %a, %is_high : i1
    %safe = arith.select %b, %zero, %x : f64
    %v = arith.$C %safe : f64 to $T
    %p = arith.select %is_low, %min, %v : $T
    %q = arith.select %is_high, %max, %p : $T
    %r = arith.select %is_nan, %none, %q : $T
    return %r : $T
  }
)";

/// Exponent and mantissa bits, bias, meaning of the topmost patterns.
std::string format_of(DType type) {
  switch (type) {
    case DType::f16:
      return "5 10 15 0";
    case DType::bf16:
      return "8 7 127 0";
    case DType::f8e4m3fn:
      return "4 3 7 1";
    case DType::f8e4m3fnuz:
      return "4 3 8 2";
    case DType::f8e5m2:
      return "5 2 15 0";
    case DType::f8e5m2fnuz:
      return "5 2 16 2";
    default:
      return "2 1 1 3";
  }
}

/// Constants %a to %d of the format.
std::string format_lines(DType type) {
  std::string text;
  char name = 'a';
  std::string number;
  for (const char c : format_of(type) + " ") {
    if (c != ' ') {
      number += c;
      continue;
    }
    text += fmt::format("    %{} = arith.constant {} : i32\n", name++, number);
    number.clear();
  }
  return text;
}

std::string load_text(DType type) {
  const MType m = m_type(type);
  return fmt::format(
      "  func.func private @load_{0}(%bits: {1}) -> f32 $I {{\n{2}    %wide = arith.extui %bits : {1} to i32\n    %x = "
      "func.call @decode(%wide, %a, %b, %c, %d) : (i32, i32, i32, i32, i32) -> f32\n    return %x : f32\n  }}\n",
      m.suffix, m.storage, format_lines(type));
}

std::string store_text(DType type) {
  const MType m = m_type(type);
  const std::string saturates = bits_of(type) == 16 ? "    %saturates = arith.constant false\n"
                                                    : "    %one = arith.constant 1 : i32\n    %zero = arith.constant 0 "
                                                      ": i32\n    %flag = arith.andi %how, %one : "
                                                      "i32\n    %saturates = arith.cmpi eq, %flag, %zero : i32\n";
  return fmt::format(
      "  func.func private @store_{0}(%x: f64, %how: i32) -> {1} $I {{\n{2}{3}    %wide = func.call @encode(%x, %a, "
      "%b, "
      "%c, %d, %saturates) : (f64, i32, i32, i32, i32, i1) -> i32\n    %bits = arith.trunci %wide : i32 to {1}\n    "
      "return %bits : {1}\n  }}\n",
      m.suffix, m.storage, format_lines(type), saturates);
}

std::string whole_text(DType type) {
  const std::string name = m_type(type).suffix;
  std::string low = "0.0", min = "0", high = "255.0", max = "255";
  if (name == "i8") low = "-128.0", min = "-128", high = "127.0", max = "127";
  if (name == "i16") low = "-32768.0", min = "-32768", high = "32767.0", max = "32767";
  if (name == "u16") high = "65535.0", max = "65535";
  if (name == "i32") low = "-2147483648.0", min = "-2147483648", high = "2147483647.0", max = "2147483647";
  if (name == "u32") high = "4294967295.0", max = "4294967295";
  if (name == "i64")
    low = "-9223372036854775808.0", min = "-9223372036854775808", high = "9223372036854775808.0",
    max = "9223372036854775807";
  if (name == "u64") high = "18446744073709551616.0", max = "18446744073709551615";
  std::string text = replaced(std::string(kWhole), "$LOW", low);
  text = replaced(replaced(replaced(text, "$MIN", min), "$HIGH", high), "$MAX", max);
  return replaced(text, "$C", is_unsigned(type) ? "fptoui" : "fptosi");
}

}  // namespace

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

bool Support::add(const std::string& name, std::string_view text) {
  if (!known_.insert(name).second) return false;
  text_ += replaced(std::string(text), "$I", kInternal);
  return true;
}

std::string Support::use(std::string_view name) {
  const std::string key(name);
  if (known_.contains(key)) return key;
  for (const Text& t : plain_texts())
    if (t.name == name) {
      add(key, t.text);
      return key;
    }
  throw Error(Code::internal, "no text for function " + key);
}

std::string Support::use(std::string_view base, DType type) {
  const MType m = m_type(type);
  const std::string name = fmt::format("{}_{}", base, m.suffix);
  if (known_.contains(name)) return name;
  if (type == DType::f8e8m0 && (base == "load" || base == "store")) return use(name);
  std::string text;
  if (base == "load") {
    if (type == DType::f16 || type == DType::bf16) return use(name);
    use("decode");
    text = load_text(type);
  } else if (base == "store") {
    use("encode");
    text = store_text(type);
  } else if (base == "whole") {
    text = whole_text(type);
  } else if (base == "shift_left") {
    text = kShiftLeft;
  } else if (base == "product" || base == "tile" || base == "dots" || base == "row") {
    if (base == "product") use("tile", type), use("dots", type), use("row", type);
    text = kernel_text(base, type);
  } else if (base == "sort_up" || base == "sort_down") {
    if (is_small_float(type)) use("load", type);
    text = sort_text(base == "sort_down", type);
  } else {
    if (base == "modulo") use("remainder", type);
    if (is_unsigned(type)) {
      for (const Text& t : kOfUnsigned)
        if (t.name == base) text = t.text;
    } else {
      for (const Text& t : kOfSigned)
        if (t.name == base) text = t.text;
    }
  }
  if (text.empty()) throw Error(Code::internal, "no text for function " + name);
  text = replaced(replaced(text, "$T", m.value), "$N", m.suffix);
  add(name, replaced(text, "$B", std::to_string(std::max(8u, bits_of(type)))));
  return name;
}

}  // namespace ingot::backends::mlir
