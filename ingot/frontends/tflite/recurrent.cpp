// Recurrent layers: LSTM in all its forms, plain recurrent cells, SVDF.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/tflite/translators.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tflite {
namespace {

/// One direction of an LSTM: where its parameters stand among the operator's inputs, in TFLite's order of the gates
/// input, forget, cell, output.
struct Lstm {
  std::size_t x = 0, w = 1, r = 5, peephole = 9, bias = 12, projection = 16, h = 18, c = 19, norm = 20;
};

bool has_any(const Op& op, std::size_t from, std::size_t count) {
  for (std::size_t i = from; i < from + count; ++i)
    if (op.has(i)) return true;
  return false;
}

/// Real values of several inputs, joined along the first axis; constants that are plain numbers are joined here.
Value* joined(Op& op, const std::vector<std::size_t>& inputs) {
  std::vector<Tensor> parts;
  for (const std::size_t i : inputs) {
    const auto data = op.constant(i);
    if (data && data->dtype() == DType::f32) parts.push_back(*data);
  }
  if (parts.size() == inputs.size()) {
    std::vector<std::byte> bytes;
    Dims dims = parts[0].dims();
    dims[0] = 0;
    for (const Tensor& part : parts) {
      bytes.insert(bytes.end(), part.bytes().span().begin(), part.bytes().span().end());
      dims[0] += part.dims().at(0);
    }
    return op.b.constant(Tensor(DType::f32, dims, Bytes::own(std::move(bytes))));
  }
  Values values;
  for (const std::size_t i : inputs) values.push_back(op.b.cast(op.real(i), DType::f32));
  return op.b.concat(values, 0);
}

Value* zeros(Op& op, const Ints& dims) {
  return op.b.constant(
      Tensor(DType::f32, dims, Bytes::own(std::vector<std::byte>(4 * static_cast<std::size_t>(tensor_size(dims))))));
}

std::int64_t rows_of(const Op& op, std::size_t i) {
  op.require(!op.tensor(i).shape.empty(), "a matrix of weights is needed");
  return op.tensor(i).shape[0];
}

/// Bias of gate k (input, forget, cell, output): real, or null.
Value* gate_bias(Op& op, const Lstm& l, std::size_t k) {
  const std::size_t i = l.bias + k;
  if (!op.has(i)) return nullptr;
  // With layer normalisation, the bias has a scale of its own.
  const tfl::Tensor& t = op.tensor(i);
  if (t.type == tfl::TensorType::INT32 && has_scale(t)) return op.frame.dequantize(op.stored(i), t, std::nullopt);
  if (t.type == tfl::TensorType::INT32) return op.bias(i, l.x, l.w + k);
  return op.b.cast(op.real(i), DType::f32);
}

/// All of the bias in ONNX's order: input, output, forget, cell, then zeros for the recurrence.
Value* onnx_bias(Op& op, const Lstm& l, std::int64_t units) {
  Values parts;
  for (const std::size_t k : {std::size_t{0}, std::size_t{3}, std::size_t{1}, std::size_t{2}}) {
    Value* part = gate_bias(op, l, k);
    parts.push_back(part ? part : zeros(op, {units}));
  }
  parts.push_back(zeros(op, {4 * units}));
  Value* bias = op.b.concat(parts, 0);
  return op.b.unsqueeze(bias, {0});
}

struct Sequence {
  Value* output = nullptr;  ///< [time, batch, units]
  Value* h = nullptr;       ///< [batch, units], after the last step
  Value* c = nullptr;
};

/// ONNX's own operator has gates of sigmoids around tanh, peepholes, and nothing else.
bool is_plain(const Op& op, const Lstm& l) {
  using tfl::ActivationFunctionType;
  return op.has(l.w) && !op.has(l.projection) &&
         !has_any(op, l.norm, op.input_count() > l.norm && l.norm >= 20 ? 4 : 0) &&
         op.options.get_float("cell_clip") == 0 && !op.is_quantized(l.x) &&
         op.options.get_enum<ActivationFunctionType>("fused_activation_function") == ActivationFunctionType::TANH;
}

Sequence plain_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  const std::int64_t units = rows_of(op, l.w + 1);
  Value* w = joined(op, {l.w, l.w + 3, l.w + 1, l.w + 2});
  Value* r = joined(op, {l.r, l.r + 3, l.r + 1, l.r + 2});
  w = op.b.unsqueeze(w, {0});
  r = op.b.unsqueeze(r, {0});
  Value* bias = onnx_bias(op, l, units);
  Value* peephole = nullptr;
  if (has_any(op, l.peephole, 3)) {
    peephole = joined(op, {l.peephole, l.peephole + 2, l.peephole + 1});
    peephole = op.b.unsqueeze(peephole, {0});
  }
  Value* first_h = h ? op.b.unsqueeze(h, {0}) : nullptr;
  Value* first_c = c ? op.b.unsqueeze(c, {0}) : nullptr;
  Attrs attrs{{"hidden_size", units}};
  if (is_reverse) attrs.emplace_back("direction", "reverse");
  const Values made = op.b.op("LSTM", {x, w, r, bias, nullptr, first_h, first_c, peephole}, attrs, 3);
  Sequence result;
  result.output = op.b.squeeze(made[0], {1});
  result.h = op.b.squeeze(made[1], {0});
  result.c = op.b.squeeze(made[2], {0});
  return result;
}

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
      if (op.has(l.w + k)) w[k] = op.weights(l.w + k, {1, 0});
      if (op.has(l.r + k)) r[k] = op.weights(l.r + k, {1, 0});
      const bool has_norm = l.norm >= 20 && op.has(l.norm + k);
      if (has_norm) norm[k] = op.real(l.norm + k);
      bias[k] = gate_bias(op, l, k);
    }
    for (std::size_t k = 0; k < 3; ++k)
      if (op.has(l.peephole + k)) peephole[k] = op.real(l.peephole + k);
    if (op.has(l.projection)) projection = op.weights(l.projection, {1, 0});
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
    Value* from_x = b.op("MatMul", {x, w[k]});
    Value* from_h = b.op("MatMul", {h, r[k]});
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
      hidden = b.op("MatMul", {hidden, projection});
      if (projection_bias) hidden = b.add(hidden, projection_bias);
      hidden = clipped(b, hidden, op.options.get_float("proj_clip"));
    }
    hidden = rounded_like(op, b, hidden, op.tensor(l.h));
    return {hidden, cell};
  }
};

