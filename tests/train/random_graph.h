#pragma once
#include <random>

#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"

namespace ingot::test {

/// A graph of real operators, drawn node by node; every value's shape is known while it is drawn.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed);

  const Model& model() const { return model_; }
  const std::vector<engine::NamedDatum>& inputs() const { return inputs_; }

 private:
  using Ints = std::vector<std::int64_t>;

  Graph& graph() { return *model_.graph; }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) / 9007199254740992.0;
  }
  Array array(const Ints& dims);
  Value* weights(const Ints& dims) { return g_.constant(array(dims).to_tensor()); }
  Ints dims(const Value* v) const { return *static_dims(v->type.shape); }
  std::int64_t rank(const Value* v) const { return static_cast<std::int64_t>(v->type.shape->size()); }
  bool is_empty(const Value* v) const { return tensor_size(dims(v)) == 0; }
  Value* any() { return values_[static_cast<std::size_t>(below(static_cast<std::int64_t>(values_.size())))]; }
  /// An axis, now and then counted from the back.
  std::int64_t axis(std::int64_t rank) { return below(rank) - (below(2) ? rank : 0); }
  void keep(Value* v) {
    if (tensor_size(dims(v)) <= 400) values_.push_back(v);
  }
  /// A value of at least this rank, made by adding axes where there is none.
  Value* of_rank(std::int64_t least);
  Value* of_exact_rank(std::int64_t wanted);
  /// A second operand that can be broadcast with x.
  Value* partner(Value* x);

  void add_node();
  void add_unary();
  void add_binary();
  void add_reduction();
  void add_move();
  void add_layer();
  void add_normalization();
  void add_sequence_layer();
  void add_pick();

  std::mt19937_64 random_;
  Model model_;
  GraphBuilder g_{*model_.graph};
  Values values_;
  std::vector<engine::NamedDatum> inputs_;
};

}  // namespace ingot::test
