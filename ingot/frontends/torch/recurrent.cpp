// LSTM, GRU and plain recurrent networks, whole and single steps.
#include <array>

#include "ingot/frontends/torch/packed.h"
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
};

struct Result {
  Value *output, *h, *c;
};

Result run(const Call& call, const Network& n) {
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
Item recurrent(const Call& c, Cell cell) {
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
                        .layers = c.integer(4)});
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
  c.t.notes.add("a dynamically quantised recurrent network computes with real numbers between its quantised weights");
  return recurrent(plain, cell);
}

/// x * w^T + b
Value* product(const Call& c, Value* x, std::size_t w, std::size_t b) {
  GraphBuilder& g = c.g();
  Value* y = g.op("MatMul", {x, g.transpose(c.tensor(w), {1, 0})});
  return c.has(b) ? g.add(y, c.tensor(b)) : y;
}

Values gates(GraphBuilder& g, Value* x, std::int64_t count) {
  return g.op("Split", {x}, {{"axis", -1}, {"num_outputs", count}}, static_cast<std::size_t>(count));
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
  const Values all = gates(g, g.add(product(c, x, 2, 4), product(c, state.at(0), 3, 5)), 4);
  Value* next =
      g.add(g.mul(g.op("Sigmoid", {all[1]}), state.at(1)), g.mul(g.op("Sigmoid", {all[0]}), g.op("Tanh", {all[2]})));
  return Item::tensors({g.mul(g.op("Sigmoid", {all[3]}), g.op("Tanh", {next})), next});
}
Item gru_cell(const Call& c) {
  GraphBuilder& g = c.g();
  Value* h = c.tensor(1);
  const Values x = gates(g, product(c, c.tensor(0), 2, 4), 3), s = gates(g, product(c, h, 3, 5), 3);
  Value* reset = g.op("Sigmoid", {g.add(x[0], s[0])});
  Value* update = g.op("Sigmoid", {g.add(x[1], s[1])});
  Value* fresh = g.op("Tanh", {g.add(x[2], g.mul(reset, s[2]))});
  return g.add(fresh, g.mul(update, g.sub(h, fresh)));
}
Item rnn_tanh_cell(const Call& c) { return plain_cell(c, true); }
Item rnn_relu_cell(const Call& c) { return plain_cell(c, false); }

}  // namespace ingot::frontends::torch
