// Sizes, and the same elements under others: Shape, Reshape, Transpose, Concat, Split, Tile, Expand.
#include <algorithm>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tensorflow {
namespace {

/// The sizes of a result as Reshape takes them; nothing where it could not tell them.
std::optional<Ints> target_of(const Value* y) {
  if (!y->type.shape) return std::nullopt;
  Ints dims = dims_of(*y->type.shape);
  const auto open = std::ranges::count(dims, -1);
  if (open > 1 || (open == 1 && std::ranges::count(dims, 0) > 0)) return std::nullopt;
  return dims;
}

}  // namespace

void emit_shape(NodeOut& n) {
  const std::int64_t start = n.attr("start", 0);
  const Ref all = n.e.add("Shape", {n.in(0)}, {{"out_type", DType::i64}});
  if (!start && !n.node.attributes.has("end")) return n.set(all);
  const auto rank = static_cast<std::int64_t>(n.rank());
  const auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t from = clamped(start), to = std::max(from, clamped(n.attr("end", rank)));
  n.set(part_of_list(n.e, all, from, to - from));
}
Refused refuse_shape(const Node& n, Dialect) {
  return n.attributes.int_or("start", 0) || n.attributes.has("end") ? needs_rank(n) : std::nullopt;
}

void emit_size(NodeOut& n) { n.set(n.e.add("Size", {n.in(0)}, {{"out_type", DType::i64}})); }

void emit_transpose(NodeOut& n) { n.set(transposed(n.e, n.in(0), passes::perm_of(n.node))); }
Refused refuse_transpose(const Node& n, Dialect) {
  if (passes::perm_of(n).empty() && !(n.input(0)->type.shape && n.input(0)->type.shape->empty()))
    return Refusal{Kind::unknown_size, "the rank is not known"};
  return {};
}

void emit_concat(NodeOut& n) {
  if (n.node.input_count() == 1) return emit_identity(n);
  Refs inputs = n.all_inputs();
  inputs.push_back(n.e.index(n.axis(0)));
  n.set(n.e.add("ConcatV2", inputs));
}
Refused refuse_concat(const Node& n, Dialect) { return needs_rank(n); }

void emit_split(NodeOut& n) {
  const std::size_t count = n.node.output_count();
  const auto number = static_cast<std::int64_t>(count);
  const Ref axis = n.e.index(n.axis(0));
  Ref parts;
  if (n.has(1) && !n.constant(1)) {
    parts = n.e.add("SplitV", {n.in(0), n.index(1), axis}, {{"num_split", number}});
  } else {
    Ints sizes;
    for (std::size_t i = 0; i < count; ++i) {
      const Value* v = n.node.output(i);
      sizes.push_back(n.constant(1) ? n.ints(1)[i] : (*v->type.shape)[static_cast<std::size_t>(n.axis(0))].value());
    }
    const bool is_even = std::ranges::all_of(sizes, [&](std::int64_t s) { return s == sizes[0]; });
    parts = is_even ? n.e.add("Split", {axis, n.in(0)}, {{"num_split", number}})
                    : n.e.add("SplitV", {n.in(0), n.e.ints(sizes), axis}, {{"num_split", number}});
  }
  for (std::size_t i = 0; i < count; ++i) n.set({parts.node, static_cast<std::int32_t>(i)}, i);
}
Refused refuse_split(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(1)) {
    const Tensor* sizes = ops::constant_of(n.input(1));
    if (sizes && sizes->size() != static_cast<std::int64_t>(n.output_count()))
      return Refusal{Kind::structure, "as many sizes as results are needed"};
    return {};
  }
  std::int64_t axis = n.attributes.int_or("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(n.input(0)->type.shape->size());
  for (const Value* v : n.outputs())
    if (!v || !v->type.shape || !(*v->type.shape)[static_cast<std::size_t>(axis)].is_known())
      return Refusal{Kind::unknown_size, "the sizes of the parts are not known"};
  return {};
}

void emit_tile(NodeOut& n) { n.set(n.e.add("Tile", {n.in(0), n.index(1)})); }

void emit_expand(NodeOut& n) {
  const auto& y = n.node.output(0)->type.shape;
  if (y && is_fixed(*y)) return n.set(n.e.add("BroadcastTo", {n.in(0), n.e.ints(dims_of(*y))}));
  // Both shapes are broadcast: the input's may be the larger one.
  const Ref wanted = n.int32(1);
  n.set(n.e.add("BroadcastTo", {n.in(0), n.e.add("BroadcastArgs", {shape_of(n.e, n.in(0)), wanted})}));
}

void emit_range(NodeOut& n) {
  Emitter& e = n.e;
  const Ref start = n.scalar(0), step = n.scalar(2);
  Ref limit = n.scalar(1);
  const ingot::Tensor *from = n.constant(0), *to = n.constant(1), *by = n.constant(2);
  const bool is_ahead = from && to && from->to_doubles()[0] <= to->to_doubles()[0];
  if (e.is_tfjs() && !is_ahead && (!by || by->to_doubles()[0] == 1)) {
    // TF.js counts downwards by ones where the limit is below the start: there is nothing to count.
    const Ref none = e.add("Maximum", {start, limit});
    limit = by ? none : e.add("SelectV2", {e.add("Equal", {step, e.scalar(1, e.elem_of(step))}), none, limit});
  }
  n.set(e.add("Range", {start, limit, step}));
}

