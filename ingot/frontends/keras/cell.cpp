// Recurrent cells over sequences: as ONNX's own operators where these have the activations, else as loops.
#include "ingot/frontends/keras/cell.h"

#include <algorithm>
#include <limits>

#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/repeat.h"
#include "ingot/ops/rnn/gates.h"

namespace ingot::frontends::keras {
namespace {

constexpr std::string_view kKerasLstmGates = "ifco";

struct OnnxActivation {
  std::string name;
  std::vector<float> alpha, beta;
};

/// How ONNX's recurrent operators name an activation; nothing: they lack it.
std::optional<OnnxActivation> onnx_activation(const std::string& name, int version) {
  if (name == "tanh") return OnnxActivation{"Tanh", {}, {}};
  if (name == "sigmoid") return OnnxActivation{"Sigmoid", {}, {}};
  if (name == "relu") return OnnxActivation{"Relu", {}, {}};
  if (name == "softsign") return OnnxActivation{"Softsign", {}, {}};
  if (name == "softplus") return OnnxActivation{"Softplus", {}, {}};
  if (name == "linear") return OnnxActivation{"Affine", {1.0F}, {0.0F}};
  if (name == "elu") return OnnxActivation{"Elu", {1.0F}, {}};
  if (name == "hard_sigmoid") return OnnxActivation{"HardSigmoid", {version >= 3 ? 1.0F / 6 : 0.2F}, {0.5F}};
  return std::nullopt;
}

/// Keras 1 keeps a weight of each gate: W, U and b of each in the order `gates`.
void join_gates(Call& call, Cell& cell, const std::vector<std::size_t>& order) {
  Values kernels, recurrents, biases;
  std::vector<Values> found;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string gate = std::to_string(i);
    IrValue* kernel = call.weight("kernel_" + gate, Dims{-1, cell.units});
    IrValue* recurrent = call.weight("recurrent_kernel_" + gate, Dims{cell.units, cell.units});
    found.push_back({kernel, recurrent, call.weight("bias_" + gate, Dims{cell.units})});
  }
  for (const std::size_t i : order) {
    kernels.push_back(found[i][0]);
    recurrents.push_back(found[i][1]);
    biases.push_back(found[i][2]);
  }
  cell.kernel = call.b.concat(kernels, 1);
  cell.recurrent = call.b.concat(recurrents, 1);
  cell.bias = call.b.concat(biases, 0);
}

IrValue* part_of(GraphBuilder& b, IrValue* x, std::int64_t axis, std::int64_t begin, std::int64_t size) {
  return b.op("Slice", {x, b.ints({begin}), b.ints({begin + size}), b.ints({axis})});
}

/// [batch, units] states as ONNX wants them, [1, batch, units].
IrValue* as_initial(GraphBuilder& b, const Values& states, std::size_t i) {
  return i < states.size() && states[i] ? b.unsqueeze(states[i], {0}) : nullptr;
}

/// `x`: [batch, steps, features]; `lengths`: of the sequences, null: all steps.
Ran run_operator(Call& call, const Cell& cell, IrValue* x, IrValue* lengths, const Values& states, const Attrs& attrs) {
  GraphBuilder& b = call.b;
  const bool is_lstm = cell.kind == Cell::Kind::lstm;
  const Ints order = is_lstm                        ? ops::gate_order(kKerasLstmGates, ops::kLstmGates)
                     : cell.kind == Cell::Kind::gru ? Ints{0, 1, 2}
                                                    : Ints{0};
  IrValue* w = ops::onnx_weights(b, cell.kernel, order);
  IrValue* r = ops::onnx_weights(b, cell.recurrent, order);
  IrValue* bias = cell.bias || cell.recurrent_bias
                      ? ops::onnx_bias(b, cell.bias, cell.recurrent_bias, order, cell.units, x->type.elem)
                      : nullptr;
  Values inputs{b.transpose(x, {1, 0, 2}), w, r, bias, lengths, as_initial(b, states, 0)};
  if (is_lstm) inputs.push_back(as_initial(b, states, 1));
  const Values made = is_lstm                        ? b.op("LSTM", inputs, attrs, 3)
                      : cell.kind == Cell::Kind::gru ? b.op("GRU", inputs, attrs, 2)
                                                     : b.op("RNN", inputs, attrs, 2);
  Ran ran;
  ran.all = b.transpose(b.squeeze(made[0], {1}), {1, 0, 2});
  ran.last = b.squeeze(made[1], {0});
  ran.states = {ran.last};
  if (is_lstm) ran.states.push_back(b.squeeze(made[2], {0}));
  return ran;
}

/// One step: the next states, the output first.
Values step(GraphBuilder& g, int version, const Cell& cell, IrValue* x, const Values& states) {
  const std::int64_t u = cell.units;
  const auto act = [&](IrValue* v) { return activated(g, version, cell.activation, v); };
  const auto gate = [&](IrValue* v) { return activated(g, version, cell.recurrent_activation, v); };
  IrValue* h = states[0];
  IrValue* from_x = g.op("MatMul", {x, cell.kernel});
  if (cell.bias) from_x = g.add(from_x, cell.bias);
  if (cell.kind == Cell::Kind::simple) {
    IrValue* sum = g.add(from_x, g.op("MatMul", {h, cell.recurrent}));
    return {act(cell.recurrent_bias ? g.add(sum, cell.recurrent_bias) : sum)};
  }
  if (cell.kind == Cell::Kind::lstm) {
    IrValue* sum = g.add(from_x, g.op("MatMul", {h, cell.recurrent}));
    if (cell.recurrent_bias) sum = g.add(sum, cell.recurrent_bias);
    const auto part = [&](std::int64_t i) { return part_of(g, sum, 1, i * u, u); };
    IrValue *i = gate(part(0)), *f = gate(part(1));
    IrValue* c = g.add(g.mul(f, states[1]), g.mul(i, act(part(2))));
    return {g.mul(gate(part(3)), act(c)), c};
  }
  const auto x_part = [&](std::int64_t i) { return part_of(g, from_x, 1, i * u, u); };
  IrValue *z = nullptr, *hh = nullptr;
  if (cell.resets_after) {
    IrValue* from_h = g.op("MatMul", {h, cell.recurrent});
    if (cell.recurrent_bias) from_h = g.add(from_h, cell.recurrent_bias);
    const auto h_part = [&](std::int64_t i) { return part_of(g, from_h, 1, i * u, u); };
    z = gate(g.add(x_part(0), h_part(0)));
    IrValue* r = gate(g.add(x_part(1), h_part(1)));
    hh = act(g.add(x_part(2), g.mul(r, h_part(2))));
  } else {
    const auto product = [&](IrValue* v, std::int64_t i) {
      return g.op("MatMul", {v, part_of(g, cell.recurrent, 1, i * u, u)});
    };
    z = gate(g.add(x_part(0), product(h, 0)));
    IrValue* r = gate(g.add(x_part(1), product(h, 1)));
    hh = act(g.add(x_part(2), product(g.mul(r, h), 2)));
  }
  return {g.add(g.mul(z, h), g.mul(g.sub(1, z), hh))};
}

Ran run_loop(Call& call, const Cell& cell, IrValue* x, IrValue* mask, const Values& states) {
  GraphBuilder& b = call.b;
  IrValue* batch = b.reshape(size_of(b, x, 0), {1});
  IrValue* zeros = b.op("Expand", {b.scalar(0, x->type.elem), b.concat({batch, b.ints({cell.units})}, 0)});
  Values start;
  for (std::size_t i = 0; i < state_count(cell); ++i) start.push_back(i < states.size() ? states[i] : zeros);
  start.push_back(zeros);  // the last output
  IrValue* steps = size_of(b, x, 1);
  const int version = call.import.version;
  const Values made = repeat(b, steps, start, [&](GraphBuilder& g, IrValue* round, const Values& state) {
    IrValue* now = g.op("Gather", {x, round}, {{"axis", 1}});
    Values next = step(g, version, cell, now, state);
    next.push_back(next[0]);
    if (mask) {
      IrValue* counts = g.unsqueeze(g.op("Gather", {mask, round}, {{"axis", 1}}), {1});
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = g.where(counts, next[i], state[i]);
    }
    next.push_back(g.op("Identity", {next.back()}));
    return next;
  });
  Ran ran;
  const std::size_t count = state_count(cell);
  ran.states.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(count));
  ran.last = made[count];
  ran.all = b.transpose(made[count + 1], {1, 0, 2});
  return ran;
}

