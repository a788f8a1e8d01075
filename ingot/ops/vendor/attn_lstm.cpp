// com.microsoft.AttnLSTM: an LSTM that also reads what it looked at in the step before (Bahdanau's attention).
#include <algorithm>
#include <limits>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t {
  kX,
  kW,
  kR,
  kB,
  kLengths,
  kInitialH,
  kInitialC,
  kPeephole,
  kQueryWeights,
  kMemoryWeights,
  kScoreWeights,
  kMemory,
  kMemoryLengths,
  kLayerWeights
};

/// One direction of the layer as a Scan over steps; an LSTM of one step stands in its body.
class Direction {
 public:
  Direction(DecomposeContext& c, std::int64_t number, bool is_reverse)
      : c_(c), g_(c.g), number_(number), is_reverse_(is_reverse), hidden_size_(c.attr("hidden_size", std::int64_t{0})) {
    for (const std::size_t i : {kW, kR, kB, kPeephole}) weights_[i] = part(i);
    query_ = matrix(kQueryWeights);
    score_ = g_.transpose(part(kScoreWeights), {1, 0});  // [attention, 1]
    layer_ = c.has(kLayerWeights) ? matrix(kLayerWeights) : nullptr;
    keys_ = g_.op("MatMul", {c.in(kMemory), matrix(kMemoryWeights)});
    if (c.has(kMemoryLengths)) sees_ = before(c.in(kMemory), 1, g_.unsqueeze(c.in(kMemoryLengths), {1}));
  }

  /// The state and the cell, [1,B,H], and what is put out, [S,B,H].
  Values run() {
    Value* x = c_.in(kX);
    Value* attended = zeros({size_of(g_, x, 1), size_of(g_, layer_ ? layer_ : c_.in(kMemory), layer_ ? 1 : 2)});
    Values inputs{state(kInitialH), state(kInitialC), attended, x};
    if (c_.has(kLengths)) {
      Value* step = g_.unsqueeze(g_.op("Range", {number(0), count(x, 0), number(1)}), {1});
      inputs.push_back(g_.unsqueeze(g_.op("Less", {step, g_.unsqueeze(c_.in(kLengths), {0})}), {2}));  // [S,B,1]
    }
    const auto scanned = static_cast<std::int64_t>(inputs.size()) - 3, back = std::int64_t{is_reverse_};
    Node* node = g_.node("Scan", "", inputs,
                         {{"num_scan_inputs", scanned},
                          {"scan_input_directions", std::vector<std::int64_t>(static_cast<std::size_t>(scanned), back)},
                          {"scan_output_directions", {back}}},
                         4);
    node->attributes.append(Attribute("body", AttrValue(body(inputs))));
    InferSession session;
    infer_node(*node, session);
    return {node->output(0), node->output(1), node->output(3)};
  }

 private:
  Value* number(std::int32_t n) { return g_.scalar(n, DType::i32); }
  Value* count(Value* x, std::int64_t axis) { return g_.cast(count_of(g_, x, axis), DType::i32); }
  Value* part(std::size_t input) {
    return c_.has(input) ? g_.op("Gather", {c_.in(input), g_.ints({number_})}, {{"axis", 0}}) : nullptr;
  }
  Value* matrix(std::size_t input) { return g_.squeeze(part(input), {0}); }
  Value* zeros(const Values& sizes) { return g_.op("Expand", {g_.scalar(0, c_.elem(kX)), g_.concat(sizes, 0)}); }
  Value* state(std::size_t input) {
    if (c_.has(input)) return part(input);
    return zeros({g_.ints({1}), size_of(g_, c_.in(kX), 1), g_.ints({hidden_size_})});
  }
  /// Whether places along an axis lie before their end.
  Value* before(Value* x, std::int64_t axis, Value* end) {
    return g_.op("Less", {g_.op("Range", {number(0), count(x, axis), number(1)}), end});
  }

  Attrs lstm_attributes() const {
    Attrs attrs = attributes_of(c_.node, {"activation_alpha", "activation_beta", "hidden_size", "input_forget"});
    if (const auto* all = c_.node.attributes.get<std::vector<std::string>>("activations")) {
      const auto first = all->begin() + (std::ssize(*all) >= 6 ? 3 * number_ : 0);
      attrs.emplace_back("activations", std::vector<std::string>(first, std::min(first + 3, all->end())));
    }
    return attrs;
  }

