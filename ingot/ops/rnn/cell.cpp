// RNN, GRU and LSTM as scans over the steps of their sequences.
#include "ingot/ops/rnn/cell.h"

#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeephole };

/// What one direction reads, with the axis of directions taken away.
struct Direction {
  Value *input, *recurrence, *bias, *peephole, *initial_h, *initial_c;
  std::span<const RecurrentActivation> activations;
  bool is_reverse;
};

struct Layer {
  DecomposeContext& c;
  std::int64_t gates, size;
  bool with_cell;
  CellStep step;
  Value *x, *is_inside;  // [steps, batch, inputs] and, where sequences end early, [steps, batch, 1]
  std::optional<float> clip;
};

/// Number `d` of the directions along an axis.
Value* pick(GraphBuilder& g, Value* all, std::int64_t d, std::int64_t axis = 0) {
  Value* at = g.index(d);
  return g.op("Gather", {all, at}, {{"axis", axis}});
}

Value* zeros(GraphBuilder& g, const Layer& layer) {
  Value* batch = size_along(g, layer.x, 1);
  Value* units = g.ints({layer.size});
  Value* dims = g.concat({batch, units}, 0);
  Value* zero = g.scalar(0, layer.x->type.elem);
  return g.op("Expand", {zero, dims});
}

Direction direction(const Layer& layer, std::int64_t d, bool is_reverse) {
  DecomposeContext& c = layer.c;
  GraphBuilder& g = c.g;
  const std::int64_t state_axis = c.attr("layout", std::int64_t{0}) ? 1 : 0;
  const auto state = [&](std::size_t i) { return c.has(i) ? pick(g, c.in(i), d, state_axis) : zeros(g, layer); };
  Direction made{};
  Value* w = g.transpose(pick(g, c.in(kW), d), {1, 0});
  made.input = g.op("MatMul", {layer.x, w});
  made.recurrence = g.transpose(pick(g, c.in(kR), d), {1, 0});
  if (c.has(kB)) {
    Value* biases = pick(g, c.in(kB), d);
    const std::int64_t rows = layer.gates * layer.size;
    Value *begin = g.ints({0}), *middle = g.ints({rows}), *end = g.ints({2 * rows});
    Value* of_input = g.op("Slice", {biases, begin, middle});
    made.bias = g.op("Slice", {biases, middle, end});
    made.input = g.add(made.input, of_input);
  }
  if (c.has(kPeephole)) made.peephole = pick(g, c.in(kPeephole), d);
  made.initial_h = state(kInitialH);
  if (layer.with_cell) made.initial_c = state(kInitialC);
  made.is_reverse = is_reverse;
  return made;
}

/// (hidden, cell, W x, is inside) -> (hidden, cell, what is put out).
GraphPtr body_of(const Layer& layer, const Direction& d) {
  Graph& parent = layer.c.g.graph();
  auto body = std::make_unique<Graph>(&parent);
  body->name = "step";
  const auto input = [&](const char* name, const Value* like, bool is_slice) {
    Type type = like->type;
    if (is_slice && type.shape) type.shape->erase(type.shape->begin());
    return body->add_input(parent.fresh_name(name), type);
  };
  GraphBuilder g(*body);
  Value* hidden = input("hidden", d.initial_h, false);
  Value* cell = layer.with_cell ? input("cell", d.initial_c, false) : nullptr;
  Value* x = input("input", d.input, true);
  Value* is_inside = layer.is_inside ? input("is_inside", layer.is_inside, true) : nullptr;
  const RecurrentCell now{g, layer.size, hidden, cell, x, d.recurrence, d.bias, d.peephole, d.activations, layer.clip};
  Values states = layer.step(layer.c, now);
  Value* out = states[0];
  if (is_inside) {
    Value* zero = g.scalar(0, hidden->type.elem);
    out = g.where(is_inside, states[0], zero);
    states[0] = g.where(is_inside, states[0], hidden);
    if (cell) states[1] = g.where(is_inside, states[1], cell);
  } else {
    out = g.op("Identity", {out});
  }
  for (Value* state : states) body->add_output(state);
  body->add_output(out);
  return body;
}

Values scan(const Layer& layer, const Direction& d) {
  GraphBuilder& g = layer.c.g;
  Values inputs{d.initial_h};
  if (layer.with_cell) inputs.push_back(d.initial_c);
  const std::size_t states = inputs.size();
  inputs.push_back(d.input);
  if (layer.is_inside) inputs.push_back(layer.is_inside);
  const auto scanned = static_cast<std::int64_t>(inputs.size() - states);
  const std::int64_t back = d.is_reverse ? 1 : 0;
  Node* node = g.node("Scan", "", inputs,
                      {{"num_scan_inputs", scanned},
                       {"scan_input_directions", std::vector<std::int64_t>(static_cast<std::size_t>(scanned), back)},
                       {"scan_output_directions", {back}}},
                      states + 1);
  node->attributes.append(Attribute("body", AttrValue(body_of(layer, d))));
  InferSession session;
  infer_node(*node, session);
  return node->outputs();
}

