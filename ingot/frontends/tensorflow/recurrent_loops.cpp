// Recurrent cells that a graph spells out as a loop over steps.
#include "ingot/frontends/tensorflow/recurrent_loops.h"

#include <algorithm>
#include <optional>

#include "ingot/frontends/tensorflow/node.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tensorflow {
namespace {

const Node* made_by(const Value* v, std::string_view op) {
  return v && v->producer() && v->producer()->is(op) ? v->producer() : nullptr;
}

/// The two operands of a commutative node, the one that `is_first` wants in front.
template <class F> std::optional<std::pair<Value*, Value*>> operands(const Value* v, std::string_view op, F is_first) {
  const Node* node = made_by(v, op);
  if (!node) return std::nullopt;
  if (is_first(node->input(0))) return std::pair(node->input(0), node->input(1));
  if (is_first(node->input(1))) return std::pair(node->input(1), node->input(0));
  return std::nullopt;
}

bool is_number(const Value* v, double number) {
  const Tensor* t = ops::constant_of(v);
  if (!t || t->size() != 1 || t->dtype() == DType::string) return false;
  return t->to_doubles().front() == number;
}

/// Behind casts and reshapes of an index.
const Value* plain_index(const Value* v) {
  while (v && v->producer() &&
         (v->producer()->is("Cast") || v->producer()->is("Reshape") || v->producer()->is("Squeeze") ||
          v->producer()->is("Unsqueeze") || v->producer()->is("Identity")))
    v = v->producer()->input(0);
  return v;
}

/// x * weights + h * recurrent + bias, as one product of both or as two.
struct Linear {
  Value *joint = nullptr, *weights = nullptr, *recurrent = nullptr;  // joint: [x, h] along axis 1
  Value* bias = nullptr;
};

struct Activation {
  std::string_view name;
  Value* of;
};

std::optional<Activation> activation(const Value* v) {
  for (const std::string_view name : {"Tanh", "Sigmoid", "Relu", "Softsign"})
    if (const Node* node = made_by(v, name)) return Activation{name, node->input(0)};
  return std::nullopt;
}

class Matcher {
 public:
  explicit Matcher(Node& loop) : loop_(loop) {}

  bool replace() {
    if (!find_parts()) return false;
    return replace_lstm() || replace_gru() || replace_rnn();
  }

 private:
  static constexpr int kMostNested = 4;  // conditions within conditions

  bool is_outside(const Value* v) const { return v && &v->graph() != body_; }

  bool is_counter(const Value* v) const { return std::ranges::find(counters_, v) != counters_.end(); }

  /// Whether the value is the number of steps: known to be, or the lesser of it and of something not below it.
  bool is_steps(const Value* v, int depth = 0) const {
    if (depth == kMostNested || !is_outside(v)) return false;
    const Value* plain = plain_index(v);
    for (const Value* candidate : {v, plain}) {
      if (candidate->known_ints && candidate->known_ints->size() == 1 && same(candidate->known_ints->front(), steps_))
        return true;
      const auto known = known_ints(candidate);
      if (known && known->size() == 1 && same(Dim(known->front()), steps_)) return true;
    }
    const auto least = operands(v, "Min", [&](const Value* a) { return !made_by(a, "Max") && is_steps(a, depth + 1); });
    return least && operands(least->second, "Max", [&](const Value* a) { return is_steps(a, depth + 1); });
  }

  /// The condition after a round: the counters are still below the number of steps.
  bool is_condition(const Value* v, int depth = 0) const {
    if (depth == kMostNested) return false;
    if (const Node* both = made_by(v, "And"))
      return is_condition(both->input(0), depth + 1) && is_condition(both->input(1), depth + 1);
    const Node* less = made_by(v, "Less");
    if (!less || !is_steps(less->input(1))) return false;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (nexts_[i] == less->input(0)) return is_counter(states_[i]);
    return false;
  }

