// Operations of keras.ops and TensorFlow that put the elements of arrays elsewhere, or look for some of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

void moved(Call& call, const Ints& from, const Ints& to) {
  IrValue* x = first(call);
  const std::int64_t rank = rank_needed(call, x);
  const Ints source = counted_from_front(call, from, rank), target = counted_from_front(call, to, rank);
  call.require(source.size() == target.size(), "it moves another number of axes than it names");
  for (const Ints* axes : {&source, &target})
    for (const std::int64_t axis : *axes) call.require(std::ranges::count(*axes, axis) == 1, "it names an axis twice");
  Ints order(static_cast<std::size_t>(rank), -1);
  for (std::size_t i = 0; i < source.size(); ++i) order[static_cast<std::size_t>(target[i])] = source[i];
  std::int64_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis != -1) continue;
    while (std::ranges::count(source, next)) ++next;
    axis = next++;
  }
  call.set(call.b.transpose(x, order));
}

void extreme(Call& call, bool is_largest) {
  GraphBuilder& b = call.b;
  const Along a = along(call, 1, 0, true);
  const bool keeps = setting(call, 2, {"keepdims"}).as_bool().value_or(false);
  const Attrs attrs{{"axis", a.axis}, {"keepdims", keeps}};
  IrValue* y = is_largest ? b.op("ArgMax", {a.x}, attrs) : b.op("ArgMin", {a.x}, attrs);
  call.set(b.cast(y, DType::i32));
}

/// Values and places of all elements along an axis, in order.
Values ordered(Call& call, std::size_t place) {
  GraphBuilder& b = call.b;
  const Along a = along(call, place, -1, false);
  const bool falls = setting(call, 2, {"direction"}).text() == "DESCENDING";
  IrValue* count = b.reshape(size_of(b, a.x, a.axis), {1});
  return b.op("TopK", {a.x, count}, {{"axis", a.axis}, {"largest", falls}}, 2);
}

}  // namespace

void op_argmax(Call& call) { extreme(call, true); }
void op_argmin(Call& call) { extreme(call, false); }
void op_sort(Call& call) { call.set(ordered(call, 1)[0]); }
void op_argsort(Call& call) { call.set(call.b.cast(ordered(call, 1)[1], DType::i32)); }
void op_cumsum(Call& call) {
  const Along a = along(call, 1, 0, true);
  call.set(call.b.op("CumSum", {number(call.b, a.x), call.b.index(a.axis)}));
}
void op_swap_axes(Call& call) {
  const Ints one = ints_of(setting(call, 1, {"axis1"})), other = ints_of(setting(call, 2, {"axis2"}));
  call.require(one.size() == 1 && other.size() == 1, "it does not say which axes");
  moved(call, {one[0], other[0]}, {other[0], one[0]});
}
void op_move_axis(Call& call) {
  moved(call, ints_of(setting(call, 1, {"source"})), ints_of(setting(call, 2, {"destination"})));
}
void op_ravel(Call& call) { call.set(call.b.reshape(first(call), {-1})); }

void op_tile(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  Ints repeats = ints_of(setting(call, 1, {"repeats"}));
  const auto rank = static_cast<std::size_t>(rank_needed(call, x));
  call.require(!repeats.empty(), "it does not say how often");
  // What is shorter gets ones in front.
  while (repeats.size() < rank) repeats.insert(repeats.begin(), 1);
  Ints added;
  for (std::size_t i = rank; i < repeats.size(); ++i) added.push_back(static_cast<std::int64_t>(added.size()));
  if (!added.empty()) x = b.unsqueeze(x, added);
  call.set(b.op("Tile", {x, b.ints(repeats)}));
}

/// Each element several times in a row.
void op_repeat(Call& call) {
  GraphBuilder& b = call.b;
  const Along a = along(call, 2, 0, true);
  const auto times = setting(call, 1, {"repeats"}).as_int();
  if (!times) call.refuse("another number of times for each element has no translation");
  IrValue* size = size_of(b, a.x, a.axis);
  IrValue* places = b.op("Div", {counted(b, b.mul(size, static_cast<double>(*times))), b.index(*times)});
  call.set(b.op("Gather", {a.x, places}, {{"axis", a.axis}}));
}

