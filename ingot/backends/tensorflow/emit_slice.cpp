// Parts of a tensor, and more than it: Slice and Pad.
#include <algorithm>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/base/error.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

std::optional<Ints> slice_axes(const Node& n) {
  if (n.input(3)) {
    const Tensor* t = ops::constant_of(n.input(3));
    return t ? std::optional(t->to_ints()) : std::nullopt;
  }
  const auto& shape = n.input(1)->type.shape;
  if (!shape || shape->size() != 1 || !(*shape)[0].is_known()) return std::nullopt;
  Ints axes;
  for (std::int64_t i = 0; i < (*shape)[0].value(); ++i) axes.push_back(i);
  return axes;
}

/// Numbers of the type in which begin, end and steps are given.
Ref list_of(NodeOut& n, const Ints& values, DType type) {
  if (type == DType::i32) return n.e.ints(values);
  return n.e.constant(Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

/// A list with an entry for each axis.
Ints placed(const Ints& values, const Ints& axes, std::size_t rank, std::int64_t fallback) {
  Ints all(rank, fallback);
  for (std::size_t k = 0; k < axes.size(); ++k) all[place_of_axis(axes[k], rank)] = values[k];
  return all;
}

/// A vector with an entry for each axis: those of input i where an axis is named, else the fallback.
Ref spread(NodeOut& n, std::size_t i, const Ints& axes, std::int64_t fallback, DType type) {
  const std::size_t rank = n.rank();
  if (!n.has(i) || n.constant(i)) {
    const Ints values = n.has(i) ? n.ints(i) : Ints(axes.size(), fallback);
    if (values.size() != axes.size()) throw Error(Code::bad_arity, "starts, ends, axes and steps differ in length");
    return list_of(n, placed(values, axes, rank, fallback), type);
  }
  const Ref given = n.cast(n.in(i), type);
  bool are_all = axes.size() == rank;
  for (std::size_t k = 0; k < axes.size(); ++k) are_all &= place_of_axis(axes[k], rank) == k;
  if (are_all) return given;
  Refs parts(rank);
  for (std::size_t k = 0; k < axes.size(); ++k)
    parts[place_of_axis(axes[k], rank)] = part_of_list(n.e, given, static_cast<std::int64_t>(k), 1);
  for (Ref& part : parts)
    if (part.node < 0) part = list_of(n, {fallback}, type);
  if (rank == 1) return parts[0];
  parts.push_back(n.e.index(0));
  return n.e.add("ConcatV2", parts);
}

/// Where to begin. Backwards from before the first element ONNX takes that element, TensorFlow none.
Ref begins(NodeOut& n, const Ints& axes, DType type) {
  if (!n.constant(1) || !n.constant(4)) return spread(n, 1, axes, 0, type);
  Ints values = n.ints(1);
  const Ints steps = n.ints(4);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Dim& size = n.shape()[place_of_axis(axes[k], n.rank())];
    const std::int64_t least = size.is_known() ? -size.value() : INT32_MIN + std::int64_t{1};
    if (steps[k] < 0 && values[k] < least) values[k] = 0;
  }
  return list_of(n, placed(values, axes, n.rank(), 0), type);
}

/// From begin to end along the axes that `open` has no bit of. TF.js's fast backend steps over elements of floats
/// alone: with others, places are counted in floats, stepped over and gathered.
Ref taken(NodeOut& n, Ref begin, Ref end, Ref step, std::int64_t open, bool steps) {
  Emitter& e = n.e;
  if (!e.is_tfjs() || !steps || is_float(n.elem()))
    return e.add("StridedSlice", {n.in(0), begin, end, step}, {{"begin_mask", open}, {"end_mask", open}});
  const Ref sizes = shape_of(e, n.in(0));
  Ref y = n.in(0);
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(n.rank()); ++axis) {
    if (open >> axis & 1) continue;
    const auto at = [&](Ref list) { return part_of_list(e, list, axis, 1); };
    const Ref size = n.cast(reshaped(e, at(sizes), {}), DType::f32);
    const Ref places = e.add("Range", {e.scalar(0, DType::f32), size, e.scalar(1, DType::f32)});
    const Ref some = e.add("StridedSlice", {places, at(begin), at(end), at(step)});
    y = e.add("GatherV2", {y, n.cast(some, DType::i32), e.index(axis)});
  }
  return y;
}

/// Axes that are computed: lists for all axes, with the given entries at their places.
void emit_slice_anywhere(NodeOut& n) {
  Emitter& e = n.e;
  const auto rank = static_cast<std::int64_t>(n.rank());
  const Ref sizes = shape_of(e, n.in(0)), count = e.ints({rank});
  const Ref axes = e.add("FloorMod", {n.int32(3), e.index(rank)}), places = e.add("ExpandDims", {axes, e.index(1)});
  const auto scattered = [&](Ref values) { return e.add("ScatterNd", {places, values, count}); };
  const Ref ones = e.add("Fill", {shape_of(e, axes), e.index(1)});
  const Ref is_named = e.add("NotEqual", {scattered(ones), e.index(0)});
  const auto chosen = [&](Ref values, Ref fallback) {
    return e.add("SelectV2", {is_named, scattered(values), fallback});
  };
  const Ref plain = e.ints(Ints(n.rank(), 1));
  n.set(taken(n, scattered(n.int32(1)), chosen(n.int32(2), sizes), n.has(4) ? chosen(n.int32(4), plain) : plain, 0,
              n.has(4)));
}

}  // namespace

