// Parts of a tensor, and more than it: Slice and Pad.
#include <algorithm>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

/// Whether all elements were of 32 bits before.
bool is_from_int32(const Value* v) {
  constexpr int kMostSteps = 8;
  for (int i = 0; i < kMostSteps; ++i) {
    const Node* node = v->producer();
    if (!node || !node->input(0)) return false;
    v = node->input(0);
    if (node->is("Cast")) return v->type.elem == DType::i32;
    if (!node->is("Gather") && !node->is("Identity") && !node->is("Reshape")) return false;
  }
  return false;
}

/// A list as int32: INT64_MAX, which stands for "to the end", must survive the way.
std::int32_t within_int32(NodeOut& n, std::size_t i) {
  if (n.constant(i) || n.elem(i) != DType::i64 || is_from_int32(n.node.input(i))) return n.in_int32(i);
  const Shape& list = n.shape(i);
  const std::int32_t high = n.e.constant(Tensor::scalar<std::int64_t>(INT32_MAX));
  const std::int32_t low = n.e.constant(Tensor::scalar<std::int64_t>(INT32_MIN));
  const std::int32_t capped = n.e.temporary(DType::i64, list), held = n.e.temporary(DType::i64, list);
  n.e.add(Op::MINIMUM, {n.in(i), high}, {capped});
  n.e.add(Op::MAXIMUM, {capped, low}, {held});
  const std::int32_t vector = n.e.temporary(DType::i32, list);
  Options options(Op::CAST);
  options.set("in_data_type", TensorType::INT64).set("out_data_type", TensorType::INT32);
  n.e.add(Op::CAST, {held}, {vector}, options);
  return vector;
}

/// A vector with an entry for each axis: those of input i where an axis is named, else the fallback.
std::int32_t spread(NodeOut& n, std::size_t i, const Ints& axes, std::int64_t fallback) {
  const std::size_t rank = n.rank();
  if (n.constant(i)) {
    Ints all(rank, fallback);
    const Ints values = n.ints(i);
    for (std::size_t k = 0; k < axes.size(); ++k) all[place_of_axis(axes[k], rank)] = values[k];
    return n.e.ints(all);
  }
  const std::int32_t vector = within_int32(n, i);
  bool are_all = axes.size() == rank;
  for (std::size_t k = 0; k < axes.size(); ++k) are_all &= place_of_axis(axes[k], rank) == k;
  if (are_all) return vector;
  std::vector<std::int32_t> parts(rank, -1);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int32_t begin = n.e.ints({static_cast<std::int64_t>(k)}), one = n.e.ints({1});
    const std::int32_t part = n.e.temporary(DType::i32, Ints{1});
    n.e.add(Op::SLICE, {vector, begin, one}, {part});
    parts[place_of_axis(axes[k], rank)] = part;
  }
  for (std::int32_t& part : parts)
    if (part < 0) part = n.e.ints({fallback});
  if (rank == 1) return parts[0];
  const std::int32_t all = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(rank)});
  n.e.add(Op::CONCATENATION, parts, {all});
  return all;
}

std::optional<Ints> axes_of(const Node& n) {
  if (n.input(3)) {
    const Tensor* t = ops::constant_of(n.input(3));
    return t ? std::optional(t->to_ints()) : std::nullopt;
  }
  const auto& shape = n.input(1)->type.shape;
  constexpr std::int64_t kMostAxes = 8;
  if (!shape || shape->size() != 1 || !(*shape)[0].is_known() || (*shape)[0].value() > kMostAxes) return std::nullopt;
  Ints axes;
  for (std::int64_t i = 0; i < (*shape)[0].value(); ++i) axes.push_back(i);
  return axes;
}

/// Repeats elements along one axis by their numbers.
std::int32_t gathered(NodeOut& n, std::int32_t x, const Shape& shape, std::size_t axis, const Ints& picked,
                      bool is_last) {
  const std::int32_t indices = n.e.ints(picked);
  const std::int32_t y = is_last ? n.out() : n.e.temporary(n.elem(), shape);
  Options options(Op::GATHER);
  options.set("axis", static_cast<std::int64_t>(axis));
  n.e.add(Op::GATHER, {x, indices}, {y}, options);
  return y;
}

}  // namespace

