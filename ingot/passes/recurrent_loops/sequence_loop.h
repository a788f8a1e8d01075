#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::passes::recurrent_loops {

/// A Loop over all steps of a sequence that collects one value of each step: its parts, as cells need them.
class SequenceLoop {
 public:
  /// Nothing: the loop is more than that, or less.
  static std::optional<SequenceLoop> find(Node& loop);

  /// [steps, batch, inputs], and the step's part of it within the body.
  Value* sequence() const { return sequence_; }
  const Value* x() const { return x_; }
  /// What is collected.
  const Value* item() const { return item_; }
  /// The carried values that are neither counters nor the list, by number; a cell's state.
  const std::vector<std::size_t>& vectors() const { return vectors_; }
  /// A carried value within a round, after it, and before the first.
  Value* state(std::size_t i) const { return states_[i]; }
  Value* next(std::size_t i) const { return nexts_[i]; }
  Value* start(std::size_t i) const { return loop_->input(i + 2); }
  bool is_outside(const Value* v) const { return v && &v->graph() != body_; }

  /// Writes before the loop, under its name.
  GraphBuilder builder() const;
  /// Y [steps, 1, batch, size] and the last states [1, batch, size], by number, take the place of the loop.
  void replace(GraphBuilder& g, Value* y, const std::vector<std::pair<std::size_t, Value*>>& last);

 private:
  explicit SequenceLoop(Node& loop) : loop_(&loop) {}

  bool find_states();
  bool find_sequence();
  bool find_list();
  bool is_counter(const Value* v) const;
  bool is_steps(const Value* v, int depth = 0) const;
  bool is_condition(const Value* v, int depth = 0) const;
  const Value* written_item(std::size_t i) const;
  bool has_whole_list() const;

  Node* loop_;
  Graph* body_ = nullptr;
  Values states_, nexts_;
  std::vector<const Value*> counters_;
  Value *sequence_ = nullptr, *x_ = nullptr;
  Dim steps_;
  const Value* item_ = nullptr;
  std::size_t list_ = 0;
  std::vector<std::size_t> vectors_;
};

}  // namespace ingot::passes::recurrent_loops
