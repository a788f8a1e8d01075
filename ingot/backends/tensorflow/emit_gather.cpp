// Elements picked by their places, and written to places of a copy.
#include <algorithm>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// Whether no index of that input is negative, as it stands or because the source has no such indices.
bool counts_from_the_front(const Node& node, std::size_t input) {
  if (const Tensor* t = ops::constant_of(node.input(input)))
    return std::ranges::all_of(t->to_ints(), [](std::int64_t i) { return i >= 0; });
  constexpr std::string_view kSources[] = {"EMBEDDING_LOOKUP", "GATHER",   "GATHER_ND",     "Gather",
                                           "GatherNd",         "GatherV2", "ResourceGather"};
  return std::ranges::any_of(kSources, [&](std::string_view op) { return comes_from(node, op); });
}

/// Those that count from the end are turned; `size`: how many there are, of the indices' type.
Ref turned(Emitter& e, Ref indices, Ref size) {
  const Ref is_negative = e.add("Less", {indices, e.scalar(0, e.elem_of(indices))});
  return e.add("SelectV2", {is_negative, e.add("AddV2", {indices, size}), indices});
}

/// The size of an axis of a tensor, in the indices' type.
Ref size_of_axis(Emitter& e, Ref tensor, const Dim& size, std::int64_t axis, DType type) {
  if (size.is_known()) return e.scalar(static_cast<double>(size.value()), type);
  const Ref all = e.add("Shape", {tensor}, {{"out_type", type}});
  return e.add("StridedSlice", {all, e.ints({axis}), e.ints({axis + 1}), e.ints({1})}, {{"shrink_axis_mask", 1}});
}

/// For each place of `dims`, its number along one axis: a column of coordinates.
Ref coordinates(Emitter& e, Ints dims, std::size_t axis, DType type) {
  std::int64_t inner = 1, count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    count *= dims[i];
    if (i > axis) inner *= dims[i];
  }
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(i / inner % dims[axis]);
  dims.push_back(1);
  if (type == DType::i64) return e.constant(Tensor::of<std::int64_t>(dims, values));
  return e.constant(Tensor::of<std::int32_t>(dims, std::vector<std::int32_t>(values.begin(), values.end())));
}

/// Index tuples, none below zero; they go along the axes of input 0 from `first_axis` on.
Ref index_tuples(NodeOut& n, std::size_t input, std::size_t first_axis) {
  Emitter& e = n.e;
  const auto depth = static_cast<std::size_t>(n.shape(input).back().value());
  const Shape sizes(n.shape().begin() + static_cast<std::ptrdiff_t>(first_axis),
                    n.shape().begin() + static_cast<std::ptrdiff_t>(first_axis + depth));
  if (const Tensor* t = n.constant(input); t && is_fixed(sizes)) {
    std::vector<std::int32_t> values;
    for (const std::int64_t i : t->to_ints()) {
      const std::int64_t size = sizes[values.size() % depth].value();
      values.push_back(static_cast<std::int32_t>(i < 0 ? i + size : i));
    }
    return e.constant(Tensor::of<std::int32_t>(t->dims(), values));
  }
  const Ref raw = n.index(input);
  if (counts_from_the_front(n.node, input)) return raw;
  const DType type = e.elem_of(raw);
  const Ref many = is_fixed(sizes)
                       ? n.cast(e.ints(dims_of(sizes)), type)
                       : part_of_list(e, e.add("Shape", {n.in(0)}, {{"out_type", type}}),
                                      static_cast<std::int64_t>(first_axis), static_cast<std::int64_t>(depth));
  return turned(e, raw, many);
}

Refused needs_tuples(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape& tuples = *n.input(1)->type.shape;
  if (tuples.empty() || !tuples.back().is_known() || tuples.back().value() < 1)
    return Refusal{Kind::unknown_size, "index tuples of no known length"};
  return {};
}

}  // namespace

bool has_few_places(const Shape& shape) {
  if (!is_fixed(shape)) return false;
  std::int64_t count = 1;
  for (const Dim& d : shape)
    if (d.value() > kMostPlaces || (count *= std::max<std::int64_t>(d.value(), 1)) > kMostPlaces) return false;
  return true;
}