namespace {

/// Axes that are computed: lists for all axes, with the given entries at their places.
void emit_slice_anywhere(NodeOut& n) {
  Emitter& e = n.e;
  const auto rank = static_cast<std::int64_t>(n.rank());
  const Dim& entries = n.shape(3)[0];
  const Shape list{entries}, column{entries, Dim(1)}, all{Dim(rank)};
  const std::int32_t x = n.in(0), sizes = shape_of(e, x, n.rank()), count = e.ints({rank});
  const std::int32_t given = n.in_int32(3), many = e.index(rank), zero = e.index(0);
  const std::int32_t is_negative = e.temporary(DType::boolean, list), from_end = e.temporary(DType::i32, list);
  e.add(Op::LESS, {given, zero}, {is_negative});
  e.add(Op::ADD, {given, many}, {from_end});
  const std::int32_t axes = e.temporary(DType::i32, list);
  e.add(Op::SELECT_V2, {is_negative, from_end, given}, {axes});
  const std::int32_t places = reshaped(e, axes, DType::i32, column);
  const auto scattered = [&](std::int32_t values) {
    const std::int32_t made = e.temporary(DType::i32, all);
    e.add(Op::SCATTER_ND, {places, values, count}, {made});
    return made;
  };
  const std::int32_t length = shape_of(e, given, 1), one = e.index(1), ones = e.temporary(DType::i32, list);
  e.add(Op::FILL, {length, one}, {ones});
  const std::int32_t marks = scattered(ones), is_named = e.temporary(DType::boolean, all);
  e.add(Op::NOT_EQUAL, {marks, zero}, {is_named});
  const auto chosen = [&](std::int32_t values, std::int32_t fallback) {
    const std::int32_t everywhere = scattered(values), made = e.temporary(DType::i32, all);
    e.add(Op::SELECT_V2, {is_named, everywhere, fallback}, {made});
    return made;
  };
  const std::int32_t begin = scattered(within_int32(n, 1)), end = chosen(within_int32(n, 2), sizes);
  const std::int32_t plain = e.ints(Ints(n.rank(), 1));
  const std::int32_t steps = n.has(4) ? chosen(within_int32(n, 4), plain) : plain;
  e.add(Op::STRIDED_SLICE, {x, begin, end, steps}, {n.out()});
}

}  // namespace

Refused refuse_slice(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  const auto rank = static_cast<std::int64_t>(n.input(0)->type.shape->size());
  if (rank > 5) return Refusal{Kind::dimensions, "more than 5 dimensions"};
  const Ints named = axes_of(n).value_or(Ints{});
  for (const std::int64_t a : named)
    if (a < -rank || a >= rank) return Refusal{Kind::structure, "axes that the input does not have"};
  for (const std::size_t i : {1U, 2U, 4U})
    if (const Tensor* t = n.input(i) ? ops::constant_of(n.input(i)) : nullptr;
        t && !named.empty() && t->size() != std::ssize(named))
      return Refusal{Kind::structure, "lists of different lengths"};
  for (const std::size_t i : {1U, 2U, 4U})
    if (const Value* list = n.input(i); list && (!list->type.shape || list->type.shape->size() != 1))
      return Refusal{Kind::unknown_size, "lists of unknown rank"};
  if (!axes_of(n)) {
    const auto& axes = n.input(3) ? n.input(3)->type.shape : n.input(1)->type.shape;
    if (!n.input(3) || !axes || axes->size() != 1 || !(*axes)[0].is_known())
      return Refusal{Kind::not_constant, "axes that are computed"};
  } else if (n.input(4) && !ops::constant_of(n.input(4))) {
    return Refusal{Kind::not_constant, "steps that are computed"};
  }
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::boolean, DType::i16});
}

void emit_slice(NodeOut& n) {
  if (!axes_of(n.node)) return emit_slice_anywhere(n);
  const Ints axes = *axes_of(n.node);
  const std::size_t rank = n.rank();
  std::int64_t mask = 0;
  std::vector<bool> named(rank);
  for (const std::int64_t a : axes) named[place_of_axis(a, rank)] = true;
  for (std::size_t i = 0; i < rank; ++i)
    if (!named[i]) mask |= std::int64_t{1} << i;
  const std::int32_t x = n.in(0), begin = spread(n, 1, axes, 0), end = spread(n, 2, axes, 0);
  const std::int32_t steps = n.has(4) ? spread(n, 4, axes, 1) : n.e.ints(Ints(rank, 1));
  Options options(Op::STRIDED_SLICE);
  options.set("begin_mask", mask).set("end_mask", mask);
  n.e.add(Op::STRIDED_SLICE, {x, begin, end, steps}, {n.out()}, options);
}

