// Elements of other types.
#include <fmt/format.h>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/base/float_types.h"

namespace ingot::backends::tensorflow {
namespace {

/// Bits of an integer type; 0: of none that TF.js would have to narrow.
int integer_width(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
      return 8;
    case DType::i16:
    case DType::u16:
      return 16;
    case DType::i32:
    case DType::u32:
      return 32;
    case DType::i64:
    case DType::u64:
      return 64;
    default:
      return 0;
  }
}

/// In TF.js integers are int32: those of fewer bits are wrapped as they would be.
Ref narrowed(NodeOut& n, DType from, DType to) {
  const int bits = integer_width(to);
  const Ref x = n.cast(n.in(0), to);
  const bool is_signed = to == DType::i8 || to == DType::i16;
  const bool fits = bits == 0 || integer_width(from) == 0 || bits >= 32 || integer_width(from) < bits || from == to;
  if (fits) return x;
  const Ref size = n.e.scalar(static_cast<double>(1 << bits), to);
  if (!is_signed) return n.e.add("FloorMod", {x, size});
  const Ref half = n.e.scalar(static_cast<double>(1 << (bits - 1)), to);
  return n.e.add("Sub", {n.e.add("FloorMod", {n.e.add("AddV2", {x, half}), size}), half});
}

/// The largest number of a type of 8 bits, which TensorFlow's casts do not stop at.
double largest_of(DType type) {
  switch (type) {
    case DType::f8e4m3fn:
      return 448;
    case DType::f8e4m3fnuz:
      return 240;
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return 57344;
    default:
      return 0;
  }
}

}  // namespace

void emit_cast(NodeOut& n) {
  const DType from = n.elem(), to = n.out_elem();
  Ref x = n.in(0);
  if (to == DType::string) return n.set(n.e.add("AsString", {x}, {{"shortest", true}}));
  if (from == DType::string) {
    const DType read = takes("AddV2", to) && !is_integer(to) ? DType::f32 : DType::i64;
    const DType out = to == DType::f64 ? DType::f64 : read;
    return n.set(n.cast(n.e.add("StringToNumber", {x}, {{"out_type", out}}), to));
  }
  if (n.e.is_tfjs()) {
    if (to == DType::boolean && from != to) return n.set(n.e.add("NotEqual", {x, n.e.scalar(0, from)}));
    const Ref y = narrowed(n, from, to);
    return n.set(y == x ? n.e.add("Identity", {x}) : y);
  }
  if (const double most = largest_of(to); most != 0 && n.attr("saturate", 1))
    x = n.e.add("Minimum", {n.e.add("Maximum", {x, n.e.scalar(-most, from)}), n.e.scalar(most, from)});
  n.set(n.e.add("Cast", {x}, {{"DstT", to}}));
}

Refused refuse_cast(const Node& n, Dialect dialect) {
  const DType from = n.input(0)->type.elem, to = n.output(0)->type.elem;
  if (dialect == Dialect::tfjs && (from == DType::string) != (to == DType::string))
    return Refusal{Kind::element_type, "TF.js does not turn texts into numbers or numbers into texts"};
  const auto is_tiny = [](DType type) { return is_sub_byte(type) || type == DType::f8e8m0 || largest_of(type) != 0; };
  if (dialect == Dialect::tfjs && (is_tiny(from) || is_tiny(to)))
    return Refusal{Kind::element_type, fmt::format("TF.js has no {}", name_of(is_tiny(from) ? from : to))};
  if (largest_of(to) != 0 && !takes("Maximum", from) && n.attributes.int_or("saturate", 1))
    return Refusal{Kind::element_type, "TensorFlow has no saturating cast from this type"};
  return {};
}

void emit_bit_cast(NodeOut& n) { n.set(n.e.add("Bitcast", {n.in(0)}, {{"type", n.out_elem()}})); }

Refused refuse_bit_cast(const Node& n, Dialect) {
  if (n.input(0)->type.elem == DType::boolean || n.output(0)->type.elem == DType::boolean)
    return Refusal{Kind::element_type, "TensorFlow does not look at the bits of bool"};
  return {};
}

}  // namespace ingot::backends::tensorflow
