// LSTM, GRU and plain recurrent networks, whole and single steps.
#include <array>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/torch/packed.h"
#include "ingot/frontends/torch/quantized.h"
#include "ingot/frontends/values.h"
#include "ingot/ops/rnn/gates.h"

namespace ingot::frontends::torch {
namespace {

enum class Cell : std::uint8_t { lstm, gru, tanh, relu };

/// PyTorch's orders of gates: input, forget, cell, output; reset, update, new.
std::string_view stored_gates(Cell cell) { return cell == Cell::lstm ? "ifco" : cell == Cell::gru ? "rzh" : "h"; }
std::string_view onnx_gates(Cell cell) {
  return cell == Cell::lstm ? ops::kLstmGates : cell == Cell::gru ? ops::kGruGates : "h";
}

struct Layer {
  Value *w, *r, *b;  // of one direction, in ONNX's form
};

Value* in_order(GraphBuilder& g, Value* x, Cell cell) {
  const Ints order = ops::gate_order(stored_gates(cell), onnx_gates(cell));
  return order.size() == 1 ? x : ops::reordered_gates(g, x, order, 0);
}

Layer layer_of(GraphBuilder& g, const Values& params, std::size_t at, bool has_bias, Cell cell) {
  Layer made{};
  made.w = g.unsqueeze(in_order(g, params.at(at), cell), {0});
  made.r = g.unsqueeze(in_order(g, params.at(at + 1), cell), {0});
  if (has_bias)
    made.b =
        g.unsqueeze(g.concat({in_order(g, params.at(at + 2), cell), in_order(g, params.at(at + 3), cell)}, 0), {0});
  return made;
}

Value* part(GraphBuilder& g, Value* x, std::int64_t begin, std::int64_t count) {
  return g.op("Slice", {x, g.ints({begin}), g.ints({begin + count}), g.ints({0})});
}

struct Network {
  Cell cell;
  Value* input;    // [steps, batch, features]
  Value *h0, *c0;  // [layers * directions, batch, hidden]; c0 of an LSTM only
  Values params;
  bool has_bias, is_bidirectional;
  std::int64_t layers;
  Value* lengths = nullptr;
  bool is_dynamic = false;  // what is multiplied by weights is rounded to eight bits first
};

struct Result {
  Value *output, *h, *c;
};

Values gates(GraphBuilder& g, Value* x, std::int64_t count) {
  return g.op("Split", {x}, {{"axis", -1}, {"num_outputs", count}}, static_cast<std::size_t>(count));
}

struct State {
  Value *h, *c;
};

/// One step of what the input and the last state make of the gates.
State lstm_step(GraphBuilder& g, Value* of_input, Value* of_state, const State& last) {
  const Values all = gates(g, g.add(of_input, of_state), 4);
  Value* c = g.add(g.mul(g.op("Sigmoid", {all[1]}), last.c), g.mul(g.op("Sigmoid", {all[0]}), g.op("Tanh", {all[2]})));
  return {g.mul(g.op("Sigmoid", {all[3]}), g.op("Tanh", {c})), c};
}
Value* gru_step(GraphBuilder& g, Value* of_input, Value* of_state, Value* h) {
  const Values x = gates(g, of_input, 3), s = gates(g, of_state, 3);
  Value* reset = g.op("Sigmoid", {g.add(x[0], s[0])});
  Value* update = g.op("Sigmoid", {g.add(x[1], s[1])});
  Value* fresh = g.op("Tanh", {g.add(x[2], g.mul(reset, s[2]))});
  return g.add(fresh, g.mul(update, g.sub(h, fresh)));
}

Value* backwards(GraphBuilder& g, Value* x) {
  return g.op("Slice", {x, g.ints({-1}), g.ints({INT64_MIN}), g.ints({0}), g.ints({-1})});
}

/// A direction of a layer, quantised dynamically: the input is rounded as a whole, the state anew in each step.
Result run_dynamic(GraphBuilder& g, const Network& n, Value* input, std::size_t which) {
  const auto param = [&](std::size_t i) { return n.params.at(which * 4 + i); };
  const auto product = [&](GraphBuilder& at, Value* x, std::size_t i) {
    return at.add(at.op("MatMul", {dynamically_rounded(at, x), at.transpose(param(i), {1, 0})}), param(i + 2));
  };
  const bool is_lstm = n.cell == Cell::lstm, is_backwards = n.is_bidirectional && which % 2 == 1;
  const auto row = static_cast<std::int64_t>(which);
  Value* of_input = product(g, input, 0);
  if (is_backwards) of_input = backwards(g, of_input);
  Values start{g.squeeze(part(g, n.h0, row, 1), {0})};
  if (is_lstm) start.push_back(g.squeeze(part(g, n.c0, row, 1), {0}));
  const Values made = repeat(g, g.reshape(size_of(g, input, 0), {}), start,
                             [&](GraphBuilder& at, Value* round, const Values& last) -> Values {
                               Value* now = at.op("Gather", {of_input, round});
                               Value* of_state = product(at, last[0], 1);
                               if (!is_lstm) {
                                 Value* h = gru_step(at, now, of_state, last[0]);
                                 return {h, at.op("Identity", {h})};
                               }
                               const State next = lstm_step(at, now, of_state, {last[0], last[1]});
                               return {next.h, next.c, at.op("Identity", {next.h})};
                             });
  Value* output = is_backwards ? backwards(g, made.back()) : made.back();
  return {output, g.unsqueeze(made[0], {0}), is_lstm ? g.unsqueeze(made[1], {0}) : nullptr};
}

Result run_dynamic(const Call& call, const Network& n) {
  GraphBuilder& g = call.g();
  const std::size_t directions = n.is_bidirectional ? 2 : 1;
  Value* x = n.input;
  Values all_h, all_c;
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(n.layers); ++layer) {
    Values outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      const Result one = run_dynamic(g, n, x, layer * directions + d);
      outputs.push_back(one.output);
      all_h.push_back(one.h);
      if (one.c) all_c.push_back(one.c);
    }
    x = outputs.size() == 1 ? outputs[0] : g.concat(outputs, -1);
  }
  return {x, g.concat(all_h, 0), all_c.empty() ? nullptr : g.concat(all_c, 0)};
}