Refused refuse_slice(const Node& n, Dialect) { return needs_rank(n); }

void emit_slice(NodeOut& n) {
  const auto named_axes = slice_axes(n.node);
  if (!named_axes) return emit_slice_anywhere(n);
  const Ints& axes = *named_axes;
  const std::size_t rank = n.rank();
  std::int64_t mask = 0;
  std::vector<bool> named(rank);
  for (const std::int64_t a : axes) named[place_of_axis(a, rank)] = true;
  for (std::size_t i = 0; i < rank; ++i)
    if (!named[i]) mask |= std::int64_t{1} << i;
  DType type = DType::i32;
  for (const std::size_t i : {1U, 2U, 4U})
    if (n.has(i) && !n.constant(i) && n.elem(i) == DType::i64) type = DType::i64;
  const Ref begin = begins(n, axes, type), end = spread(n, 2, axes, 0, type), step = spread(n, 4, axes, 1, type);
  const bool is_plain =
      !n.has(4) || (n.constant(4) && std::ranges::all_of(n.ints(4), [](std::int64_t s) { return s == 1; }));
  n.set(taken(n, begin, end, step, mask, !is_plain));
}

namespace {

/// Whether MirrorPad does it: no axis is mirrored more than once.
bool is_one_mirror(const Node& n) {
  const Shape& shape = *n.input(0)->type.shape;
  const auto pads = constant_pads(n);
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t most = std::max(pads[i].first, pads[i].second);
    if (most > 0 && !shape[i].is_at_least(most + 1)) return false;
    if (std::min(pads[i].first, pads[i].second) < 0) return false;
  }
  return true;
}

/// Where element k of a padded axis comes from.
std::int64_t source_of(const std::string& mode, std::int64_t k, std::int64_t size) {
  if (mode == "edge") return std::clamp<std::int64_t>(k, 0, size - 1);
  if (mode == "wrap") return ((k % size) + size) % size;
  if (size <= 1) return 0;
  const std::int64_t period = 2 * (size - 1), at = ((k % period) + period) % period;
  return std::min(at, period - at);
}

Ref pairs(NodeOut& n, const std::vector<std::pair<std::int64_t, std::int64_t>>& pads) {
  std::vector<std::int32_t> flat;
  for (const auto& [before, after] : pads) {
    flat.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(before, 0)));
    flat.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(after, 0)));
  }
  return n.e.constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(pads.size()), 2}, flat));
}

/// All before, all after -> before and after of each axis; those that are not named get nothing.
Ref computed_pairs(NodeOut& n) {
  Emitter& e = n.e;
  const auto rank = static_cast<std::int64_t>(n.rank());
  const Ref pairs = transposed(e, reshaped(e, n.int32(1), {2, n.has(3) ? -1 : rank}), {1, 0});
  if (!n.has(3)) return pairs;
  const Ref axes = e.add("FloorMod", {n.int32(3), e.index(rank)});
  return e.add("ScatterNd", {e.add("ExpandDims", {axes, e.index(1)}), pairs, e.ints({rank, 2})});
}

/// Less than nothing is added: so much is taken away.
Ref cropped(NodeOut& n, Ref x, const std::vector<std::pair<std::int64_t, std::int64_t>>& pads) {
  Ints begin, end;
  std::int64_t open = 0;
  bool is_any = false;
  for (std::size_t i = 0; i < pads.size(); ++i) {
    begin.push_back(std::max<std::int64_t>(-pads[i].first, 0));
    end.push_back(std::min<std::int64_t>(pads[i].second, 0));
    if (end.back() == 0) open |= std::int64_t{1} << i;
    is_any |= begin.back() || end.back();
  }
  if (!is_any) return x;
  return n.e.add("StridedSlice", {x, n.e.ints(begin), n.e.ints(end), n.e.ints(Ints(pads.size(), 1))},
                 {{"end_mask", open}});
}

