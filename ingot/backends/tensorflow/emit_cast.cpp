// Elements of other types.
#include <fmt/format.h>

#include <cmath>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/base/float_types.h"
#include "ingot/ops/infer.h"

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

/// Whether a number is known to lie among those of a type of few bits.
bool is_within(const Value* v, DType type, int bits) {
  const Node* clip = v->producer();
  if (!clip || !clip->is("Clip") || !clip->input(1) || !clip->input(2)) return false;
  const Tensor *low = ops::constant_of(clip->input(1)), *high = ops::constant_of(clip->input(2));
  if (!low || !high || low->size() != 1 || high->size() != 1) return false;
  const bool is_signed = type == DType::i8 || type == DType::i16;
  const double least = is_signed ? -std::ldexp(1, bits - 1) : 0, most = std::ldexp(1, is_signed ? bits - 1 : bits) - 1;
  return low->to_doubles()[0] >= least && high->to_doubles()[0] <= most;
}

/// In TF.js integers are int32: those of fewer bits are wrapped as they would be.
Ref narrowed(NodeOut& n, DType from, DType to) {
  const int bits = integer_width(to);
  const Ref x = n.cast(n.in(0), bits == 0 || bits >= 32 ? to : DType::i32);
  const bool is_signed = to == DType::i8 || to == DType::i16;
  const bool may_be_negative = from == DType::i8 || from == DType::i16;
  const bool is_less = from == DType::boolean ||
                       (integer_width(from) != 0 && integer_width(from) < bits && (is_signed || !may_be_negative));
  const bool fits = bits == 0 || bits >= 32 || is_less || from == to || is_within(n.node.input(0), to, bits);
  if (fits) return n.cast(x, to);
  const Ref size = n.e.index(1 << bits);
  if (!is_signed) return n.cast(n.e.add("FloorMod", {x, size}), to);
  const Ref half = n.e.index(1 << (bits - 1));
  return n.cast(n.e.add("Sub", {n.e.add("FloorMod", {n.e.add("AddV2", {x, half}), size}), half}), to);
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

/// A bool is a byte of 0 or 1.
void emit_bit_cast(NodeOut& n) {
  if (n.elem() == n.out_elem()) return emit_identity(n);
  Ref x = n.elem() == DType::boolean ? n.cast(n.in(0), DType::u8) : n.in(0);
  if (n.out_elem() == DType::boolean) {
    if (n.elem() != DType::u8) x = n.e.add("Bitcast", {x}, {{"type", DType::u8}});
    return n.set(n.e.add("NotEqual", {x, n.e.scalar(0, DType::u8)}));
  }
  n.set(n.elem() == DType::boolean && n.out_elem() == DType::u8 ? x
                                                                : n.e.add("Bitcast", {x}, {{"type", n.out_elem()}}));
}

}  // namespace ingot::backends::tensorflow