void op_flip(Call& call) {
  IrValue* y = first(call);
  Ints axes = ints_of(setting(call, 1, {"axis"}));
  for (std::int64_t i = 0; axes.empty() && i < rank_needed(call, y); ++i) axes.push_back(i);
  for (const std::int64_t axis : axes) y = reversed(call.b, y, axis);
  call.set(y);
}

/// What falls off at one end comes in at the other.
void op_roll(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* y = first(call);
  const Ints shifts = ints_of(setting(call, 1, {"shift"})), axes = ints_of(setting(call, 2, {"axis"}));
  call.require(!shifts.empty() && shifts.size() == axes.size(), "it does not say how far along which axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    IrValue* size = size_of(b, y, axes[i]);
    IrValue* places = b.op("Mod", {b.sub(counted(b, size), static_cast<double>(shifts[i])), size});
    y = b.op("Gather", {y, places}, {{"axis", axes[i]}});
  }
  call.set(y);
}

void op_take(Call& call) {
  const Along a = along(call, 2, 0, true);
  IrValue* places = call.b.cast(operand_named(call, 1, {"indices"}, DType::i32), DType::i64);
  call.set(call.b.op("Gather", {a.x, places}, {{"axis", a.axis}}));
}
void op_take_along(Call& call) {
  const Along a = along(call, 2, 0, true);
  IrValue* places = call.b.cast(operand_named(call, 1, {"indices"}, DType::i32), DType::i64);
  if (setting(call, 2, {"axis"}).is_null()) places = call.b.reshape(places, {-1});
  call.set(call.b.op("GatherElements", {a.x, places}, {{"axis", a.axis}}));
}

void op_triangle(Call& call) {
  const bool is_upper = call.layer.class_name == "Triu";
  const std::int64_t shift = setting(call, 1, {"k"}).as_int().value_or(0);
  call.set(call.b.op("Trilu", {first(call), call.b.index(shift)}, {{"upper", is_upper}}));
}

namespace {

/// A mirror at the ends that repeats them.
IrValue* mirrored(Call& call, IrValue* y, const Ints& pads) {
  GraphBuilder& b = call.b;
  const std::size_t rank = pads.size() / 2;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    IrValue* at = b.ints({axis});
    Values parts{y};
    if (pads[i]) parts.insert(parts.begin(), reversed(b, b.op("Slice", {y, b.ints({0}), b.ints({pads[i]}), at}), axis));
    IrValue* end = b.ints({std::numeric_limits<std::int64_t>::max()});
    if (const std::int64_t after = pads[rank + i])
      parts.push_back(reversed(b, b.op("Slice", {y, b.ints({-after}), end, at}), axis));
    if (parts.size() > 1) y = b.concat(parts, axis);
  }
  return y;
}

}  // namespace

