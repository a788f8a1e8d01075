// The integer LSTM cell: every product, sum and activation rounded as TFLite rounds it.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/tflite/fixed_point.h"
#include "ingot/frontends/tflite/lstm.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tflite {
namespace {

constexpr int kGateBits = 12;  // behind the point of a gate's sum; an activation has 15
constexpr double kLeast16 = -32768, kMost16 = 32767, kLeast8 = -128, kMost8 = 127;

float scale_of(const tfl::Tensor& tensor) { return tensor.quantization->scale[0]; }
double zero_of(const tfl::Tensor& tensor) {
  const auto& zero = tensor.quantization->zero_point;
  return zero.empty() ? 0 : static_cast<double>(zero[0]);
}

/// How many bits of the cell's state stand before the point; -1: its scale is not a power of two that TFLite takes.
int cell_bits(const tfl::Tensor& cell) {
  int exponent = 0;
  if (!has_scale(cell) || std::frexp(scale_of(cell), &exponent) != 0.5f) return -1;
  const int bits = 15 + exponent - 1;
  return bits >= 0 && bits <= 6 ? bits : -1;
}

/// Numbers are steps of their tensors, held as doubles.
class IntegerCell {
 public:
  IntegerCell(Op& op, const Lstm& l) : op_(op), l_(l) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (!op.has(l.w + k)) continue;
      weights_[k] = matrix(l.w + k);
      recurrence_[k] = matrix(l.r + k);
      const std::size_t bias = l.bias + k, peephole = l.peephole + (k == 3 ? 2 : k);
      if (op.has(bias)) bias_[k] = op.b.cast(op.stored(bias), DType::f64);
      if (k != 2 && op.has(peephole)) peephole_[k] = op.b.cast(op.stored(peephole), DType::f64);
    }
    if (op.has(l.projection)) projection_ = matrix(l.projection);
    if (op.has(l.projection + 1)) projection_bias_ = op.b.cast(op.stored(l.projection + 1), DType::f64);
    const auto table = [&](const char* name, auto make) {
      return op.frame.shared(name, [&] {
        const std::vector<std::int16_t> all = make();
        return Tensor::of<std::int16_t>({static_cast<std::int64_t>(all.size())}, all);
      });
    };
    static constexpr const char* kTanh[] = {"tanh_0", "tanh_1", "tanh_2", "tanh_3", "tanh_4", "tanh_5", "tanh_6"};
    const int bits = cell_bits(op.tensor(l.c));
    sigmoid_ = table("sigmoid_3", fixed_sigmoid);
    tanh_ = table(kTanh[15 - kGateBits], [] { return fixed_tanh(15 - kGateBits); });
    cell_tanh_ = table(kTanh[bits], [&] { return fixed_tanh(bits); });
  }

  /// One step: the new states as their tensors store them.
  std::pair<Value*, Value*> step(GraphBuilder& b, Value* x, Value* h, Value* c) const {
    Value* input = b.sub(b.cast(x, DType::f32), zero_of(op_.tensor(l_.x)));
    Value* hidden = b.sub(b.cast(h, DType::f32), zero_of(op_.tensor(l_.h)));
    Value* old = b.cast(c, DType::f64);
    const auto gate = [&](std::size_t k, Value* seen) {
      return looked_up(b, sigmoid_, sum(b, k, input, hidden, seen));
    };
    Value* forget = gate(1, old);
    Value* let_in = weights_[0] ? gate(0, old) : b.sub(kMost16, forget);
    Value* candidate = looked_up(b, tanh_, sum(b, 2, input, hidden, nullptr));
    const int bits = cell_bits(op_.tensor(l_.c));
    Value* kept = divided(b, b.mul(forget, old), 15);
    Value* added = divided(b, b.mul(let_in, candidate), 15 + bits);
    Value* cell = limited(b, b.add(kept, added), kLeast16, kMost16);
    const auto clip = static_cast<double>(op_.options.get_float("cell_clip"));
    if (clip > 0) {
      const double most = std::trunc(std::min(clip / static_cast<double>(scale_of(op_.tensor(l_.c))), kMost16));
      cell = limited(b, cell, -most, most);
    }
    Value* output = gate(3, cell);
    Value* seen = looked_up(b, cell_tanh_, cell);
    Value* result = shown(b, b.mul(output, seen));
    Value* next_h = b.cast(result, h->type.elem);
    Value* next_c = b.cast(cell, c->type.elem);
    return {next_h, next_c};
  }

 private:
  const tfl::Tensor& hidden_tensor() const { return op_.frame.tensor(op_.source.intermediates[4]); }

  /// Integers as floats, which hold their sums of products exactly.
  Value* matrix(std::size_t i) { return op_.b.cast(op_.stored(i), DType::f32); }

  Value* limited(GraphBuilder& b, Value* x, double least, double most) const {
    Value* low = b.scalar(least, DType::f64);
    Value* high = b.scalar(most, DType::f64);
    return b.op("Clip", {x, low, high});
  }

  /// x / 2^bits, rounded, halves away from zero.
  Value* divided(GraphBuilder& b, Value* x, int bits) const {
    if (bits == 0) return x;
    Value* size = b.op("Abs", {x});
    Value* steps = b.op("Floor", {b.add(b.mul(size, std::exp2(-bits)), 0.5)});
    return b.mul(b.op("Sign", {x}), steps);
  }

  /// Times a factor of 31 bits, rounded, then divided by the power of two.
  Value* scaled(GraphBuilder& b, Value* x, double by) const {
    const FixedFactor factor = fixed_factor(by);
    const int left = std::max(factor.exponent, 0), right = std::max(-factor.exponent, 0);
    Value* whole = b.op("Floor", {b.add(b.mul(x, std::ldexp(factor.mantissa, left)), 0.5)});
    return divided(b, whole, right);
  }

  Value* product(GraphBuilder& b, Value* x, Value* weights, Value* bias, double by) const {
    Value* sum = b.cast(b.op("Gemm", {x, weights}, {{"transB", 1}}), DType::f64);
    return scaled(b, bias ? b.add(sum, bias) : sum, by);
  }

  /// What goes into the activation of gate k.
  Value* sum(GraphBuilder& b, std::size_t k, Value* x, Value* h, Value* cell) const {
    const auto gate_scale = static_cast<float>(std::exp2(-kGateBits));
    const auto factor = [&](std::size_t weights, std::size_t of) {
      return static_cast<double>(scale_of(op_.tensor(weights)) * scale_of(op_.tensor(of)) / gate_scale);
    };
    Value* from_x = limited(b, product(b, x, weights_[k], bias_[k], factor(l_.w + k, l_.x)), kLeast16, kMost16);
    Value* from_h = product(b, h, recurrence_[k], nullptr, factor(l_.r + k, l_.h));
    Value* total = limited(b, b.add(from_x, from_h), kLeast16, kMost16);
    if (!peephole_[k] || !cell) return total;
    Value* seen = scaled(b, b.mul(cell, peephole_[k]), factor(l_.peephole + (k == 3 ? 2 : k), l_.c));
    return limited(b, b.add(total, seen), kLeast16, kMost16);
  }

  Value* looked_up(GraphBuilder& b, Value* table, Value* steps) const {
    Value* place = b.cast(b.sub(steps, kLeast16), DType::i64);
    return b.cast(b.op("Gather", {table, place}), DType::f64);
  }

  /// The hidden state of 8 bits. TFLite subtracts its zero point where it is to be added; a projection takes it off
  /// again the same way.
  Value* shown(GraphBuilder& b, Value* product_of_30_bits) const {
    const float scale = scale_of(hidden_tensor()), one = std::exp2(-15.0f);
    const double zero = zero_of(hidden_tensor());
    Value* steps = scaled(b, product_of_30_bits, static_cast<double>(one / scale * one));
    Value* hidden = limited(b, b.sub(steps, zero), kLeast8, kMost8);
    if (!projection_) return hidden;
    const tfl::Tensor& state = op_.tensor(l_.h);
    const float factor = scale_of(op_.tensor(l_.projection)) * scale / scale_of(state);
    Value* plain = b.cast(b.add(hidden, zero), DType::f32);
    Value* projected = product(b, plain, projection_, projection_bias_, static_cast<double>(factor));
    Value* stored = limited(b, b.add(projected, zero_of(state)), kLeast8, kMost8);
    const auto clip = static_cast<double>(op_.options.get_float("proj_clip"));
    if (clip <= 0) return stored;
    const double most = std::trunc(std::min(clip / static_cast<double>(scale_of(state)), kMost8));
    return limited(b, stored, -most, most);
  }

  Op& op_;
  const Lstm& l_;
  Value *weights_[4] = {}, *recurrence_[4] = {}, *bias_[4] = {}, *peephole_[4] = {};
  Value *projection_ = nullptr, *projection_bias_ = nullptr;
  Value *sigmoid_ = nullptr, *tanh_ = nullptr, *cell_tanh_ = nullptr;
};

}  // namespace

