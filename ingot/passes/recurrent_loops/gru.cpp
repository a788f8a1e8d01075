// GRU: h' = z * h + (1 - z) * act(candidate), with the state reset before its product or after it.
#include "ingot/ops/known.h"
#include "ingot/ops/rnn/gates.h"
#include "ingot/passes/recurrent_loops/cells.h"
#include "ingot/passes/recurrent_loops/linear.h"
#include "ingot/passes/recurrent_loops/patterns.h"

namespace ingot::passes::recurrent_loops {
namespace {

/// What both kinds have in common.
struct GruCell {
  std::size_t state;  // its number among the loop's
  Value *h, *update;
  Activation candidate;
};

std::optional<GruCell> match(const SequenceLoop& loop) {
  if (loop.vectors().size() != 1) return std::nullopt;
  const std::size_t state = loop.vectors().front();
  if (loop.next(state) != loop.item()) return std::nullopt;
  Value* h = loop.state(state);
  const auto sum = operands(loop.item(), "Add", [&](const Value* v) { return times(v, h) != nullptr; });
  if (!sum) return std::nullopt;
  Value* update = times(sum->first, h);
  const auto rest = operands(sum->second, "Mul", [&](const Value* a) {
    const Node* sub = made_by(a, "Sub");
    return sub && is_number(sub->input(0), 1) && sub->input(1) == update;
  });
  const auto act = rest ? activation(rest->second) : std::nullopt;
  if (!act) return std::nullopt;
  return GruCell{state, h, update, *act};
}

struct GruWeights {
  Value *weights, *recurrent, *bias;
  std::int64_t units;
  bool resets_after;  // the state's product instead of the state
};

void replace(SequenceLoop& loop, GraphBuilder& g, const GruCell& cell, const GruWeights& w) {
  Value* start = g.unsqueeze(loop.start(cell.state), {0});
  const Values y = g.op("GRU", {loop.sequence(), w.weights, w.recurrent, w.bias, nullptr, start},
                        {{"hidden_size", w.units},
                         {"linear_before_reset", w.resets_after},
                         {"activations", std::vector<std::string>{"Sigmoid", std::string(cell.candidate.name)}}},
                        2);
  loop.replace(g, y[0], {{cell.state, y[1]}});
}

/// reset * h, wherever the body has it.
const Value* reset_state(const Value* reset, const Value* h) {
  const Value* found = nullptr;
  for (const Use& use : reset->uses())
    if (use.node && times(use.node->output(), reset) && (use.node->input(0) == h || use.node->input(1) == h))
      found = use.node->output();
  return found;
}

/// TF1's cell: one product gives both gates, another the candidate, with the state reset before it.
bool replace_joint(SequenceLoop& loop, const GruCell& cell) {
  const Node* split = split_into(cell.update, 2);
  const Node* sigmoid = split ? made_by(split->input(0), "Sigmoid") : nullptr;
  if (!sigmoid) return false;
  const auto gates = linear(loop, sigmoid->input(0), cell.h);
  const Value* reset = split->output(part_of(cell.update, split) == 0 ? 1 : 0);
  const Value* state = reset_state(reset, cell.h);
  const auto candidate = state ? linear(loop, cell.candidate.of, state) : std::nullopt;
  if (!gates || !candidate) return false;
  GraphBuilder g = loop.builder();
  const std::int64_t u = part_of(cell.update, split);
  const auto two = onnx_matrices(g, *gates, {u, 1 - u});
  const auto one = two ? onnx_matrices(g, *candidate, {0}) : std::nullopt;
  if (!one || one->units != two->units) return false;
  Value* weights = g.concat({two->weights, one->weights}, 1);
  Value* recurrent = g.concat({two->recurrent, one->recurrent}, 1);
  const DType elem = loop.sequence()->type.elem;
  const auto halves = [&](Value* all) { return g.op("Split", {all}, {{"axis", 1}, {"num_outputs", 2}}, 2); };
  const Values a = halves(ops::onnx_bias(g, gates->bias, nullptr, {u, 1 - u}, two->units, elem));
  const Values b = halves(ops::onnx_bias(g, candidate->bias, nullptr, {0}, one->units, elem));
  Value* bias = g.concat({a[0], b[0], a[1], b[1]}, 1);
  replace(loop, g, cell, {weights, recurrent, bias, one->units, false});
  return true;
}

/// Products of the input and of the state that stand by themselves, each cut into three gates.
class ThreeGates {
 public:
  ThreeGates(const SequenceLoop& loop, const Value* h) : loop_(loop), h_(h) {}

