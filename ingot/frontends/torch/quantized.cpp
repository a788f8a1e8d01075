// Quantised operators. A quantised tensor is the real numbers that it stands for, behind a DequantizeLinear: what
// computes with it becomes the ordinary operator between a DequantizeLinear and a QuantizeLinear.
#include "ingot/frontends/torch/quantized.h"

#include <algorithm>
#include <array>

#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

constexpr int kFarthest = 64;

struct Scheme {
  Value *scale, *zero;
};

Value* rounded_to(GraphBuilder& g, Value* x, const Scheme& scheme, std::int64_t axis = 0) {
  const Attrs attrs = rank_of(scheme.scale) == 1 ? Attrs{{"axis", axis}} : Attrs{};
  Value* whole = g.op("QuantizeLinear", {g.cast(x, DType::f32), scheme.scale, scheme.zero}, attrs);
  return g.op("DequantizeLinear", {whole, scheme.scale, scheme.zero}, attrs);
}

Scheme scheme_of(const Call& c, std::size_t scale, std::size_t zero, DType dtype) {
  GraphBuilder& g = c.g();
  Value* step = c.arg(scale).is<double>() ? g.scalar(c.real(scale), DType::f32) : g.cast(c.tensor(scale), DType::f32);
  return {step, g.cast(c.tensor(zero), dtype)};
}

/// How the tensor was quantised; nothing: it was not. Some operators hand their operand's scheme on.
std::optional<Scheme> scheme_behind(Value* x) {
  for (int i = 0; i < kFarthest && x; ++i) {
    const Node* node = x->producer();
    if (!node) return std::nullopt;
    if (node->op == "DequantizeLinear") return Scheme{node->input(1), node->input(2)};
    constexpr std::array<std::string_view, 10> kSame = {"Relu",  "MaxPool",   "Reshape", "Transpose", "Squeeze",
                                                        "Slice", "Unsqueeze", "Gather",  "Expand",    "Split"};
    if (std::ranges::find(kSame, node->op) == kSame.end()) return std::nullopt;
    x = node->input(0);
  }
  return std::nullopt;
}

Scheme needed_scheme(Value* x) {
  if (const auto scheme = scheme_behind(x)) return *scheme;
  refuse("a tensor is taken as quantised that is not");
}

/// Weight, bias, and of a convolution its settings, from whatever form they were packed in.
struct Packed {
  Item weight, bias;
  Ints stride{}, padding{}, dilation{}, output_padding{};
  std::int64_t groups = 1;
  bool is_transposed = false;
};

const Tuple* state_of(const Item& item) {
  if (const ObjectRef* object = item.get<ObjectRef>()) {
    const auto state = (*object)->attributes.find("__state__");
    return state == (*object)->attributes.end() ? nullptr : state->second.get<Tuple>();
  }
  return item.get<Tuple>();
}

Ints numbers_of(const Call& c, const Item& item) {
  if (const TensorRef* tensor = item.get<TensorRef>()) {
    const auto known = known_ints(c.t.read(*tensor));
    if (!known) refuse("the settings of a packed convolution are not known");
    return *known;
  }
  return Call{c.t, c.row, {item}}.ints(0);
}

/// spatial, then stride, padding, dilation and output padding of each axis, groups, whether it is transposed
void take_settings(const Ints& all, Packed& packed) {
  const std::size_t n = all.empty() ? 0 : static_cast<std::size_t>(std::clamp<std::int64_t>(all[0], 0, 3));
  if (n == 0 || all.size() < 3 + 4 * n) refuse("the settings of a packed convolution have another form");
  const auto part = [&](std::size_t i) {
    return Ints(all.begin() + static_cast<std::ptrdiff_t>(1 + i * n),
                all.begin() + static_cast<std::ptrdiff_t>(1 + (i + 1) * n));
  };
  packed.stride = part(0);
  packed.padding = part(1);
  packed.dilation = part(2);
  packed.output_padding = part(3);
  packed.groups = all[1 + 4 * n];
  packed.is_transposed = (all[2 + 4 * n] & 1) != 0;
}

