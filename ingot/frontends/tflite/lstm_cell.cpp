// The LSTM cell with projection, normalisation, limits and integers.
#include <cmath>

#include "ingot/frontends/tflite/lstm.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tflite {
namespace {

/// Rounds a value to the steps of a quantised tensor.
Value* rounded(GraphBuilder& b, Value* x, double scale, std::int64_t zero, DType dtype) {
  Value* step = b.constant(Tensor::scalar(static_cast<float>(scale)));
  Value* middle = b.constant(integer_tensor(float_tensor({}, {static_cast<double>(zero)}), dtype));
  Value* integers = b.op("QuantizeLinear", {x, step, middle});
  return b.op("DequantizeLinear", {integers, step, middle});
}

Value* rounded_like(Op& op, GraphBuilder& b, Value* x, const tfl::Tensor& tensor) {
  if (!op.frame.is_quantized(tensor)) return x;
  const tfl::Quantization& q = *tensor.quantization;
  return rounded(b, x, static_cast<double>(q.scale[0]), q.zero_point.empty() ? 0 : q.zero_point[0],
                 op.frame.dtype(tensor));
}

/// Rounds the hidden state of an integer LSTM as every version of TFLite does: the zero point is subtracted where it is
/// to be added. A projection takes it off again the same way; without one, what is stored is off by twice the zero
/// point. In both cases the type ends what is stored.
Value* rounded_hidden(GraphBuilder& b, Value* x, const tfl::Tensor& tensor, bool is_projected) {
  const tfl::Quantization& q = *tensor.quantization;
  const auto scale = static_cast<double>(q.scale[0]);
  const double zero = q.zero_point.empty() ? 0 : static_cast<double>(q.zero_point[0]);
  Value* steps = b.op("Round", {b.div(x, scale)});
  Value* moved = b.sub(steps, zero);
  Value* least = b.scalar(-128, DType::f32);
  Value* most = b.scalar(127, DType::f32);
  Value* stored = b.op("Clip", {moved, least, most});
  return b.mul(b.sub(stored, is_projected ? -zero : zero), scale);
}

Value* clipped(GraphBuilder& b, Value* x, float limit) {
  if (limit <= 0) return x;
  Value* low = b.scalar(-static_cast<double>(limit), DType::f32);
  Value* high = b.scalar(static_cast<double>(limit), DType::f32);
  return b.op("Clip", {x, low, high});
}

/// One step of the general cell, in the body of a Scan, as TFLite computes it; of an integer model also rounded where
/// TFLite rounds.
struct Cell {
  Op& op;
  const Lstm& l;
  Values w{4}, r{4}, bias{4}, peephole{3}, norm{4};
  Value* projection = nullptr;
  Value* projection_bias = nullptr;
  bool is_integer = false;

  void load() {
    w.assign(4, nullptr), r.assign(4, nullptr), bias.assign(4, nullptr), peephole.assign(3, nullptr),
        norm.assign(4, nullptr);
    is_integer = op.is_quantized(l.x);
    for (std::size_t k = 0; k < 4; ++k) {
      if (op.has(l.w + k)) w[k] = op.real(l.w + k);
      if (op.has(l.r + k)) r[k] = op.real(l.r + k);
      const bool has_norm = l.norm >= 20 && op.has(l.norm + k);
      if (has_norm) norm[k] = op.real(l.norm + k);
      bias[k] = gate_bias(op, l, k);
    }
    for (std::size_t k = 0; k < 3; ++k)
      if (op.has(l.peephole + k)) peephole[k] = op.real(l.peephole + k);
    if (op.has(l.projection)) projection = op.real(l.projection);
    if (op.has(l.projection + 1)) projection_bias = bias_of_projection();
  }

  /// The tensor that says how the hidden state is rounded before a projection; null: the file does not.
  const tfl::Tensor* hidden_tensor() const {
    if (!is_integer || op.source.intermediates.size() < 5) return nullptr;
    const tfl::Tensor& tensor = op.frame.tensor(op.source.intermediates[4]);
    return has_scale(tensor) ? &tensor : nullptr;
  }

  /// Its integers have the scale of what the projection reads, the hidden state, times that of its weights.
  Value* bias_of_projection() const {
    const std::size_t i = l.projection + 1;
    const tfl::Tensor* hidden = hidden_tensor();
    if (!hidden || op.tensor(i).type != tfl::TensorType::INT32 || !has_scale(op.tensor(l.projection)))
      return op.bias(i, l.h, l.projection);
    tfl::Tensor scaled = op.tensor(i);
    scaled.quantization = tfl::Quantization{};
    scaled.quantization->scale = {hidden->quantization->scale[0] * op.tensor(l.projection).quantization->scale[0]};
    return op.frame.dequantize(op.stored(i), scaled, std::nullopt);
  }

