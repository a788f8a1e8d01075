// Operations in functional graphs: keras.ops, and TensorFlow's functions in models of Keras 2.
#include <algorithm>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

namespace defs = ops::defs;

template <const ops::OpDef& def> void unary(Call& call) {
  call.set(call.b.op(ops::Name(def), {number(call.b, first(call))}));
}
/// What ONNX has of real numbers alone.
template <const ops::OpDef& def> void unary_real(Call& call) {
  call.set(call.b.op(ops::Name(def), {real(call.b, first(call))}));
}

/// Both as tensors of one type; a number takes the type of the other.
std::pair<IrValue*, IrValue*> both(Call& call) {
  const auto [left, right] = pair_of(call);
  return {number(call.b, left), number(call.b, right)};
}
/// Of truths, which numbers become: those that are not 0.
template <const ops::OpDef& def> void logical(Call& call) {
  const auto [x, y] = pair_of(call);
  call.set(call.b.op(ops::Name(def), {call.b.cast(x, DType::boolean), call.b.cast(y, DType::boolean)}));
}
template <const ops::OpDef& def> void binary(Call& call) {
  const auto [x, y] = both(call);
  call.set(call.b.op(ops::Name(def), {x, y}));
}

bool keeps_axes(const Call& call) { return setting(call, 2, {"keepdims", "keep_dims"}).as_bool().value_or(false); }

template <const ops::OpDef& def> void reduce(Call& call, IrValue* x, bool keeps) {
  const Config axis = setting(call, 1, {"axis"});
  Values inputs{x};
  if (!axis.is_null()) {
    Ints axes;
    if (const auto one = axis.as_int()) axes.push_back(*one);
    for (const Config& entry : axis.entries()) axes.push_back(entry.as_int().value_or(0));
    inputs.push_back(call.b.ints(axes));
  }
  call.set(call.b.op(ops::Name(def), inputs, {{"keepdims", keeps}}));
}

template <const ops::OpDef& def> void reduction(Call& call, bool keeps) {
  reduce<def>(call, number(call.b, first(call)), keeps);
}
template <const ops::OpDef& def> void reduction(Call& call) { reduction<def>(call, keeps_axes(call)); }

/// Of what is true or not.
template <const ops::OpDef& def> void truth(Call& call) {
  reduce<def>(call, call.b.cast(call.b.cast(first(call), DType::boolean), DType::i32), keeps_axes(call));
  call.set(call.b.cast(call.outputs[0].value, DType::boolean));
}

}  // namespace

void op_absolute(Call& call) { unary<defs::Abs>(call); }
void op_cos(Call& call) { unary_real<defs::Cos>(call); }
void op_erf(Call& call) { unary_real<defs::Erf>(call); }
void op_exp(Call& call) { unary_real<defs::Exp>(call); }
void op_floor(Call& call) { unary_real<defs::Floor>(call); }
void op_ceil(Call& call) { unary_real<defs::Ceil>(call); }
void op_log(Call& call) { unary_real<defs::Log>(call); }
void op_logical_not(Call& call) { call.set(call.b.op("Not", {call.b.cast(first(call), DType::boolean)})); }
void op_negative(Call& call) { unary<defs::Neg>(call); }
void op_reciprocal(Call& call) { unary_real<defs::Reciprocal>(call); }
void op_round(Call& call) {
  IrValue* x = first(call);
  call.set(is_float(x->type.elem) ? call.b.op("Round", {x}) : x);
}
void op_sign(Call& call) { unary<defs::Sign>(call); }
void op_sin(Call& call) { unary_real<defs::Sin>(call); }
void op_sqrt(Call& call) { unary_real<defs::Sqrt>(call); }
void op_tan(Call& call) { unary_real<defs::Tan>(call); }
void op_square(Call& call) {
  IrValue* x = number(call.b, first(call));
  call.set(call.b.mul(x, x));
}
void op_rsqrt(Call& call) { call.set(call.b.op("Reciprocal", {call.b.op("Sqrt", {real(call.b, first(call))})})); }
void op_log1p(Call& call) { call.set(call.b.op("Log", {call.b.add(real(call.b, first(call)), 1)})); }
void op_expm1(Call& call) { call.set(call.b.sub(call.b.op("Exp", {real(call.b, first(call))}), 1)); }

