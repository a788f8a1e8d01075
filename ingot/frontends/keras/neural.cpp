// Operations of networks among keras.ops: normalisations, losses, attention, blocks of images.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// An argument that may be left out.
IrValue* given(Call& call, std::size_t place, const char* name, DType type) {
  const Argument* argument = argument_of(call, place, {name});
  if (!argument || (!argument->tensor && argument->literal.is_null())) return nullptr;
  return call.b.cast(operand_named(call, place, {name}, type), type);
}

double epsilon_of(const Call& call, double otherwise) {
  return setting(call, 99, {"epsilon", "variance_epsilon"}).as_number().value_or(otherwise);
}

constexpr double kEpsilon = 1e-7;

/// Logarithms of shares that sum to one.
IrValue* log_of_shares(Call& call, IrValue* output, std::int64_t axis) {
  GraphBuilder& b = call.b;
  if (setting(call, 2, {"from_logits"}).as_bool().value_or(false))
    return b.op("LogSoftmax", {output}, {{"axis", axis}});
  IrValue* shares = b.div(output, b.op("ReduceSum", {output, b.ints({axis})}));
  return b.op("Log", {b.op("Clip", {shares, number_like(b, output, kEpsilon), number_like(b, output, 1 - kEpsilon)})});
}

/// One number for both axes, or one for each.
Ints two_of(Call& call, const char* name, std::int64_t otherwise, std::int64_t least) {
  Ints values = ints_of(setting(call, 99, {name}));
  if (values.empty()) values.push_back(otherwise);
  if (values.size() == 1) values.push_back(values[0]);
  constexpr std::int64_t kMost = 1 << 16;
  call.require(
      values.size() == 2 && std::ranges::all_of(values, [&](std::int64_t v) { return v >= least && v <= kMost; }),
      std::string("'") + name + "' is no size");
  return values;
}

}  // namespace

void op_batch_norm(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, call.in());
  const std::int64_t rank = rank_needed(call, x);
  const std::int64_t axis = counted_from_front(call, {setting(call, 3, {"axis"}).as_int().value_or(-1)}, rank)[0];
  Ints sizes(static_cast<std::size_t>(rank), 1);
  sizes[static_cast<std::size_t>(axis)] = -1;
  const auto along = [&](IrValue* v) { return v ? b.reshape(v, sizes) : nullptr; };
  const DType type = x->type.elem;
  IrValue *mean = along(given(call, 1, "mean", type)), *variance = along(given(call, 2, "variance", type));
  call.require(mean && variance, "it is called without one of its arguments");
  IrValue* y = b.div(b.sub(x, mean), b.op("Sqrt", {b.add(variance, epsilon_of(call, 1e-3))}));
  // Their places have changed from version to version: they are known by their names.
  const bool is_offset_first = call.args.size() > 3;
  if (IrValue* scale = along(given(call, is_offset_first ? 4 : 98, "scale", type))) y = b.mul(y, scale);
  if (IrValue* offset = along(given(call, is_offset_first ? 3 : 98, "offset", type))) y = b.add(y, offset);
  call.set(y);
}

/// "LayerNorm" and "RMSNorm".
void op_layer_norm(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, call.in());
  const bool is_layer = call.layer.class_name == "LayerNorm";
  const bool is_centred = is_layer && !setting(call, 99, {"rms_scaling"}).as_bool().value_or(false);
  const std::int64_t rank = rank_needed(call, x);
  Ints axes = ints_of(setting(call, 99, {"axis"}));
  if (axes.empty()) axes.push_back(-1);
  axes = counted_from_front(call, axes, rank);
  std::ranges::sort(axes);
  IrValue* at = b.ints(axes);
  const auto spread = [&](IrValue* v) {  // sizes of the named axes
    if (!v || rank_needed(call, v) == rank) return v;
    Ints missing;
    for (std::int64_t i = axes.front() + 1; i < rank; ++i)
      if (std::ranges::find(axes, i) == axes.end()) missing.push_back(i - axes.front());
    return missing.empty() ? v : b.unsqueeze(v, missing);
  };
  IrValue* away = is_centred ? b.sub(x, b.op("ReduceMean", {x, at})) : x;
  IrValue* variance = b.op("ReduceMean", {b.mul(away, away), at});
  IrValue* y = b.div(away, b.op("Sqrt", {b.add(variance, epsilon_of(call, is_layer ? 1e-3 : kEpsilon))}));
  const DType type = x->type.elem;
  if (IrValue* scale = spread(given(call, 1, is_layer ? "gamma" : "scale", type))) y = b.mul(y, scale);
  if (IrValue* shift = is_centred ? spread(given(call, 2, "beta", type)) : nullptr) y = b.add(y, shift);
  call.set(y);
}

