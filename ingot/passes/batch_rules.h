#pragma once
#include <string>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/passes/change_batch.h"

// Where operators carry a batch that a model fixes; see change_batch.h.

namespace ingot::passes {

/// The batch while it is followed through a graph: a name where the model has a number.
struct BatchAxis {
  Dim batch;
  std::int64_t old;
  BatchGuess guess = BatchGuess::outer;

  bool is_in(const Dim& dim) const;
};

/// A change of one input of a node.
struct BatchPatch {
  std::string output, op;  // the first output of the node, and its operator
  std::size_t input = 0;
  /// Empty: the input is a tensor of this rank that is repeated along `at`, or shrinks there. Else the vector that takes its place.
  std::vector<std::int64_t> values{};
  std::size_t rank = 0;
  std::size_t at = 0;
  bool shrinks = false;     // a constant that is repeated for each example becomes one along `at`
  std::int64_t factor = 0;  // of a vector: entry `at` is so many times the batch; 0: as `values` says

  std::string what() const;
};

/// What of a node has to change, its inputs being inferred; the node must be of the newest operator set.
std::vector<BatchPatch> batch_patches(const Node& node, const BatchAxis& axis);

/// Makes the change; `batched` is an input of the graph that has the batch, which is read from it at run time unless
/// `batch` is a number. Returns the nodes that it took, in their order.
std::vector<Node*> apply(const BatchPatch& patch, Node& node, Value* batched, const Dim& batch);

}  // namespace ingot::passes