Packed packed_convolution(const Call& c, std::size_t i) {
  const Tuple* state = state_of(c.arg(i));
  const auto lists = [&](std::size_t at) -> const std::vector<Item>& {
    const ListRef* list = (*state->items)[at].get<ListRef>();
    if (!list) refuse("the packed weights have another form");
    return (*list)->items;
  };
  if (!state || state->items->size() < 3) refuse("the packed weights have another form");
  Packed packed;
  const std::vector<Item>& parts = *state->items;
  if (parts.size() == 3 && parts[0].is<std::string>()) {  // version 2: a tensor of settings beside the weight
    if (lists(1).size() < 2 || lists(2).empty()) refuse("the packed weights have another form");
    take_settings(numbers_of(c, lists(1)[0]), packed);
    packed.weight = lists(1)[1];
    packed.bias = lists(2)[0];
  } else if (parts.size() == 3 && parts[0].is<std::int64_t>()) {  // version 3: numbers
    if (lists(2).size() < 3) refuse("the packed weights have another form");
    take_settings(numbers_of(c, parts[1]), packed);
    packed.weight = lists(2)[1];
    packed.bias = lists(2)[2];
  } else {  // as a prepack operator was given them
    if (parts.size() < 7) refuse("the packed weights have another form");
    packed = {.weight = parts[0], .bias = parts[1]};
    packed.is_transposed = parts.size() > 7;
    packed.stride = numbers_of(c, parts[2]);
    packed.padding = numbers_of(c, parts[3]);
    if (packed.is_transposed) packed.output_padding = numbers_of(c, parts[4]);
    packed.dilation = numbers_of(c, parts[packed.is_transposed ? 5 : 4]);
    packed.groups = Call{c.t, c.row, {parts[packed.is_transposed ? 6 : 5]}}.integer(0);
  }
  return packed;
}

Item convolved(const Call& c, const Packed& p) {
  const Item stride = Item::integers(p.stride), padding = Item::integers(p.padding);
  const Item dilation = Item::integers(p.dilation);
  const bool is_transposed = p.is_transposed;
  const Item more = Item::integers(p.output_padding.empty() ? Ints(p.stride.size(), 0) : p.output_padding);
  return c.t.call("convolution",
                  {c.arg(0), p.weight, p.bias, stride, padding, dilation, is_transposed, more, p.groups});
}

Packed packed_linear(const Call& c, std::size_t i) {
  const Tuple* state = state_of(c.arg(i));
  if (!state || state->items->size() < 2) refuse("the packed weights have another form");
  return {.weight = (*state->items)[0], .bias = (*state->items)[1]};
}

/// The result in the scheme that arguments `scale` and `scale + 1` say.
Item finished(const Call& c, const Item& y, std::size_t scale, bool is_relu) {
  const Item bounded = is_relu ? c.t.call("relu", {y}) : y;
  const TensorRef* tensor = bounded.get<TensorRef>();
  if (!tensor) return bounded;
  return rounded_to(c.g(), c.t.read(*tensor), scheme_of(c, scale, scale + 1, DType::u8));
}

bool is_relu(const Call& c) { return c.row.name.ends_with("_relu"); }

Item in_own_scheme(const Call& c, const Item& y) {
  const TensorRef* tensor = y.get<TensorRef>();
  return tensor ? Item(rounded_to(c.g(), c.t.read(*tensor), needed_scheme(c.tensor(0)))) : y;
}

}  // namespace

Value* dynamically_rounded(GraphBuilder& g, Value* x) {
  const Values made = g.op("DynamicQuantizeLinear", {g.cast(x, DType::f32)}, {}, 3);
  return g.op("DequantizeLinear", {made[0], made[1], made[2]});
}

bool is_quantized(Value* value) { return scheme_behind(value).has_value(); }

Item requantized(const Call& c, Item result) {
  constexpr std::array<std::string_view, 14> kRounding = {"_adaptive_avg_pool2d",
                                                          "adaptive_avg_pool1d",
                                                          "adaptive_avg_pool2d",
                                                          "adaptive_avg_pool3d",
                                                          "avg_pool2d",
                                                          "avg_pool3d",
                                                          "clamp",
                                                          "hardtanh",
                                                          "leaky_relu",
                                                          "mean",
                                                          "sigmoid",
                                                          "tanh",
                                                          "upsample_bilinear2d",
                                                          "hardsigmoid"};
  const TensorRef* made = result.get<TensorRef>();
  if (!made || !c.is_tensor(0) || std::ranges::find(kRounding, c.row.name) == kRounding.end()) return result;
  std::optional<Scheme> scheme = scheme_behind(c.tensor(0));
  if (!scheme) return result;
  GraphBuilder& g = c.g();
  const bool is_tanh = c.row.name == "tanh";
  if (is_tanh || c.row.name == "sigmoid" || c.row.name == "hardsigmoid")
    scheme = Scheme{g.scalar((is_tanh ? 2.0 : 1.0) / 256, DType::f32), g.scalar(is_tanh ? 128 : 0, DType::u8)};
  return rounded_to(g, c.t.read(*made), *scheme);
}