void op_add(Call& call) { binary<defs::Add>(call); }
void op_subtract(Call& call) { binary<defs::Sub>(call); }
void op_multiply(Call& call) { binary<defs::Mul>(call); }
void op_divide(Call& call) {
  auto [x, y] = both(call);
  if (!is_float(x->type.elem)) {  // whole numbers give real ones
    const DType type = call.layer.class_name == "TFOpLambda" ? DType::f64 : DType::f32;
    x = call.b.cast(x, type);
    y = call.b.cast(y, type);
  }
  call.set(call.b.div(x, y));
}
void op_power(Call& call) { binary<defs::Pow>(call); }
void op_maximum(Call& call) { binary<defs::Max>(call); }
void op_minimum(Call& call) { binary<defs::Min>(call); }
void op_matmul(Call& call) {
  const auto turned = [&](IrValue* x, std::size_t place, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (!setting(call, place, {name}).as_bool().value_or(false))
        continue;
      else {
        Ints order;
        for (std::int64_t i = 0; i < rank_of(x).value_or(0); ++i) order.push_back(i);
        call.require(order.size() >= 2, "the rank of an input is not known");
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        return call.b.transpose(x, order);
      }
    return x;
  };
  const auto [x, y] = both(call);
  call.set(
      call.b.op("MatMul", {turned(x, 2, {"transpose_a", "adjoint_a"}), turned(y, 3, {"transpose_b", "adjoint_b"})}));
}
void op_greater(Call& call) { binary<defs::Greater>(call); }
void op_greater_equal(Call& call) { binary<defs::GreaterOrEqual>(call); }
void op_less(Call& call) { binary<defs::Less>(call); }
void op_less_equal(Call& call) { binary<defs::LessOrEqual>(call); }
void op_equal(Call& call) { binary<defs::Equal>(call); }
void op_logical_and(Call& call) { logical<defs::And>(call); }
void op_logical_or(Call& call) { logical<defs::Or>(call); }
void op_not_equal(Call& call) {
  binary<defs::Equal>(call);
  call.set(call.b.op("Not", {call.outputs[0].value}));
}
void op_squared_difference(Call& call) {
  const auto [x, y] = both(call);
  IrValue* away = call.b.sub(x, y);
  call.set(call.b.mul(away, away));
}
void op_floor_divide(Call& call) {
  const auto [x, y] = both(call);
  // Whole numbers that are divided round towards zero in ONNX; what is left has the divisor's sign.
  if (!is_float(x->type.elem)) return call.set(call.b.div(call.b.sub(x, call.b.op("Mod", {x, y})), y));
  call.set(call.b.op("Floor", {call.b.div(x, y)}));
}

void op_mean(Call& call) {
  IrValue* x = first(call);
  if (!is_float(x->type.elem) && call.import.version >= 3) x = call.b.cast(x, DType::f32);
  reduce<defs::ReduceMean>(call, x, keeps_axes(call));
}
void op_any(Call& call) { truth<defs::ReduceMax>(call); }
void op_all(Call& call) { truth<defs::ReduceMin>(call); }
void op_variance(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  reduce<defs::ReduceMean>(call, x, true);
  IrValue* away = b.sub(x, call.outputs[0].value);
  reduce<defs::ReduceMean>(call, b.mul(away, away), keeps_axes(call));
}
void op_deviation(Call& call) {
  op_variance(call);
  call.set(call.b.op("Sqrt", {call.outputs[0].value}));
}
void op_count_nonzero(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  IrValue* counts = b.cast(b.op("Not", {b.op("Equal", {x, b.scalar(0, x->type.elem)})}), DType::i32);
  reduce<defs::ReduceSum>(call, counts, keeps_axes(call));
}
void op_sum(Call& call) { reduction<defs::ReduceSum>(call); }
void op_max(Call& call) { reduction<defs::ReduceMax>(call); }
void op_min(Call& call) { reduction<defs::ReduceMin>(call); }
void op_prod(Call& call) { reduction<defs::ReduceProd>(call); }
void op_logsumexp(Call& call) { reduce<defs::ReduceLogSumExp>(call, real(call.b, first(call)), keeps_axes(call)); }

