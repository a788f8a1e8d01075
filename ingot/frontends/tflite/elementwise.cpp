// Elementwise operators that are not one to one.
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

bool is_float_value(const Value* x) { return is_float(x->type.elem); }

/// Floor of a / b for integers: what ONNX's remainder leaves divides exactly.
Value* floor_of_quotient(GraphBuilder& b, Value* x, Value* y) {
  Value* rest = b.op("Mod", {x, y});
  Value* whole = b.sub(x, rest);
  return b.div(whole, y);
}

}  // namespace

void add_n(Op& op) {
  Values xs;
  for (std::size_t i = 0; i < op.input_count(); ++i) xs.push_back(op.real(i));
  Value* sum = xs.at(0);
  // Sum knows no integers.
  if (is_float_value(sum) && xs.size() > 1)
    sum = op.b.op("Sum", xs);
  else
    for (std::size_t i = 1; i < xs.size(); ++i) sum = op.b.add(sum, xs[i]);
  op.set_real(0, sum);
}

void squared_difference(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  Value* difference = op.b.sub(x, y);
  op.set_real(0, op.b.mul(difference, difference));
}

void square(Op& op) {
  Value* x = op.real(0);
  op.set_real(0, op.b.mul(x, x));
}

bool is_odd_sum(const Op& op) {
  const bool has_text = op.tensor(0).type == tfl::TensorType::STRING;
  const bool is_quantized = op.frame.is_quantized(op.out_tensor());
  return has_text || op.is_quantized(0) != is_quantized || op.is_quantized(1) != is_quantized;
}

void add(Op& op) {
  if (op.tensor(0).type != tfl::TensorType::STRING) return arithmetic<ops::defs::Add>(op);
  Value* x = op.stored(0);
  Value* y = op.stored(1);
  op.set(0, op.b.op("StringConcat", {x, y}));
}

bool is_wide_root(const Op& op) { return op.is_quantized(0) && op.tensor(0).type == tfl::TensorType::INT16; }

void rsqrt(Op& op) {
  Value* x = op.real(0);
  Value* root = op.b.op("Sqrt", {x});
  op.set_real(0, op.b.op("Reciprocal", {root}));
}

void floor_div(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  if (!is_float_value(x)) return op.set_real(0, floor_of_quotient(op.b, x, y));
  Value* quotient = op.b.div(x, y);
  op.set_real(0, op.b.op("Floor", {quotient}));
}

void floor_mod(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  if (!is_float_value(x)) return op.set_real(0, op.b.op("Mod", {x, y}));
  Value* rest = op.b.op("Mod", {x, y}, {{"fmod", 1}});
  Value* zero = op.b.scalar(0, x->type.elem);
  Value* rest_is_negative = op.b.op("Less", {rest, zero});
  Value* divisor_is_negative = op.b.op("Less", {y, zero});
  Value* differ = op.b.op("Xor", {rest_is_negative, divisor_is_negative});
  Value* is_zero = op.b.op("Equal", {rest, zero});
  Value* is_left = op.b.op("Not", {is_zero});
  Value* adjusts = op.b.op("And", {differ, is_left});
  Value* adjusted = op.b.add(rest, y);
  op.set_real(0, op.b.where(adjusts, adjusted, rest));
}

void right_shift(Op& op) {
  Value* x = op.b.cast(op.stored(0), DType::i64);
  Value* by = op.b.cast(op.stored(1), DType::i64);
  Value* none = op.b.scalar(0, DType::i64);
  Value* most = op.b.scalar(bits_of(op.out_dtype()) - 1, DType::i64);
  Value* clamped = op.b.op("Clip", {by, none, most});
  Value* two = op.b.scalar(2, DType::i64);
  Value* power = op.b.op("Pow", {two, clamped});
  Value* shifted = floor_of_quotient(op.b, x, power);
  op.set(0, op.b.cast(shifted, op.out_dtype()));
}