  /// One step with a clip, by itself: LSTM clips what its last function sees, too.
  Values clipped_step(GraphBuilder& g, Value* x, Value* state, Value* cell) const {
    const auto flat = [&](Value* v) { return g.squeeze(v, {0}); };
    Value* sums = g.add(g.op("MatMul", {x, g.transpose(flat(weights_[kW]), {1, 0})}),
                        g.op("MatMul", {flat(state), g.transpose(flat(weights_[kR]), {1, 0})}));
    if (weights_[kB])
      for (Value* half : g.op("Split", {flat(weights_[kB])}, {{"axis", 0}, {"num_outputs", 2}}, 2))
        sums = g.add(sums, half);
    const Values gates = g.op("Split", {sums}, {{"axis", 1}, {"num_outputs", 4}}, 4);
    Values peep(3);
    if (weights_[kPeephole]) peep = g.op("Split", {flat(weights_[kPeephole])}, {{"axis", 0}, {"num_outputs", 3}}, 3);
    const double most = static_cast<double>(c_.attr("clip", 0.0f));
    const DType elem = x->type.elem;
    const auto clipped = [&](Value* v) { return g.op("Clip", {v, g.scalar(-most, elem), g.scalar(most, elem)}); };
    const auto gate = [&](std::size_t i, Value* seen) {
      return g.op("Sigmoid", {clipped(peep[i] ? g.add(gates[i], g.mul(peep[i], seen)) : gates[i])});
    };
    Value *before = flat(cell), *in = gate(0, before);
    Value* forget = c_.attr("input_forget", std::int64_t{0}) ? g.sub(1.0, in) : gate(2, before);
    Value* after = g.add(g.mul(forget, before), g.mul(in, g.op("Tanh", {clipped(gates[3])})));
    Value* made = g.mul(gate(1, after), g.op("Tanh", {after}));  // this gate sees the renewed cell
    return {nullptr, g.unsqueeze(made, {0}), g.unsqueeze(after, {0})};
  }

  /// What a state [B,H] looks at: [B,memory], or what the layer behind makes of both.
  Value* attend(GraphBuilder& g, Value* state) const {
    Value* query = g.unsqueeze(g.op("MatMul", {state, query_}), {1});
    Value* scores = g.squeeze(g.op("MatMul", {g.op("Tanh", {g.add(keys_, query)}), score_}), {2});  // [B,T]
    if (sees_) scores = g.where(sees_, scores, g.scalar(-std::numeric_limits<double>::infinity(), state->type.elem));
    Value* shares = g.unsqueeze(g.op("Softmax", {scores}, {{"axis", -1}}), {1});
    Value* context = g.squeeze(g.op("MatMul", {shares, c_.in(kMemory)}), {1});
    return layer_ ? g.op("MatMul", {g.concat({state, context}, 1), layer_}) : context;
  }

  /// (state, cell, attended, x, is inside) -> (state, cell, attended, what is put out)
  GraphPtr body(const Values& inputs) const {
    Graph& parent = g_.graph();
    auto made = std::make_unique<Graph>(&parent);
    made->name = "step";
    constexpr const char* kNames[] = {"state", "cell", "attended", "x", "is_inside"};
    Values in;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Type type = inputs[i]->type;
      if (i >= 3 && type.shape) type.shape->erase(type.shape->begin());
      in.push_back(made->add_input(parent.fresh_name(kNames[i]), type));
    }
    GraphBuilder g(*made);
    Value* x = g.concat({in[3], in[2]}, 1);
    const bool has_clip = c_.node.attributes.has("clip");
    const Values step = has_clip ? clipped_step(g, x, in[0], in[1])
                                 : g.op("LSTM",
                                        {g.unsqueeze(x, {0}), weights_[kW], weights_[kR], weights_[kB], nullptr, in[0],
                                         in[1], weights_[kPeephole]},
                                        lstm_attributes(), 3);
    Value* state = g.squeeze(step[1], {0});
    Values out{step[1], step[2], attend(g, state), g.op("Identity", {state})};
    if (in.size() > 4) {
      for (std::size_t i = 0; i < 3; ++i) out[i] = g.where(in[4], out[i], in[i]);
      out[3] = g.where(in[4], out[3], g.scalar(0, state->type.elem));
    }
    for (Value* value : out) made->add_output(value);
    return made;
  }

  DecomposeContext& c_;
  GraphBuilder& g_;
  const std::int64_t number_;
  const bool is_reverse_;
  const std::int64_t hidden_size_;
  Value* weights_[kPeephole + 1] = {};
  Value *query_ = nullptr, *score_ = nullptr, *layer_ = nullptr, *keys_ = nullptr, *sees_ = nullptr;
};

Values attn_lstm(DecomposeContext& c) {
  for (const std::size_t i : {kQueryWeights, kMemoryWeights, kScoreWeights, kMemory})
    if (!c.has(i)) return {};
  const std::string way = c.attr("direction", "forward");
  const std::int64_t directions = way == "bidirectional" ? 2 : 1;
  // Which function takes which of these numbers is known of one direction only.
  if (directions == 2 && (c.node.attributes.has("activation_alpha") || c.node.attributes.has("activation_beta")))
    return {};
  if (c.node.attributes.has("clip") && c.node.attributes.has("activations")) return {};
  if (c.attr("hidden_size", std::int64_t{0}) <= 0 || c.elem(kX) == DType::undefined) return {};
  Values states, cells, outs;
  for (std::int64_t d = 0; d < directions; ++d) {
    const Values made = Direction(c, d, d == 1 || way == "reverse").run();
    states.push_back(made[0]);
    cells.push_back(made[1]);
    outs.push_back(c.g.unsqueeze(made[2], {1}));
  }
  const auto joined = [&](const Values& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : c.g.concat(parts, axis);
  };
  return {joined(outs, 1), joined(states, 0), joined(cells, 0)};
}

}  // namespace

constinit const OpDef defs::microsoft::AttnLSTM = {
    .name = "AttnLSTM", .domain = kMicrosoft, .infer = infer_by_body, .decompose = attn_lstm};

}  // namespace ingot::ops
