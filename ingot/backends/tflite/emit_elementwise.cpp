// Elementwise operators.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

void emit_unary(NodeOut& n, Op op) { n.e.add(op, {n.in(0)}, {n.out()}); }
namespace {

/// An operand in the result's shape where the kernels of older runtimes broadcast 4 dimensions only.
std::int32_t operand(NodeOut& n, std::size_t i) {
  const std::int32_t x = n.in(i);
  constexpr std::size_t kBroadcast = 4;
  const auto &shape = n.node.input(i)->type.shape, &wanted = n.node.output(0)->type.shape;
  if (!shape || !wanted || wanted->size() <= kBroadcast || !is_fixed(*shape) || !is_fixed(*wanted)) return x;
  if (dims_of(*shape) == dims_of(*wanted)) return x;
  const std::int32_t full = n.e.temporary(n.elem(i), *wanted), dims = n.e.ints(dims_of(*wanted));
  n.e.add(Op::BROADCAST_TO, {x, dims}, {full}, Options(Op::BROADCAST_TO), 2);
  return full;
}

}  // namespace

void emit_binary(NodeOut& n, Op op) {
  const std::int32_t a = operand(n, 0), b = operand(n, 1);
  n.e.add(op, {a, b}, {n.out()});
}

Refused floats(const Node& n) { return needs_types(n, {DType::f32}); }
Refused arithmetic(const Node& n) { return needs_types(n, {DType::f32, DType::i32, DType::i64}); }
Refused booleans(const Node& n) { return needs_types(n, {DType::boolean}); }
Refused moved(const Node& n) { return needs_types(n, kMoved); }
Refused equated(const Node& n) { return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean}); }
Refused nothing(const Node&) { return {}; }

/// Any number of operands by an operator of two.
void emit_folded(NodeOut& n, Op op) {
  std::int32_t total = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) {
    const bool is_last = i + 1 == n.node.input_count();
    const std::int32_t next = is_last ? n.out() : n.e.temporary(n.elem(), n.out_shape());
    const std::int32_t operand = n.in(i);
    n.e.add(op, {total, operand}, {next});
    total = next;
  }
  if (n.node.input_count() == 1) {
    const std::int32_t same = n.in(0);
    n.e.alias(n.node.output(0), same);
  }
}
Refused refuse_folded(const Node& n) {
  if (n.input_count() == 1) return Refusal{Kind::structure, "one operand"};  // decomposes into Identity, or is one
  const bool compares = n.is("Max") || n.is("Min");
  if (Refused why = compares ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::i16})
                             : needs_types(n, {DType::f32, DType::i32, DType::i64}))
    return why;
  constexpr const char* kText = "the rank is not known or beyond 5";
  if (!n.output(0)->type.shape) return Refusal{Kind::unknown_size, kText};
  if (n.output(0)->type.shape->size() > 5) return Refusal{Kind::dimensions, kText};
  return {};
}

void emit_identity(NodeOut& n) {
  // A reshape to the same shape: TFLite has no copy of its own.
  const std::int32_t x = n.in(0), y = n.out();
  const Shape* shape = n.node.input(0)->type.shape ? &n.shape() : nullptr;
  if (shape && std::ranges::count_if(*shape, [](const Dim& d) { return !d.is_known(); }) <= 1) {
    return add_reshape(n.e, x, y, dims_of(*shape));
  }
  const std::int32_t sizes = n.e.temporary(DType::i32, Shape{Dim()});
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT32);
  n.e.add(Op::SHAPE, {x}, {sizes}, options);
  n.e.add(Op::RESHAPE, {x, sizes}, {y});
}

void emit_reciprocal(NodeOut& n) {
  const std::int32_t one = n.e.scalar(1, n.elem()), x = n.in(0);
  n.e.add(Op::DIV, {one, x}, {n.out()});
}