/// With zeros around. TF.js's fast backend pads six axes at most: where there are more, those beside each other that
/// nothing is added to are one.
Ref zero_padded(NodeOut& n, Ref x, const std::vector<std::pair<std::int64_t, std::int64_t>>& pads) {
  Emitter& e = n.e;
  const auto is_open = [](const Dim& d) { return !d.is_known(); };
  constexpr std::size_t kMostAxes = 6;
  if (!e.is_tfjs() || n.rank() <= kMostAxes || x != n.in(0) || std::ranges::count_if(n.out_shape(), is_open) > 1)
    return e.add("Pad", {x, pairs(n, pads)});
  Ints sizes, whole;
  std::vector<std::pair<std::int64_t, std::int64_t>> some;
  const std::pair<std::int64_t, std::int64_t> none{};
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t size = n.shape()[i].as_int().value_or(-1);
    whole.push_back(n.out_shape()[i].as_int().value_or(-1));
    if (!some.empty() && some.back() == none && pads[i] == none) {
      sizes.back() = sizes.back() < 0 || size < 0 ? -1 : sizes.back() * size;
    } else {
      sizes.push_back(size);
      some.push_back(pads[i]);
    }
  }
  return reshaped(e, e.add("Pad", {reshaped(e, x, sizes), pairs(n, some)}), whole);
}

/// Elements at places that are counted at run time, axis by axis; `pads`: before and after of each.
Ref gathered_around(NodeOut& n, Ref pads, const std::string& mode) {
  Emitter& e = n.e;
  const Ref sizes = shape_of(e, n.in(0)), one = e.index(1), zero = e.index(0);
  Ref y = n.in(0);
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(n.rank()); ++axis) {
    const auto pad = [&](std::int64_t side) {
      return reshaped(e, e.add("Slice", {pads, e.ints({axis, side}), e.ints({1, 1})}), {});
    };
    const Ref size = reshaped(e, part_of_list(e, sizes, axis, 1), {}), last = e.add("Sub", {size, one});
    Ref at = e.add("Range", {e.add("Neg", {pad(0)}), e.add("AddV2", {size, pad(1)}), one});
    if (mode == "edge") at = e.add("Minimum", {e.add("Maximum", {at, zero}), last});
    if (mode == "wrap") at = e.add("FloorMod", {at, e.add("Maximum", {size, one})});
    if (mode == "reflect") {
      const Ref period = e.add("Mul", {last, e.index(2)});
      at = e.add("FloorMod", {at, e.add("Maximum", {period, one})});
      at = e.add("Minimum", {at, e.add("Sub", {period, at})});
    }
    y = e.add("GatherV2", {y, at, e.index(axis)});
  }
  return y;
}

}  // namespace

Refused refuse_pad(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  const std::string mode = n.attributes.string_or("mode", "constant");
  if (const Tensor* pads = ops::constant_of(n.input(1)))
    for (const std::int64_t p : pads->to_ints())
      if (p > INT32_MAX || p < INT32_MIN) return Refusal{Kind::attribute_value, "padding beyond 32 bits"};
  const bool is_known = mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap";
  return is_known ? Refused{} : Refusal{Kind::attribute_value, "mode " + mode};
}

void emit_pad(NodeOut& n) {
  Emitter& e = n.e;
  const Ref zero = n.elem() == DType::string || n.elem() == DType::boolean ? Ref{} : e.scalar(0, n.elem());
  const auto filling = [&] {
    if (n.has(2)) return n.scalar(2);
    if (n.elem() == DType::boolean) return e.constant(Tensor::scalar<bool>(false));
    return n.elem() == DType::string ? e.constant(Tensor::of_strings({}, {""})) : zero;
  };
  if (!n.constant(1) || (n.has(3) && !n.constant(3))) {
    const Ref pads = computed_pairs(n);
    const std::string mode = n.attr("mode", "constant");
    return n.set(mode == "constant" ? e.add("PadV2", {n.in(0), pads, filling()}) : gathered_around(n, pads, mode));
  }
  const auto pads = constant_pads(n.node);
  const std::string mode = n.attr("mode", "constant");
  if (mode == "constant") {
    const Ref x = cropped(n, n.in(0), pads);
    const bool is_zero = !n.has(2) || (n.constant(2) && n.elem() != DType::string &&
                                       n.constant(2)->to_doubles() == std::vector<double>{0});
    return n.set(is_zero ? zero_padded(n, x, pads) : e.add("PadV2", {x, pairs(n, pads), filling()}));
  }
  if (mode == "reflect" && is_one_mirror(n.node))
    return n.set(e.add("MirrorPad", {n.in(0), pairs(n, pads)}, {{"mode", "REFLECT"}}));
  const auto is_open = [&](std::size_t i) {
    const auto [before, after] = pads[i];
    if (!before && !after) return false;
    return !has_few_places({n.shape()[i]}) || std::max(before, after) > kMostPlaces;
  };
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (is_open(i)) return n.set(gathered_around(n, pairs(n, pads), mode));
  Ref x = n.in(0);
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (!pads[i].first && !pads[i].second) continue;
    const std::int64_t size = n.shape()[i].value();
    Ints picked;
    for (std::int64_t k = -pads[i].first; k < size + pads[i].second; ++k) picked.push_back(source_of(mode, k, size));
    x = e.add("GatherV2", {x, e.ints(picked), e.index(static_cast<std::int64_t>(i))});
  }
  x == n.in(0) ? emit_identity(n) : n.set(x);
}

}  // namespace ingot::backends::tensorflow