/// Ones on a diagonal of a matrix whose sizes only a run knows; others are constants.
void emit_eye_like(NodeOut& n) {
  Emitter& e = n.e;
  const Ref sizes = shape_of(e, n.in(0));
  const auto places = [&](std::int64_t axis) {
    return e.add("Range", {e.index(0), reshaped(e, part_of_list(e, sizes, axis, 1), {}), e.index(1)});
  };
  const Ref rows =
      e.add("AddV2", {e.add("ExpandDims", {places(0), e.index(1)}), e.index(n.attr("k", std::int64_t{0}))});
  n.set(n.cast(e.add("Equal", {rows, places(1)}), n.out_elem()));
}
Refused refuse_eye_like(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  if (is_fixed(*n.input(0)->type.shape)) return Refusal{Kind::structure, "it is a constant"};
  return {};
}

void emit_fill(NodeOut& n) {
  const Tensor* value = n.node.attributes.get<Tensor>("value");
  n.set(n.e.add("Fill", {n.index(0), value ? n.e.constant(value->reshaped({})) : n.e.scalar(0, DType::f32)}));
}

void emit_reshape(NodeOut& n) {
  if (const auto target = target_of(n.node.output(0))) return n.set(reshaped(n.e, n.in(0), *target));
  const Ref asked = n.index(1);
  const Tensor* wanted = n.constant(1);
  const bool means_sizes = n.attr("allowzero", 0) || comes_from(n.node, "Reshape") ||
                           (wanted && std::ranges::count(wanted->to_ints(), 0) == 0);
  if (means_sizes) return n.set(n.e.add("Reshape", {n.in(0), asked}));
  // A 0 means the input's size there: taken from its shape at run time, filled up with ones where it has fewer.
  const DType type = n.e.elem_of(asked);
  const std::size_t count = n.out_shape().size();
  Ref sizes = n.e.add("Shape", {n.in(0)}, {{"out_type", type}});
  if (n.rank() < count) {
    const Ref ones = n.cast(n.e.ints(Ints(count - n.rank(), 1)), type);
    sizes = n.e.add("ConcatV2", {sizes, ones, n.e.index(0)});
  } else if (n.rank() > count) {
    sizes = part_of_list(n.e, sizes, 0, static_cast<std::int64_t>(count));
  }
  const Ref is_zero = n.e.add("Equal", {asked, n.e.scalar(0, type)});
  n.set(n.e.add("Reshape", {n.in(0), n.e.add("SelectV2", {is_zero, sizes, asked})}));
}
Refused refuse_reshape(const Node& n, Dialect) {
  if (target_of(n.output(0)) || n.attributes.int_or("allowzero", 0) || comes_from(n, "Reshape")) return {};
  if (Refused why = needs_rank(n)) return why;
  if (!n.output(0)->type.shape) return Refusal{Kind::unknown_size, "the rank of the result is not known"};
  return {};
}

void emit_flatten(NodeOut& n) {
  if (const auto target = target_of(n.node.output(0))) return n.set(reshaped(n.e, n.in(0), *target));
  const auto rank = static_cast<std::int64_t>(n.rank());
  const std::int64_t axis = n.axis(1);
  const Ref inner = n.e.add("Prod", {part_of_list(n.e, shape_of(n.e, n.in(0)), axis, rank - axis), n.e.ints({0})},
                            {{"keep_dims", true}});
  n.set(n.e.add("Reshape", {n.in(0), n.e.add("ConcatV2", {n.e.ints({-1}), inner, n.e.index(0)})}));
}
Refused refuse_flatten(const Node& n, Dialect) { return needs_rank(n); }

void emit_squeeze(NodeOut& n) {
  if (!n.has(1)) return n.set(n.e.add("Squeeze", {n.in(0)}));
  if (n.constant(1)) {
    const Ints axes = n.ints(1);
    return axes.empty() ? emit_identity(n) : n.set(n.e.add("Squeeze", {n.in(0)}, {{"squeeze_dims", axes}}));
  }
  n.set(reshaped(n.e, n.in(0), *target_of(n.node.output(0))));
}
Refused refuse_squeeze(const Node& n, Dialect) {
  return n.input(1) && !target_of(n.output(0)) ? needs_constant(n, 1, "the axes") : std::nullopt;
}

void emit_unsqueeze(NodeOut& n) {
  const auto target = target_of(n.node.output(0));
  if (!n.constant(1)) return n.set(reshaped(n.e, n.in(0), *target));
  Ints axes = n.ints(1);
  if (axes.size() > 1 && target) return n.set(reshaped(n.e, n.in(0), *target));
  const auto rank = static_cast<std::int64_t>(n.rank() + axes.size());
  for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
  std::ranges::sort(axes);
  Ref x = n.in(0);
  for (const std::int64_t a : axes) x = n.e.add("ExpandDims", {x, n.e.index(a)});
  axes.empty() ? emit_identity(n) : n.set(x);
}
Refused refuse_unsqueeze(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  return target_of(n.output(0)) ? std::nullopt : needs_constant(n, 1, "the axes");
}

}  // namespace ingot::backends::tensorflow