/// Steps that do not count are skipped: the others move to the front, and each step has the output of the last that
/// counts at or before it.
Ran run_masked(Call& call, const Cell& cell, IrValue* x, IrValue* mask, const Values& states, const Attrs& attrs) {
  GraphBuilder& b = call.b;
  IrValue* steps = size_of(b, x, 1);
  IrValue* number = counted(b, steps);
  IrValue* key = b.where(mask, number, b.add(number, steps));
  IrValue* order = b.op("TopK", {key, b.reshape(steps, {1})}, {{"axis", 1}, {"largest", 0}}, 2)[1];
  IrValue* moved = b.op("GatherND", {x, b.unsqueeze(order, {2})}, {{"batch_dims", 1}});
  moved->type = refine(moved->type, x->type);
  IrValue* counts = b.cast(mask, DType::i32);
  IrValue* lengths = b.reduce_sum(counts, {1}, false);
  Ran ran = run_operator(call, cell, moved, lengths, states, attrs);
  IrValue* so_far = b.op("CumSum", {counts, b.index(1)});
  IrValue* zero = b.scalar(0, DType::i32);
  IrValue* place = b.cast(b.op("Max", {b.sub(so_far, 1), zero}), DType::i64);
  IrValue* spread = b.op("GatherND", {ran.all, b.unsqueeze(place, {2})}, {{"batch_dims", 1}});
  IrValue* has_any = b.unsqueeze(b.op("Greater", {so_far, zero}), {2});
  ran.all = b.where(has_any, spread, b.scalar(0, x->type.elem));
  return ran;
}

}  // namespace