Sequence general_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  Cell cell{op, l};
  cell.load();
  auto body = std::make_unique<Graph>(&op.b.graph());
  body->name = "step";
  const auto loose = [](const Value* v) { return Type::tensor(DType::f32, v->type.shape); };
  Value* h_in = body->add_input(body->fresh_name("h"), loose(h));
  Value* c_in = body->add_input(body->fresh_name("c"), loose(c));
  Shape step_shape(x->type.shape->begin() + 1, x->type.shape->end());
  Value* x_in = body->add_input(body->fresh_name("x"), Type::tensor(DType::f32, step_shape));
  GraphBuilder b(*body);
  const auto [h_out, c_out] = cell.step(b, x_in, h_in, c_in);
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

Sequence lstm_direction(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  if (is_plain(op, l)) return plain_lstm(op, l, x, h, c, is_reverse);
  return general_lstm(op, l, x, h, c, is_reverse);
}

/// The state that a sequence starts with: zeros. TFLite would go on from the last call.
Value* fresh_state(Op& op, Value* x, std::size_t state, std::int64_t units) {
  op.import.note("the state of recurrent layers over whole sequences starts at zero in each run");
  const auto batch = (*x->type.shape)[1].as_int();
  op.require(batch.has_value() || !op.is_quantized(state), "the batch must be known");
  if (batch) return zeros(op, {*batch, units});
  Value* shape = op.b.shape(x);
  Value* one = op.b.ints({1});
  Value* size = op.b.op("Gather", {shape, one});
  Value* width = op.b.ints({units});
  Value* dims = op.b.concat({size, width}, 0);
  return op.b.op("ConstantOfShape", {dims});
}

/// [batch, time, ...] and [time, batch, ...] change places.
Value* swapped(Op& op, Value* x) { return op.b.transpose(x, {1, 0, 2}); }

/// Input 0 as [time, batch, features].
Value* sequence(Op& op, bool time_major) {
  op.require(op.rank(0) == 3, "a sequence has three dimensions");
  return op.real_moved(0, [&](Value* x) { return time_major ? x : swapped(op, x); });
}

/// Sets an output from [time, batch, units]; integers are moved after they are quantised.
void set_sequence(Op& op, std::size_t i, Value* y, bool time_major) {
  if (!op.frame.is_quantized(op.out_tensor(i))) return op.set_real(i, time_major ? y : swapped(op, y));
  Value* integers = op.frame.quantize(y, op.out_tensor(i));
  op.set(i, time_major ? integers : swapped(op, integers));
}

}  // namespace

void unidirectional_sequence_lstm(Op& op) {
  const Lstm l;
  op.require(!op.options.has("diagonal_recurrent_tensors") || !op.options.get_bool("diagonal_recurrent_tensors"),
             "diagonal recurrent weights have no counterpart");
  op.note_dynamic_range(l.w + 1, l.x);
  const bool time_major = op.options.get_bool("time_major");
  Value* x = sequence(op, time_major);
  const std::int64_t units = rows_of(op, l.w + 1);
  const std::int64_t outputs = op.has(l.projection) ? rows_of(op, l.projection) : units;
  Value* h = fresh_state(op, x, l.h, outputs);
  Value* c = fresh_state(op, x, l.c, units);
  const Sequence made = lstm_direction(op, l, x, h, c, false);
  set_sequence(op, 0, made.output, time_major);
}

