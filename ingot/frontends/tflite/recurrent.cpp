// Plain recurrent layers, SVDF, and the sequences and states that all recurrent layers have.
#include "ingot/frontends/tflite/recurrent.h"

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {

bool has_any(const Op& op, std::size_t from, std::size_t count) {
  for (std::size_t i = from; i < from + count; ++i)
    if (op.has(i)) return true;
  return false;
}

Value* zeros(Op& op, const Ints& dims) {
  op.require(tensor_size(dims) <= std::int64_t{1} << 26, "the state is too large");
  return op.b.constant(
      Tensor(DType::f32, dims, Bytes::own(std::vector<std::byte>(4 * static_cast<std::size_t>(tensor_size(dims))))));
}

std::int64_t rows_of(const Op& op, std::size_t i) {
  op.require(!op.tensor(i).shape.empty(), "a matrix of weights is needed");
  return op.tensor(i).shape[0];
}

Value* fresh_state(Op& op, Value* x, std::size_t state, std::int64_t units) {
  op.import.note(std::string(kFreshStateNote));
  op.require(x->type.shape && x->type.shape->size() == 3, "a sequence has three dimensions");
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

Value* swapped(Op& op, Value* x) { return op.b.transpose(x, {1, 0, 2}); }

Value* sequence(Op& op, bool time_major) {
  op.require(op.rank(0) == 3, "a sequence has three dimensions");
  return op.real_moved(0, [&](Value* x) { return time_major ? x : swapped(op, x); });
}

void set_sequence(Op& op, std::size_t i, Value* y, bool time_major) {
  if (!op.frame.is_quantized(op.out_tensor(i))) return op.set_real(i, time_major ? y : swapped(op, y));
  Value* integers = op.frame.quantize(y, op.out_tensor(i));
  op.set(i, time_major ? integers : swapped(op, integers));
}

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
  Value* w = op.real(1);
  Value* feature = op.b.op("Gemm", {x, w}, {{"transB", 1}});
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