  /// What goes into the activation of gate k.
  Value* sum(GraphBuilder& b, std::size_t k, Value* x, Value* h, Value* c) const {
    Value* from_x = b.op("Gemm", {x, w[k]}, {{"transB", 1}});
    Value* from_h = b.op("Gemm", {h, r[k]}, {{"transB", 1}});
    Value* total = b.add(from_x, from_h);
    const std::size_t p = k == 3 ? 2 : k;
    if (k != 2 && peephole[p]) {
      Value* seen = b.mul(c, peephole[p]);
      total = b.add(total, seen);
    }
    if (norm[k]) {
      if (is_integer && k < op.source.intermediates.size() && has_scale(op.frame.tensor(op.source.intermediates[k])))
        total =
            rounded(b, total, static_cast<double>(op.frame.tensor(op.source.intermediates[k]).quantization->scale[0]),
                    0, DType::i16);
      total = b.op("LayerNormalization", {total, norm[k], bias[k]}, {{"axis", -1}, {"epsilon", 1e-8}});
    } else if (bias[k]) {
      total = b.add(total, bias[k]);
    }
    return is_integer ? rounded(b, total, std::exp2(-12), 0, DType::i16) : total;
  }

  std::pair<Value*, Value*> step(GraphBuilder& b, Value* x, Value* h, Value* c) const {
    const auto activation = op.options.get_enum<tfl::ActivationFunctionType>("fused_activation_function");
    const auto act = [&](Value* v) {
      switch (activation) {
        case tfl::ActivationFunctionType::RELU:
          return b.op("Relu", {v});
        case tfl::ActivationFunctionType::TANH:
          return b.op("Tanh", {v});
        case tfl::ActivationFunctionType::NONE:
          return v;
        default:
          op.refuse("the activation has no counterpart");
      }
    };
    const auto gate = [&](std::size_t k, Value* cell) { return b.op("Sigmoid", {sum(b, k, x, h, cell)}); };
    Value* forget = gate(1, c);
    Value* input = w[0] ? gate(0, c) : b.sub(1.0, forget);
    Value* candidate = sum(b, 2, x, h, c);
    candidate = act(candidate);
    Value* kept = b.mul(forget, c);
    Value* added = b.mul(input, candidate);
    Value* cell = b.add(kept, added);
    cell = clipped(b, cell, op.options.get_float("cell_clip"));
    cell = rounded_like(op, b, cell, op.tensor(l.c));
    Value* output = gate(3, cell);
    Value* seen = act(cell);
    Value* hidden = b.mul(output, seen);
    if (const tfl::Tensor* tensor = hidden_tensor()) hidden = rounded_hidden(b, hidden, *tensor, projection != nullptr);
    if (projection) {
      hidden = b.op("Gemm", {hidden, projection}, {{"transB", 1}});
      if (projection_bias) hidden = b.add(hidden, projection_bias);
      hidden = clipped(b, hidden, op.options.get_float("proj_clip"));
    }
    hidden = rounded_like(op, b, hidden, op.tensor(l.h));
    return {hidden, cell};
  }
};

}  // namespace

Sequence general_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  Cell cell{op, l};
  cell.load();
  return scanned(op, x, h, c, is_reverse, [&](GraphBuilder& b, Value* x_in, Value* h_in, Value* c_in) {
    return cell.step(b, x_in, h_in, c_in);
  });
}

Sequence scanned(Op& op, Value* x, Value* h, Value* c, bool is_reverse, const LstmStep& step) {
  auto body = std::make_unique<Graph>(&op.b.graph());
  body->name = "step";
  Value* h_in = body->add_input(body->fresh_name("h"), h->type);
  Value* c_in = body->add_input(body->fresh_name("c"), c->type);
  Shape step_shape(x->type.shape->begin() + 1, x->type.shape->end());
  Value* x_in = body->add_input(body->fresh_name("x"), Type::tensor(x->type.elem, step_shape));
  GraphBuilder b(*body);
  const auto [h_out, c_out] = step(b, x_in, h_in, c_in);
  Value* y = b.op("Identity", {h_out});
  for (Value* v : {h_out, c_out, y}) {
    v->is_declared = true;
    body->add_output(v);
  }
  Attrs attrs{{"num_scan_inputs", 1}};
  if (is_reverse) {
    attrs.emplace_back("scan_input_directions", Ints{1});
    attrs.emplace_back("scan_output_directions", Ints{1});
  }
  Node* node = op.b.node("Scan", "", {h, c, x}, attrs, 3);
  node->attributes.append(Attribute("body", AttrValue(std::move(body))));
  ops::InferSession session;
  ops::infer_node(*node, session);
  return {node->output(2), node->output(0), node->output(1)};
}

}  // namespace ingot::frontends::tflite