void emit_gather(NodeOut& n) {
  const std::int64_t axis = n.axis(0);
  const Dim& size = n.shape()[static_cast<std::size_t>(axis)];
  Ref indices;
  if (const Tensor* t = n.constant(1); t && size.is_known()) {
    std::vector<std::int32_t> values;
    for (const std::int64_t i : t->to_ints()) values.push_back(static_cast<std::int32_t>(i < 0 ? i + size.value() : i));
    indices = n.e.constant(Tensor::of<std::int32_t>(t->dims(), values));
  } else {
    indices = n.index(1);
    if (!counts_from_the_front(n.node, 1))
      indices = turned(n.e, indices, size_of_axis(n.e, n.in(0), size, axis, n.e.elem_of(indices)));
  }
  n.set(n.e.add("GatherV2", {n.in(0), indices, n.e.index(axis)}));
}
Refused refuse_gather(const Node& n, Dialect) { return needs_rank(n); }

namespace {

/// The same of sizes that only a run knows; `sizes`: those of the indices.
Ref open_coordinates(Emitter& e, Ref sizes, std::size_t rank, std::size_t axis, DType type) {
  const auto number = static_cast<std::int64_t>(axis);
  const Ref count =
      e.add("StridedSlice", {sizes, e.ints({number}), e.ints({number + 1}), e.ints({1})}, {{"shrink_axis_mask", 1}});
  Ints dims(rank, 1);
  dims[axis] = -1;
  Ref places = reshaped(e, e.add("Range", {e.index(0), count, e.index(1)}), dims);
  if (type != DType::i32) places = e.add("Cast", {places}, {{"DstT", type}});
  return e.add("ExpandDims", {e.add("BroadcastTo", {places, sizes}), e.index(static_cast<std::int64_t>(rank))});
}

}  // namespace

