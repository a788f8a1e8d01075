// Sums, means and ranks that keras.ops has from NumPy, also of what is a number alone.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/tensorflow_node.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// What an operation reduces, and how.
struct Reduction {
  Ints axes;  // counted from the front; none: all
  bool keeps;
};
Reduction reduction_of(Call& call, const IrValue* x, std::size_t place) {
  const Config keeps = setting(call, place + 1, {"keepdims"});
  return {counted_from_front(call, ints_of(setting(call, place, {"axis", "axes"})), rank_needed(call, x)),
          keeps.as_bool().value_or(false)};
}
IrValue* reduced(GraphBuilder& b, ops::Name op, IrValue* x, const Reduction& r, bool keeps) {
  Values inputs{x};
  if (!r.axes.empty()) inputs.push_back(b.ints(r.axes));
  return b.op(op, inputs, {{"keepdims", keeps}});
}
IrValue* reduced(GraphBuilder& b, ops::Name op, IrValue* x, const Reduction& r) {
  return reduced(b, op, x, r, r.keeps);
}

IrValue* variance(GraphBuilder& b, IrValue* x, const Reduction& r) {
  IrValue* away = b.sub(x, reduced(b, "ReduceMean", x, r, true));
  return reduced(b, "ReduceMean", b.mul(away, away), r);
}

/// The named axes as one, behind the others.
IrValue* in_last_axis(GraphBuilder& b, IrValue* x, const Reduction& r) {
  const std::int64_t rank = *rank_of(x);
  if (r.axes.empty()) return b.reshape(x, {-1});
  Ints order, sizes;
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::ranges::find(r.axes, i) == r.axes.end()) order.push_back(i);
  sizes.assign(order.size(), 0);
  sizes.push_back(-1);
  order.insert(order.end(), r.axes.begin(), r.axes.end());
  if (!std::ranges::is_sorted(order)) x = b.transpose(x, order);
  return r.axes.size() == 1 ? x : b.reshape(x, sizes);
}
/// The named axes again, of size 1, in a value without them.
IrValue* with_axes(GraphBuilder& b, IrValue* y, Reduction r, std::int64_t rank, std::int64_t in_front) {
  if (!r.keeps) return y;
  if (r.axes.empty()) {
    r.axes.resize(static_cast<std::size_t>(rank));
    std::iota(r.axes.begin(), r.axes.end(), 0);
  }
  std::ranges::sort(r.axes);
  for (std::int64_t& axis : r.axes) axis += in_front;
  return b.unsqueeze(y, r.axes);
}

/// Elements at places between the first and the last of sorted ones; `places` are reals with an axis of their own.
IrValue* at_places(Call& call, IrValue* sorted, IrValue* places, const std::string& method, bool is_by_row) {
  GraphBuilder& b = call.b;
  const auto at = [&](ops::Name rounding) {
    IrValue* place = b.cast(b.op(rounding, {places}), DType::i64);
    return is_by_row ? b.op("GatherElements", {sorted, place}, {{"axis", -1}})
                     : b.op("Gather", {sorted, place}, {{"axis", -1}});
  };
  if (method == "lower") return at("Floor");
  if (method == "higher") return at("Ceil");
  if (method == "nearest") return at("Round");
  IrValue *low = at("Floor"), *high = at("Ceil");
  if (method == "midpoint") return b.div(b.add(low, high), 2);
  if (method != "linear") call.refuse("the method '" + method + "' of a quantile has no translation");
  IrValue* part = b.cast(b.sub(places, b.op("Floor", {places})), sorted->type.elem);
  IrValue* moved = b.add(low, b.mul(b.sub(high, low), part));
  return b.where(b.op("Equal", {low, high}), low, moved);  // two of one infinity
}