Item quantize_per_tensor(const Call& c) {
  return rounded_to(c.g(), c.tensor(0), scheme_of(c, 1, 2, c.dtype(3, DType::u8)));
}
Item quantize_per_channel(const Call& c) {
  const Scheme scheme = scheme_of(c, 1, 2, c.dtype(4, DType::i8));
  return rounded_to(c.g(), c.tensor(0), scheme, c.axis(3, c.tensor(0)));
}
/// Whether the tensor was quantised ends here: an Identity hides it.
Item dequantize(const Call& c) { return c.g().op("Identity", {c.tensor(0)}); }
Item int_repr(const Call& c) {
  const Scheme scheme = needed_scheme(c.tensor(0));
  return c.g().op("QuantizeLinear", {c.tensor(0), scheme.scale, scheme.zero});
}
Item q_scale(const Call& c) { return c.t.number_of(c.g().cast(needed_scheme(c.tensor(0)).scale, DType::f64)); }
Item q_zero_point(const Call& c) { return c.t.number_of(c.g().cast(needed_scheme(c.tensor(0)).zero, DType::i64)); }
Item fake_quantize_per_tensor(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* scale = g.cast(c.tensor(1), x->type.elem);
  Value* zero = g.cast(c.tensor(2), x->type.elem);
  Value* whole = g.add(g.op("Round", {g.div(x, scale)}), zero);
  whole = g.op("Clip", {whole, g.scalar(c.real(3), x->type.elem), g.scalar(c.real(4), x->type.elem)});
  return g.mul(g.sub(whole, zero), scale);
}
Item fake_quantize_per_channel(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Ints shape(static_cast<std::size_t>(c.rank(x)), 1);
  shape[static_cast<std::size_t>(c.axis(3, x))] = -1;
  const Item scale(g.reshape(c.tensor(1), shape)), zero(g.reshape(c.tensor(2), shape));
  return c.t.call("fake_quantize_per_tensor_affine", {c.arg(0), scale, zero, c.arg(4), c.arg(5)});
}

Item quantized_prepack(const Call& c) { return Item::tuple(c.args); }
Item quantized_unpack(const Call& c) {
  const Tuple* state = state_of(c.arg(0));
  if (!state || state->items->size() < 2) refuse("the packed weights have another form");
  return Item::tuple({(*state->items)[0], (*state->items)[1]});
}
Item quantized_conv(const Call& c) { return finished(c, convolved(c, packed_convolution(c, 1)), 2, is_relu(c)); }
/// The packed weights are those of two axes, of which the first is one long.
Item quantized_conv1d(const Call& c) {
  const Packed p = packed_convolution(c, 1);
  const bool is_wide = c.rank(c.t.read(*p.weight.get<TensorRef>())) == 4;
  Call wide = c;
  if (is_wide) wide.args[0] = c.t.call("unsqueeze", {c.arg(0), Item(2)});
  const Item y = convolved(wide, p);
  return finished(c, is_wide ? c.t.call("squeeze", {y, Item(2)}) : y, 2, is_relu(c));
}
Item quantized_linear(const Call& c) {
  const Packed p = packed_linear(c, 1);
  return finished(c, c.t.call("linear", {c.arg(0), p.weight, p.bias}), 2, is_relu(c));
}
Item quantized_linear_dynamic(const Call& c) {
  const Packed p = packed_linear(c, 1);
  const bool is_half = c.row.name.ends_with("fp16");
  const Item x = is_half ? c.arg(0) : Item(dynamically_rounded(c.g(), c.tensor(0)));
  const Item y = c.t.call("linear", {x, p.weight, p.bias});
  return c.row.name.find("relu") != std::string_view::npos ? c.t.call("relu", {y}) : y;
}
Item quantized_add(const Call& c) { return finished(c, c.t.call("add", {c.arg(0), c.arg(1)}), 2, is_relu(c)); }
Item quantized_mul(const Call& c) { return finished(c, c.t.call("mul", {c.arg(0), c.arg(1)}), 2, is_relu(c)); }
Item quantized_matmul(const Call& c) { return finished(c, c.t.call("matmul", {c.arg(0), c.arg(1)}), 2, false); }
Item quantized_cat(const Call& c) { return finished(c, c.t.call("cat", {c.arg(0), c.arg(1)}), 2, is_relu(c)); }
/// By a number: the scheme is scaled with it, and nothing is rounded anew.
Item quantized_mul_scalar(const Call& c) { return c.t.call("mul", {c.arg(0), c.arg(1)}); }
Item quantized_add_scalar(const Call& c) { return in_own_scheme(c, c.t.call("add", {c.arg(0), c.arg(1)})); }
Item quantized_batch_norm(const Call& c) {
  const Item y =
      c.t.call("batch_norm", {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), false, 0.1, c.arg(5), false});
  return finished(c, y, 6, is_relu(c));
}
Item quantized_layer_norm(const Call& c) {
  return finished(c, c.t.call("layer_norm", {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4)}), 5, false);
}
Item quantized_hardswish(const Call& c) { return finished(c, c.t.call("hardswish", {c.arg(0)}), 1, false); }
Item quantized_sigmoid(const Call& c) { return finished(c, c.t.call("sigmoid", {c.arg(0)}), 1, false); }
Item quantized_leaky_relu(const Call& c) { return finished(c, c.t.call("leaky_relu", {c.arg(0), c.arg(1)}), 3, false); }
Item quantized_elu(const Call& c) { return finished(c, c.t.call("elu", {c.arg(0), c.arg(3)}), 1, false); }
Item quantized_softmax(const Call& c) { return finished(c, c.t.call("softmax", {c.arg(0), c.arg(1)}), 2, false); }
Item quantized_prelu(const Call& c) { return finished(c, c.t.call("prelu", {c.arg(0), c.arg(1)}), 2, false); }
Item quantized_relu6(const Call& c) { return c.t.call("relu6", {c.arg(0)}); }
Item quantized_clamp(const Call& c) { return in_own_scheme(c, c.t.call("clamp", {c.arg(0), c.arg(1), c.arg(2)})); }
Item quantized_max_pool(const Call& c) {
  const char* name = c.row.name.find("1d") != std::string_view::npos ? "max_pool1d" : "max_pool2d";
  return c.t.call(name, c.args);
}
Item quantized_dropout(const Call& c) { return c.arg(0); }