void emit_gather_elements(NodeOut& n) {
  Emitter& e = n.e;
  const auto axis = static_cast<std::size_t>(n.axis(0));
  const Ints dims = dims_of(n.shape(1));
  const bool is_open = !has_few_places(n.shape(1));
  const Ref raw = n.index(1);
  const DType type = e.elem_of(raw);
  const Ref own = turned(e, raw, size_of_axis(e, n.in(0), n.shape()[axis], n.axis(0), type));
  const auto last = static_cast<std::int64_t>(dims.size());
  const Ref sizes = is_open ? shape_of(e, raw) : Ref{};
  Refs parts;
  for (std::size_t i = 0; i < dims.size(); ++i)
    parts.push_back(i == axis ? e.add("ExpandDims", {own, e.index(last)})
                    : is_open ? open_coordinates(e, sizes, dims.size(), i, type)
                              : coordinates(e, dims, i, type));
  Ref places = parts[0];
  if (parts.size() > 1) {
    parts.push_back(e.index(last));
    places = e.add("ConcatV2", parts);
  }
  n.set(e.add("GatherNd", {n.in(0), places}));
}
Refused refuse_gather_elements(const Node& n, Dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  if (n.input(1)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  return {};
}

void emit_gather_nd(NodeOut& n) {
  const std::int64_t batch = n.attr("batch_dims", 0);
  const Ref own = index_tuples(n, 1, static_cast<std::size_t>(batch));
  if (!batch) return n.set(n.e.add("GatherNd", {n.in(0), own}));
  Ints dims = dims_of(n.shape(1));
  dims.pop_back();
  Refs parts;
  const bool is_open = !has_few_places(n.shape(1));
  const Ref sizes =
      is_open ? part_of_list(n.e, shape_of(n.e, n.in(1)), 0, static_cast<std::int64_t>(dims.size())) : Ref{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i)
    parts.push_back(is_open ? open_coordinates(n.e, sizes, dims.size(), i, n.e.elem_of(own))
                            : coordinates(n.e, dims, i, n.e.elem_of(own)));
  parts.push_back(own);
  parts.push_back(n.e.index(static_cast<std::int64_t>(dims.size())));
  n.set(n.e.add("GatherNd", {n.in(0), n.e.add("ConcatV2", parts)}));
}
Refused refuse_gather_nd(const Node& n, Dialect) { return needs_tuples(n); }

void emit_scatter_nd(NodeOut& n) {
  Emitter& e = n.e;
  const Ref tuples = index_tuples(n, 1, 0);
  const std::string reduction = n.attr("reduction", "none");
  if (reduction == "add" && e.is_tfjs()) {
    const Ref sizes =
        is_fixed(n.shape()) ? e.ints(dims_of(n.shape())) : e.add("Shape", {n.in(0)}, {{"out_type", e.elem_of(tuples)}});
    return n.set(e.add("AddV2", {n.in(0), e.add("ScatterNd", {tuples, n.in(2), n.cast(sizes, e.elem_of(tuples))})}));
  }
  const char* word = reduction == "add"   ? "TensorScatterAdd"
                     : reduction == "max" ? "TensorScatterMax"
                     : reduction == "min" ? "TensorScatterMin"
                                          : "TensorScatterUpdate";
  n.set(e.add(word, {n.in(0), tuples, n.in(2)}));
}
Refused refuse_scatter_nd(const Node& n, Dialect dialect) {
  const std::string reduction = n.attributes.string_or("reduction", "none");
  const bool is_known = reduction == "none" || reduction == "add" ||
                        (dialect == Dialect::tensorflow && (reduction == "max" || reduction == "min"));
  if (!is_known) return Refusal{Kind::attribute_value, "reduction '" + reduction + "'"};
  return needs_tuples(n);
}

void emit_one_hot(NodeOut& n) {
  Emitter& e = n.e;
  std::int64_t axis = n.attr("axis", -1);
  if (axis < 0) axis += static_cast<std::int64_t>(n.rank()) + 1;
  const Ref depth =
      n.constant(1) ? e.index(static_cast<std::int64_t>(n.constant(1)->to_doubles()[0])) : reshaped(e, n.int32(1), {});
  const auto value = [&](std::int64_t i) {
    if (const Tensor* t = n.constant(2); t && t->dtype() != DType::string && t->dtype() != DType::boolean)
      return e.scalar(t->to_doubles()[static_cast<std::size_t>(i)], t->dtype());
    return reshaped(e, part_of_list(e, n.in(2), i, 1), {});
  };
  // Negative ones count from the end: (i + depth) mod depth would also wrap those that are out of range.
  const Ref raw = n.int32(0);
  const Ref places = turned(e, raw, depth), on = value(1), off = value(0);
  const bool is_last = axis == static_cast<std::int64_t>(n.rank());
  if (e.is_tfjs() && (!is_last || !n.constant(1) || n.constant(1)->to_doubles()[0] < 2)) {
    // Which puts the new axis last, and wants a depth of 2 or more.
    Ints dims(n.rank() + 1 - static_cast<std::size_t>(axis), 1);
    dims[0] = -1;
    const Ref numbers = reshaped(e, e.add("Range", {e.index(0), depth, e.index(1)}), dims);
    return n.set(e.add("SelectV2", {e.add("Equal", {e.add("ExpandDims", {places, e.index(axis)}), numbers}), on, off}));
  }
  if (!e.is_tfjs() || !is_float(e.elem_of(on)))
    return n.set(e.add("OneHot", {places, depth, on, off}, {{"axis", axis}}));
  // Whose fast backend writes whole numbers, whatever type is asked for.
  const Ref hot = e.add("OneHot", {places, depth, e.index(1), e.index(0)}, {{"axis", axis}});
  n.set(e.add("SelectV2", {e.add("NotEqual", {hot, e.index(0)}), on, off}));
}
Refused refuse_one_hot(const Node& n, Dialect) { return needs_rank(n); }

void emit_non_zero(NodeOut& n) {
  Ref condition = n.in(0);
  if (n.elem() != DType::boolean) condition = n.e.add("NotEqual", {condition, n.e.scalar(0, n.elem())});
  n.set(transposed(n.e, n.e.add("Where", {condition}), {1, 0}));
}
Refused refuse_non_zero(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(0)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  return {};
}

}  // namespace ingot::backends::tensorflow