Result run(const Call& call, const Network& n) {
  if (n.is_dynamic) return run_dynamic(call, n);
  GraphBuilder& g = call.g();
  const std::int64_t directions = n.is_bidirectional ? 2 : 1;
  const std::size_t each = n.has_bias ? 4 : 2;
  if (n.params.size() != static_cast<std::size_t>(n.layers * directions) * each)
    refuse("a recurrent network that projects its state");
  const auto hidden = dim_of(n.params.at(1), 1);
  if (!hidden) refuse("the size of a recurrent network's state is not known");
  Value* x = n.input;
  Values all_h, all_c;
  for (std::int64_t layer = 0; layer < n.layers; ++layer) {
    Values w, r, b;
    for (std::int64_t d = 0; d < directions; ++d) {
      const Layer one =
          layer_of(g, n.params, static_cast<std::size_t>(layer * directions + d) * each, n.has_bias, n.cell);
      w.push_back(one.w);
      r.push_back(one.r);
      b.push_back(one.b);
    }
    const auto joined = [&](const Values& v) { return !v[0] ? nullptr : v.size() == 1 ? v[0] : g.concat(v, 0); };
    const bool is_lstm = n.cell == Cell::lstm;
    Values inputs{x, joined(w), joined(r), joined(b), n.lengths, part(g, n.h0, layer * directions, directions)};
    if (is_lstm) inputs.push_back(part(g, n.c0, layer * directions, directions));
    Attrs attrs{{"hidden_size", *hidden}, {"direction", n.is_bidirectional ? "bidirectional" : "forward"}};
    Values made;
    if (is_lstm) {
      made = g.op("LSTM", inputs, attrs, 3);
    } else if (n.cell == Cell::gru) {
      attrs.emplace_back("linear_before_reset", 1);
      made = g.op("GRU", inputs, attrs, 2);
    } else {
      attrs.emplace_back("activations", std::vector<std::string>(static_cast<std::size_t>(directions),
                                                                 n.cell == Cell::relu ? "Relu" : "Tanh"));
      made = g.op("RNN", inputs, attrs, 2);
    }
    // [steps, directions, batch, hidden] -> [steps, batch, directions * hidden]
    x = n.is_bidirectional ? g.reshape(g.transpose(made[0], {0, 2, 1, 3}), {0, 0, -1}) : g.squeeze(made[0], {1});
    all_h.push_back(made[1]);
    if (is_lstm) all_c.push_back(made[2]);
  }
  const auto joined = [&](const Values& v) { return v.empty() ? nullptr : v.size() == 1 ? v[0] : g.concat(v, 0); };
  return {x, joined(all_h), joined(all_c)};
}