  /// The counters, the sequence that is read, the list that is written, and what else is carried.
  bool find_parts() {
    const auto* graph = loop_.attributes.get<GraphPtr>("body");
    if (!graph || loop_.input(0)) return false;
    body_ = graph->get();
    const std::size_t carried = loop_.input_count() - 2;
    if (body_->inputs().size() != carried + 2 || body_->output_count() != carried + 1) return false;
    for (std::size_t i = 0; i < carried; ++i) {
      states_.push_back(body_->inputs()[i + 2]);
      nexts_.push_back(unwrapped(body_->output(i + 1)));
    }
    for (std::size_t i = 0; i < carried; ++i) {
      const auto sum = operands(nexts_[i], "Add", [&](const Value* v) { return v == states_[i]; });
      if (sum && is_number(sum->second, 1) && is_number(loop_.input(i + 2), 0)) counters_.push_back(states_[i]);
    }
    if (counters_.empty()) return false;
    // What is read at a counter, whole, is the sequence.
    for (const Node& node : body_->nodes()) {
      if (!node.is("Gather") || !is_outside(node.input(0)) || !is_counter(plain_index(node.input(1)))) continue;
      if (node.attributes.int_or("axis", 0) != 0 || rank_of(node.input(0)) != 3 || sequence_) return false;
      sequence_ = node.input(0);
      x_ = node.output();
    }
    if (!sequence_) return false;
    // Runtimes have these operators for single and half precision; others run the loop.
    if (sequence_->type.elem != DType::f32 && sequence_->type.elem != DType::f16) return false;
    steps_ = (*sequence_->type.shape)[0];
    for (std::size_t i = 0; i < carried; ++i) {
      if (is_counter(states_[i])) continue;
      if (const Value* item = written_item(i)) {
        if (item_) return false;
        item_ = item;
        list_ = i;
      } else {
        vectors_.push_back(i);
      }
    }
    return item_ && is_condition(unwrapped(body_->output(0))) && has_whole_list();
  }

  static Value* unwrapped(Value* v) {
    while (v && v->producer() && v->producer()->is("Identity")) v = v->producer()->input(0);
    return v;
  }

  /// What a round puts into list i at the counter; null: it is no such list.
  const Value* written_item(std::size_t i) const {
    if (const Node* scatter = made_by(nexts_[i], "ScatterND")) {
      const Node* row = made_by(scatter->input(2), "Unsqueeze");
      const bool is_plain = scatter->attributes.string_or("reduction", "none") == "none";
      if (scatter->input(0) != states_[i] || !is_plain || !row || !is_counter(plain_index(scatter->input(1))))
        return nullptr;
      return row->input(0);
    }
    const Node* insert = made_by(nexts_[i], "SequenceInsert");
    const Node* erase = insert ? made_by(insert->input(0), "SequenceErase") : nullptr;
    if (!erase || erase->input(0) != states_[i]) return nullptr;
    if (!is_counter(plain_index(erase->input(1))) || !is_counter(plain_index(insert->input(2)))) return nullptr;
    return insert->input(1);
  }

  /// The list has as many places as there are steps, and a sequence is only stacked afterwards.
  bool has_whole_list() const {
    const Value* start = loop_.input(list_ + 2);
    if (start->type.is_tensor()) return start->type.shape && same(start->type.shape->front(), steps_);
    const Node* split = made_by(start, "SplitToSequence");
    if (!split || !split->input(0)->type.shape || !same(split->input(0)->type.shape->front(), steps_)) return false;
    return std::ranges::all_of(loop_.output(list_)->uses(), [](const Use& use) {
      return use.node && use.node->is("ConcatFromSequence") && use.node->attributes.int_or("axis", 0) == 0 &&
             use.node->attributes.int_or("new_axis", 0) == 1;
    });
  }

