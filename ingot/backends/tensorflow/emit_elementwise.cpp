// Elementwise operators.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/backends/tensorflow/rows.h"

namespace ingot::backends::tensorflow {
namespace {

bool is_unsigned(DType type) {
  return type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
}

std::optional<double> bound(const NodeOut& n, std::size_t i) {
  const Tensor* t = n.constant(i);
  return t && t->size() == 1 ? std::optional(t->to_doubles()[0]) : std::nullopt;
}

}  // namespace

void emit_plain(NodeOut& n, const char* word) { n.set(n.e.add(word, n.all_inputs())); }

/// Any number of operands by an operator of two.
void emit_folded(NodeOut& n, const char* word) {
  Ref total = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) total = n.e.add(word, {total, n.in(i)});
  if (n.node.input_count() == 1) return emit_identity(n);
  n.set(total);
}

void emit_identity(NodeOut& n) { n.set(n.e.add("Identity", {n.in(0)})); }

void emit_abs(NodeOut& n) { is_unsigned(n.elem()) ? emit_identity(n) : emit_plain(n, "Abs"); }

void emit_div(NodeOut& n) {
  if (!is_integer(n.elem())) return emit_plain(n, "RealDiv");
  if (!n.e.is_tfjs()) return emit_plain(n, "TruncateDiv");
  if (is_unsigned(n.elem())) return emit_plain(n, "FloorDiv");
  // Of the sizes, with the sign that the quotient has: TF.js rounds down.
  const Ref a = n.in(0), b = n.in(1);
  const Tensor* divisor = n.constant(1);
  if (divisor && std::ranges::all_of(divisor->to_ints(), [](std::int64_t i) { return i > 0; })) {
    const Ref size = n.e.add("FloorDiv", {n.e.add("Abs", {a}), b});
    return n.set(n.e.add("Mul", {size, n.e.add("Sign", {a})}));
  }
  const Ref size = n.e.add("FloorDiv", {n.e.add("Abs", {a}), n.e.add("Abs", {b})});
  n.set(n.e.add("Mul", {size, n.e.add("Mul", {n.e.add("Sign", {a}), n.e.add("Sign", {b})})}));
}

void emit_mod(NodeOut& n) {
  if (!n.attr("fmod", 0) || is_unsigned(n.elem())) return emit_plain(n, "FloorMod");
  if (!n.e.is_tfjs()) return emit_plain(n, "TruncateMod");
  const Ref a = n.in(0), b = n.in(1);
  const Ref rest = n.e.add("FloorMod", {n.e.add("Abs", {a}), n.e.add("Abs", {b})});
  n.set(n.e.add("Mul", {rest, n.e.add("Sign", {a})}));
}
Refused refuse_mod(const Node& n, Dialect dialect) {
  const DType type = n.input(0)->type.elem;
  if (n.attributes.int_or("fmod", 0) && dialect == Dialect::tensorflow && !is_unsigned(type) &&
      !takes("TruncateMod", type))
    return Refusal{Kind::element_type, "TensorFlow has no remainder with the dividend's sign for this type"};
  return {};
}

void emit_pow(NodeOut& n) {
  const DType type = n.elem();
  if (n.elem(1) == type) return emit_plain(n, "Pow");
  const bool is_between = is_integer(type) && !is_integer(n.elem(1));
  const DType inside = is_between ? n.elem(1) : type;
  const Ref power = n.e.add("Pow", {n.cast(n.in(0), inside), n.cast(n.in(1), inside)});
  n.set(n.cast(power, type));
}

void emit_clip(NodeOut& n) {
  const auto low = bound(n, 1), high = bound(n, 2);
  if (!n.has(1) && !n.has(2)) return emit_identity(n);
  const bool is_float = !is_integer(n.elem());
  if (is_float && low == 0 && !n.has(2)) return n.set(n.e.add("Relu", {n.in(0)}));
  if (is_float && low == 0 && high == 6) return n.set(n.e.add("Relu6", {n.in(0)}));
  if (low && high && *low <= *high && is_float)
    return n.set(n.e.add("ClipByValue", {n.in(0), n.scalar(1), n.scalar(2)}));
  Ref x = n.in(0);
  if (n.has(1)) x = n.e.add("Maximum", {x, n.in(1)});
  if (n.has(2)) x = n.e.add("Minimum", {x, n.in(2)});
  n.set(x);
}

/// An operator of TF.js alone.
/// TF.js's fast backend takes slopes in the order in which they lie, again and again: they must be those of the last
/// axes.
void emit_prelu(NodeOut& n) {
  Emitter& e = n.e;
  const auto& x = n.node.input(0)->type.shape;
  const auto& slopes = n.node.input(1)->type.shape;
  if (x && slopes) {
    const auto begin = std::ranges::find_if(*slopes, [](const Dim& d) { return !same(d, 1); });
    if (slopes->end() - begin <= std::ssize(*x) && std::equal(begin, slopes->end(), x->end() - (slopes->end() - begin),
                                                              [](const Dim& a, const Dim& b) { return same(a, b); }))
      return n.set(e.add("Prelu", n.all_inputs()));
  }
  const Ref zero = e.scalar(0, n.elem());
  const Ref below = e.add("Mul", {n.in(1), e.add("Minimum", {n.in(0), zero})});
  n.set(e.add("AddV2", {e.add("Relu", {n.in(0)}), below}));
}
Refused refuse_prelu(const Node& n, Dialect dialect) {
  if (dialect != Dialect::tfjs) return Refusal{Kind::unknown_operator, "TensorFlow has no such operator"};
  if (n.input(0)->type.elem != DType::f32) return Refusal{Kind::element_type, "TF.js has it of floats"};
  return {};
}

void emit_leaky_relu(NodeOut& n) { n.set(n.e.add("LeakyRelu", {n.in(0)}, {{"alpha", n.attr("alpha", 0.01f)}})); }

Refused refuse_elu(const Node& n, Dialect) {
  if (n.attributes.float_or("alpha", 1.f) != 1.f) return Refusal{Kind::attribute_value, "alpha is not 1"};
  return {};
}

Refused refuse_selu(const Node& n, Dialect) {
  constexpr float kAlpha = 1.67326319f, kGamma = 1.05070102f;
  if (std::abs(n.attributes.float_or("alpha", kAlpha) - kAlpha) > 1e-6f ||
      std::abs(n.attributes.float_or("gamma", kGamma) - kGamma) > 1e-6f)
    return Refusal{Kind::attribute_value, "another alpha or gamma than TensorFlow has"};
  return {};
}

void emit_where(NodeOut& n) { emit_plain(n, "SelectV2"); }

void emit_is_inf(NodeOut& n) {
  const bool up = n.attr("detect_positive", 1) != 0, down = n.attr("detect_negative", 1) != 0;
  if (up && down) return emit_plain(n, "IsInf");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (up || down) return n.set(n.e.add("Equal", {n.in(0), n.e.scalar(up ? kInfinity : -kInfinity, n.elem())}));
  n.set(n.e.add("LogicalAnd", {n.e.add("IsInf", {n.in(0)}), n.e.constant(Tensor::scalar<bool>(false))}));
}

void emit_bit_shift(NodeOut& n) { emit_plain(n, n.attr("direction", "LEFT") == "LEFT" ? "LeftShift" : "RightShift"); }

}  // namespace ingot::backends::tensorflow