void bidirectional_sequence_lstm(Op& op) {
  op.require(!op.has(39) && !has_any(op, 40, 8), "auxiliary inputs have no counterpart");
  const Lstm forward{0, 1, 5, 9, 12, 16, 35, 36, 0};
  const Lstm backward{0, 18, 22, 26, 29, 33, 37, 38, 0};
  op.note_dynamic_range(forward.w + 1, 0);
  const bool time_major = op.options.get_bool("time_major");
  Value* x = sequence(op, time_major);
  Values made;
  for (const Lstm* l : {&forward, &backward}) {
    const std::int64_t units = rows_of(op, l->w + 1);
    Value* h = fresh_state(op, x, l->h, op.has(l->projection) ? rows_of(op, l->projection) : units);
    Value* c = fresh_state(op, x, l->c, units);
    Value* y = lstm_direction(op, *l, x, h, c, l == &backward).output;
    made.push_back(time_major ? y : swapped(op, y));
  }
  if (op.options.get_bool("merge_outputs")) return op.set_real(0, op.b.concat(made, 2));
  op.set_real(0, made[0]);
  op.set_real(1, made[1]);
}

namespace {

/// Reads a state that the operator keeps from call to call, as real numbers.
Value* kept_state(Op& op, std::size_t i) {
  Value* stored = op.import.read(op.frame.state(op.input(i)), op.b.graph());
  return op.is_quantized(i) ? op.frame.dequantize(stored, op.tensor(i), std::nullopt) : stored;
}

void keep_stored(Op& op, std::size_t i, Value* stored) {
  op.require(op.import.depth == 0, "a state is written inside of a branch or loop");
  Variable& variable = op.frame.state(op.input(i));
  variable.current = stored;
  variable.is_written = true;
}

void keep_state(Op& op, std::size_t i, Value* real) {
  keep_stored(op, i, op.is_quantized(i) ? op.frame.quantize(real, op.tensor(i)) : real);
}

/// The small form: x, activation, weights [4 * units, inputs + units], bias, state; gates input, new, forget, output.
void basic_lstm(Op& op) {
  Value* x = op.real(0);
  Value* h = op.real(1);
  Value* c = op.real(4);
  Value* both = op.b.concat({x, h}, 1);
  Value* w = op.weights(2, {1, 0});
  Value* sums = op.b.op("MatMul", {both, w});
  if (Value* bias = op.bias(3, 0, 2)) sums = op.b.add(sums, bias);
  const Values parts = op.b.op("Split", {sums}, {{"axis", 1}, {"num_outputs", 4}}, 4);
  Value* input = op.b.op("Sigmoid", {parts[0]});
  Value* candidate = op.b.op("Tanh", {parts[1]});
  Value* forget = op.b.op("Sigmoid", {parts[2]});
  Value* output = op.b.op("Sigmoid", {parts[3]});
  Value* added = op.b.mul(input, candidate);
  Value* kept = op.b.mul(forget, c);
  Value* cell = op.b.add(added, kept);
  Value* seen = op.b.op("Tanh", {cell});
  op.set_real(0, op.b.mul(output, seen));
  op.set_real(1, cell);
  op.set_real(2, both);
  op.set_real(3, sums);
}

}  // namespace

void lstm(Op& op) {
  if (op.options.get_enum<tfl::LSTMKernelType>("kernel_type") == tfl::LSTMKernelType::BASIC) return basic_lstm(op);
  const Lstm l;
  op.note_dynamic_range(l.w + 1, l.x);
  Value* x = op.real_moved(l.x, [&](Value* v) { return op.b.unsqueeze(v, {0}); });
  Value* h = kept_state(op, l.h);
  Value* c = kept_state(op, l.c);
  const Sequence made = lstm_direction(op, l, x, h, c, false);
  op.set_real(0, op.b.squeeze(made.output, {0}));
  keep_state(op, l.h, made.h);
  keep_state(op, l.c, made.c);
}

