// Dense layers, embeddings, and those that only move elements.
#include <limits>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/quantized.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Sizes after the batch, which stays whatever it is.
IrValue* reshaped(Call& call, IrValue* x, Ints sizes) {
  sizes.insert(sizes.begin(), 0);
  return call.b.reshape(x, sizes);
}

}  // namespace

IrValue* einsum(GraphBuilder& b, Values values, const std::string& equation) {
  const DType type = values[0]->type.elem;
  if (type != DType::bf16) return b.op("Einsum", values, {{"equation", equation}});
  for (IrValue*& value : values) value = b.cast(value, DType::f32);
  return b.cast(b.op("Einsum", values, {{"equation", equation}}), type);
}

void dense(Call& call) {
  if (!quantization_mode(call).empty()) return quantized_dense(call);
  GraphBuilder& b = call.b;
  const std::int64_t units = call.integer("units");
  IrValue* kernel = call.weight("kernel", Dims{-1, units});
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias", Dims{units}) : nullptr;
  IrValue* y = b.op("MatMul", {call.real(), kernel});
  if (bias) y = b.add(y, bias);
  call.set(activated(call, call.at("activation"), y));
}

void highway(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t size = call.size(0, -1);
  IrValue *w = call.weight("kernel", Dims{size, size}), *w_carry = call.weight("kernel_carry", Dims{size, size});
  const bool has_bias = call.flag("use_bias", true);
  IrValue* bias = has_bias ? call.weight("bias", Dims{size}) : nullptr;
  IrValue* bias_carry = has_bias ? call.weight("bias_carry", Dims{size}) : nullptr;
  IrValue *x = call.in(), *gate = b.op("MatMul", {x, w_carry}), *y = b.op("MatMul", {x, w});
  if (has_bias) {
    gate = b.add(gate, bias_carry);
    y = b.add(y, bias);
  }
  gate = b.op("Sigmoid", {gate});
  y = activated(call, call.at("activation"), y);
  call.set(b.add(b.mul(y, gate), b.mul(b.sub(1, gate), x)));
}

/// Keras 1: the largest of several dense layers. Weights [features, inputs, outputs].
void maxout_dense(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t features = call.integer("nb_feature", 4), units = call.integer("units");
  IrValue* w = call.weight("kernel", Dims{features, -1, units});
  IrValue* x = b.unsqueeze(call.in(), {0});
  IrValue* y = b.op("MatMul", {x, w});  // [features, batch, outputs]
  if (call.flag("use_bias", true)) y = b.add(y, b.unsqueeze(call.weight("bias", Dims{features, units}), {1}));
  call.set(b.op("ReduceMax", {y, b.ints({0})}, {{"keepdims", 0}}));
}

namespace {

/// From vectors back to scores of the categories.
void embedding_reversed(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* table = call.weight("embeddings", Dims{call.integer("input_dim"), call.integer("output_dim")});
  const bool is_tied = call.flag("tie_weights", true);
  IrValue* kernel = is_tied ? b.transpose(table, {1, 0}) : call.weight("reverse_embeddings");
  IrValue* y = b.op("MatMul", {b.cast(call.in(), call.elem()), kernel});
  if (const auto cap = call.at("logit_soft_cap").as_number(); cap && *cap != 0)
    y = b.mul(b.op("Tanh", {b.div(y, *cap)}), *cap);
  call.set(y);
}

}  // namespace

void embedding(Call& call) {
  const Argument* reverse = call.argument(1, "reverse");
  const bool is_reverse = reverse && reverse->literal.as_bool().value_or(false);
  if (!quantization_mode(call).empty()) {
    if (is_reverse) call.refuse("a quantized table that is read backwards has no translation");
    return quantized_embedding(call);
  }
  if (is_reverse) return embedding_reversed(call);
  GraphBuilder& b = call.b;
  IrValue* ids = call.in();
  IrValue* table = call.weight("embeddings", Dims{call.integer("input_dim"), call.integer("output_dim")});
  IrValue* mask = nullptr;
  if (call.flag("mask_zero", false)) {
    IrValue* zero = b.scalar(0, ids->type.elem);
    mask = b.op("Not", {b.op("Equal", {ids, zero})});
  }
  const bool is_index = ids->type.elem == DType::i32 || ids->type.elem == DType::i64;
  IrValue* whole = is_index ? ids : b.cast(ids, DType::i32);
  call.set(b.op("Gather", {table, whole}, {{"axis", 0}}), mask);
}

void masking(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  IrValue* value = b.scalar(call.number("mask_value", 0), x->type.elem);
  IrValue* counts = b.cast(b.op("Not", {b.op("Equal", {x, value})}), x->type.elem);
  IrValue* any = b.op("ReduceMax", {counts, b.ints({-1})});
  IrValue* mask = b.cast(b.squeeze(any, {-1}), DType::boolean);
  call.set(b.mul(x, any), mask);
}

void flatten(Call& call) {
  IrValue* x = call.in();
  const std::int64_t rank = call.rank();
  if (rank == 1) return call.set(call.b.unsqueeze(x, {1}));
  if (call.is_channels_first() && rank > 2) {
    Ints order{0};
    for (std::int64_t i = 2; i < rank; ++i) order.push_back(i);
    order.push_back(1);
    x = call.b.transpose(x, order);
  }
  call.set(reshaped(call, x, {-1}));
}

void reshape(Call& call) {
  const Config target = call.at("target_shape");
  Ints sizes;
  // TF.js writes null for the size that follows from the others.
  for (const Config& entry : target.entries()) {
    call.require(entry.is_null() || entry.as_int().has_value(), "'target_shape' holds what is no whole number");
    sizes.push_back(entry.as_int().value_or(-1));
  }
  call.set(reshaped(call, call.in(), std::move(sizes)));
}