  /// v as a linear form of x and of `h`, which need not be the state itself: the terms of a sum in any order.
  std::optional<Linear> linear(Value* v, const Value* h) const {
    constexpr int kMostTerms = 8;
    Linear form;
    std::vector<Value*> terms{v};
    for (int seen = 0; !terms.empty(); ++seen) {
      Value* term = terms.back();
      terms.pop_back();
      if (seen == kMostTerms) return std::nullopt;
      if (is_outside(term)) {
        if (form.bias || rank_of(term) != 1) return std::nullopt;
        form.bias = term;
      } else if (const Node* sum = made_by(term, "Add")) {
        terms.push_back(sum->input(0));
        terms.push_back(sum->input(1));
      } else if (const Node* product = made_by(term, "MatMul"); product && is_outside(product->input(1))) {
        Value** place = product->input(0) == x_       ? &form.weights
                        : product->input(0) == h      ? &form.recurrent
                        : joins(product->input(0), h) ? &form.joint
                                                      : nullptr;
        if (!place || *place) return std::nullopt;
        *place = product->input(1);
      } else {
        return std::nullopt;
      }
    }
    const bool is_apart = form.weights && form.recurrent && !form.joint;
    const bool is_joint = form.joint && !form.weights && !form.recurrent;
    return is_apart || is_joint ? std::optional(form) : std::nullopt;
  }

  /// Whether the value is x and h side by side.
  bool joins(const Value* v, const Value* h) const {
    const Node* both = made_by(v, "Concat");
    const std::int64_t axis = both ? both->attributes.int_or("axis", 0) : 0;
    return both && both->input_count() == 2 && both->input(0) == x_ && both->input(1) == h && (axis == 1 || axis == -1);
  }

  /// Which of the parts of a Split along the last axis the value is; -1: none.
  static std::int64_t part_of(const Value* v, const Node* split) {
    return v && v->producer() == split ? static_cast<std::int64_t>(v->output_index()) : -1;
  }

  static const Node* split_into(const Value* v, std::size_t count) {
    const Node* split = made_by(v, "Split");
    const std::int64_t axis = split ? split->attributes.int_or("axis", 0) : 0;
    return split && split->output_count() == count && (axis == 1 || axis == -1) ? split : nullptr;
  }

  bool replace_rnn() {
    if (vectors_.size() != 1 || nexts_[vectors_[0]] != item_) return false;
    const auto act = activation(item_);
    const auto form = act ? linear(act->of, states_[vectors_[0]]) : std::nullopt;
    if (!form) return false;
    GraphBuilder g = builder();
    const auto w = matrices(g, *form, {0}, 1);
    if (!w) return false;
    Value* start = g.unsqueeze(loop_.input(vectors_[0] + 2), {0});
    const Values y =
        g.op("RNN", {sequence_, w->weights, w->recurrent, biases(g, form->bias, {0}, 1, *w), nullptr, start},
             {{"hidden_size", w->size}, {"activations", std::vector<std::string>{std::string(act->name)}}}, 2);
    return finish(g, y[0], {{vectors_[0], y[1]}});
  }

