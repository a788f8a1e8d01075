// Sizes, and the same elements under others: Shape, Reshape, Transpose, Concat, Split, Tile, Expand.
#include <algorithm>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

void emit_shape(NodeOut& n) {
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT64);
  const std::int64_t start = n.attr("start", 0);
  if (!start && !n.node.attributes.has("end")) return n.e.add(Op::SHAPE, {n.in(0)}, {n.out()}, options);
  const auto rank = static_cast<std::int64_t>(n.rank());
  const auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t from = clamped(start), to = std::max(from, clamped(n.attr("end", rank)));
  const std::int32_t all = n.e.temporary(DType::i64, Ints{rank});
  n.e.add(Op::SHAPE, {n.in(0)}, {all}, options);
  const std::int32_t begin = n.e.ints({from}), size = n.e.ints({to - from});
  n.e.add(Op::SLICE, {all, begin, size}, {n.out()});
}

void emit_size(NodeOut& n) {
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT64);
  const std::int32_t sizes = n.e.temporary(DType::i64, Shape{Dim(static_cast<std::int64_t>(n.rank()))});
  n.e.add(Op::SHAPE, {n.in(0)}, {sizes}, options);
  const std::int32_t axis = n.e.ints({0});
  n.e.add(Op::REDUCE_PROD, {sizes, axis}, {n.out()});
}

void emit_transpose(NodeOut& n) {
  const std::int32_t order = n.e.ints(passes::perm_of(n.node));
  n.e.add(Op::TRANSPOSE, {n.in(0), order}, {n.out()});
}
Refused refuse_transpose(const Node& n) {
  if (passes::perm_of(n).empty() && !(n.input(0)->type.shape && n.input(0)->type.shape->empty()))
    return Refusal{Kind::unknown_size, "the rank is not known"};
  if (n.input(0)->type.shape->size() > 5) return Refusal{Kind::dimensions, "more than 5 dimensions"};
  return n.input(0)->type.elem == DType::i16 ? std::nullopt : moved(n);
}

void emit_concat(NodeOut& n) {
  std::vector<std::int32_t> inputs;
  for (std::size_t i = 0; i < n.node.input_count(); ++i) inputs.push_back(n.in(i));
  Options options(Op::CONCATENATION);
  options.set("axis", n.axis(0));
  n.e.add(Op::CONCATENATION, inputs, {n.out()}, options);
}

void emit_split(NodeOut& n) {
  std::vector<std::int32_t> outputs;
  Ints sizes;
  const auto axis = static_cast<std::size_t>(n.axis(0));
  for (std::size_t i = 0; i < n.node.output_count(); ++i) {
    const Value* v = n.node.output(i);
    outputs.push_back(n.e.tensor(v));
    sizes.push_back((*v->type.shape)[axis].value());
  }
  const std::int32_t x = n.in(0), lengths = n.e.ints(sizes), dim = n.e.index(n.axis(0));
  Options options(Op::SPLIT_V);
  options.set("num_splits", static_cast<std::int64_t>(outputs.size()));
  n.e.add(Op::SPLIT_V, {x, lengths, dim}, outputs, options);
}
Refused refuse_split(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  const auto rank = static_cast<std::int64_t>(n.input(0)->type.shape->size());
  std::int64_t axis = n.attributes.int_or("axis", 0);
  if (axis < 0) axis += rank;
  for (const Value* v : n.outputs())
    if (!v || !v->type.shape || !(*v->type.shape)[static_cast<std::size_t>(axis)].is_known())
      return Refusal{Kind::unknown_size, "the sizes of the parts are not known"};
  return moved(n);
}

void emit_tile(NodeOut& n) { n.e.add(Op::TILE, {n.in(0), n.in_int32(1)}, {n.out()}); }
Refused refuse_tile(const Node& n) {
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::u8, DType::boolean});
}

void emit_expand(NodeOut& n) {
  const std::int32_t x = n.in(0);
  if (is_fixed(n.out_shape())) {
    const std::int32_t target = n.e.ints(dims_of(n.out_shape()));
    return n.e.add(Op::BROADCAST_TO, {x, target}, {n.out()}, Options(Op::BROADCAST_TO), 2);
  }
  // Both shapes are broadcast: the input's may be the larger one.
  const std::int32_t sizes = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.rank())});
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT32);
  n.e.add(Op::SHAPE, {x}, {sizes}, options);
  const std::int32_t wanted = n.in_int32(1);
  const std::int32_t target = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.out_shape().size())});
  n.e.add(Op::BROADCAST_ARGS, {sizes, wanted}, {target});
  n.e.add(Op::BROADCAST_TO, {x, target}, {n.out()}, Options(Op::BROADCAST_TO), 2);
}
Refused refuse_expand(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (!n.output(0)->type.shape) return Refusal{Kind::unknown_size, "the rank of the result is not known"};
  if (n.output(0)->type.shape->size() > 8) return Refusal{Kind::dimensions, "more than 8 dimensions"};
  return moved(n);
}

void emit_range(NodeOut& n) {
  // Some files have lists of one where scalars are meant, which TFLite refuses when it runs.
  const auto scalar = [&](std::size_t i) {
    const auto& shape = n.node.input(i)->type.shape;
    return shape && shape->empty() ? n.in(i) : reshaped(n.e, n.in(i), n.elem(i), Shape{});
  };
  const std::int32_t start = scalar(0), limit = scalar(1), delta = scalar(2);
  n.e.add(Op::RANGE, {start, limit, delta}, {n.out()});
}
Refused refuse_range(const Node& n) { return needs_types(n, {DType::f32, DType::i32}); }