namespace {

/// The axes along which a Pad that repeats elements gathers them: those that grow, or one where none does. Their sizes
/// must be known.
std::optional<std::vector<std::size_t>> gathered_axes(const Node& n) {
  const auto pads = constant_pads(n);
  const Shape& shape = *n.input(0)->type.shape;
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (pads[i].first || pads[i].second) axes.push_back(i);
  const auto has_elements = [&](std::size_t i) { return shape[i].is_known() && shape[i].value() > 0; };
  if (!axes.empty()) return std::ranges::all_of(axes, has_elements) ? std::optional(axes) : std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (has_elements(i)) return std::vector{i};
  return std::nullopt;
}

}  // namespace

Refused refuse_pad(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  const bool is_computed = !ops::constant_of(n.input(1));
  if (is_computed && (n.input(3) || n.attributes.string_or("mode", "constant") != "constant"))
    return needs_constant(n, 1, "the padding");
  if (n.input(3))
    if (Refused why = needs_constant(n, 3, "the axes")) return why;
  if (!is_computed)
    for (const auto& [before, after] : constant_pads(n))
      if (before < 0 || after < 0) return Refusal{Kind::attribute_value, "negative padding"};
  const std::string mode = n.attributes.string_or("mode", "constant");
  if (mode != "constant" && !gathered_axes(n))
    return Refusal{Kind::unknown_size, "mode " + mode + " over sizes that are not known, or of nothing"};
  if (n.input(0)->type.shape->size() > 5 && mode == "constant")
    return Refusal{Kind::dimensions, "more than 5 dimensions"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

namespace {

/// Padding that is computed: all before, all after -> before and after of each axis.
void emit_computed_pad(NodeOut& n) {
  Emitter& e = n.e;
  const auto rank = static_cast<std::int64_t>(n.rank());
  const Shape halves{Dim(2), Dim(rank)};
  const std::int32_t x = n.in(0), rows = reshaped(e, n.in_int32(1), DType::i32, halves);
  const std::int32_t pads = transposed(e, rows, DType::i32, halves, {1, 0});
  const std::int32_t value = n.has(2) ? reshaped(e, n.in(2), n.elem(), Shape{}) : e.scalar(0, n.elem());
  e.add(Op::PADV2, {x, pads, value}, {n.out()});
}

}  // namespace

void emit_pad(NodeOut& n) {
  if (!n.constant(1)) return emit_computed_pad(n);
  const auto pads = constant_pads(n.node);
  const std::string mode = n.attr("mode", "constant");
  if (mode == "constant") {
    std::vector<std::int32_t> flat;
    for (const auto& [before, after] : pads) {
      flat.push_back(static_cast<std::int32_t>(before));
      flat.push_back(static_cast<std::int32_t>(after));
    }
    const std::int32_t x = n.in(0);
    const std::int32_t amounts =
        n.e.constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(pads.size()), 2}, flat));
    const bool is_zero = !n.has(2) || (n.constant(2) && n.constant(2)->to_doubles() == std::vector<double>{0});
    // To integers that turn out to be quantised, PAD adds their zero point.
    const bool is_byte = n.elem() == DType::i8 || n.elem() == DType::u8;
    if (is_zero && !is_byte) return n.e.add(Op::PAD, {x, amounts}, {n.out()});
    std::int32_t value = n.has(2) ? n.in(2) : n.e.scalar(0, n.elem());
    if (n.constant(2)) value = n.e.constant(n.constant(2)->reshaped({}));
    return n.e.add(Op::PADV2, {x, amounts, value}, {n.out()});
  }
  const std::vector<std::size_t> changed = *gathered_axes(n.node);
  std::int32_t x = n.in(0);
  Shape shape = n.shape();
  for (const std::size_t i : changed) {
    const std::int64_t size = shape[i].value();
    Ints picked;
    for (std::int64_t k = -pads[i].first; k < size + pads[i].second; ++k) {
      std::int64_t at = k;
      if (mode == "edge") {
        at = std::clamp<std::int64_t>(k, 0, size - 1);
      } else if (mode == "wrap") {
        at = ((k % size) + size) % size;
      } else if (size > 1) {
        const std::int64_t period = 2 * (size - 1);
        at = ((k % period) + period) % period;
        at = std::min(at, period - at);
      } else {
        at = 0;
      }
      picked.push_back(at);
    }
    shape[i] = Dim(static_cast<std::int64_t>(picked.size()));
    x = gathered(n, x, shape, i, picked, i == changed.back());
  }
}

}  // namespace ingot::backends::tflite