  bool replace_lstm() {
    if (vectors_.size() != 2) return false;
    const std::size_t h = nexts_[vectors_[0]] == item_ ? vectors_[0] : vectors_[1];
    const std::size_t c = h == vectors_[0] ? vectors_[1] : vectors_[0];
    if (nexts_[h] != item_) return false;
    // h' = sigmoid(o) * act(c'); c' = sigmoid(f) * c + sigmoid(i) * act(g).
    const auto is_sigmoid = [](const Value* v) { return made_by(v, "Sigmoid") != nullptr; };
    const auto out = operands(item_, "Mul", [&](const Value* v) {
      const auto act = activation(v);
      return act && act->of == nexts_[c];
    });
    if (!out || !is_sigmoid(out->second)) return false;
    const auto keeps_state = [&](const Value* v) {
      return operands(v, "Mul", [&](const Value* a) { return a == states_[c]; }).has_value();
    };
    const auto sum = operands(nexts_[c], "Add", keeps_state);
    if (!sum) return false;
    const auto kept = operands(sum->first, "Mul", [&](const Value* a) { return a == states_[c]; });
    if (!kept || !is_sigmoid(kept->second)) return false;
    Value* forget = kept->second->producer()->input(0);
    double extra = 0;
    if (const auto moved = operands(forget, "Add", [&](const Value* a) { return ops::constant_of(a) != nullptr; })) {
      const Tensor* bias = ops::constant_of(moved->first);
      if (bias->size() != 1) return false;
      extra = bias->to_doubles().front();
      forget = moved->second;
    }
    const Node* split = split_into(forget, 4);
    if (!split) return false;
    const auto is_gate = [&](const Value* v) { return is_sigmoid(v) && part_of(v->producer()->input(0), split) >= 0; };
    // Both factors may be sigmoids: then the first in the order of the gates is taken for the input gate.
    const Node* added = made_by(sum->second, "Mul");
    if (!added) return false;
    Value *gate = added->input(0), *news = added->input(1);
    const auto candidate = [&](const Value* v) {
      const auto act = activation(v);
      return act && part_of(act->of, split) >= 0 && act->name != "Sigmoid";
    };
    if (!candidate(news)) std::swap(gate, news);
    if (!candidate(news) || !is_gate(gate) || !is_gate(out->second)) return false;
    const std::int64_t i = part_of(gate->producer()->input(0), split), f = part_of(forget, split);
    const std::int64_t o = part_of(out->second->producer()->input(0), split);
    const std::int64_t n = part_of(activation(news)->of, split);
    if (i == f || i == o || i == n || f == o || f == n || o == n) return false;
    const auto form = linear(split->input(0), states_[h]);
    if (!form) return false;
    GraphBuilder g = builder();
    const std::vector<std::int64_t> order{i, o, f, n};
    const auto w = matrices(g, *form, order, 4);
    if (!w) return false;
    Value* bias = biases(g, form->bias, order, 4, *w);
    if (extra != 0) {
      // On the part of the forget gate, the third of eight.
      std::vector<float> more(static_cast<std::size_t>(8 * w->size), 0);
      std::fill_n(more.begin() + 2 * w->size, w->size, static_cast<float>(extra));
      bias = g.add(bias, g.cast(g.constant(Tensor::of<float>({1, 8 * w->size}, more)), bias->type.elem));
    }
    Value* start_h = g.unsqueeze(loop_.input(h + 2), {0});
    Value* start_c = g.unsqueeze(loop_.input(c + 2), {0});
    const std::vector<std::string> names{"Sigmoid", std::string(activation(news)->name),
                                         std::string(activation(out->first)->name)};
    const Values y = g.op("LSTM", {sequence_, w->weights, w->recurrent, bias, nullptr, start_h, start_c},
                          {{"hidden_size", w->size}, {"activations", names}}, 3);
    return finish(g, y[0], {{h, y[1]}, {c, y[2]}});
  }

  bool replace_gru() {
    if (vectors_.size() != 1 || nexts_[vectors_[0]] != item_) return false;
    Value* h = states_[vectors_[0]];
    // h' = u * h + (1 - u) * act(candidate).
    const auto keeps = [&](const Value* v) {
      return operands(v, "Mul", [&](const Value* a) { return a == h; }).has_value();
    };
    const auto sum = operands(item_, "Add", keeps);
    if (!sum) return false;
    Value* update = operands(sum->first, "Mul", [&](const Value* a) { return a == h; })->second;
    const auto rest = operands(sum->second, "Mul", [&](const Value* a) {
      const Node* sub = made_by(a, "Sub");
      return sub && is_number(sub->input(0), 1) && sub->input(1) == update;
    });
    const auto act = rest ? activation(rest->second) : std::nullopt;
    if (!act) return false;
    return replace_gru_joint(h, update, *act) || replace_gru_apart(h, update, *act);
  }

  /// TF1's cell: one product gives both gates, another the candidate, with the state reset before it.
  bool replace_gru_joint(Value* h, Value* update, const Activation& act) {
    const Node* split = split_into(update, 2);
    const Node* sigmoid = split ? made_by(split->input(0), "Sigmoid") : nullptr;
    if (!sigmoid) return false;
    const auto gates = linear(sigmoid->input(0), h);
    Value* reset = split->output(part_of(update, split) == 0 ? 1 : 0);
    const Value* reset_state = nullptr;
    for (const Use& use : reset->uses())
      if (use.node && operands(use.node->output(), "Mul", [&](const Value* a) { return a == reset; }) &&
          (use.node->input(0) == h || use.node->input(1) == h))
        reset_state = use.node->output();
    const auto candidate = reset_state ? linear(act.of, reset_state) : std::nullopt;
    if (!gates || !candidate) return false;
    GraphBuilder g = builder();
    const std::int64_t u = part_of(update, split);
    const auto two = matrices(g, *gates, {u, 1 - u}, 2);
    const auto one = two ? matrices(g, *candidate, {0}, 1) : std::nullopt;
    if (!one || one->size != two->size) return false;
    Value* weights = g.concat({two->weights, one->weights}, 1);
    Value* recurrent = g.concat({two->recurrent, one->recurrent}, 1);
    const auto halves = [&](Value* all) { return g.op("Split", {all}, {{"axis", 1}, {"num_outputs", 2}}, 2); };
    const Values a = halves(biases(g, gates->bias, {u, 1 - u}, 2, *two));
    const Values b = halves(biases(g, candidate->bias, {0}, 1, *one));
    return finish_gru(g, weights, recurrent, g.concat({a[0], b[0], a[1], b[1]}, 1), one->size, 0, act);
  }

