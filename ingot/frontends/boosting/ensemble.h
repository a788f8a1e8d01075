#pragma once
#include <memory>
#include <span>

#include "ingot/formats/boosting/model.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::boosting {

/// The same as tree_sums of trees that are told one after the other, so that not all of them are in memory at once.
class TreeSums {
 public:
  explicit TreeSums(DType elem);  // of the rows
  ~TreeSums();
  /// How much will be added, as far as that is known before.
  void reserve(std::size_t branches, std::size_t leaves);
  void add(const formats::boosting::Tree& tree);
  std::size_t count() const;  // of trees
  std::size_t width() const;  // the most values of a leaf
  Value* finish(GraphBuilder& g, Value* x, std::int64_t groups);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The sums [N, groups] of the leaves that rows of x [N, features] reach, as one TreeEnsemble in the type of x, float
/// or double. Thresholds are rounded so that every float goes the way that it goes by the threshold itself.
Value* tree_sums(GraphBuilder& g, Value* x, std::span<const formats::boosting::Tree> trees, std::int64_t groups);

/// The number of the leaf, among the nodes of its tree, that each row reaches in each tree: [N, trees] int64.
Value* tree_leaves(GraphBuilder& g, Value* x, std::span<const formats::boosting::Tree> trees);

}  // namespace ingot::frontends::boosting