/// f(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)
Item recurrent_packed(const Call& c, Cell cell) {
  GraphBuilder& g = c.g();
  const bool is_lstm = cell == Cell::lstm;
  const Values state = is_lstm ? c.tensors(2) : Values{c.tensor(2)};
  const Result made = run(c, {.cell = cell,
                              .input = c.tensor(0),
                              .h0 = state.at(0),
                              .c0 = is_lstm ? state.at(1) : nullptr,
                              .params = c.tensors(3),
                              .has_bias = c.flag(4),
                              .is_bidirectional = c.flag(8),
                              .layers = c.integer(5),
                              .lengths = g.cast(packed_lengths(g, c.tensor(1)), DType::i32)});
  return is_lstm ? Item::tensors({made.output, made.h, made.c}) : Item::tensors({made.output, made.h});
}

/// f(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Item recurrent(const Call& c, Cell cell, bool is_dynamic = false) {
  GraphBuilder& g = c.g();
  if (c.arg(3).is<ListRef>()) return recurrent_packed(c, cell);
  Value* x = c.tensor(0);
  const bool is_lstm = cell == Cell::lstm;
  const Values state = is_lstm ? c.tensors(1) : Values{c.tensor(1)};
  const Values params = c.tensors(2);
  if (c.flag(6) && c.real(5) != 0 && c.integer(4) > 1) refuse("dropout between layers while training");
  if (!rank_of(x)) {
    Shape shape(3);
    if (const auto features = dim_of(params.at(0), 1)) shape[2] = *features;
    c.t.demand_shape(x, shape);
  }
  const bool is_single = c.rank(x) == 2;
  const bool is_batch_first = c.flag(8) && !is_single;
  if (is_single) x = g.unsqueeze(x, {1});
  if (is_batch_first) x = g.transpose(x, {1, 0, 2});
  const auto with_batch = [&](Value* v) { return rank_of(v) == 2 ? g.unsqueeze(v, {1}) : v; };
  Result made = run(c, {.cell = cell,
                        .input = x,
                        .h0 = with_batch(state.at(0)),
                        .c0 = is_lstm ? with_batch(state.at(1)) : nullptr,
                        .params = params,
                        .has_bias = c.flag(3),
                        .is_bidirectional = c.flag(7),
                        .layers = c.integer(4),
                        .is_dynamic = is_dynamic});
  if (is_batch_first) made.output = g.transpose(made.output, {1, 0, 2});
  if (is_single) {
    made.output = g.squeeze(made.output, {1});
    made.h = g.squeeze(made.h, {1});
    if (made.c) made.c = g.squeeze(made.c, {1});
  }
  if (is_lstm) return Item::tensors({made.output, made.h, made.c});
  return Item::tensors({made.output, made.h});
}