  /// Keras's cell: input and state have products and biases of their own, the state is reset after its product.
  bool replace_gru_apart(Value* h, Value* update, const Activation& act) {
    const auto own = [&](const Value* v, const Value* of) -> std::optional<Linear> {
      Linear form;
      if (const auto sum = operands(v, "Add", [&](const Value* a) { return is_outside(a) && rank_of(a) == 1; })) {
        form.bias = sum->first;
        v = sum->second;
      }
      const Node* product = made_by(v, "MatMul");
      if (!product || product->input(0) != of || !is_outside(product->input(1))) return std::nullopt;
      form.weights = product->input(1);
      return form;
    };
    const auto gate = [&](const Value* v, const Node*& in, const Node*& state) -> std::int64_t {
      const Node* sigmoid = made_by(v, "Sigmoid");
      const Node* sum = sigmoid ? made_by(sigmoid->input(0), "Add") : nullptr;
      if (!sum) return -1;
      for (int k = 0; k < 2; ++k) {
        const Node* first = split_into(sum->input(static_cast<std::size_t>(k)), 3);
        const Node* second = split_into(sum->input(static_cast<std::size_t>(1 - k)), 3);
        if (!first || !second || !own(first->input(0), x_) || !own(second->input(0), h)) continue;
        if ((in && in != first) || (state && state != second)) return -1;
        in = first;
        state = second;
        const std::int64_t part = part_of(sum->input(static_cast<std::size_t>(k)), first);
        return part == part_of(sum->input(static_cast<std::size_t>(1 - k)), second) ? part : -1;
      }
      return -1;
    };
    const Node *in = nullptr, *state = nullptr;
    if (gate(update, in, state) != 0) return false;
    const auto news = operands(act.of, "Add", [&](const Value* v) { return part_of(v, in) == 2; });
    if (!news) return false;
    const auto reset = operands(news->second, "Mul", [&](const Value* v) { return part_of(v, state) == 2; });
    if (!reset || gate(reset->second, in, state) != 1) return false;
    Linear form = *own(in->input(0), x_);
    const Linear other = *own(state->input(0), h);
    form.recurrent = other.weights;
    GraphBuilder g = builder();
    const auto w = matrices(g, form, {0, 1, 2}, 3);
    if (!w) return false;
    const auto half = [&](Value* bias) {
      return bias ? g.unsqueeze(bias, {0}) : g.cast(zeros(g, 3 * w->size), sequence_->type.elem);
    };
    Value* first = half(form.bias);
    return finish_gru(g, w->weights, w->recurrent, g.concat({first, half(other.bias)}, 1), w->size, 1, act);
  }

  bool finish_gru(GraphBuilder& g, Value* weights, Value* recurrent, Value* bias, std::int64_t size, int after,
                  const Activation& act) {
    Value* start = g.unsqueeze(loop_.input(vectors_[0] + 2), {0});
    const Values y = g.op("GRU", {sequence_, weights, recurrent, bias, nullptr, start},
                          {{"hidden_size", size},
                           {"linear_before_reset", after},
                           {"activations", std::vector<std::string>{"Sigmoid", std::string(act.name)}}},
                          2);
    return finish(g, y[0], {{vectors_[0], y[1]}});
  }

  GraphBuilder builder() {
    GraphBuilder g(loop_.graph(), &loop_);
    g.name_after(loop_);
    return g;
  }

