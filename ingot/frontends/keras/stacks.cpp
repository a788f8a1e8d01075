// Arrays beside each other, taken apart, turned, and their diagonals: what keras.ops has from NumPy.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

IrValue* with_rank(Call& call, IrValue* x, std::int64_t least) {
  Ints added(static_cast<std::size_t>(std::max<std::int64_t>(least - rank_needed(call, x), 0)));
  std::iota(added.begin(), added.end(), 0);
  return added.empty() ? x : call.b.unsqueeze(x, added);
}

/// All of one type: the widest.
Values of_one_type(Call& call) {
  Values values;
  for (const Flow& flow : call.inputs) values.push_back(flow.value);
  call.require(!values.empty(), "it is called without inputs");
  DType type = values[0]->type.elem;
  for (const IrValue* v : values)
    if (is_float(v->type.elem) && !is_float(type)) type = v->type.elem;
  for (IrValue*& v : values) v = call.b.cast(v, type);
  return values;
}

/// As three axes: a list in the middle, a matrix in front.
IrValue* in_depth(Call& call, IrValue* x) {
  const std::int64_t rank = rank_needed(call, x);
  if (rank >= 3) return x;
  if (rank == 2) return call.b.unsqueeze(x, {2});
  return call.b.unsqueeze(with_rank(call, x, 1), {0, 2});
}

/// The last two axes' diagonal.
IrValue* diagonal(GraphBuilder& b, IrValue* x, std::int64_t offset) {
  IrValue *rows = size_of(b, x, -2), *columns = size_of(b, x, -1);
  IrValue* below = offset < 0 ? b.sub(rows, static_cast<double>(-offset)) : rows;
  IrValue* beside = offset > 0 ? b.sub(columns, static_cast<double>(offset)) : columns;
  IrValue* count = b.op("Max", {b.op("Min", {below, beside}), b.index(0)});
  IrValue* first = offset < 0 ? b.mul(columns, static_cast<double>(-offset)) : b.index(offset);
  IrValue* places = b.add(b.mul(counted(b, count), b.add(columns, 1)), first);
  Ints sizes(static_cast<std::size_t>(*rank_of(x)) - 2, 0);
  sizes.push_back(-1);
  return b.op("Gather", {b.reshape(x, sizes), places}, {{"axis", -1}});
}

/// A list on a matrix's diagonal, zeros beside it.
IrValue* as_diagonal(GraphBuilder& b, IrValue* list, std::int64_t offset) {
  const std::int64_t away = std::abs(offset);
  IrValue* row = away ? b.op("Pad", {list, b.ints(offset > 0 ? Ints{away, 0} : Ints{0, away})}) : list;
  IrValue* places = counted(b, size_of(b, row, 0));
  IrValue* is_on = b.op("Equal", {b.sub(places, b.unsqueeze(places, {1})), b.index(offset)});
  return b.where(is_on, row, b.scalar(0, list->type.elem));
}

std::int64_t offset_of(Call& call, const char* name) {
  const std::int64_t offset = setting(call, 1, {name}).as_int().value_or(0);
  constexpr std::int64_t kMost = 1 << 20;
  call.require(std::abs(offset) <= kMost, "its diagonal lies too far away");
  return offset;
}

IrValue* stated_diagonal(Call& call) {
  IrValue* x = first(call);
  const std::int64_t rank = rank_needed(call, x);
  const Ints axes = counted_from_front(
      call, {setting(call, 2, {"axis1"}).as_int().value_or(0), setting(call, 3, {"axis2"}).as_int().value_or(1)}, rank);
  call.require(axes[0] != axes[1], "its axes are the same");
  Ints order;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != axes[0] && i != axes[1]) order.push_back(i);
  order.insert(order.end(), axes.begin(), axes.end());
  if (!std::ranges::is_sorted(order)) x = call.b.transpose(x, order);
  return diagonal(call.b, x, offset_of(call, "offset"));
}

}  // namespace

void op_append(Call& call) {
  GraphBuilder& b = call.b;
  auto [x, y] = pair_of(call);
  const auto axis = setting(call, 2, {"axis"}).as_int();
  if (!axis) x = b.reshape(x, {-1}), y = b.reshape(y, {-1});
  call.set(b.concat({x, y}, axis.value_or(0)));
}

/// "Hstack", "Vstack", "Dstack", "ColumnStack".
void op_stack_beside(Call& call) {
  const std::string& name = call.layer.class_name;
  Values parts = of_one_type(call);
  std::int64_t axis = 1;
  for (IrValue*& part : parts) {
    const std::int64_t rank = rank_needed(call, part);
    if (name == "Vstack") part = with_rank(call, part, 2);
    if (name == "Dstack") part = in_depth(call, part);
    if (name == "Hstack") part = with_rank(call, part, 1);
    if (name == "ColumnStack" && rank == 1) part = call.b.unsqueeze(part, {1});
  }
  if (name == "Vstack" || (name == "Hstack" && *rank_of(parts[0]) == 1)) axis = 0;
  if (name == "Dstack") axis = 2;
  call.set(call.b.concat(parts, axis));
}