/// Weights of a layer and direction that dynamic quantisation packed: input and state weights, then both biases.
void add_unpacked(const Item& cell, std::vector<Item>& params) {
  const auto state = [&](const Item& item) -> const std::vector<Item>& {
    const ObjectRef* object = item.get<ObjectRef>();
    const Tuple* tuple = object ? (*object)->attributes["__state__"].get<Tuple>() : item.get<Tuple>();
    if (!tuple || tuple->items->size() < 2) refuse("the packed weights have another form");
    return *tuple->items;
  };
  const std::vector<Item>& parts = state(cell);
  if (parts[0].is<std::string>()) {  // kind, biases, numbers, numbers, packed weights
    const ListRef* biases = parts[1].get<ListRef>();
    const ListRef* packed = parts.size() > 4 ? parts[4].get<ListRef>() : nullptr;
    if (!biases || !packed || (*biases)->items.size() < 2 || (*packed)->items.size() < 2)
      refuse("the packed weights have another form");
    for (const Item& weight : (*packed)->items) params.push_back(state(weight)[0]);
    params.insert(params.end(), (*biases)->items.begin(), (*biases)->items.begin() + 2);
    return;
  }
  if (parts.size() < 4) refuse("the packed weights have another form");
  params.push_back(state(parts[0])[0]);
  params.push_back(state(parts[1])[0]);
  params.push_back(parts[2]);
  params.push_back(parts[3]);
}

Item dynamic_recurrent(const Call& c, Cell cell) {
  const ListRef* cells = c.arg(2).get<ListRef>();
  if (!cells) refuse("packed sequences in a quantised recurrent network");
  Call plain = c;
  std::vector<Item> params;
  for (const Item& one : (*cells)->items) add_unpacked(one, params);
  plain.args[2] = Item::list(std::move(params));
  return recurrent(plain, cell, true);
}

/// x * w^T + b
Value* product(const Call& c, Value* x, std::size_t w, std::size_t b) {
  GraphBuilder& g = c.g();
  Value* y = g.op("MatMul", {x, g.transpose(c.tensor(w), {1, 0})});
  return c.has(b) ? g.add(y, c.tensor(b)) : y;
}

Item plain_cell(const Call& c, bool is_tanh) {
  GraphBuilder& g = c.g();
  Value* sum = g.add(product(c, c.tensor(0), 2, 4), product(c, c.tensor(1), 3, 5));
  return is_tanh ? g.op("Tanh", {sum}) : g.op("Relu", {sum});
}

}  // namespace

Item lstm(const Call& c) { return recurrent(c, Cell::lstm); }
Item gru(const Call& c) { return recurrent(c, Cell::gru); }
Item rnn_tanh(const Call& c) { return recurrent(c, Cell::tanh); }
Item rnn_relu(const Call& c) { return recurrent(c, Cell::relu); }
Item quantized_lstm(const Call& c) { return dynamic_recurrent(c, Cell::lstm); }
Item quantized_gru(const Call& c) { return dynamic_recurrent(c, Cell::gru); }
Item lstm_cell(const Call& c) {
  GraphBuilder& g = c.g();
  const Values state = c.tensors(1);
  Value* x = c.tensor(0);
  c.expect_rank(x, 2);
  const State next = lstm_step(g, product(c, x, 2, 4), product(c, state.at(0), 3, 5), {state.at(0), state.at(1)});
  return Item::tensors({next.h, next.c});
}
Item gru_cell(const Call& c) {
  Value* h = c.tensor(1);
  return gru_step(c.g(), product(c, c.tensor(0), 2, 4), product(c, h, 3, 5), h);
}
Item rnn_tanh_cell(const Call& c) { return plain_cell(c, true); }
Item rnn_relu_cell(const Call& c) { return plain_cell(c, false); }

}  // namespace ingot::frontends::torch