void permute(Call& call) {
  Ints order = call.ints("dims", call.at("dims").size(), 1);
  order.insert(order.begin(), 0);
  call.set(call.b.transpose(call.in(), order));
}

void repeat_vector(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.unsqueeze(call.in(), {1});
  call.set(b.op("Expand", {x, b.ints({1, call.integer("n"), 1})}));
}

namespace {

/// From the first of `axes` on: the size of each letter, as the kernel has it, 1 where the bias is the same.
Dims sizes_of_bias(const IrValue* kernel, const std::string& equation, const std::string& axes) {
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == equation.npos || arrow == equation.npos || arrow < comma) return {};
  const std::string of_kernel = equation.substr(comma + 1, arrow - comma - 1), result = equation.substr(arrow + 2);
  Dims sizes;
  for (const char letter : result.substr(std::min(result.find_first_of(axes), result.size()))) {
    const std::size_t place = of_kernel.find(letter);
    const bool is_in_kernel = place != of_kernel.npos && rank_of(kernel) > static_cast<std::int64_t>(place);
    if (axes.find(letter) == axes.npos)
      sizes.push_back(1);
    else
      sizes.push_back(is_in_kernel ? dim_of(kernel, static_cast<std::int64_t>(place)).value_or(-1) : -1);
  }
  return sizes;
}

}  // namespace

void einsum_dense(Call& call) {
  if (!quantization_mode(call).empty()) return quantized_einsum_dense(call);
  GraphBuilder& b = call.b;
  IrValue* kernel = call.weight("kernel");
  std::string equation = call.text("equation");
  IrValue* y = einsum(b, {call.real(), kernel}, equation);
  const std::string axes = call.text("bias_axes");
  if (!axes.empty()) y = b.add(y, call.weight("bias", sizes_of_bias(kernel, equation, axes)));
  call.set(activated(call, call.at("activation"), y));
}

void rescaling(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(call.in(), call.elem());
  const auto numbers = [&](const char* key, double otherwise) -> IrValue* {
    const Config found = call.at(key);
    if (!found.is_list()) return b.scalar(found.as_number().value_or(otherwise), call.elem());
    std::vector<float> values;
    for (const Config& entry : found.entries()) values.push_back(static_cast<float>(entry.as_number().value_or(0)));
    return b.cast(b.constant(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values)), call.elem());
  };
  call.set(b.add(b.mul(x, numbers("scale", 1)), numbers("offset", 0)));
}

void lambda(Call& call) {
  (void)call;
  throw Error(Code::code_refused, "a Lambda layer is Python code, which is never executed")
      .hint(
          "--allow-custom Lambda keeps it as a custom node, to which --functions may give a meaning; or write it with "
          "layers of Keras and save the model again");
}

namespace {

void cropping(Call& call, std::size_t axes) {
  GraphBuilder& b = call.b;
  const std::int64_t first = call.is_channels_first() && axes > 1 ? 2 : 1;
  const auto pairs = pairs_of(call, "cropping", axes);
  Ints starts, ends, at;
  for (std::size_t i = 0; i < axes; ++i) {
    starts.push_back(pairs[i].first);
    ends.push_back(pairs[i].second ? -pairs[i].second : std::numeric_limits<std::int64_t>::max());
    at.push_back(first + static_cast<std::int64_t>(i));
  }
  call.set(b.op("Slice", {call.in(), b.ints(starts), b.ints(ends), b.ints(at)}));
}

void zero_padding(Call& call, std::size_t axes) {
  GraphBuilder& b = call.b;
  const std::size_t first = call.is_channels_first() && axes > 1 ? 2 : 1;
  const auto pairs = pairs_of(call, "padding", axes);
  const auto rank = static_cast<std::size_t>(call.rank());
  call.require(rank == axes + 2, "the input does not have the rank that the layer needs");
  Ints pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    pads[first + i] = pairs[i].first;
    pads[rank + first + i] = pairs[i].second;
  }
  call.set(b.op("Pad", {call.in(), b.ints(pads)}));
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(const Call& call, const char* key, std::size_t axes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  const Config found = call.at(key);
  if (const auto one = found.as_int()) {
    pairs.assign(axes, {*one, *one});
  } else if (axes == 1 && found.size() == 2 && found[0].as_int()) {
    pairs.emplace_back(*found[0].as_int(), found[1].as_int().value_or(0));
  } else if (found.size() == 4 && axes == 2 && found[0].as_int()) {  // Keras 1: top, bottom, left, right
    for (std::size_t i : {0U, 2U}) pairs.emplace_back(*found[i].as_int(), found[i + 1].as_int().value_or(0));
  } else {
    for (const Config& entry : found.entries()) {
      if (const auto both = entry.as_int())
        pairs.emplace_back(*both, *both);
      else
        pairs.emplace_back(entry[0].as_int().value_or(0), entry[1].as_int().value_or(0));
    }
  }
  call.require(pairs.size() == axes, std::string("'") + key + "' does not fit the layer");
  for (const auto& [before, after] : pairs) call.require(before >= 0 && after >= 0, "a size is negative");
  return pairs;
}

void cropping_1d(Call& call) { cropping(call, 1); }
void cropping_2d(Call& call) { cropping(call, 2); }
void cropping_3d(Call& call) { cropping(call, 3); }
void zero_padding_1d(Call& call) { zero_padding(call, 1); }
void zero_padding_2d(Call& call) { zero_padding(call, 2); }
void zero_padding_3d(Call& call) { zero_padding(call, 3); }

}  // namespace ingot::frontends::keras