void op_binary_crossentropy(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* output = real(b, operand_named(call, 1, {"output"}, DType::f32));
  IrValue* target = b.cast(operand_named(call, 0, {"target"}, output->type.elem), output->type.elem);
  if (setting(call, 2, {"from_logits"}).as_bool().value_or(false)) {
    // max(x, 0) - x * target + log(1 + e^-|x|)
    IrValue* rest = b.op("Softplus", {b.neg(b.op("Abs", {output}))});
    return call.set(b.add(b.sub(b.op("Relu", {output}), b.mul(output, target)), rest));
  }
  IrValue* y = b.op("Clip", {output, number_like(b, output, kEpsilon), number_like(b, output, 1 - kEpsilon)});
  IrValue* is = b.mul(target, b.op("Log", {y}));
  IrValue* is_not = b.mul(b.sub(1, target), b.op("Log", {b.sub(1, y)}));
  call.set(b.neg(b.add(is, is_not)));
}

/// "CategoricalCrossentropy" and "SparseCategoricalCrossentropy".
void op_crossentropy(Call& call) {
  GraphBuilder& b = call.b;
  const bool is_sparse = call.layer.class_name.starts_with("Sparse");
  IrValue* output = real(b, operand_named(call, 1, {"output"}, DType::f32));
  IrValue* target = operand_named(call, 0, {"target"}, is_sparse ? DType::i32 : output->type.elem);
  const std::int64_t axis = setting(call, 3, {"axis"}).as_int().value_or(-1);
  IrValue* logs = log_of_shares(call, output, axis);
  if (!is_sparse) {
    IrValue* products = b.mul(b.cast(target, output->type.elem), logs);
    return call.set(b.neg(b.op("ReduceSum", {products, b.ints({axis})}, {{"keepdims", 0}})));
  }
  if (rank_needed(call, target) < rank_needed(call, output)) target = b.unsqueeze(target, {axis});
  IrValue* picked = b.op("GatherElements", {logs, b.cast(target, DType::i64)}, {{"axis", axis}});
  call.set(b.neg(b.squeeze(picked, {axis})));
}

/// Which classes a row names.
void op_multi_hot(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.cast(first(call), DType::i64);
  const std::int64_t rank = rank_needed(call, x);
  const auto classes = setting(call, 1, {"num_classes", "num_tokens"}).as_int();
  call.require(classes && *classes > 0, "it does not say of how many classes");
  if (setting(call, 2, {"axis"}).as_int().value_or(-1) != -1)
    call.refuse("another axis than the last has no translation");
  DType type = compute_type(setting(call, 3, {"dtype"}));
  if (type == DType::undefined) type = DType::f32;
  IrValue* is_it = b.op("Equal", {b.unsqueeze(x, {rank}), counted(b, b.index(*classes))});
  IrValue* at = b.ints({rank > 1 ? std::int64_t{1} : std::int64_t{0}});
  call.set(b.cast(b.op("ReduceMax", {b.cast(is_it, DType::i32), at}, {{"keepdims", 0}}), type));
}

/// How far the largest value stands above the noise between two images.
void op_signal_to_noise(Call& call) {
  GraphBuilder& b = call.b;
  const auto [x, y] = pair_of(call);
  IrValue* away = b.sub(real(b, x), real(b, y));
  IrValue* mean = b.op("ReduceMean", {b.mul(away, away)}, {{"keepdims", 0}});
  const double most = setting(call, 2, {"max_val"}).as_number().value_or(1);
  constexpr double kDecibel = 10 / 2.302585092994046;
  call.set(b.sub(20 * std::log10(most), b.mul(b.op("Log", {mean}), kDecibel)));
}