/// Shares of the elements that lie below; `skips`: what is no number does not count.
void quantile(Call& call, IrValue* q, std::size_t axis_place, bool skips) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const Reduction r = reduction_of(call, x, axis_place);
  const std::int64_t rank = rank_needed(call, x);
  std::string method(setting(call, axis_place + 1, {"method"}).text());
  if (method.empty()) method = "linear";
  const bool is_one = rank_needed(call, q) == 0;
  call.require(is_one || rank_of(q) == 1, "its shares are no list");
  q = b.cast(is_one ? b.unsqueeze(q, {0}) : q, DType::f64);

  IrValue* list = in_last_axis(b, x, r);
  IrValue* count = b.reshape(size_of(b, list, -1), {1});
  IrValue* last = b.sub(b.cast(count, DType::f64), 1);
  IrValue* none = nullptr;
  if (skips) {
    IrValue* is_nan = b.op("IsNaN", {list});
    list = b.where(is_nan, number_like(b, list, std::numeric_limits<double>::infinity()), list);
    IrValue* counted = b.op("ReduceSum", {b.cast(b.op("Not", {is_nan}), DType::f64), b.ints({-1})});
    none = b.op("Equal", {counted, b.scalar(0, DType::f64)});
    last = b.op("Max", {b.sub(counted, 1), b.scalar(0, DType::f64)});
  }
  IrValue* sorted = b.op("TopK", {list, count}, {{"axis", -1}, {"largest", 0}}, 2)[0];
  IrValue* y = at_places(call, sorted, b.mul(last, q), method, skips);
  if (none) y = b.where(none, number_like(b, y, std::numeric_limits<double>::quiet_NaN()), y);
  const std::int64_t left = *rank_of(list) - 1;
  if (is_one) return call.set(with_axes(b, b.squeeze(y, {left}), r, rank, 0));
  Ints order{left};
  for (std::int64_t i = 0; i < left; ++i) order.push_back(i);
  call.set(with_axes(b, left ? b.transpose(y, order) : y, r, rank, 1));
}

/// Products of all elements up to each.
IrValue* growing_products(Call& call, const Along& a) {
  formats::tensorflow::NodeDef node;
  node.op = "Cumprod";
  node.attrs.push_back({"T", formats::tensorflow::data_type_of(a.x->type.elem)});
  const Tensor axis = Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(a.axis));
  return translate_node(call, std::move(node), {{.tensor = a.x}, {.constant = axis}}, 1)[0];
}

IrValue* but_nan(GraphBuilder& b, IrValue* x, double instead) {
  return is_float(x->type.elem) ? b.where(b.op("IsNaN", {x}), number_like(b, x, instead), x) : x;
}

/// Of numbers alone: how many there are, and what they are without the others.
struct Numbers {
  IrValue *count, *value;
};
Numbers numbers_in(GraphBuilder& b, IrValue* x, const Reduction& r, bool keeps) {
  IrValue* is_number = b.op("Not", {b.op("IsNaN", {x})});
  return {reduced(b, "ReduceSum", b.cast(is_number, x->type.elem), r, keeps), but_nan(b, x, 0)};
}
IrValue* mean_of_numbers(GraphBuilder& b, IrValue* x, const Reduction& r, bool keeps) {
  const Numbers numbers = numbers_in(b, x, r, keeps);
  return b.div(reduced(b, "ReduceSum", numbers.value, r, keeps), numbers.count);
}
IrValue* variance_of_numbers(GraphBuilder& b, IrValue* x, const Reduction& r) {
  IrValue* away = b.sub(x, mean_of_numbers(b, x, r, true));
  return mean_of_numbers(b, b.mul(away, away), r, r.keeps);
}

}  // namespace

void op_cumprod(Call& call) { call.set(growing_products(call, along(call, 1, 0, true))); }

void op_average(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  Reduction r = reduction_of(call, x, 1);
  r.keeps = false;
  const Argument* stated = argument_of(call, 1, {"weights"});
  if (!stated || (!stated->tensor && stated->literal.is_null())) return call.set(reduced(b, "ReduceMean", x, r));
  IrValue* w = b.cast(operand_named(call, 1, {"weights"}, x->type.elem), x->type.elem);
  const std::int64_t rank = rank_needed(call, x);
  if (rank_needed(call, w) < rank) {
    call.require(rank_of(w) == 1 && r.axes.size() == 1, "its weights do not fit the input");
    Ints sizes(static_cast<std::size_t>(rank), 1);
    sizes[static_cast<std::size_t>(r.axes[0])] = -1;
    w = b.reshape(w, sizes);
  }
  IrValue* all = reduced(b, "ReduceSum", b.mul(filled_like(b, x, 1), w), r);
  call.set(b.div(reduced(b, "ReduceSum", b.mul(x, w), r), all));
}

void op_peak_to_peak(Call& call) {
  IrValue* x = number(call.b, first(call));
  const Reduction r = reduction_of(call, x, 1);
  call.set(call.b.sub(reduced(call.b, "ReduceMax", x, r), reduced(call.b, "ReduceMin", x, r)));
}