void atan2(Op& op) {
  Value* y = op.real(0);
  Value* x = op.real(1);
  const DType type = x->type.elem;
  Value* zero = op.b.scalar(0, type);
  Value* quotient = op.b.div(y, x);
  Value* right = op.b.op("Atan", {quotient});
  // Left of the axis: half a turn further, towards y's side.
  Value* half = op.b.scalar(std::numbers::pi, type);
  Value* other_half = op.b.scalar(-std::numbers::pi, type);
  Value* y_is_negative = op.b.op("Less", {y, zero});
  Value* turn = op.b.where(y_is_negative, other_half, half);
  Value* left = op.b.add(right, turn);
  Value* x_is_negative = op.b.op("Less", {x, zero});
  Value* angle = op.b.where(x_is_negative, left, right);
  // On the axis.
  Value* side = op.b.op("Sign", {y});
  Value* upright = op.b.mul(side, std::numbers::pi / 2);
  Value* is_upright = op.b.op("Equal", {x, zero});
  op.set_real(0, op.b.where(is_upright, upright, angle));
}

void not_equal(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  Value* equal = op.b.op("Equal", {x, y});
  op.set(0, op.b.op("Not", {equal}));
}

void relu_6(Op& op) { op.set_real(0, op.activated(op.real(0), tfl::ActivationFunctionType::RELU6)); }
void relu_n1_to_1(Op& op) { op.set_real(0, op.activated(op.real(0), tfl::ActivationFunctionType::RELU_N1_TO_1)); }

void relu_0_to_1(Op& op) {
  Value* x = op.real(0);
  Value* low = op.b.scalar(0, x->type.elem);
  Value* high = op.b.scalar(1, x->type.elem);
  op.set_real(0, op.b.op("Clip", {x, low, high}));
}

void leaky_relu(Op& op) {
  Value* x = op.real(0);
  op.set_real(0, op.b.op("LeakyRelu", {x}, {{"alpha", op.options.get_float("alpha")}}));
}

void prelu(Op& op) {
  Value* x = op.real(0);
  Value* slope = op.real(1);
  op.set_real(0, op.b.op("PRelu", {x, slope}));
}

void gelu(Op& op) {
  Value* x = op.real(0);
  op.set_real(0, op.b.op("Gelu", {x}, {{"approximate", op.options.get_bool("approximate") ? "tanh" : "none"}}));
}

void softmax(Op& op) {
  Value* x = op.real(0);
  const float beta = op.options.get_float("beta");
  if (beta != 1) x = op.b.mul(x, static_cast<double>(beta));
  op.set_real(0, op.b.op("Softmax", {x}, {{"axis", -1}}));
}

void log_softmax(Op& op) {
  Value* x = op.real(0);
  op.set_real(0, op.b.op("LogSoftmax", {x}, {{"axis", -1}}));
}

void cast(Op& op) {
  Value* x = op.stored(0);
  const DType to = op.out_dtype();
  op.require(!is_complex(to) && !is_complex(x->type.elem), "ONNX has no operators on complex numbers");
  op.set(0, x->type.elem == to ? op.b.op("Identity", {x}) : op.b.cast(x, to));
}

void identity(Op& op) {
  op.move(0, [&](Value* x) { return x; });
}

void select(Op& op) {
  Value* condition = op.stored(0);
  const bool stays = op.alike(op.tensor(1), op.out_tensor()) && op.alike(op.tensor(2), op.out_tensor());
  Value* yes = stays ? op.stored(1) : op.real(1);
  Value* no = stays ? op.stored(2) : op.real(2);
  const bool picks_rows = op.row.name == "SELECT" && op.rank(0) == 1 && op.rank(1) > 1;
  if (picks_rows) {
    Ints axes;
    for (std::int64_t i = 1; i < op.rank(1); ++i) axes.push_back(i);
    condition = op.b.unsqueeze(condition, axes);
  }
  Value* chosen = op.b.where(condition, yes, no);
  if (stays) return op.set(0, chosen);
  op.set_real(0, chosen);
}