void op_meshgrid(Call& call) {
  GraphBuilder& b = call.b;
  Values lists = of_one_type(call);
  const auto count = static_cast<std::int64_t>(lists.size());
  const bool is_xy = setting(call, 99, {"indexing"}).text() != "ij" && count > 1;
  Values sizes;
  for (IrValue*& list : lists) {
    list = b.reshape(list, {-1});
    sizes.push_back(b.shape(list));
  }
  if (is_xy) std::swap(sizes[0], sizes[1]);
  IrValue* shape = b.concat(sizes, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    Ints spread(static_cast<std::size_t>(count), 1);
    const std::int64_t at = is_xy && i < 2 ? 1 - i : i;
    spread[static_cast<std::size_t>(at)] = -1;
    call.outputs.push_back({b.op("Expand", {b.reshape(lists[static_cast<std::size_t>(i)], spread), shape}), nullptr});
  }
}

/// "Fliplr" and "Flipud".
void op_flip_one(Call& call) { call.set(reversed(call.b, first(call), call.layer.class_name == "Fliplr" ? 1 : 0)); }

void op_rotate(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t rank = rank_needed(call, x);
  const std::int64_t times = ((setting(call, 1, {"k"}).as_int().value_or(1) % 4) + 4) % 4;
  Ints axes = ints_of(setting(call, 2, {"axes"}));
  if (axes.empty()) axes = {0, 1};
  call.require(axes.size() == 2, "it turns two axes");
  axes = counted_from_front(call, axes, rank);
  call.require(axes[0] != axes[1], "its axes are the same");
  Ints order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axes[0])], order[static_cast<std::size_t>(axes[1])]);
  if (times == 0) return call.set(x);
  if (times == 1) return call.set(b.transpose(reversed(b, x, axes[1]), order));
  if (times == 2) return call.set(reversed(b, reversed(b, x, axes[0]), axes[1]));
  call.set(reversed(b, b.transpose(x, order), axes[1]));
}

void op_diagonal(Call& call) { call.set(stated_diagonal(call)); }
void op_trace(Call& call) {
  call.set(call.b.op("ReduceSum", {stated_diagonal(call), call.b.ints({-1})}, {{"keepdims", 0}}));
}

/// A matrix's diagonal, or a matrix of a list's; "Diagflat" makes a list of everything first.
void op_diag(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t offset = offset_of(call, "k");
  if (call.layer.class_name == "Diagflat") x = b.reshape(x, {-1});
  const std::int64_t rank = rank_needed(call, x);
  call.require(rank == 1 || rank == 2, "it takes a list or a matrix");
  call.set(rank == 1 ? as_diagonal(b, x, offset) : diagonal(b, x, offset));
}

/// What each element is above the one before it.
void op_difference(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* y = first(call);
  const std::int64_t times = setting(call, 1, {"n"}).as_int().value_or(1);
  const std::int64_t axis = setting(call, 2, {"axis"}).as_int().value_or(-1);
  call.require(times >= 0 && times <= 256, "its order is no number from 0 to 256");
  IrValue *one = b.ints({1}), *zero = b.ints({0}), *last = b.ints({-1}), *at = b.ints({axis});
  IrValue* end = b.ints({std::numeric_limits<std::int64_t>::max()});
  for (std::int64_t i = 0; i < times; ++i)
    y = b.sub(b.op("Slice", {y, one, end, at}), b.op("Slice", {y, zero, last, at}));
  call.set(y);
}

void op_unravel(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* rest = first(call);
  const DType type = rest->type.elem;
  const Ints sizes = ints_of(setting(call, 1, {"shape"}));
  call.require(!sizes.empty() && std::ranges::all_of(sizes, [](std::int64_t s) { return s > 0; }), "it has no shape");
  rest = b.cast(rest, DType::i64);
  Values parts;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    IrValue* size = b.index(sizes[i]);
    parts.insert(parts.begin(), b.cast(b.op("Mod", {rest, size}), type));
    if (i) rest = b.div(b.sub(rest, b.op("Mod", {rest, size})), size);
  }
  for (IrValue* part : parts) call.outputs.push_back({part, nullptr});
}

