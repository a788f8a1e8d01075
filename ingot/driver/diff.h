#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::driver {

/// A weight that both models have and that is not the same in both.
struct WeightDifference {
  std::string a_name, b_name, a_type, b_type;
  bool is_comparable = false;               // same shape, both numbers
  double a_norm = 0, b_norm = 0, norm = 0;  // Euclidean: of each, of the difference
  double largest = 0;                       // absolute difference
  std::uint64_t elements = 0, differing = 0;
};

/// A node that both models have and that is not the same in both.
struct NodeDifference {
  std::string node, op;
  std::vector<std::string> changes;  // "attribute 'axis' is 1, and 2 in b"
};

/// What two models say differently. Nodes belong together by what they make, by their names, or by what they read.
struct Difference {
  std::vector<std::string> model;           // versions, producer, operator sets, inputs, outputs, functions
  std::vector<std::string> only_a, only_b;  // nodes: "conv1 (Conv)"
  std::vector<NodeDifference> nodes;
  std::vector<std::string> weights_only_a, weights_only_b;
  std::vector<WeightDifference> weights;
  struct Count {
    std::string op;
    std::size_t a = 0, b = 0;
  };
  std::vector<Count> operators;  // those that the models do not have equally often
  std::size_t same_nodes = 0, same_weights = 0;

  bool is_same() const;
};

Difference diff(const Model& a, const Model& b);

}  // namespace ingot::driver