bool is_integer_lstm(const Op& op, const Lstm& l) {
  const auto is_one = [&](std::size_t i, tfl::TensorType type) {
    if (!op.has(i)) return true;
    const tfl::Tensor& t = op.tensor(i);
    return t.type == type && op.frame.is_quantized(t) && t.quantization->scale.size() == 1;
  };
  bool fits = op.has(l.h) && op.has(l.c) && op.source.intermediates.size() >= 5 &&
              op.source.intermediates[4] != tfl::kNoTensor &&
              !has_any(op, l.norm, op.input_count() > l.norm && l.norm >= 20 ? 4 : 0) &&
              op.options.get_enum<tfl::ActivationFunctionType>("fused_activation_function") ==
                  tfl::ActivationFunctionType::TANH;
  if (!fits) return false;
  for (const std::size_t i : {l.x, l.h, l.projection}) fits &= is_one(i, tfl::TensorType::INT8);
  for (std::size_t k = 0; k < 4; ++k)
    fits &= is_one(l.w + k, tfl::TensorType::INT8) && is_one(l.r + k, tfl::TensorType::INT8);
  for (std::size_t k = 0; k < 3; ++k) fits &= is_one(l.peephole + k, tfl::TensorType::INT16);
  return fits && is_one(l.c, tfl::TensorType::INT16) && cell_bits(op.tensor(l.c)) >= 0 &&
         has_scale(op.frame.tensor(op.source.intermediates[4]));
}

Sequence integer_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  const IntegerCell cell(op, l);
  return scanned(op, x, h, c, is_reverse, [&](GraphBuilder& b, Value* x_in, Value* h_in, Value* c_in) {
    return cell.step(b, x_in, h_in, c_in);
  });
}

}  // namespace ingot::frontends::tflite
