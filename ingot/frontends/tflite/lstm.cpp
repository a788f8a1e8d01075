// LSTM in all its forms.
#include "ingot/frontends/tflite/lstm.h"

#include "ingot/frontends/tflite/translators.h"
#include "ingot/ops/rnn/gates.h"

namespace ingot::frontends::tflite {

Value* gate_bias(Op& op, const Lstm& l, std::size_t k) {
  const std::size_t i = l.bias + k;
  if (!op.has(i)) return nullptr;
  // With layer normalisation, the bias has a scale of its own.
  const tfl::Tensor& t = op.tensor(i);
  if (t.type == tfl::TensorType::INT32 && has_scale(t)) return op.frame.dequantize(op.stored(i), t, std::nullopt);
  if (t.type == tfl::TensorType::INT32) return op.bias(i, l.x, l.w + k);
  return op.b.cast(op.real(i), DType::f32);
}

namespace {

/// TFLite's order: input, forget, cell, output.
constexpr std::string_view kGates = "ifco";

constexpr Lstm kForward{0, 1, 5, 9, 12, 16, 35, 36, 0}, kBackward{0, 18, 22, 26, 29, 33, 37, 38, 0};

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

/// The inputs from `first` on, one per gate, in ONNX's order.
std::vector<std::size_t> in_onnx_order(std::size_t first) {
  std::vector<std::size_t> inputs;
  for (const std::int64_t k : ops::gate_order(kGates, ops::kLstmGates))
    inputs.push_back(first + static_cast<std::size_t>(k));
  return inputs;
}

/// All of the bias in ONNX's order, then zeros for the recurrence.
Value* onnx_bias(Op& op, const Lstm& l, std::int64_t units) {
  Values parts;
  for (const std::int64_t k : ops::gate_order(kGates, ops::kLstmGates)) {
    Value* part = gate_bias(op, l, static_cast<std::size_t>(k));
    parts.push_back(part ? part : zeros(op, {units}));
  }
  parts.push_back(zeros(op, {4 * units}));
  Value* bias = op.b.concat(parts, 0);
  return op.b.unsqueeze(bias, {0});
}

/// ONNX's own operator has gates of sigmoids around tanh, peepholes, and nothing else.
bool is_plain(const Op& op, const Lstm& l) {
  using tfl::ActivationFunctionType;
  return op.has(l.w) && !op.has(l.projection) &&
         !has_any(op, l.norm, op.input_count() > l.norm && l.norm >= 20 ? 4 : 0) &&
         op.options.get_float("cell_clip") == 0 && !op.is_quantized(l.x) &&
         op.options.get_enum<ActivationFunctionType>("fused_activation_function") == ActivationFunctionType::TANH;
}

}  // namespace

bool is_unusual_lstm(const Op& op) {
  const bool has_two = op.source.code.builtin == tfl::BuiltinOperator::BIDIRECTIONAL_SEQUENCE_LSTM;
  for (const Lstm& l : {has_two ? kForward : Lstm{}, has_two ? kBackward : Lstm{}})
    if (!is_plain(op, l) || op.is_quantized(l.w + 1)) return true;
  return false;
}

namespace {

Sequence plain_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  const std::int64_t units = rows_of(op, l.w + 1);
  Value* w = joined(op, in_onnx_order(l.w));
  Value* r = joined(op, in_onnx_order(l.r));
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

Sequence lstm_direction(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse) {
  if (is_plain(op, l)) return plain_lstm(op, l, x, h, c, is_reverse);
  return general_lstm(op, l, x, h, c, is_reverse);
}

/// The state of integers that a sequence starts with: its tensor's zero.
Value* start_of(Op& op, std::size_t i, const Value* x) {
  op.import.note(std::string(kFreshStateNote));
  const tfl::Tensor& t = op.tensor(i);
  const bool has_batch = x->type.shape && x->type.shape->size() == 3;
  const auto batch = has_batch ? (*x->type.shape)[1].as_int() : std::nullopt;
  op.require(batch.has_value() && !t.shape.empty(), "the batch must be known");
  op.require(t.quantization.has_value(), "the state is not quantised");
  Ints dims = t.shape;
  dims[0] = *batch;
  op.require(tensor_size(dims) <= std::int64_t{1} << 26, "the state is too large");
  const auto& zero = t.quantization->zero_point;
  const std::vector<double> steps(static_cast<std::size_t>(tensor_size(dims)),
                                  zero.empty() ? 0 : static_cast<double>(zero[0]));
  return op.b.constant(integer_tensor(float_tensor(dims, steps), op.frame.dtype(t)));
}

/// The small form: x, activation, weights [4 * units, inputs + units], bias, state; gates input, new, forget, output.
void basic_lstm(Op& op) {
  Value* x = op.real(0);
  Value* h = op.real(1);
  Value* c = op.real(4);
  Value* both = op.b.concat({x, h}, 1);
  Value* w = op.real(2);
  Value* sums = op.b.op("Gemm", {both, w}, {{"transB", 1}});
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

void unidirectional_sequence_lstm(Op& op) {
  const Lstm l;
  op.require(!op.options.has("diagonal_recurrent_tensors") || !op.options.get_bool("diagonal_recurrent_tensors"),
             "diagonal recurrent weights have no counterpart");
  op.note_dynamic_range(l.w + 1, l.x);
  const bool time_major = op.options.get_bool("time_major");
  if (is_integer_lstm(op, l)) {
    Value* steps = time_major ? op.stored(l.x) : swapped(op, op.stored(l.x));
    Value* hidden = start_of(op, l.h, steps);
    Value* cell = start_of(op, l.c, steps);
    const Sequence made = integer_lstm(op, l, steps, hidden, cell, false);
    return op.set(0, time_major ? made.output : swapped(op, made.output));
  }
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
  op.note_dynamic_range(kForward.w + 1, 0);
  const bool time_major = op.options.get_bool("time_major");
  Value* x = sequence(op, time_major);
  Values made;
  for (const Lstm* l : {&kForward, &kBackward}) {
    const std::int64_t units = rows_of(op, l->w + 1);
    Value* h = fresh_state(op, x, l->h, op.has(l->projection) ? rows_of(op, l->projection) : units);
    Value* c = fresh_state(op, x, l->c, units);
    Value* y = lstm_direction(op, *l, x, h, c, l == &kBackward).output;
    made.push_back(time_major ? y : swapped(op, y));
  }
  if (op.options.get_bool("merge_outputs")) return op.set_real(0, op.b.concat(made, 2));
  op.set_real(0, made[0]);
  op.set_real(1, made[1]);
}

void lstm(Op& op) {
  if (op.options.get_enum<tfl::LSTMKernelType>("kernel_type") == tfl::LSTMKernelType::BASIC) return basic_lstm(op);
  const Lstm l;
  op.note_dynamic_range(l.w + 1, l.x);
  if (is_integer_lstm(op, l)) {
    Value* steps = op.b.unsqueeze(op.stored(l.x), {0});
    Value* hidden = op.import.read(op.frame.state(op.input(l.h)), op.b.graph());
    Value* cell = op.import.read(op.frame.state(op.input(l.c)), op.b.graph());
    const Sequence made = integer_lstm(op, l, steps, hidden, cell, false);
    op.set(0, op.b.squeeze(made.output, {0}));
    keep_stored(op, l.h, made.h);
    return keep_stored(op, l.c, made.c);
  }
  Value* x = op.real_moved(l.x, [&](Value* v) { return op.b.unsqueeze(v, {0}); });
  Value* h = kept_state(op, l.h);
  Value* c = kept_state(op, l.c);
  const Sequence made = lstm_direction(op, l, x, h, c, false);
  op.set_real(0, op.b.squeeze(made.output, {0}));
  keep_state(op, l.h, made.h);
  keep_state(op, l.c, made.c);
}

}  // namespace ingot::frontends::tflite