/// "Median", "Quantile", "Percentile" and those of numbers alone.
void op_quantile(Call& call) {
  GraphBuilder& b = call.b;
  std::string_view name = call.layer.class_name;
  const bool skips = name.starts_with("Nan");
  if (name.ends_with("edian")) return quantile(call, b.scalar(0.5, DType::f64), 1, skips);
  IrValue* q = b.cast(operand_named(call, 1, {"q"}, DType::f32), DType::f64);
  quantile(call, name.ends_with("ercentile") ? b.div(q, 100) : q, 2, skips);
}

void op_moments(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const Reduction r = reduction_of(call, x, 1);
  call.outputs = {{reduced(b, "ReduceMean", x, r), nullptr}, {variance(b, x, r), nullptr}};
}

/// Sums, extremes and means of what is a number.
void op_of_numbers(Call& call) {
  GraphBuilder& b = call.b;
  const std::string_view name = std::string_view(call.layer.class_name).substr(3);
  IrValue* x = number(b, first(call));
  if (name == "cumsum" || name == "cumprod") {
    Along a = along(call, 1, 0, true);
    a.x = but_nan(b, number(b, a.x), name == "cumsum" ? 0 : 1);
    return call.set(name == "cumsum" ? b.op("CumSum", {a.x, b.index(a.axis)}) : growing_products(call, a));
  }
  const Reduction r = reduction_of(call, x, 1);
  if (name == "sum") return call.set(reduced(b, "ReduceSum", but_nan(b, x, 0), r));
  if (name == "prod") return call.set(reduced(b, "ReduceProd", but_nan(b, x, 1), r));
  if (name == "max" || name == "min") {
    const double far = std::numeric_limits<double>::infinity() * (name == "max" ? -1 : 1);
    IrValue* y = reduced(b, name == "max" ? ops::Name("ReduceMax") : ops::Name("ReduceMin"), but_nan(b, x, far), r);
    if (!is_float(x->type.elem)) return call.set(y);
    IrValue* none = b.op("Equal", {numbers_in(b, x, r, r.keeps).count, number_like(b, x, 0)});
    return call.set(b.where(none, number_like(b, y, std::numeric_limits<double>::quiet_NaN()), y));
  }
  x = real(b, x);
  if (name == "mean") return call.set(mean_of_numbers(b, x, r, r.keeps));
  IrValue* y = variance_of_numbers(b, x, r);
  call.set(name == "std" ? b.op("Sqrt", {y}) : y);
}

/// The place of the largest or smallest number; -1: there is none.
void op_place_of_number(Call& call) {
  GraphBuilder& b = call.b;
  const bool is_largest = call.layer.class_name == "Nanargmax";
  Along a = along(call, 1, 0, true);
  a.x = real(b, a.x);
  const double far = std::numeric_limits<double>::infinity() * (is_largest ? -1 : 1);
  const Attrs attrs{{"axis", a.axis}, {"keepdims", setting(call, 2, {"keepdims"}).as_bool().value_or(false)}};
  IrValue* filled = but_nan(b, a.x, far);
  IrValue* place = is_largest ? b.op("ArgMax", {filled}, attrs) : b.op("ArgMin", {filled}, attrs);
  IrValue* is_number = b.cast(b.op("Not", {b.op("IsNaN", {a.x})}), DType::i32);
  IrValue* any = b.op("ReduceMax", {is_number, b.ints({a.axis})}, {attrs[1]});
  IrValue* is_any = b.op("Greater", {any, b.scalar(0, DType::i32)});
  call.set(b.where(is_any, b.cast(place, DType::i32), b.scalar(-1, DType::i32)));
}

/// Rows beside each other: -1 to 1.
void op_correlation(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  call.require(rank_needed(call, x) == 2, "its input is no matrix");
  IrValue* away = b.sub(x, b.op("ReduceMean", {x, b.ints({1})}));
  IrValue* products = b.op("MatMul", {away, b.transpose(away, {1, 0})});
  IrValue* size = b.op("Sqrt", {b.op("ReduceSumSquare", {away, b.ints({1})})});
  IrValue* y = b.div(b.div(products, size), b.transpose(size, {1, 0}));
  call.set(b.op("Clip", {y, number_like(b, y, -1), number_like(b, y, 1)}));
}