void emit_fill(NodeOut& n) {
  const Tensor* value = n.node.attributes.get<Tensor>("value");
  const std::int32_t dims = n.in_int32(0);
  const std::int32_t element = value ? n.e.constant(value->reshaped({})) : n.e.scalar(0, DType::f32);
  n.e.add(Op::FILL, {dims, element}, {n.out()});
}
Refused refuse_fill(const Node& n) {
  const DType t = n.output(0)->type.elem;
  if (t == DType::f32 || t == DType::i32 || t == DType::i64 || t == DType::boolean || t == DType::i8) return {};
  return Refusal{Kind::attribute_value, "TFLite does not fill this type"};
}

Refused refuse_shape(const Node& n) { return needs_rank(n); }
Refused refuse_size(const Node& n) { return needs_rank(n); }
Refused refuse_concat(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  return needs_types(
      n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::i16, DType::boolean, DType::string});
}
Refused refuse_reshape(const Node& n) {
  const auto& y = n.output(0)->type.shape;
  // At most one open size is left to RESHAPE; more must be found at run time.
  if (y && std::ranges::count_if(*y, [](const Dim& d) { return !d.is_known(); }) <= 1) return {};
  if (n.is("Flatten")) return Refusal{Kind::unknown_size, "more than one size is not known"};
  if (Refused why = needs_rank(n)) return why;
  if (n.is("Squeeze") || n.is("Unsqueeze")) return n.input(1) ? needs_constant(n, 1, "the axes") : std::nullopt;
  if (!y) return Refusal{Kind::unknown_size, "the rank of the result is not known"};
  if (!ops::constant_of(n.input(1)) && n.attributes.int_or("allowzero", 0))
    return Refusal{Kind::not_constant, "allowzero with a computed shape"};
  return {};
}

/// Reshape, Flatten, Squeeze, Unsqueeze: the result's sizes, or where those are not known, how to get them.
void emit_reshape(NodeOut& n) {
  const Value* y = n.node.output(0);
  const std::int32_t x = n.in(0);
  std::optional<Ints> target;
  if (y->type.shape) {
    target = dims_of(*y->type.shape);
    if (std::ranges::count(*target, -1) > 1) target.reset();
  }
  if (!target && n.node.is("Unsqueeze") && n.constant(1)) {
    Ints axes = n.ints(1);
    const auto rank = static_cast<std::int64_t>(n.rank() + axes.size());
    for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
    std::ranges::sort(axes);
    std::int32_t at = x;
    Shape shape = n.shape();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shape.insert(shape.begin() + axes[i], Dim(1));
      const std::int32_t next = i + 1 == axes.size() ? n.out() : n.e.temporary(n.elem(), shape);
      const std::int32_t axis = n.e.index(axes[i]);
      n.e.add(Op::EXPAND_DIMS, {at, axis}, {next});
      at = next;
    }
    return;
  }
  if (!target && n.node.is("Squeeze")) {
    Options options(Op::SQUEEZE);
    if (n.constant(1)) options.set("squeeze_dims", n.ints(1));
    return n.e.add(Op::SQUEEZE, {x}, {n.out()}, options);
  }
  if (target) return add_reshape(n.e, x, n.out(), *target);
  // A 0 means the input's size there: taken from its shape at run time.
  const Tensor* wanted = n.constant(1);
  std::int32_t dims;
  if (n.node.is("Flatten") || (wanted && std::ranges::count(wanted->to_ints(), 0) == 0)) {
    dims = n.in_int32(1);
  } else {
    const std::int32_t asked = n.in_int32(1);
    const auto count = static_cast<std::int64_t>(y->type.shape ? y->type.shape->size() : 0);
    const std::int32_t sizes = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.rank())});
    Options options(Op::SHAPE);
    options.set("out_type", TensorType::INT32);
    n.e.add(Op::SHAPE, {x}, {sizes}, options);
    // The first `count` sizes of the input, filled up with ones where it has fewer.
    std::int32_t padded = sizes;
    if (static_cast<std::int64_t>(n.rank()) < count) {
      padded = n.e.temporary(DType::i32, Ints{count});
      const std::int32_t ones = n.e.ints(Ints(static_cast<std::size_t>(count) - n.rank(), 1));
      n.e.add(Op::CONCATENATION, {sizes, ones}, {padded});
    } else if (static_cast<std::int64_t>(n.rank()) > count) {
      padded = n.e.temporary(DType::i32, Ints{count});
      const std::int32_t begin = n.e.ints({0}), size = n.e.ints({count});
      n.e.add(Op::SLICE, {sizes, begin, size}, {padded});
    }
    const std::int32_t zero = n.e.index(0), is_zero = n.e.temporary(DType::boolean, Ints{count});
    n.e.add(Op::EQUAL, {asked, zero}, {is_zero});
    dims = n.e.temporary(DType::i32, Ints{count});
    n.e.add(Op::SELECT_V2, {is_zero, padded, asked}, {dims});
  }
  n.e.add(Op::RESHAPE, {x, dims}, {n.out()});
}

}  // namespace ingot::backends::tflite