namespace {

std::string activation_name(const Op& op) {
  switch (op.options.get_enum<tfl::ActivationFunctionType>("fused_activation_function")) {
    case tfl::ActivationFunctionType::TANH:
      return "Tanh";
    case tfl::ActivationFunctionType::RELU:
      return "Relu";
    case tfl::ActivationFunctionType::NONE:
      return "Affine";
    default:
      op.refuse("the activation has no counterpart in recurrent layers");
  }
}

/// One direction of a plain recurrent layer; parameters from input `w` on: weights, recurrence, bias.
Sequence plain_rnn(Op& op, std::size_t w, Value* x, Value* h, bool is_reverse) {
  op.note_dynamic_range(w, 0);
  const std::int64_t units = rows_of(op, w);
  Value* weights = op.b.unsqueeze(op.real(w), {0});
  Value* recurrence = op.b.unsqueeze(op.real(w + 1), {0});
  Value* bias = op.b.cast(op.real(w + 2), DType::f32);
  Value* none = zeros(op, {units});
  Value* both = op.b.concat({bias, none}, 0);
  both = op.b.unsqueeze(both, {0});
  Value* first = op.b.unsqueeze(h, {0});
  Attrs attrs{{"hidden_size", units}, {"activations", std::vector<std::string>{activation_name(op)}}};
  if (activation_name(op) == "Affine") {
    attrs.emplace_back("activation_alpha", std::vector<float>{1.0F});
    attrs.emplace_back("activation_beta", std::vector<float>{0.0F});
  }
  if (is_reverse) attrs.emplace_back("direction", "reverse");
  const Values made = op.b.op("RNN", {x, weights, recurrence, both, nullptr, first}, attrs, 2);
  Sequence result;
  result.output = op.b.squeeze(made[0], {1});
  result.h = op.b.squeeze(made[1], {0});
  return result;
}

}  // namespace

void rnn(Op& op) {
  Value* x = op.b.unsqueeze(op.real(0), {0});
  Value* h = kept_state(op, 4);
  const Sequence made = plain_rnn(op, 1, x, h, false);
  op.set_real(0, op.b.squeeze(made.output, {0}));
  keep_state(op, 4, made.h);
}

void unidirectional_sequence_rnn(Op& op) {
  const bool time_major = op.options.get_bool("time_major");
  Value* x = sequence(op, time_major);
  Value* h = fresh_state(op, x, 4, rows_of(op, 1));
  Value* y = plain_rnn(op, 1, x, h, false).output;
  set_sequence(op, 0, y, time_major);
}

void bidirectional_sequence_rnn(Op& op) {
  op.require(!has_any(op, 9, 3), "auxiliary inputs have no counterpart");
  const bool time_major = op.options.get_bool("time_major");
  Value* x = sequence(op, time_major);
  Values made;
  for (const std::size_t w : {std::size_t{1}, std::size_t{5}}) {
    Value* h = fresh_state(op, x, w + 3, rows_of(op, w));
    Value* y = plain_rnn(op, w, x, h, w == 5).output;
    made.push_back(time_major ? y : swapped(op, y));
  }
  if (op.options.get_bool("merge_outputs")) return op.set_real(0, op.b.concat(made, 2));
  op.set_real(0, made[0]);
  op.set_real(1, made[1]);
}

void svdf(Op& op) {
  // Each filter keeps the last `memory` features; a step drops the oldest, adds the newest and weighs them in time.
  op.note_dynamic_range(1, 0);
  const std::int64_t rank = op.options.get_int("rank");
  const Ints& time = op.tensor(2).shape;
  op.require(time.size() == 2 && rank > 0 && time[0] % rank == 0, "the filters do not divide by the rank");
  const std::int64_t filters = time[0], memory = time[1];
  Value* x = op.real(0);
  Value* w = op.weights(1, {1, 0});
  Value* feature = op.b.op("MatMul", {x, w});
  // The memory is kept as TFLite keeps it: of an integer model the integers.
  if (op.is_quantized(4)) feature = op.frame.quantize(feature, op.tensor(4));
  Value* newest = op.b.unsqueeze(feature, {2});
  Value* state = op.import.read(op.frame.state(op.input(4)), op.b.graph());
  Value* apart = op.b.reshape(state, {-1, filters, memory});
  Value* start = op.b.ints({1});
  Value* end = op.b.ints({memory});
  Value* along = op.b.ints({2});
  Value* newer = op.b.op("Slice", {apart, start, end, along});
  Value* stored = op.b.concat({newer, newest}, 2);
  Value* next = op.is_quantized(4) ? op.frame.dequantize(stored, op.tensor(4), std::nullopt) : stored;
  Value* weighed = op.b.mul(next, op.real(2));
  Value* sums = op.b.reduce_sum(weighed, {2}, false);
  if (rank > 1) {
    Value* groups = op.b.reshape(sums, {-1, filters / rank, rank});
    sums = op.b.reduce_sum(groups, {2}, false);
  }
  if (op.has(3)) {
    Value* bias = op.tensor(3).type == tfl::TensorType::INT32 ? op.bias(3, 4, 2) : op.real(3);
    sums = op.b.add(sums, bias);
  }
  op.set_real(0, op.activated(sums));
  keep_stored(op, 4, op.b.reshape(stored, {-1, filters * memory}));
}

}  // namespace ingot::frontends::tflite