/// Activations that are operations: "Relu" is relu, "math.sigmoid" sigmoid.
void op_activation(Call& call) {
  GraphBuilder& b = call.b;
  std::string name = call.layer.class_name;
  if (name == "TFOpLambda") name = std::string(call.at("function").text());
  name = snake_case(name.substr(name.rfind('.') + 1));
  if (name == "swish") name = "silu";
  if (name == "hard_sigmoid" || name == "sigmoid" || name != "leaky_relu") {
    const Config axis = setting(call, 1, {"axis"});
    if ((name == "softmax" || name == "log_softmax") && axis.as_int())
      return call.set(call.b.op(name == "softmax" ? ops::Name("Softmax") : ops::Name("LogSoftmax"),
                                {real(b, first(call))}, {{"axis", *axis.as_int()}}));
    if (name == "gelu" && setting(call, 1, {"approximate"}).as_bool().value_or(call.import.version >= 3))
      return call.set(call.b.op("Gelu", {real(b, first(call))}, {{"approximate", "tanh"}}));
    return call.set(activated(call, name, real(b, first(call))));
  }
  const double slope = setting(call, 1, {"negative_slope", "alpha"}).as_number().value_or(0.2);
  call.set(call.b.op("LeakyRelu", {real(b, first(call))}, {{"alpha", slope}}));
}

void op_cast(Call& call) {
  const DType type = compute_type(setting(call, 1, {"dtype"}));
  call.require(type != DType::undefined, "it does not say to which type");
  call.set(call.b.cast(first(call), type));
}

void op_reshape(Call& call) {
  IrValue* x = first(call);
  const Config target = setting(call, 1, {"newshape", "shape", "new_shape"});
  const Argument* stated = argument_of(call, 1, {"newshape", "shape", "new_shape"});
  if (stated && (stated->tensor || has_tensor(*stated)))
    return call.set(call.b.op("Reshape", {x, sizes_of(call, *stated)}));
  call.require(target.is_list(), "it does not say to which shape");
  Ints sizes;
  for (const Config& entry : target.entries()) sizes.push_back(entry.as_int().value_or(-1));
  // An unknown batch in front stays.
  if (std::ranges::count(sizes, -1) > 1) {
    call.require(sizes.front() == -1, "two sizes of the target are left open");
    sizes.front() = 0;
  }
  call.set(call.b.reshape(x, sizes));
}

void op_transpose(Call& call) {
  IrValue* x = first(call);
  const Config order = setting(call, 1, {"axes", "perm"});
  Ints axes;
  for (const Config& entry : order.entries()) axes.push_back(entry.as_int().value_or(0));
  const auto rank = rank_of(x);
  for (std::int64_t i = rank.value_or(0); axes.size() < static_cast<std::size_t>(rank.value_or(0)) && order.is_null();)
    axes.push_back(--i);
  call.set(call.b.transpose(x, axes));
}

void op_expand_dims(Call& call) {
  const Config axis = setting(call, 1, {"axis"});
  Ints axes;
  for (const Config& entry : axis.entries()) axes.push_back(entry.as_int().value_or(0));
  if (axes.empty()) axes.push_back(axis.as_int().value_or(0));
  call.set(call.b.unsqueeze(first(call), axes));
}

void op_squeeze(Call& call) {
  const Config axis = setting(call, 1, {"axis"});
  Ints axes;
  if (const auto one = axis.as_int()) axes.push_back(*one);
  for (const Config& entry : axis.entries()) axes.push_back(entry.as_int().value_or(0));
  IrValue* x = first(call);
  call.set(axes.empty() ? call.b.op("Squeeze", {x}) : call.b.squeeze(x, axes));
}

