// Reductions and what else goes along one axis: softmax, extremes, running sums.
#include <numeric>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

constexpr double kMostSummands = 4096;

Ints all_axes(NodeOut& n) {
  Ints all(n.rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// TF.js adds one number after the other in float, which of half a million leaves three digits: the longest of several
/// axes is summed by itself. Nothing where there are few numbers.
std::optional<std::int64_t> axis_to_sum_first(NodeOut& n, const char* word) {
  const auto& shape = n.node.input(0)->type.shape;
  const std::string_view sums = word;
  if (!n.e.is_tfjs() || (sums != "Mean" && sums != "Sum") || !shape || (n.has(1) && !n.constant(1)))
    return std::nullopt;
  Ints axes = n.has(1) ? n.ints(1) : Ints{};
  if (axes.empty()) axes = all_axes(n);
  double summands = 1;
  std::int64_t longest = 0, length = 0;
  for (const std::int64_t axis : axes) {
    const Dim& d = (*shape)[place_of_axis(axis, shape->size())];
    if (!d.is_known()) continue;
    summands *= static_cast<double>(d.value());
    if (d.value() > length) longest = axis, length = d.value();
  }
  if (axes.size() < 2 || summands <= kMostSummands) return std::nullopt;
  return longest;
}

bool is_empty_list(const Value* v) {
  return v->type.shape && v->type.shape->size() == 1 && same((*v->type.shape)[0], 0);
}

}  // namespace

/// Softmax and LogSoftmax know the last axis only: others are brought there.
void emit_softmax(NodeOut& n, const char* word) {
  const std::int64_t axis = n.axis(-1);
  if (axis + 1 == static_cast<std::int64_t>(n.rank())) return n.set(n.e.add(word, {n.in(0)}));
  const Ints perm = swapped_with_last(n.rank(), axis);
  n.set(transposed(n.e, n.e.add(word, {transposed(n.e, n.in(0), perm)}), perm));
}
Refused refuse_softmax(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(0)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  return {};
}

void emit_reduce(NodeOut& n, const char* word) {
  const bool none = !n.has(1) || (n.constant(1) && n.constant(1)->size() == 0) || is_empty_list(n.node.input(1));
  if (none && n.attr("noop_with_empty_axes", 0)) return emit_identity(n);
  Ref axes;
  if (!none) {
    axes = n.index(1);
  } else if (n.node.input(0)->type.shape) {
    axes = n.e.ints(all_axes(n));
  } else {
    axes = n.e.add("Range", {n.e.index(0), n.e.add("Rank", {n.in(0)}), n.e.index(1)});
  }
  const std::string_view op = n.node.op;
  if (n.elem() == DType::boolean) word = op == "ReduceMax" ? "Any" : "All";
  Ref x = n.in(0);
  if (const auto first = axis_to_sum_first(n, word)) x = n.e.add(word, {x, n.e.ints({*first})}, {{"keep_dims", true}});
  n.set(n.e.add(word, {x, axes}, {{"keep_dims", n.attr("keepdims", 1) != 0}}));
}
Refused refuse_reduce(const Node& n, Dialect) {
  const DType type = n.input(0)->type.elem;
  if (type != DType::boolean && !takes("Max", type))
    return Refusal{Kind::element_type, "TensorFlow does not reduce this type"};
  if (n.is("ReduceMean") && is_integer(type)) return Refusal{Kind::element_type, "a mean of integers"};
  if (n.input(1) && !ops::constant_of(n.input(1)) && !is_empty_list(n.input(1))) {
    const auto& shape = n.input(1)->type.shape;  // no axes at all would mean another thing to TensorFlow
    if (!shape || shape->size() != 1 || !(*shape)[0].is_at_least(1))
      return Refusal{Kind::not_constant, "axes that are computed, maybe none"};
  }
  return {};
}

void emit_arg(NodeOut& n, const char* word) {
  const Ref axis = n.e.index(n.axis(0));
  const Ref found = n.e.add(word, {n.in(0), axis}, {{"output_type", DType::i64}});
  n.set(n.attr("keepdims", 1) ? n.e.add("ExpandDims", {found, axis}) : found);
}
Refused refuse_arg(const Node& n, Dialect) {
  if (n.attributes.int_or("select_last_index", 0))
    return Refusal{Kind::attribute_value, "the last of equal elements: TensorFlow takes the first"};
  return needs_rank(n);
}

void emit_top_k(NodeOut& n) {
  const std::int64_t axis = n.axis(-1);
  const bool is_last = axis + 1 == static_cast<std::int64_t>(n.rank());
  const Ints perm = swapped_with_last(n.rank(), axis);
  // The smallest are the largest of the negated.
  const bool is_smallest = !n.attr("largest", 1);
  Ref x = is_last ? n.in(0) : transposed(n.e, n.in(0), perm);
  if (is_smallest) x = n.e.add("Neg", {x});
  const Ref k = n.constant(1) ? n.e.index(n.ints(1)[0]) : reshaped(n.e, n.int32(1), {});
  const Ref top = n.e.add("TopKV2", {x, k}, {{"sorted", true}});
  Ref values = top, places{top.node, 1};
  if (is_smallest) values = n.e.add("Neg", {values});
  places = n.cast(places, DType::i64);
  if (!is_last) {
    values = transposed(n.e, values, perm);
    places = transposed(n.e, places, perm);
  }
  n.set(values, 0);
  n.set(places, 1);
}
Refused refuse_top_k(const Node& n, Dialect) {
  if (!n.attributes.int_or("largest", 1) && !takes("Neg", n.input(0)->type.elem))
    return Refusal{Kind::element_type, "the smallest of numbers without a sign"};
  return needs_rank(n);
}

void emit_cum_sum(NodeOut& n) {
  Ref axis = n.constant(1) ? n.e.index(n.ints(1)[0]) : n.scalar(1);
  // TF.js counts axes from the front only.
  if (n.e.is_tfjs() && n.node.input(0)->type.shape)
    axis = n.e.add("FloorMod", {axis, n.e.scalar(static_cast<double>(n.rank()), n.e.elem_of(axis))});
  n.set(n.e.add("Cumsum", {n.in(0), axis},
                {{"exclusive", n.attr("exclusive", 0) != 0}, {"reverse", n.attr("reverse", 0) != 0}}));
}

void emit_reverse_sequence(NodeOut& n) {
  n.set(n.e.add("ReverseSequence", {n.in(0), n.index(1)},
                {{"seq_dim", n.attr("time_axis", 0)}, {"batch_dim", n.attr("batch_axis", 1)}}));
}

}  // namespace ingot::backends::tensorflow