/// [steps, batch, 1]: whether a step lies inside of its sequence.
Value* inside(DecomposeContext& c, Value* x) {
  GraphBuilder& g = c.g;
  Value* steps = g.squeeze(g.cast(size_along(g, x, 0), DType::i32), {0});
  Value *zero = g.scalar(0, DType::i32), *one = g.scalar(1, DType::i32);
  Value* step = g.unsqueeze(g.op("Range", {zero, steps, one}), {1});
  Value* lengths = g.unsqueeze(g.cast(c.in(kLengths), DType::i32), {0});
  return g.unsqueeze(g.op("Less", {step, lengths}), {2});
}

}  // namespace

Value* RecurrentCell::gates(Value* table, std::int64_t first, std::int64_t count) const {
  const auto axis = static_cast<std::int64_t>(table->type.shape ? table->type.shape->size() : 2) - 1;
  Value *begin = g.ints({first * size}), *end = g.ints({(first + count) * size}), *along = g.ints({axis});
  return g.op("Slice", {table, begin, end, along});
}

Value* RecurrentCell::activate(std::size_t function, Value* x) const {
  const RecurrentActivation& f = activations[function];
  if (clip) {
    Value *low = g.scalar(-*clip, x->type.elem), *high = g.scalar(*clip, x->type.elem);
    x = g.op("Clip", {x, low, high});
  }
  if (f.name == "affine") return g.add(g.mul(x, f.alpha), f.beta);
  if (f.name == "elu") return g.op("Elu", {x}, {{"alpha", f.alpha}});
  if (f.name == "hardsigmoid") return g.op("HardSigmoid", {x}, {{"alpha", f.alpha}, {"beta", f.beta}});
  if (f.name == "leakyrelu") return g.op("LeakyRelu", {x}, {{"alpha", f.alpha}});
  if (f.name == "relu") return g.op("Relu", {x});
  if (f.name == "scaledtanh") return g.mul(g.op("Tanh", {g.mul(x, f.beta)}), f.alpha);
  if (f.name == "sigmoid") return g.op("Sigmoid", {x});
  if (f.name == "softplus") return g.op("Softplus", {x});
  if (f.name == "softsign") return g.op("Softsign", {x});
  if (f.name == "thresholdedrelu") return g.op("ThresholdedRelu", {x}, {{"alpha", f.alpha}});
  return g.op("Tanh", {x});
}

Values recurrent_by_scan(DecomposeContext& c, std::int64_t gates, bool with_cell,
                         const std::vector<std::string>& activations, CellStep step) {
  if (Values wider = bfloat16_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto rank = c.rank(kX), recurrence = c.rank(kR);
  Dim units = recurrence == 3 ? (*c.in(kR)->type.shape)[2] : Dim();
  if (const auto* stated = c.node.attributes.get<std::int64_t>("hidden_size"); stated && !units.is_known())
    units = *stated;
  if (!c.has(kW) || rank != 3 || !units.is_known() || c.elem(kX) == DType::undefined) return {};
  const std::string way = c.attr("direction", "forward");
  const std::int64_t directions = way == "bidirectional" ? 2 : 1;
  std::string problem;
  const auto functions =
      read_activations(c.node.attributes, activations, static_cast<std::size_t>(directions), problem);
  if (!problem.empty()) return {};
  const bool batch_first = c.attr("layout", std::int64_t{0}) != 0;
  Layer layer{c, gates, units.value(), with_cell, step, c.in(kX), nullptr, std::nullopt};
  if (batch_first) layer.x = g.transpose(layer.x, {1, 0, 2});
  if (c.has(kLengths)) layer.is_inside = inside(c, layer.x);
  if (const float* clip = c.node.attributes.get<float>("clip")) layer.clip = *clip;

  std::vector<Values> results;
  for (std::int64_t k = 0; k < directions; ++k) {
    Direction d = direction(layer, k, k == 1 || way == "reverse");
    d.activations = std::span(functions).subspan(static_cast<std::size_t>(k) * activations.size(), activations.size());
    results.push_back(scan(layer, d));
  }
  const auto joined = [&](std::size_t result, std::int64_t axis, bool turns) {
    Values parts;
    for (const Values& of_direction : results) {
      Value* part = of_direction[result];
      if (turns) part = g.transpose(part, {1, 0, 2});
      parts.push_back(g.unsqueeze(part, {axis}));
    }
    return parts.size() == 1 ? parts[0] : g.concat(parts, axis);
  };
  Values made(c.node.output_count());
  const std::size_t states = with_cell ? 2 : 1;
  if (c.wants(0)) made[0] = joined(states, batch_first ? 2 : 1, batch_first);
  for (std::size_t i = 0; i < states; ++i)
    if (c.wants(i + 1)) made[i + 1] = joined(i, batch_first ? 1 : 0, false);
  return made;
}

}  // namespace ingot::ops