/// [[before, after], ...], or one number or pair for all axes.
void op_pad(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const auto rank = static_cast<std::size_t>(rank_needed(call, x));
  const Config stated = setting(call, 1, {"pad_width", "paddings"});
  std::string mode(setting(call, 2, {"mode"}).text());
  std::ranges::transform(mode, mode.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (mode.empty()) mode = "constant";
  Ints pads(2 * rank, 0);
  const std::vector<Config> entries = stated.entries();
  const bool is_pair = entries.size() == 2 && entries[0].as_int();
  call.require(stated.as_int() || is_pair || entries.size() == rank, "its sizes do not fit the input");
  for (std::size_t i = 0; i < rank; ++i) {
    const Ints both = is_pair ? ints_of(stated) : ints_of(entries.empty() ? stated : entries[i]);
    call.require(!both.empty() && both.size() <= 2, "its sizes do not fit the input");
    pads[i] = both.front();
    pads[rank + i] = both.back();
  }
  if (mode == "symmetric") return call.set(mirrored(call, x, pads));
  const double value = setting(call, 3, {"constant_values"}).as_number().value_or(0);
  Values inputs{x, b.ints(pads)};
  if (mode == "constant") inputs.push_back(b.scalar(value, x->type.elem));
  call.set(b.op("Pad", inputs, {{"mode", mode}}));
}

namespace {

/// The axis that a name stands for: "Hsplit", "Vsplit" and "Dsplit".
std::int64_t split_axis(Call& call, const IrValue* x) {
  const std::string& name = call.layer.class_name;
  if (name == "Vsplit") return 0;
  if (name == "Hsplit") return rank_needed(call, x) == 1 ? 0 : 1;
  return name == "Dsplit" ? 2 : setting(call, 2, {"axis"}).as_int().value_or(0);
}

}  // namespace

/// Into a number of equal parts, at places (keras.ops), or of sizes (TensorFlow); "ArraySplit" makes the first ones
/// larger where they cannot be equal.
void op_split(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const bool is_tensorflow = call.layer.class_name == "TFOpLambda";
  const std::int64_t axis = split_axis(call, x);
  const Config stated = setting(call, 1, {"indices_or_sections", "num_or_size_splits"});
  Ints sizes = ints_of(stated);
  constexpr std::int64_t kMost = 4096;
  if (const auto count = stated.as_int()) {
    call.require(*count > 0 && *count <= kMost, "it makes no parts");
    const std::int64_t size = dim_of(x, axis).value_or(0);
    const bool may_differ = call.layer.class_name == "ArraySplit";
    call.require(size > 0 && (may_differ || size % *count == 0), "its parts are not of one size");
    sizes.assign(static_cast<std::size_t>(*count), size / *count);
    for (std::int64_t i = 0; i < size % *count; ++i) ++sizes[static_cast<std::size_t>(i)];
  } else if (!is_tensorflow) {  // places where a new part begins
    Ints widths;
    std::int64_t before = 0;
    for (const std::int64_t at : sizes) {
      widths.push_back(at - before);
      before = at;
    }
    const auto size = dim_of(x, axis);
    call.require(size.has_value(), "the size of the axis is not known");
    widths.push_back(*size - before);
    sizes = widths;
  }
  if (std::ranges::count(sizes, -1) == 1) {  // what is left
    const auto size = dim_of(x, axis);
    call.require(size.has_value(), "the size of the axis is not known");
    std::int64_t others = 0;
    for (const std::int64_t s : sizes) others += s == -1 ? 0 : s;
    *std::ranges::find(sizes, -1) = *size - others;
  }
  call.require(!sizes.empty() && std::ranges::all_of(sizes, [](std::int64_t s) { return s >= 0; }),
               "its parts have no size");
  for (IrValue* part : b.op("Split", {x, b.ints(sizes)}, {{"axis", axis}}, sizes.size()))
    call.outputs.push_back({part, nullptr});
}

void op_unstack(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t axis = setting(call, 2, {"axis"}).as_int().value_or(0);
  const auto count = setting(call, 1, {"num"}).as_int() ? setting(call, 1, {"num"}).as_int() : dim_of(x, axis);
  call.require(count && *count > 0 && *count <= 4096, "the size of the axis is not known");
  for (std::int64_t i = 0; i < *count; ++i)
    call.outputs.push_back({b.op("Gather", {x, b.index(i)}, {{"axis", axis}}), nullptr});
}

/// Of length 1 along axes, or divided by another norm.
void op_normalize(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const bool is_tensorflow = call.layer.class_name == "TFOpLambda";
  Ints axes = ints_of(setting(call, 1, {"axis", "dim"}));
  if (axes.empty()) axes.push_back(-1);
  const double order = setting(call, 2, {"order"}).as_number().value_or(2);
  const double epsilon = setting(call, 2, {"epsilon"}).as_number().value_or(1e-12);
  IrValue* at = b.ints(axes);
  if (order == 1) {
    IrValue* norm = b.op("ReduceL1", {x, at});
    return call.set(b.div(x, b.op("Max", {norm, b.scalar(epsilon, x->type.elem)})));
  }
  if (order != 2) {
    IrValue* powers = b.op("Pow", {b.op("Abs", {x}), number_like(b, x, order)});
    IrValue* norm = b.op("Pow", {b.op("ReduceSum", {powers, at}), number_like(b, x, 1 / order)});
    return call.set(b.div(x, b.op("Max", {norm, number_like(b, x, epsilon)})));
  }
  IrValue* squares = b.op("ReduceSumSquare", {x, at});
  const double least = is_tensorflow ? epsilon : epsilon * epsilon;  // of the squares; of the norm
  call.set(b.div(x, b.op("Sqrt", {b.op("Max", {squares, b.scalar(least, x->type.elem)})})));
}

/// Of vectors along one axis, or of matrices along two; without axes, of all elements.
void op_norm(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const Config order = setting(call, 1, {"ord"});
  const Ints axes = ints_of(setting(call, 2, {"axis"}));
  const Attrs keeps{{"keepdims", setting(call, 3, {"keepdims"}).as_bool().value_or(false)}};
  Values inputs{x};
  if (!axes.empty()) inputs.push_back(b.ints(axes));
  const std::string_view name = order.text();
  const bool is_matrix = axes.size() == 2 || (axes.empty() && rank_of(x) == 2);
  const bool is_plain =
      order.is_null() || name == "euclidean" || name == "fro" || (!is_matrix && order.as_number() == 2.0);
  if (is_plain) return call.set(b.op("ReduceL2", inputs, keeps));
  const bool is_infinite = name == "inf" || name == "-inf" || name == "Infinity" || name == "-Infinity" ||
                           (order.as_number() && std::isinf(*order.as_number()));
  const bool is_least = name.starts_with('-') || (order.as_number() && *order.as_number() < 0);
  if (is_matrix) call.refuse("a norm of matrices of this order has no translation");
  IrValue* size = b.op("Abs", {x});
  inputs[0] = size;
  if (is_infinite) return call.set(is_least ? b.op("ReduceMin", inputs, keeps) : b.op("ReduceMax", inputs, keeps));
  const auto power = order.as_number();
  call.require(power.has_value(), "its order is not known");
  if (*power == 1) return call.set(b.op("ReduceSum", inputs, keeps));
  inputs[0] = *power == 0 ? b.cast(b.op("Greater", {size, number_like(b, x, 0)}), x->type.elem)
                          : b.op("Pow", {size, number_like(b, x, *power)});
  IrValue* sum = b.op("ReduceSum", inputs, keeps);
  call.set(*power == 0 ? sum : b.op("Pow", {sum, number_like(b, x, 1 / *power)}));
}

void op_logical_xor(Call& call) {
  const auto [x, y] = pair_of(call);
  call.set(call.b.op("Xor", {call.b.cast(x, DType::boolean), call.b.cast(y, DType::boolean)}));
}

void op_log_base(Call& call) {
  const double base = call.layer.class_name == "Log2" ? 0.6931471805599453 : 2.302585092994046;
  call.set(call.b.div(call.b.op("Log", {real(call.b, first(call))}), base));
}

/// Images in another size, by the centres of pixels.
void op_resize(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const Ints size = ints_of(setting(call, 1, {"size"}));
  std::string how(setting(call, 2, {"interpolation", "method"}).text());
  if (how.empty()) how = "bilinear";
  for (const char* other : {"antialias", "preserve_aspect_ratio", "crop_to_aspect_ratio", "pad_to_aspect_ratio"})
    if (setting(call, 99, {other}).as_bool().value_or(false))
      call.refuse(std::string("'") + other + "' has no translation");
  if (how != "bilinear" && how != "nearest") call.refuse("interpolation '" + how + "' has no translation");
  call.require(size.size() == 2 && rank_needed(call, x) == 4, "it takes four axes and two sizes");
  const bool is_first = setting(call, 99, {"data_format"}).text() == "channels_first";
  Attrs attrs{{"mode", how == "nearest" ? "nearest" : "linear"}, {"coordinate_transformation_mode", "half_pixel"}};
  if (how == "nearest") attrs.emplace_back("nearest_mode", "round_prefer_ceil");
  x = b.cast(x, is_float(x->type.elem) || how == "nearest" ? x->type.elem : DType::f32);
  if (!is_first) x = b.transpose(x, {0, 3, 1, 2});
  IrValue* outer = b.op("Slice", {b.shape(x), b.ints({0}), b.ints({2}), b.ints({0})});
  IrValue* y = b.op("Resize", {x, nullptr, nullptr, b.concat({outer, b.ints(size)}, 0)}, attrs);
  call.set(is_first ? y : b.transpose(y, {0, 2, 3, 1}));
}

}  // namespace ingot::frontends::keras