void emit_clip(NodeOut& n) {
  const auto bound = [&](std::size_t i) -> std::optional<double> {
    return n.constant(i) && n.constant(i)->size() == 1 ? std::optional(n.constant(i)->to_doubles()[0]) : std::nullopt;
  };
  const auto low = bound(1), high = bound(2);
  const bool is_float = n.elem() == DType::f32;
  if (is_float && low == 0 && !n.has(2)) return n.e.add(Op::RELU, {n.in(0)}, {n.out()});
  if (is_float && low == 0 && high == 6) return n.e.add(Op::RELU6, {n.in(0)}, {n.out()});
  if (is_float && low == -1 && high == 1) return n.e.add(Op::RELU_N1_TO_1, {n.in(0)}, {n.out()});
  std::int32_t x = n.in(0);
  if (!n.has(1) && !n.has(2)) return emit_identity(n);
  if (n.has(1)) {
    const std::int32_t y = n.has(2) ? n.e.temporary(n.elem(), n.out_shape()) : n.out();
    const std::int32_t limit = n.in(1);
    n.e.add(Op::MAXIMUM, {x, limit}, {y});
    x = y;
  }
  if (n.has(2)) {
    const std::int32_t limit = n.in(2);
    n.e.add(Op::MINIMUM, {x, limit}, {n.out()});
  }
}
Refused refuse_clip(const Node& n) {
  if (!n.input(0)->type.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_leaky_relu(NodeOut& n) {
  Options options(Op::LEAKY_RELU);
  options.set("alpha", n.attr("alpha", 0.01f));
  n.e.add(Op::LEAKY_RELU, {n.in(0)}, {n.out()}, options);
}

Refused refuse_div(const Node& n) { return needs_types(n, {DType::f32, DType::i32}); }

Refused refuse_elu(const Node& n) {
  if (n.attributes.float_or("alpha", 1.f) != 1.f) return Refusal{Kind::attribute_value, "alpha is not 1"};
  return floats(n);
}

void emit_cast(NodeOut& n) {
  Options options(Op::CAST);
  options.set("in_data_type", *tensor_type_of(n.elem()))
      .set("out_data_type", *tensor_type_of(n.node.output(0)->type.elem));
  n.e.add(Op::CAST, {n.in(0)}, {n.out()}, options);
}
Refused refuse_cast(const Node& n) {
  const std::initializer_list<DType> types = {DType::f32, DType::i32,     DType::i64, DType::i8, DType::u8,
                                              DType::i16, DType::boolean, DType::u32, DType::f64};
  if (Refused why = needs_types(n, types)) return why;
  const DType to = n.output(0)->type.elem;
  if (std::ranges::find(types, to) != types.end()) return {};
  return Refusal{Kind::element_type, fmt::format("TFLite does not cast to {}", name_of(to))};
}

void emit_mod(NodeOut& n) {
  if (!n.attr("fmod", 0)) return emit_binary(n, Op::FLOOR_MOD);
  // TFLite's remainder has the divisor's sign: that of the sizes gets the dividend's.
  const auto size = [&](std::size_t i) {
    const std::int32_t x = operand(n, i), y = n.e.temporary(DType::f32, n.out_shape());
    n.e.add(Op::ABS, {x}, {y});
    return y;
  };
  const std::int32_t a = size(0), b = size(1), rest = n.e.temporary(DType::f32, n.out_shape());
  n.e.add(Op::FLOOR_MOD, {a, b}, {rest});
  const std::int32_t negated = n.e.temporary(DType::f32, n.out_shape());
  n.e.add(Op::NEG, {rest}, {negated});
  const std::int32_t zero = n.e.scalar(0, DType::f32), is_negative = n.e.temporary(DType::boolean, n.out_shape());
  n.e.add(Op::LESS, {operand(n, 0), zero}, {is_negative});
  n.e.add(Op::SELECT_V2, {is_negative, negated, rest}, {n.out()});
}
Refused refuse_mod(const Node& n) {
  if (!n.attributes.int_or("fmod", 0)) return needs_types(n, {DType::i32, DType::i64});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto &x = n.input(i)->type.shape, &y = n.output(0)->type.shape;
    if (!x || !y || !is_fixed(*x) || !is_fixed(*y) || dims_of(*x) != dims_of(*y))
      return Refusal{Kind::attribute_value, "fmod=1 of different shapes"};
  }
  if (n.input(0)->type.elem == DType::f32) return {};
  return Refusal{Kind::attribute_value, "fmod=1: TFLite's remainder has the divisor's sign"};
}

Refused refuse_pow(const Node& n) {
  if (Refused why = needs_types(n, {DType::f32, DType::i32})) return why;
  if (n.input(1)->type.elem == n.input(0)->type.elem) return {};
  return Refusal{Kind::attribute_value, "base and exponent differ in type"};
}

void emit_where(NodeOut& n) {
  const std::int32_t condition = operand(n, 0), yes = operand(n, 1), no = operand(n, 2);
  n.e.add(Op::SELECT_V2, {condition, yes, no}, {n.out()});
}
Refused refuse_where(const Node& n) { return needs_types(n, kMoved, 1); }

void emit_is_nan(NodeOut& n) {
  const std::int32_t x = n.in(0);
  n.e.add(Op::NOT_EQUAL, {x, x}, {n.out()});
}

void emit_sign(NodeOut& n) {
  const std::int32_t zero = n.e.scalar(0, n.elem()), x = n.in(0);
  const Shape& shape = n.out_shape();
  const auto compared_to_zero = [&](Op op) {
    const std::int32_t is = n.e.temporary(DType::boolean, shape), number = n.e.temporary(n.elem(), shape);
    n.e.add(op, {x, zero}, {is});
    Options options(Op::CAST);
    options.set("in_data_type", TensorType::BOOL).set("out_data_type", *tensor_type_of(n.elem()));
    n.e.add(Op::CAST, {is}, {number}, options);
    return number;
  };
  const std::int32_t above = compared_to_zero(Op::GREATER), below = compared_to_zero(Op::LESS);
  n.e.add(Op::SUB, {above, below}, {n.out()});
}
Refused refuse_sign(const Node& n) {
  Refused why = needs_rank(n);
  return why ? why : arithmetic(n);
}

void emit_prelu(NodeOut& n) { n.e.add(Op::PRELU, {n.in(0), n.in(1)}, {n.out()}); }
Refused refuse_prelu(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  if (n.input(0)->type.shape->size() > 4) return Refusal{Kind::dimensions, "more than 4 dimensions"};
  return floats(n);
}

}  // namespace ingot::backends::tflite