void fake_quant(Op& op) {
  const double low = static_cast<double>(op.options.get_float("min")),
               high = static_cast<double>(op.options.get_float("max"));
  const std::int64_t bits = op.options.get_int("num_bits");
  op.require(bits >= 2 && bits <= 16 && high > low, "the range or number of bits is out of bounds");
  const double lowest = op.options.get_bool("narrow_range") ? 1 : 0;
  const double highest = std::exp2(static_cast<double>(bits)) - 1;
  const auto scale = static_cast<float>((high - low) / (highest - lowest));
  const double zero = std::clamp(std::round(lowest - low / static_cast<double>(scale)), lowest, highest);
  Value* x = op.real(0);
  const double bottom = (lowest - zero) * static_cast<double>(scale),
               top = (highest - zero) * static_cast<double>(scale);
  Value* least = op.b.scalar(bottom, DType::f32);
  Value* most = op.b.scalar(top, DType::f32);
  Value* clipped = op.b.op("Clip", {x, least, most});
  if (bits <= 8) {
    Value* step = op.b.constant(Tensor::scalar(scale));
    Value* middle = op.b.constant(Tensor::scalar(static_cast<std::uint8_t>(zero)));
    Value* quantized = op.b.op("QuantizeLinear", {clipped, step, middle});
    return op.set_real(0, op.b.op("DequantizeLinear", {quantized, step, middle}));
  }
  Value* steps = op.b.div(clipped, static_cast<double>(scale));
  Value* rounded = op.b.op("Round", {steps});
  op.set_real(0, op.b.mul(rounded, static_cast<double>(scale)));
}

void bucketize(Op& op) {
  const auto boundaries = op.options.get_floats("boundaries");
  Value* x = op.b.cast(op.real(0), DType::f32);
  Value* spread = op.b.unsqueeze(x, {-1});
  Value* limits = op.b.constant(Tensor::of<float>({static_cast<std::int64_t>(boundaries.size())},
                                                  std::vector<float>(boundaries.begin(), boundaries.end())));
  Value* beyond = op.b.op("GreaterOrEqual", {spread, limits});
  Value* ones = op.b.cast(beyond, DType::i32);
  op.set(0, op.b.reduce_sum(ones, {-1}, false));
}

void l2_normalization(Op& op) {
  Value* x = op.real(0);
  Value* axes = op.b.ints({-1});
  Value* norm = op.b.op("ReduceL2", {x, axes}, {{"keepdims", 1}});
  Value* least = op.b.scalar(1e-6, x->type.elem);
  Value* bounded = op.b.op("Max", {norm, least});
  Value* y = op.b.div(x, bounded);
  op.set_real(0, op.activated(y));
}

bool is_widened(const Op& op) {
  return op.is_quantized(0) && op.frame.is_quantized(op.out_tensor()) && op.tensor(0).type != op.out_tensor().type;
}

bool is_quantized_wide(const Op& op) {
  return op.is_quantized(0) && op.out_tensor().type == tfl::TensorType::INT32 && has_scale(op.out_tensor());
}

void quantize(Op& op) {
  // Float to integers, or integers of one scale to those of another.
  if (!op.is_quantized(0) && has_scale(op.tensor(0)) && op.tensor(0).type == tfl::TensorType::INT32)
    return op.set_real(0, op.frame.dequantize(op.stored(0), op.tensor(0), std::nullopt));
  if (op.is_quantized(0) && op.alike(op.tensor(0), op.out_tensor())) return op.set(0, op.stored(0));
  if (op.out_tensor().type == tfl::TensorType::INT32 && has_scale(op.out_tensor())) {
    // QuantizeLinear ends at 16 bits.
    const tfl::Quantization& q = *op.out_tensor().quantization;
    Value* steps = op.b.div(op.real(0), static_cast<double>(q.scale[0]));
    Value* rounded = op.b.op("Round", {steps});
    if (!q.zero_point.empty() && q.zero_point[0]) rounded = op.b.add(rounded, static_cast<double>(q.zero_point[0]));
    return op.set(0, op.b.cast(rounded, DType::i32));
  }
  op.set_real(0, op.real(0));
}

void dequantize(Op& op) {
  const bool is_output =
      std::ranges::find(op.frame.source().outputs, op.source.outputs.at(0)) != op.frame.source().outputs.end();
  if (!is_output && !op.frame.has_value(op.frame.resolved(op.input(0))) && op.frame.constant(op.input(0)))
    return op.frame.set_alias(op.source.outputs[0], op.input(0));
  if (!op.is_quantized(0) && has_scale(op.tensor(0)) && op.tensor(0).type == tfl::TensorType::INT32)
    return op.set_real(0, op.frame.dequantize(op.stored(0), op.tensor(0), std::nullopt));
  Value* x = op.real(0);
  op.set(0, op.b.cast(x, op.out_dtype()));
}

void densify(Op& op) {
  op.require(op.frame.constant(op.input(0)).has_value(), "only constants can be sparse");
  op.frame.set_alias(op.source.outputs.at(0), op.input(0));
}

}  // namespace ingot::frontends::tflite