std::size_t state_count(const Cell& cell) { return cell.kind == Cell::Kind::lstm ? 2 : 1; }

IrValue* reversed(GraphBuilder& b, IrValue* x, std::int64_t axis) {
  return b.op("Slice",
              {x, b.ints({-1}), b.ints({std::numeric_limits<std::int64_t>::min()}), b.ints({axis}), b.ints({-1})});
}

Cell read_cell(Call& call, Cell::Kind kind) {
  Cell cell;
  cell.kind = kind;
  cell.units = call.integer("units");
  call.require(cell.units > 0 && cell.units < (1 << 30), "its number of units is impossible");
  cell.activation = activation_name(call.layer.config["activation"].exists() ? call.at("activation") : Config());
  if (!call.layer.config["activation"].exists()) cell.activation = "tanh";
  cell.recurrent_activation =
      call.at("recurrent_activation").exists() ? activation_name(call.at("recurrent_activation")) : "sigmoid";
  if (cell.activation.empty() || cell.recurrent_activation.empty())
    call.refuse("an activation that is a layer has no translation inside a cell");
  const bool is_cudnn = call.layer.class_name.starts_with("CuDNN");
  const std::size_t stored = call.weight_count();
  if (kind == Cell::Kind::lstm && stored == 12) {
    join_gates(call, cell, {0, 2, 1, 3});  // i, c, f, o
    return cell;
  }
  if (kind == Cell::Kind::gru && stored == 9) {
    join_gates(call, cell, {0, 1, 2});
    return cell;
  }
  cell.resets_after = kind == Cell::Kind::gru && (is_cudnn || call.flag("reset_after", false));
  const std::int64_t half = (kind == Cell::Kind::lstm ? 4 : kind == Cell::Kind::gru ? 3 : 1) * cell.units;
  cell.kernel = call.weight("kernel", Dims{-1, half});
  cell.recurrent = call.weight("recurrent_kernel", Dims{cell.units, half});
  if (!is_cudnn && !call.flag("use_bias", true)) return cell;
  const Dims sizes = is_cudnn ? Dims{2 * half} : cell.resets_after ? Dims{2, half} : Dims{half};
  IrValue* bias = call.weight("bias", sizes);
  if (sizes.size() == 2) {
    cell.bias = call.b.squeeze(part_of(call.b, bias, 0, 0, 1), {0});
    cell.recurrent_bias = call.b.squeeze(part_of(call.b, bias, 0, 1, 1), {0});
  } else if (is_cudnn) {
    cell.bias = part_of(call.b, bias, 0, 0, half);
    cell.recurrent_bias = part_of(call.b, bias, 0, half, half);
  } else {
    cell.bias = bias;
  }
  return cell;
}

Ran run_cell(Call& call, const Cell& cell, IrValue* x, IrValue* mask, const Values& states) {
  const auto act = onnx_activation(cell.activation, call.import.version);
  const auto gate = onnx_activation(cell.recurrent_activation, call.import.version);
  if (!act || (cell.kind != Cell::Kind::simple && !gate)) return run_loop(call, cell, x, mask, states);
  std::vector<OnnxActivation> used;
  if (cell.kind != Cell::Kind::simple) used.push_back(*gate);
  used.push_back(*act);
  if (cell.kind == Cell::Kind::lstm) used.push_back(*act);
  std::vector<std::string> names;
  std::vector<float> alpha, beta;
  for (const OnnxActivation& one : used) {
    names.push_back(one.name);
    alpha.insert(alpha.end(), one.alpha.begin(), one.alpha.end());
    beta.insert(beta.end(), one.beta.begin(), one.beta.end());
  }
  Attrs attrs{{"hidden_size", cell.units}};
  const bool is_usual = cell.activation == "tanh" && (cell.kind == Cell::Kind::simple || gate->name == "Sigmoid");
  if (!is_usual) attrs.emplace_back("activations", names);
  if (!alpha.empty()) attrs.emplace_back("activation_alpha", alpha);
  if (!beta.empty()) attrs.emplace_back("activation_beta", beta);
  if (cell.resets_after) attrs.emplace_back("linear_before_reset", 1);
  return mask ? run_masked(call, cell, x, mask, states, attrs) : run_operator(call, cell, x, nullptr, states, attrs);
}

}  // namespace ingot::frontends::keras
