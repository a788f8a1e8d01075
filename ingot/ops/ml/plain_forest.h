#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/ops/ml/forest.h"

namespace ingot::ops {

/// In which types a forest is computed: what goes in and comes out, what is compared, and what leaves hold.
template <class InputType, class ScalarType, class WeightType> struct ForestTypes {
  using Input = InputType;
  using Scalar = ScalarType;
  using Weight = WeightType;
};
using FloatForest = ForestTypes<float, float, float>;
using DoubleForest = ForestTypes<double, double, double>;
/// Of doubles that are floats, as scikit-learn's trees see them: to compare them as floats is the same.
using MixedForest = ForestTypes<double, float, double>;

/// A forest in which every branch asks whether value <= split, and not a number says no. Trees
/// that differ in the weights of their leaves alone, one for each class, are one tree with several votes a leaf.
template <class Types> struct PlainForest {
  /// A feature, or what it is with the other sign.
  struct Column {
    std::int64_t feature;
    bool is_negated;
  };
  struct Item {
    bool is_leaf = false;
    std::uint32_t column = 0;
    typename Types::Scalar split = 0;
    std::size_t yes = 0, no = 0;
    std::size_t first_vote = 0;
  };
  struct Vote {
    typename Types::Weight weight = 0;
    std::uint32_t target = 0;
  };
  struct Tree {
    std::size_t root;
    std::size_t votes;  // of each leaf
  };
  std::vector<Column> columns;
  std::vector<Item> items;
  std::vector<Vote> votes;
  std::vector<Tree> trees;
  std::int64_t targets = 1;
  double divisor = 1;

  /// The most branches on a way down a tree; stops counting beyond `most`.
  int depth(const Tree& tree, int most) const;
};

/// Nothing: the forest cannot be written so, for the reason given.
template <class Types>
std::optional<PlainForest<Types>> plain_forest(const Forest& forest, std::int64_t targets, bool is_average,
                                               std::string& why);

}  // namespace ingot::ops
