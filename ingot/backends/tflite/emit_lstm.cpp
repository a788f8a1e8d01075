// LSTM as UNIDIRECTIONAL_SEQUENCE_LSTM, one for each direction.
#include <algorithm>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

/// TFLite's cell starts where the last run ended, ONNX's at zero. So one step goes before the sequence, with a feature
/// of its own that closes the gates which let the old cell and a new one in: both states are zero after it. The number
/// fits into float16.
constexpr float kClosed = -3e4f;

bool is_absent_or_zero(const Node& n, std::size_t input) {
  if (!n.input(input)) return true;
  const Tensor* t = ops::constant_of(n.input(input));
  return t && std::ranges::all_of(t->to_doubles(), [](double x) { return x == 0; });
}

/// One direction: everything as TFLite orders it, gate by gate.
struct Direction {
  NodeOut& n;
  std::int64_t index, hidden;
  bool is_reverse;

  /// Rows of gate `gate` (ONNX: input, output, forget, cell) of a parameter, each `width` long.
  std::vector<float> rows(std::size_t input, std::int64_t gate, std::int64_t gates, std::int64_t width) const {
    const std::vector<float> all = n.constant(input)->to_vector<float>();
    const auto begin = all.begin() + (index * gates + gate) * hidden * width;
    return {begin, begin + hidden * width};
  }

  std::int32_t weights(std::int64_t gate) const {
    const std::int64_t features = n.shape(1)[2].value();
    const std::vector<float> own = rows(1, gate, 4, features);
    constexpr std::int64_t kOutput = 1, kCell = 3;
    std::vector<float> wide;
    for (std::int64_t i = 0; i < hidden; ++i) {
      wide.insert(wide.end(), own.begin() + i * features, own.begin() + (i + 1) * features);
      wide.push_back(gate == kOutput || gate == kCell ? 0 : kClosed);
    }
    return n.e.constant(Tensor::of<float>({hidden, features + 1}, wide));
  }

  std::int32_t bias(std::int64_t gate) const {
    std::vector<float> sum(static_cast<std::size_t>(hidden));
    if (n.has(3)) {
      const std::vector<float> w = rows(3, gate, 8, 1), r = rows(3, gate + 4, 8, 1);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = w[i] + r[i];
    }
    return n.e.constant(Tensor::of<float>({hidden}, sum));
  }

  std::int32_t state(std::int64_t batch) const {
    const std::int32_t t = n.e.temporary(DType::f32, Ints{batch, hidden});
    n.e.subgraph().tensors[static_cast<std::size_t>(t)].is_variable = true;
    return t;
  }
};

std::int32_t reversed(Emitter& e, std::int32_t x, const Shape& shape, std::int64_t axis) {
  const std::int32_t y = e.temporary(DType::f32, shape), axes = e.ints({axis});
  e.add(Op::REVERSE_V2, {x, axes}, {y});
  return y;
}

/// The sequence with a column of zeros more, and a step of ones before it.
std::int32_t with_first_step(Emitter& e, std::int32_t x, Shape shape, std::int64_t time) {
  shape[2] = Dim(shape[2].value() + 1);
  const std::int32_t wide = e.temporary(DType::f32, shape);
  const std::int32_t columns = e.constant(Tensor::of<std::int32_t>({3, 2}, {0, 0, 0, 0, 0, 1}));
  e.add(Op::PAD, {x, columns}, {wide});
  Dim& steps = shape[static_cast<std::size_t>(time)];
  steps = steps.is_known() ? Dim(steps.value() + 1) : Dim();
  const std::int32_t longer = e.temporary(DType::f32, shape), one = e.scalar(1, DType::f32);
  std::vector<std::int32_t> amounts(6);
  amounts[static_cast<std::size_t>(2 * time)] = 1;
  const std::int32_t before = e.constant(Tensor::of<std::int32_t>({3, 2}, amounts));
  e.add(Op::PADV2, {wide, before, one}, {longer});
  return longer;
}

/// The state after the last step: [batch, hidden].
std::int32_t last_step(Emitter& e, std::int32_t y, const Shape& shape, std::int64_t time) {
  const std::int32_t last = e.temporary(DType::f32, Shape{shape[static_cast<std::size_t>(1 - time)], shape[2]});
  Ints begin(3, 0);
  begin[static_cast<std::size_t>(time)] = -1;
  const std::int32_t from = e.ints(begin), to = e.ints({0, 0, 0}), strides = e.ints({1, 1, 1});
  Options options(Op::STRIDED_SLICE);
  options.set("begin_mask", 7 & ~(1 << time)).set("end_mask", 7).set("shrink_axis_mask", 1 << time);
  e.add(Op::STRIDED_SLICE, {y, from, to, strides}, {last}, options);
  return last;
}

/// The directions beside each other along an axis that they do not have yet.
void join(NodeOut& n, const std::vector<std::int32_t>& parts, std::int64_t axis, std::size_t output) {
  Emitter& e = n.e;
  Shape one = n.out_shape(output);
  one[static_cast<std::size_t>(axis)] = Dim(1);
  const std::int32_t place = e.index(axis);
  std::vector<std::int32_t> wide;
  for (const std::int32_t part : parts) {
    wide.push_back(parts.size() == 1 ? n.out(output) : e.temporary(DType::f32, one));
    e.add(Op::EXPAND_DIMS, {part, place}, {wide.back()});
  }
  if (parts.size() == 1) return;
  Options options(Op::CONCATENATION);
  options.set("axis", axis);
  e.add(Op::CONCATENATION, wide, {n.out(output)}, options);
}

}  // namespace