  /// Which gate sigmoid(part of the input's + same part of the state's) is; -1: none.
  std::int64_t gate(const Value* v) {
    const Node* sigmoid = made_by(v, "Sigmoid");
    const Node* sum = sigmoid ? made_by(sigmoid->input(0), "Add") : nullptr;
    if (!sum) return -1;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const Value *a = sum->input(k), *b = sum->input(1 - k);
      const Node *first = split_into(a, 3), *second = split_into(b, 3);
      if (!first || !second || !product(first->input(0), loop_.x()) || !product(second->input(0), h_)) continue;
      if ((input && input != first) || (state && state != second)) return -1;
      input = first;
      state = second;
      const std::int64_t part = part_of(a, first);
      return part == part_of(b, second) ? part : -1;
    }
    return -1;
  }

  /// of * weights, plus a bias or not.
  std::optional<Linear> product(const Value* v, const Value* of) const {
    Linear form;
    const auto is_bias = [&](const Value* a) { return loop_.is_outside(a) && rank_of(a) == 1; };
    if (const auto sum = operands(v, "Add", is_bias)) {
      form.bias = sum->first;
      v = sum->second;
    }
    const Node* multiplied = made_by(v, "MatMul");
    if (!multiplied || multiplied->input(0) != of || !loop_.is_outside(multiplied->input(1))) return std::nullopt;
    form.weights = multiplied->input(1);
    return form;
  }

  const Node *input = nullptr, *state = nullptr;  // the Splits, once a gate was found

 private:
  const SequenceLoop& loop_;
  const Value* h_;
};

/// Keras's cell: input and state have products and biases of their own, the state is reset after its product.
bool replace_apart(SequenceLoop& loop, const GruCell& cell) {
  ThreeGates gates(loop, cell.h);
  if (gates.gate(cell.update) != 0) return false;
  const auto news = operands(cell.candidate.of, "Add", [&](const Value* v) { return part_of(v, gates.input) == 2; });
  if (!news) return false;
  const auto reset = operands(news->second, "Mul", [&](const Value* v) { return part_of(v, gates.state) == 2; });
  if (!reset || gates.gate(reset->second) != 1) return false;
  Linear form = *gates.product(gates.input->input(0), loop.x());
  const Linear other = *gates.product(gates.state->input(0), cell.h);
  form.recurrent = other.weights;
  GraphBuilder g = loop.builder();
  const auto w = onnx_matrices(g, form, {0, 1, 2});
  if (!w) return false;
  // The gates are in ONNX's order already.
  const auto half = [&](Value* bias) {
    if (bias) return g.unsqueeze(bias, {0});
    const std::vector<float> zeros(static_cast<std::size_t>(3 * w->units), 0);
    return g.cast(g.constant(Tensor::of<float>({1, 3 * w->units}, zeros)), loop.sequence()->type.elem);
  };
  Value* first = half(form.bias);
  Value* bias = g.concat({first, half(other.bias)}, 1);
  replace(loop, g, cell, {w->weights, w->recurrent, bias, w->units, true});
  return true;
}

}  // namespace

bool replace_by_gru(SequenceLoop& loop) {
  const auto cell = match(loop);
  return cell && (replace_joint(loop, *cell) || replace_apart(loop, *cell));
}

}  // namespace ingot::passes::recurrent_loops