// torch.export's own quantised operators: integers are integers there.
Item decomposed_quantize(const Call& c) {
  GraphBuilder& g = c.g();
  const DType dtype = c.dtype(5, DType::i8);
  Value* x = c.tensor(0);
  const Scheme scheme = scheme_of(c, 1, 2, dtype);
  const auto known = [&](std::size_t i, std::int64_t bound) { return c.known_integer(i).value_or(bound) == bound; };
  const std::int64_t low = dtype == DType::u8    ? 0
                           : dtype == DType::i8  ? -128
                           : dtype == DType::i16 ? -32768
                                                 : INT32_MIN;
  const std::int64_t high = dtype == DType::u8    ? 255
                            : dtype == DType::i8  ? 127
                            : dtype == DType::i16 ? 32767
                                                  : INT32_MAX;
  Value* y = dtype == DType::i32
                 ? g.cast(g.add(g.op("Round", {g.div(x, scheme.scale)}), g.cast(scheme.zero, x->type.elem)), dtype)
                 : g.op("QuantizeLinear", {x, scheme.scale, scheme.zero});
  if (known(3, low) && known(4, high)) return y;
  // A narrower range than the type has.
  return g.op("Min", {g.op("Max", {y, g.scalar(c.real(3), dtype)}), g.scalar(c.real(4), dtype)});
}
Item decomposed_dequantize(const Call& c) {
  Value* x = c.tensor(0);
  const Scheme scheme = scheme_of(c, 1, 2, x->type.elem);
  return c.g().op("DequantizeLinear", {x, scheme.scale, scheme.zero});
}
Item decomposed_quantize_per_channel(const Call& c) {
  GraphBuilder& g = c.g();
  const DType dtype = c.dtype(6, DType::i8);
  const Scheme scheme = scheme_of(c, 1, 2, dtype);
  Value* y = g.op("QuantizeLinear", {c.tensor(0), scheme.scale, scheme.zero}, {{"axis", c.axis(3, c.tensor(0))}});
  return g.op("Min", {g.op("Max", {y, g.scalar(c.real(4), dtype)}), g.scalar(c.real(5), dtype)});
}
Item decomposed_dequantize_per_channel(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  Value* scale = g.cast(c.tensor(1), DType::f32);
  Values inputs{x, scale};
  if (c.has(2)) inputs.push_back(g.cast(c.tensor(2), x->type.elem));
  return g.op("DequantizeLinear", inputs, {{"axis", c.axis(3, x)}});
}
/// The scale and zero point that cover the values that come.
Item decomposed_choose_qparams(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = g.cast(c.tensor(0), DType::f32);
  Value* nothing = g.scalar(0, DType::f32);
  Value* low = g.op("Min", {g.op("ReduceMin", {x}, {{"keepdims", 0}}), nothing});
  Value* high = g.op("Max", {g.op("ReduceMax", {x}, {{"keepdims", 0}}), nothing});
  Value* scale = g.div(g.sub(high, low), c.real(2) - c.real(1));
  scale = g.op("Max", {scale, g.scalar(c.has(3) ? c.real(3) : 0, DType::f32)});
  Value* zero = g.sub(c.real(1), g.op("Round", {g.div(low, scale)}));
  zero = g.op("Clip", {zero, g.scalar(c.real(1), DType::f32), g.scalar(c.real(2), DType::f32)});
  return Item::tensors({g.reshape(g.cast(scale, DType::f64), {1}), g.reshape(g.cast(zero, DType::i64), {1})});
}

}  // namespace ingot::frontends::torch