Refused refuse_lstm(const Node& n) {
  for (const std::size_t i : {0U, 1U, 2U})
    if (Refused why = needs_rank(n, i)) return why;
  if (n.graph().parent()) return Refusal{Kind::structure, "an LSTM in a branch or loop"};
  const Shape& x = *n.input(0)->type.shape;
  const std::int64_t batch_axis = n.attributes.int_or("layout", 0) ? 0 : 1;
  if (x.size() != 3 || !x[static_cast<std::size_t>(batch_axis)].is_known() || !x[2].is_known())
    return Refusal{Kind::unknown_size, "the batch of an LSTM is not known"};
  for (const std::size_t i : {1U, 2U, 3U, 7U})
    if (n.input(i) && !ops::constant_of(n.input(i)))
      return Refusal{Kind::not_constant, "the weights of an LSTM are computed"};
  if (n.input(4)) return Refusal{Kind::structure, "sequences of different lengths"};
  if (!is_absent_or_zero(n, 5) || !is_absent_or_zero(n, 6))
    return Refusal{Kind::structure, "an LSTM that does not start at zero"};
  if (n.output(2) && !n.output(2)->uses().empty())
    return Refusal{Kind::structure, "TFLite does not give back the cell of an LSTM"};
  if (n.attributes.has("clip") || n.attributes.int_or("input_forget", 0))
    return Refusal{Kind::attribute_value, "clipped sums or coupled gates"};
  if (n.attributes.has("activations")) {
    const auto* names = n.attributes.get<std::vector<std::string>>("activations");
    constexpr std::string_view kUsual[] = {"Sigmoid", "Tanh", "Tanh"};
    for (std::size_t i = 0; names && i < names->size(); ++i)
      if ((*names)[i] != kUsual[i % 3]) return Refusal{Kind::attribute_value, "other activations in an LSTM"};
  }
  return needs_types(n, {DType::f32});
}

void emit_lstm(NodeOut& n) {
  Emitter& e = n.e;
  const std::string direction = n.attr("direction", "forward");
  const bool is_time_major = n.attr("layout", 0) == 0;
  const std::int64_t time = is_time_major ? 0 : 1, hidden = n.shape(2)[2].value();
  const Shape& x_shape = n.shape();
  const std::int64_t batch = x_shape[static_cast<std::size_t>(1 - time)].value(), directions = n.shape(1)[0].value();
  Shape y_shape = x_shape, raw_shape = x_shape;
  y_shape[2] = raw_shape[2] = Dim(hidden);
  Dim& steps = raw_shape[static_cast<std::size_t>(time)];
  steps = steps.is_known() ? Dim(steps.value() + 1) : Dim();

  std::vector<std::int32_t> sequences, states;
  for (std::int64_t k = 0; k < directions; ++k) {
    const Direction d{n, k, hidden, direction == "reverse" || k == 1};
    const std::int32_t x = d.is_reverse ? reversed(e, n.in(0), x_shape, time) : n.in(0);
    const std::int32_t longer = with_first_step(e, x, x_shape, time);
    constexpr std::int32_t kNone = fmt_tflite::kNoTensor;
    constexpr std::int64_t kGates[] = {0, 2, 3, 1};  // TFLite: input, forget, cell, output
    std::vector<std::int32_t> inputs{longer};
    for (const std::int64_t gate : kGates) inputs.push_back(d.weights(gate));
    for (const std::int64_t gate : kGates)
      inputs.push_back(e.constant(Tensor::of<float>({hidden, hidden}, d.rows(2, gate, 4, hidden))));
    for (const std::int64_t gate : {0, 2, 1})  // peepholes: input, forget, output
      inputs.push_back(n.has(7) ? e.constant(Tensor::of<float>({hidden}, d.rows(7, gate, 3, 1))) : kNone);
    for (const std::int64_t gate : kGates) inputs.push_back(d.bias(gate));
    inputs.insert(inputs.end(), {kNone, kNone});  // no projection
    inputs.push_back(d.state(batch));
    inputs.push_back(d.state(batch));
    inputs.insert(inputs.end(), {kNone, kNone, kNone, kNone});  // no normalisation
    const std::int32_t raw = e.temporary(DType::f32, raw_shape);
    Options options(Op::UNIDIRECTIONAL_SEQUENCE_LSTM);
    options.set("fused_activation_function", fmt_tflite::ActivationFunctionType::TANH).set("time_major", is_time_major);
    e.add(Op::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, {raw}, options);
    if (n.node.output(1)) states.push_back(last_step(e, raw, raw_shape, time));
    if (!n.node.output(0)) continue;
    Ints begin(3, 0);
    begin[static_cast<std::size_t>(time)] = 1;
    const std::int32_t from = e.ints(begin), to_end = e.ints({-1, -1, -1}), y = e.temporary(DType::f32, y_shape);
    e.add(Op::SLICE, {raw, from, to_end}, {y});
    sequences.push_back(d.is_reverse ? reversed(e, y, y_shape, time) : y);
  }
  if (n.node.output(0)) join(n, sequences, is_time_major ? 1 : 2, 0);
  if (n.node.output(1)) join(n, states, is_time_major ? 0 : 1, 1);
}

}  // namespace ingot::backends::tflite