/// The first of some tensors whose condition holds.
void op_select(Call& call) {
  GraphBuilder& b = call.b;
  const Argument *conditions = argument_of(call, 0, {"condlist"}), *choices = argument_of(call, 1, {"choicelist"});
  call.require(conditions && choices, "it is called without one of its arguments");
  std::vector<Flow> when, what;
  collect(*conditions, when);
  collect(*choices, what);
  call.require(!when.empty() && when.size() == what.size(), "its conditions and choices are not as many");
  const DType type = what[0].value->type.elem;
  IrValue* y = argument_of(call, 2, {"default"}) ? operand_named(call, 2, {"default"}, type) : b.scalar(0, type);
  for (std::size_t i = when.size(); i-- > 0;)
    y = b.where(b.cast(when[i].value, DType::boolean), what[i].value, b.cast(y, what[i].value->type.elem));
  call.set(y);
}

/// Places of what is not zero: a list for each axis.
void op_nonzero(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t rank = rank_needed(call, x);
  IrValue* places = b.cast(b.op("NonZero", {x}), DType::i32);
  for (std::int64_t i = 0; i < rank; ++i)
    call.outputs.push_back({b.op("Gather", {places, b.index(i)}, {{"axis", 0}}), nullptr});
}

/// Numbers from one on, up to another.
void op_arange(Call& call) {
  GraphBuilder& b = call.b;
  const Argument* stop = argument_of(call, 1, {"stop"});
  const bool has_stop = stop && (stop->tensor || !stop->literal.is_null());
  IrValue* from = operand_named(call, 0, {"start"}, DType::undefined);
  DType type = compute_type(setting(call, 3, {"dtype"}));
  IrValue* to = has_stop ? operand_named(call, 1, {"stop"}, from->type.elem) : from;
  const Argument* step = argument_of(call, 2, {"step"});
  const bool has_step = step && (step->tensor || !step->literal.is_null());
  IrValue* by = has_step ? operand_named(call, 2, {"step"}, from->type.elem) : b.scalar(1, from->type.elem);
  if (type == DType::undefined) {
    type = from->type.elem;
    for (const IrValue* v : {to, by})
      if (is_float(v->type.elem)) type = v->type.elem;
  }
  if (!has_stop) from = b.scalar(0, type);
  Values bounds{from, to, by};
  for (IrValue*& bound : bounds) bound = b.reshape(b.cast(bound, type), {});
  call.set(b.op("Range", bounds));
}

/// Numbers at one distance, or whose logarithms are: "Linspace", "Logspace", "Geomspace".
void op_spaced(Call& call) {
  GraphBuilder& b = call.b;
  const std::string& name = call.layer.class_name;
  auto [from, to] = pair_of(call);
  const std::int64_t count = setting(call, 2, {"num"}).as_int().value_or(50);
  constexpr std::int64_t kMost = 1 << 20;
  call.require(count > 0 && count <= kMost, "its number of elements is no number from 1 to 1048576");
  const bool has_end = setting(call, 3, {"endpoint"}).as_bool().value_or(true);
  if (setting(call, 4, {"retstep"}).as_bool().value_or(false)) call.refuse("'retstep' has no translation");
  DType type = compute_type(setting(call, 5, {"dtype"}));
  from = real(b, from);
  to = real(b, to);
  if (type == DType::undefined) type = from->type.elem;
  const std::int64_t axis = setting(call, 6, {"axis"}).as_int().value_or(0);
  if (axis != 0) call.refuse("another axis than the first has no translation");
  if (name == "Geomspace") from = b.op("Log", {from}), to = b.op("Log", {to});
  const std::int64_t steps = std::max<std::int64_t>(has_end ? count - 1 : count, 1);
  IrValue* places = b.div(b.cast(counted(b, b.index(count)), from->type.elem), static_cast<double>(steps));
  Ints sizes(static_cast<std::size_t>(std::max(rank_needed(call, from), rank_needed(call, to))) + 1, 1);
  sizes[0] = -1;
  places = b.reshape(places, sizes);
  IrValue* y = b.add(b.mul(from, b.sub(1, places)), b.mul(to, places));
  if (name == "Geomspace") y = b.op("Exp", {y});
  if (name == "Logspace")
    y = b.op("Pow", {b.scalar(setting(call, 4, {"base"}).as_number().value_or(10), y->type.elem), y});
  call.set(b.cast(y, type));
}

/// One number everywhere: "Full" in a stated shape, "FullLike" in that of a tensor.
void op_full(Call& call) {
  GraphBuilder& b = call.b;
  DType type = compute_type(setting(call, 2, {"dtype"}));
  if (call.layer.class_name == "FullLike") {
    IrValue* x = first(call);
    IrValue* value = operand_named(call, 1, {"fill_value"}, x->type.elem);
    return call.set(b.op("Expand", {b.cast(value, type == DType::undefined ? x->type.elem : type), b.shape(x)}));
  }
  IrValue* value = operand_named(call, 0, {"fill_value"}, DType::undefined);
  const Ints sizes = ints_of(setting(call, 1, {"shape"}));
  if (type == DType::undefined) type = value->type.elem;
  call.set(b.op("Expand", {b.cast(value, type), b.ints(sizes)}));
}

}  // namespace ingot::frontends::keras