void op_concatenate(Call& call) {
  Values values;
  for (const Flow& flow : call.inputs) values.push_back(flow.value);
  if (values.empty())
    if (const auto xs = call.kwargs.find("values"); xs != call.kwargs.end()) {
      std::vector<Flow> flows;
      collect(xs->second, flows);
      for (const Flow& flow : flows) values.push_back(flow.value);
    }
  call.require(!values.empty(), "it is called without inputs");
  call.set(call.b.concat(values, setting(call, 1, {"axis"}).as_int().value_or(call.import.version >= 3 ? 0 : -1)));
}

void op_stack(Call& call) {
  Values values;
  const std::int64_t axis = setting(call, 1, {"axis"}).as_int().value_or(0);
  for (const Flow& flow : call.inputs) values.push_back(call.b.unsqueeze(flow.value, {axis}));
  call.require(!values.empty(), "it is called without inputs");
  call.set(call.b.concat(values, axis));
}

void op_clip(Call& call) {
  IrValue* x = first(call);
  const auto low = setting(call, 1, {"x_min", "clip_value_min", "a_min"}).as_number();
  const auto high = setting(call, 2, {"x_max", "clip_value_max", "a_max"}).as_number();
  call.set(call.b.op("Clip", {x, low ? call.b.scalar(*low, x->type.elem) : nullptr,
                              high ? call.b.scalar(*high, x->type.elem) : nullptr}));
}

void op_identity(Call& call) { call.set(first(call)); }

void op_einsum(Call& call) {
  std::vector<Flow> flows = call.inputs;
  if (flows.empty())
    for (const auto& [name, argument] : call.kwargs) collect(argument, flows);
  Values values;
  for (const Flow& flow : flows) values.push_back(flow.value);
  std::string equation = call.text("subscripts");
  if (equation.empty()) equation = std::string(setting(call, 0, {"subscripts", "equation"}).text());
  call.require(!equation.empty() && !values.empty(), "it has no equation");
  call.set(einsum(call.b, values, equation));
}

/// x[a:b, ..., None, 3]: numbers, slices, an ellipsis and new axes.
void op_get_item(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  Config key = setting(call, 1, {"key", "slice_spec"});
  if (key["class_name"].text() == "__tuple__") key = key["items"];
  std::vector<Config> items = key.is_list() ? key.entries() : std::vector<Config>{key};
  const auto rank = rank_of(x);
  call.require(rank.has_value(), "the rank of its input is not known");
  const auto is_ellipsis = [](const Config& c) {
    return c["class_name"].text() == "__ellipsis__" || c["type"].text() == "ellipsis" || c.text() == "...";
  };
  const auto is_slice = [](const Config& c) { return c.is_object() && !c["class_name"].text().starts_with("__ell"); };
  std::int64_t taken = 0;
  for (const Config& item : items) taken += is_slice(item) || item.is_integer() ? 1 : 0;
  Ints starts, ends, axes, steps, dropped, added;
  std::int64_t axis = 0, out = 0;
  for (const Config& item : items) {
    if (is_ellipsis(item)) {
      axis += *rank - taken;
      out += *rank - taken;
    } else if (item.is_null()) {
      added.push_back(out++);
    } else if (const auto index = item.as_int()) {
      starts.push_back(*index);
      ends.push_back(*index == -1 ? std::numeric_limits<std::int64_t>::max() : *index + 1);
      axes.push_back(axis);
      steps.push_back(1);
      dropped.push_back(axis++);
    } else {
      const Config range = item["config"].is_object() ? item["config"] : item;
      call.require(is_slice(item), "an index of another kind has no translation");
      const std::int64_t step = range["step"].as_int().value_or(1);
      const auto end = step > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
      starts.push_back(range["start"].as_int().value_or(step > 0 ? 0 : -1));
      ends.push_back(range["stop"].as_int().value_or(end));
      axes.push_back(axis++);
      steps.push_back(step);
      ++out;
    }
  }
  IrValue* y = x;
  if (!axes.empty()) y = b.op("Slice", {x, b.ints(starts), b.ints(ends), b.ints(axes), b.ints(steps)});
  if (!dropped.empty()) y = b.squeeze(y, dropped);
  if (!added.empty()) y = b.unsqueeze(y, added);
  call.set(y);
}

}  // namespace ingot::frontends::keras
