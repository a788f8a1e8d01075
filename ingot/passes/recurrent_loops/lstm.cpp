// LSTM: h' = sigmoid(o) * act(c'); c' = sigmoid(f) * c + sigmoid(i) * act(n).
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/rnn/gates.h"
#include "ingot/passes/recurrent_loops/cells.h"
#include "ingot/passes/recurrent_loops/linear.h"
#include "ingot/passes/recurrent_loops/patterns.h"

namespace ingot::passes::recurrent_loops {
namespace {

/// What a round computes, once it is known to be an LSTM's.
struct LstmCell {
  const Node* gates = nullptr;                // the Split of all four
  std::vector<std::int64_t> order;            // of its parts: input, output, forget, new
  double forget_bias = 0;                     // added to the forget gate alone
  std::string_view candidate_name, out_name;  // the activations of the new cell's candidate and of the output
};

Value* of_sigmoid(const Value* v) {
  const Node* sigmoid = made_by(v, "Sigmoid");
  return sigmoid ? sigmoid->input(0) : nullptr;
}

/// What goes into the forget gate, a constant of one number taken off it.
std::optional<std::pair<Value*, double>> without_constant(Value* forget) {
  const auto moved = operands(forget, "Add", [&](const Value* a) { return ops::constant_of(a) != nullptr; });
  if (!moved) return std::pair(forget, 0.0);
  const Tensor* bias = ops::constant_of(moved->first);
  if (bias->size() != 1) return std::nullopt;
  return std::pair(moved->second, bias->to_doubles().front());
}

std::optional<LstmCell> match(const SequenceLoop& loop, std::size_t c) {
  LstmCell cell;
  const auto out = operands(loop.item(), "Mul", [&](const Value* v) {
    const auto act = activation(v);
    return act && act->of == loop.next(c);
  });
  Value* output = out ? of_sigmoid(out->second) : nullptr;
  if (!output) return std::nullopt;
  const Value* old = loop.state(c);
  const auto sum = operands(loop.next(c), "Add", [&](const Value* v) { return times(v, old) != nullptr; });
  Value* kept = sum ? of_sigmoid(times(sum->first, old)) : nullptr;
  const auto forget = kept ? without_constant(kept) : std::nullopt;
  cell.gates = forget ? split_into(forget->first, 4) : nullptr;
  if (!cell.gates) return std::nullopt;
  const Node* added = made_by(sum->second, "Mul");
  if (!added) return std::nullopt;
  Value *gate = added->input(0), *news = added->input(1);
  // Both factors may be sigmoids: a candidate is none.
  const auto is_candidate = [&](const Value* v) {
    const auto act = activation(v);
    return act && part_of(act->of, cell.gates) >= 0 && act->name != "Sigmoid";
  };
  if (!is_candidate(news)) std::swap(gate, news);
  const Value* input = of_sigmoid(gate);
  if (!is_candidate(news) || !input) return std::nullopt;
  cell.order = {part_of(input, cell.gates), part_of(output, cell.gates), part_of(forget->first, cell.gates),
                part_of(activation(news)->of, cell.gates)};
  std::vector<std::int64_t> sorted = cell.order;
  std::ranges::sort(sorted);
  if (sorted.front() < 0 || std::ranges::adjacent_find(sorted) != sorted.end()) return std::nullopt;
  cell.forget_bias = forget->second;
  cell.candidate_name = activation(news)->name;
  cell.out_name = activation(out->first)->name;
  return cell;
}

/// On the part of the forget gate, the third of eight.
Value* with_forget_bias(GraphBuilder& g, Value* bias, double extra, std::int64_t units) {
  if (extra == 0) return bias;
  std::vector<float> more(static_cast<std::size_t>(8 * units), 0);
  std::fill_n(more.begin() + 2 * units, units, static_cast<float>(extra));
  return g.add(bias, g.cast(g.constant(Tensor::of<float>({1, 8 * units}, more)), bias->type.elem));
}

}  // namespace

bool replace_by_lstm(SequenceLoop& loop) {
  const std::vector<std::size_t>& vectors = loop.vectors();
  if (vectors.size() != 2) return false;
  const std::size_t h = loop.next(vectors[0]) == loop.item() ? vectors[0] : vectors[1];
  const std::size_t c = h == vectors[0] ? vectors[1] : vectors[0];
  if (loop.next(h) != loop.item()) return false;
  const auto cell = match(loop, c);
  const auto form = cell ? linear(loop, cell->gates->input(0), loop.state(h)) : std::nullopt;
  if (!form) return false;
  GraphBuilder g = loop.builder();
  const auto w = onnx_matrices(g, *form, cell->order);
  if (!w) return false;
  Value* sequence = loop.sequence();
  Value* bias = ops::onnx_bias(g, form->bias, nullptr, cell->order, w->units, sequence->type.elem);
  bias = with_forget_bias(g, bias, cell->forget_bias, w->units);
  Value* start_h = g.unsqueeze(loop.start(h), {0});
  Value* start_c = g.unsqueeze(loop.start(c), {0});
  const std::vector<std::string> names{"Sigmoid", std::string(cell->candidate_name), std::string(cell->out_name)};
  const Values y = g.op("LSTM", {sequence, w->weights, w->recurrent, bias, nullptr, start_h, start_c},
                        {{"hidden_size", w->units}, {"activations", names}}, 3);
  loop.replace(g, y[0], {{h, y[1]}, {c, y[2]}});
  return true;
}

}  // namespace ingot::passes::recurrent_loops