  static Value* zeros(GraphBuilder& g, std::int64_t count) {
    return g.constant(Tensor::of<float>({1, count}, std::vector<float>(static_cast<std::size_t>(count), 0)));
  }

  struct Matrices {
    Value *weights, *recurrent;  // [1, gates * size, ...]
    std::int64_t size;
  };

  /// The columns in the order of ONNX's gates, turned.
  std::optional<Matrices> matrices(GraphBuilder& g, const Linear& form, const std::vector<std::int64_t>& order,
                                   std::int64_t gates) const {
    const auto width = dim_of(form.joint ? form.joint : form.weights, 1);
    if (!width || *width < gates || *width % gates != 0) return std::nullopt;
    Matrices m{form.weights, form.recurrent, *width / gates};
    if (form.joint) {
      const auto height = dim_of(form.joint, 0);
      if (!height || *height <= m.size) return std::nullopt;
      const Values rows = g.op("Split", {form.joint, g.ints({*height - m.size, m.size})}, {{"axis", 0}}, 2);
      m.weights = rows[0];
      m.recurrent = rows[1];
    }
    for (Value** matrix : {&m.weights, &m.recurrent}) {
      Value* turned = g.transpose(ordered(g, *matrix, order, gates, 1), {1, 0});
      *matrix = g.unsqueeze(turned, {0});
    }
    return m;
  }

  static Value* ordered(GraphBuilder& g, Value* v, const std::vector<std::int64_t>& order, std::int64_t gates,
                        std::int64_t axis) {
    if (gates == 1) return v;
    const Values parts = g.op("Split", {v}, {{"axis", axis}, {"num_outputs", gates}}, static_cast<std::size_t>(gates));
    Values chosen;
    for (const std::int64_t k : order) chosen.push_back(parts[static_cast<std::size_t>(k)]);
    return g.concat(chosen, axis);
  }

  /// [1, 2 * gates * size]: the bias, then zeros for that of the state.
  Value* biases(GraphBuilder& g, Value* bias, const std::vector<std::int64_t>& order, std::int64_t gates,
                const Matrices& m) const {
    const DType t = sequence_->type.elem;
    Value* none = g.cast(zeros(g, gates * m.size), t);
    Value* own = bias ? g.unsqueeze(ordered(g, bias, order, gates, 0), {0}) : none;
    return g.concat({own, none}, 1);
  }

  /// Y [steps, 1, batch, size] and the last states [1, batch, size] take the place of the loop.
  bool finish(GraphBuilder& g, Value* y, const std::vector<std::pair<std::size_t, Value*>>& last) {
    Value* all = g.squeeze(y, {1});
    Values made(loop_.output_count(), nullptr);
    for (const auto& [i, value] : last) made[i] = g.squeeze(value, {0});
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!is_counter(states_[i])) continue;
      Value* count = g.op("Gather", {g.shape(sequence_), g.index(0)});
      made[i] = g.cast(count, states_[i]->type.elem);
    }
    if (loop_.output(list_)->type.is_tensor() && !loop_.input(list_ + 2)->type.is_sequence()) {
      made[list_] = all;
    } else {
      std::vector<Node*> readers;
      for (const Use& use : loop_.output(list_)->uses()) readers.push_back(use.node);
      for (Node* reader : readers) replace_node(*reader, {all});
    }
    replace_node(loop_, made);
    return true;
  }

  Node& loop_;
  Graph* body_ = nullptr;
  Values states_, nexts_;
  std::vector<const Value*> counters_;
  Value *sequence_ = nullptr, *x_ = nullptr;
  Dim steps_;
  const Value* item_ = nullptr;
  std::size_t list_ = 0;
  std::vector<std::size_t> vectors_;  // states that are neither counters nor lists
};

}  // namespace

std::size_t recognise_recurrent_loops(Graph& graph) {
  std::vector<Node*> loops;
  for (Node& node : graph.nodes())
    if (node.is("Loop")) loops.push_back(&node);
  std::size_t count = 0;
  for (Node* loop : loops) count += Matcher(*loop).replace();
  return count;
}

}  // namespace ingot::frontends::tensorflow