/// Queries, keys and values [batch, steps, heads, size].
void op_attention(Call& call) {
  GraphBuilder& b = call.b;
  Values parts;
  for (const char* name : {"query", "key", "value"})
    parts.push_back(b.transpose(real(b, operand_named(call, parts.size(), {name}, DType::f32)), {0, 2, 1, 3}));
  const DType type = parts[0]->type.elem;
  const auto size = dim_of(parts[1], 3);
  call.require(size && *size > 0, "the size of its heads is not known");
  const auto stated = setting(call, 5, {"scale"}).as_number();
  IrValue* logits = b.op("MatMul", {parts[0], b.transpose(parts[1], {0, 1, 3, 2})});
  logits = b.mul(logits, stated.value_or(1 / std::sqrt(static_cast<double>(*size))));
  if (IrValue* bias = given(call, 3, "bias", type)) logits = b.add(logits, bias);
  if (const auto cap = setting(call, 99, {"attn_logits_soft_cap"}).as_number())
    logits = b.mul(b.op("Tanh", {b.div(logits, *cap)}), *cap);
  IrValue* mask = given(call, 4, "mask", DType::boolean);
  if (setting(call, 99, {"is_causal"}).as_bool().value_or(false)) {
    IrValue *rows = counted(b, size_of(b, logits, 2)), *columns = counted(b, size_of(b, logits, 3));
    IrValue* is_past = b.op("LessOrEqual", {columns, b.unsqueeze(rows, {1})});
    mask = mask ? b.op("And", {mask, is_past}) : is_past;
  }
  if (mask)
    logits = b.where(mask, logits, number_like(b, logits, type == DType::f16 ? -0.7 * 65504 : -0.7 * 3.4028235e38));
  IrValue* shares = b.op("Softmax", {logits}, {{"axis", -1}});
  call.set(b.transpose(b.op("MatMul", {shares, parts[2]}), {0, 2, 1, 3}));
}

/// Blocks of channels as blocks of pixels, and back.
void op_blocks(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t block = setting(call, 1, {"block_size"}).as_int().value_or(0);
  call.require(block > 0 && block < (1 << 16) && rank_needed(call, x) == 4,
               "it takes four axes and the size of a block");
  const bool is_first = setting(call, 2, {"data_format"}).text() == "channels_first";
  const bool is_to_space = call.layer.class_name == "DepthToSpace";
  if (!is_first) x = b.transpose(x, {0, 3, 1, 2});
  // With channels first, Keras's blocks of channels lie inside of a channel.
  IrValue* y = nullptr;
  if (is_to_space) {
    y = b.op("DepthToSpace", {x}, {{"blocksize", block}, {"mode", is_first ? "CRD" : "DCR"}});
  } else {
    y = b.op("SpaceToDepth", {x}, {{"blocksize", block}});
    if (is_first) {  // [block * block, channels] -> [channels, block * block]
      IrValue* tail = b.op("Slice", {b.shape(y), b.ints({2}), b.ints({4}), b.ints({0})});
      IrValue* parts = b.op("Reshape", {y, b.concat({b.ints({0, block * block, -1}), tail}, 0)});
      y = b.op("Reshape", {b.transpose(parts, {0, 2, 1, 3, 4}), b.shape(y)});
    }
  }
  call.set(is_first ? y : b.transpose(y, {0, 2, 3, 1}));
}

/// Windows of an image as columns.
void op_unfold(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const Ints kernel = two_of(call, "kernel_size", 1, 1), dilation = two_of(call, "dilation", 1, 1);
  const Ints padding = two_of(call, "padding", 0, 0), stride = two_of(call, "stride", 1, 1);
  const auto channels = dim_of(x, 1);
  call.require(rank_needed(call, x) == 4 && channels, "it takes images with a known number of channels");
  call.require(kernel[0] * kernel[1] <= 4096, "its window is too large");
  // Each element of a window is a filter of its own.
  const std::int64_t window = kernel[0] * kernel[1];
  std::vector<float> ones(static_cast<std::size_t>(window * window), 0);
  for (std::int64_t i = 0; i < window; ++i) ones[static_cast<std::size_t>(i * window + i)] = 1;
  IrValue* one = b.cast(b.constant(Tensor::of<float>({window, 1, kernel[0], kernel[1]}, ones)), x->type.elem);
  IrValue* filters = b.op("Tile", {one, b.ints({*channels, 1, 1, 1})});
  IrValue* y = b.op("Conv", {x, filters},
                    {{"group", *channels},
                     {"strides", stride},
                     {"dilations", dilation},
                     {"pads", {padding[0], padding[1], padding[0], padding[1]}}});
  call.set(b.reshape(y, {0, window * *channels, -1}));
}

/// Columns as windows of an image, which are added.
void op_fold(Call& call) {
  const Ints size = two_of(call, "output_size", 1, 1), kernel = two_of(call, "kernel_size", 1, 1);
  const Ints dilation = two_of(call, "dilation", 1, 1), padding = two_of(call, "padding", 0, 0);
  const Ints stride = two_of(call, "stride", 1, 1);
  call.set(call.b.op(
      "Col2Im", {first(call), call.b.ints(size), call.b.ints(kernel)},
      {{"strides", stride}, {"dilations", dilation}, {"pads", {padding[0], padding[1], padding[0], padding[1]}}}));
}

}  // namespace ingot::frontends::keras