/// How often each number from 0 on is there, in the last axis; with weights their sums.
void op_bincount(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(first(call), DType::i64);
  const std::int64_t rank = rank_needed(call, x);
  if (setting(call, 3, {"sparse"}).as_bool().value_or(false)) call.refuse("a sparse result has no translation");
  IrValue* most = b.add(b.op("ReduceMax", {x}, {{"keepdims", 0}}), 1);
  IrValue* least = b.index(setting(call, 2, {"minlength"}).as_int().value_or(0));
  IrValue* is_it = b.op("Equal", {b.unsqueeze(x, {rank}), counted(b, b.op("Max", {most, least}))});
  const Argument* stated = argument_of(call, 1, {"weights"});
  const Config own = call.layer.config["weights"];
  if (own.exists() && !own.is_null()) call.refuse("weights that the configuration holds have no translation");
  if (!stated || (!stated->tensor && stated->literal.is_null()))
    return call.set(b.op("ReduceSum", {b.cast(is_it, DType::i32), b.ints({rank - 1})}, {{"keepdims", 0}}));
  IrValue* w = operand_named(call, 1, {"weights"}, DType::f32);
  IrValue* parts = b.mul(b.cast(is_it, w->type.elem), b.unsqueeze(w, {rank}));
  call.set(b.op("ReduceSum", {parts, b.ints({rank - 1})}, {{"keepdims", 0}}));
}

/// Counts in bins of one width, and where these begin and end.
void op_histogram(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.reshape(real(b, first(call)), {-1});
  const std::int64_t bins = setting(call, 1, {"bins"}).as_int().value_or(0);
  constexpr std::int64_t kMost = 1 << 16;
  call.require(bins > 0 && bins <= kMost, "its number of bins is no number from 1 to 65536");
  const Config range = setting(call, 2, {"range"});
  IrValue *low = nullptr, *high = nullptr;
  if (range.is_list() && range.size() == 2) {
    low = number_like(b, x, range[0].as_number().value_or(0));
    high = number_like(b, x, range[1].as_number().value_or(0));
  } else {
    low = b.op("ReduceMin", {x}, {{"keepdims", 0}});
    high = b.op("ReduceMax", {x}, {{"keepdims", 0}});
  }
  IrValue* is_point = b.op("Equal", {low, high});
  IrValue* from = b.where(is_point, b.sub(low, 0.5), low);
  IrValue* to = b.where(is_point, b.add(high, 0.5), high);
  IrValue* width = b.div(b.sub(to, from), static_cast<double>(bins));
  IrValue* edges = b.add(b.mul(b.cast(counted(b, b.index(bins + 1)), x->type.elem), width), from);
  IrValue* at = b.op("Floor", {b.div(b.sub(x, from), width)});
  at = b.where(b.op("Equal", {x, to}), number_like(b, x, static_cast<double>(bins - 1)), at);
  IrValue* is_it = b.op("Equal", {b.unsqueeze(at, {1}), b.cast(counted(b, b.index(bins)), x->type.elem)});
  IrValue* counts = b.op("ReduceSum", {b.cast(is_it, DType::i32), b.ints({0})}, {{"keepdims", 0}});
  call.outputs = {{counts, nullptr}, {edges, nullptr}};
}

/// Between which of sorted numbers each one lies: as many as are smaller, or not larger.
void op_search_sorted(Call& call) {
  GraphBuilder& b = call.b;
  const bool is_digitize = call.layer.class_name == "Digitize";
  IrValue* sequence = is_digitize ? operand_named(call, 1, {"bins"}, DType::f32)
                                  : operand_named(call, 0, {"sorted_sequence"}, DType::undefined);
  IrValue* values = is_digitize ? first(call) : operand_named(call, 1, {"values"}, sequence->type.elem);
  if (is_float(sequence->type.elem)) values = b.cast(values, sequence->type.elem);
  sequence = b.cast(sequence, values->type.elem);
  call.require(rank_needed(call, sequence) == 1, "what it looks in is no list");
  const bool is_right = is_digitize || setting(call, 2, {"side"}).text() == "right";
  IrValue* each = b.unsqueeze(values, {rank_needed(call, values)});
  IrValue* is_before = is_right ? b.op("LessOrEqual", {sequence, each}) : b.op("Less", {sequence, each});
  call.set(b.op("ReduceSum", {b.cast(is_before, DType::i32), b.ints({-1})}, {{"keepdims", 0}}));
}

void op_is_in(Call& call) {
  GraphBuilder& b = call.b;
  const auto [x, list] = pair_of(call);
  IrValue* is_it = b.op("Equal", {b.unsqueeze(x, {rank_needed(call, x)}), b.reshape(list, {-1})});
  IrValue* any =
      b.cast(b.op("ReduceMax", {b.cast(is_it, DType::i32), b.ints({-1})}, {{"keepdims", 0}}), DType::boolean);
  call.set(setting(call, 3, {"invert"}).as_bool().value_or(false) ? b.op("Not", {any}) : any);
}

}  // namespace ingot::frontends::keras
