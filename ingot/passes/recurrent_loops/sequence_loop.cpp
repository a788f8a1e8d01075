// Loops over the steps of a sequence: counters, what is read, what is collected, and what else is carried.
#include "ingot/passes/recurrent_loops/sequence_loop.h"

#include <algorithm>

#include "ingot/ops/known.h"
#include "ingot/passes/recurrent_loops/patterns.h"

namespace ingot::passes::recurrent_loops {
namespace {

constexpr int kMostNested = 4;  // conditions within conditions

}  // namespace

std::optional<SequenceLoop> SequenceLoop::find(Node& loop) {
  SequenceLoop parts(loop);
  if (parts.find_states() && parts.find_sequence() && parts.find_list()) return parts;
  return std::nullopt;
}

bool SequenceLoop::find_states() {
  const auto* graph = loop_->attributes.get<GraphPtr>("body");
  if (!graph || !*graph || loop_->input(0) || loop_->input_count() < 2) return false;
  body_ = graph->get();
  const std::size_t carried = loop_->input_count() - 2;
  if (body_->inputs().size() != carried + 2 || body_->output_count() != carried + 1) return false;
  for (std::size_t i = 0; i < carried; ++i) {
    states_.push_back(body_->inputs()[i + 2]);
    nexts_.push_back(unwrapped(body_->output(i + 1)));
  }
  for (std::size_t i = 0; i < carried; ++i) {
    const auto sum = operands(nexts_[i], "Add", [&](const Value* v) { return v == states_[i]; });
    if (sum && is_number(sum->second, 1) && is_number(start(i), 0)) counters_.push_back(states_[i]);
  }
  return !counters_.empty();
}

/// What is read at a counter, whole, is the sequence.
bool SequenceLoop::find_sequence() {
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
  return true;
}

bool SequenceLoop::find_list() {
  for (std::size_t i = 0; i < states_.size(); ++i) {
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

bool SequenceLoop::is_counter(const Value* v) const { return std::ranges::find(counters_, v) != counters_.end(); }

/// Whether the value is the number of steps: known to be, or the lesser of it and of something not below it.
bool SequenceLoop::is_steps(const Value* v, int depth) const {
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
bool SequenceLoop::is_condition(const Value* v, int depth) const {
  if (depth == kMostNested) return false;
  if (const Node* both = made_by(v, "And"))
    return is_condition(both->input(0), depth + 1) && is_condition(both->input(1), depth + 1);
  const Node* less = made_by(v, "Less");
  if (!less || !is_steps(less->input(1))) return false;
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (nexts_[i] == less->input(0)) return is_counter(states_[i]);
  return false;
}

/// What a round puts into list i at the counter; null: it is no such list.
const Value* SequenceLoop::written_item(std::size_t i) const {
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
bool SequenceLoop::has_whole_list() const {
  const Value* list = start(list_);
  if (list->type.is_tensor()) return list->type.shape && same(list->type.shape->front(), steps_);
  const Node* split = made_by(list, "SplitToSequence");
  if (!split || !split->input(0)->type.shape || !same(split->input(0)->type.shape->front(), steps_)) return false;
  return std::ranges::all_of(loop_->output(list_)->uses(), [](const Use& use) {
    return use.node && use.node->is("ConcatFromSequence") && use.node->attributes.int_or("axis", 0) == 0 &&
           use.node->attributes.int_or("new_axis", 0) == 1;
  });
}

GraphBuilder SequenceLoop::builder() const {
  GraphBuilder g(loop_->graph(), loop_);
  g.name_after(*loop_);
  return g;
}

void SequenceLoop::replace(GraphBuilder& g, Value* y, const std::vector<std::pair<std::size_t, Value*>>& last) {
  Value* all = g.squeeze(y, {1});
  Values made(loop_->output_count(), nullptr);
  for (const auto& [i, value] : last) made[i] = g.squeeze(value, {0});
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!is_counter(states_[i])) continue;
    Value* count = g.op("Gather", {g.shape(sequence_), g.index(0)});
    made[i] = g.cast(count, states_[i]->type.elem);
  }
  if (loop_->output(list_)->type.is_tensor() && !start(list_)->type.is_sequence()) {
    made[list_] = all;
  } else {
    std::vector<Node*> readers;
    for (const Use& use : loop_->output(list_)->uses()) readers.push_back(use.node);
    for (Node* reader : readers) replace_node(*reader, {all});
  }
  replace_node(*loop_, made);
}

}  // namespace ingot::passes::recurrent_loops
