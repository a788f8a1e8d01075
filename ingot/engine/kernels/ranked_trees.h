#pragma once
#include <cstdint>
#include <memory>

#include "ingot/engine/kernels/plain_forest.h"

namespace ingot::engine {

constexpr int kTopLevels = 5;
constexpr std::size_t kTopLeaves = std::size_t{1} << kTopLevels;
constexpr std::size_t kRankedRows = 16;  // that lie side by side: 16 numbers of 16 bits are a vector

/// The first levels of a tree, as if all their branches were there: number 1 is the root, 2 i and 2 i + 1 are below i.
struct TopOfTree {
  std::uint16_t splits[kTopLeaves];
  std::uint16_t columns[kTopLeaves];  // where the ranks of kRankedRows rows begin
};

/// Which of the kTopLeaves ways out each row takes: at a branch with 1 in the next bit where its rank is above the
/// split. A group is kRankedRows rows, `group_size` ranks; none is above 32767.
void walk_top(const TopOfTree& top, const std::uint16_t* ranks, std::size_t group_size, std::size_t groups,
              std::uint16_t* ways);

/// A forest that compares ranks: of all thresholds of a column, how many a value is above of. Null where a column has
/// too many thresholds, or the forest too few trees to make up for the search.
template <class Types> std::unique_ptr<PreparedNode> make_ranked_trees(const PlainForest<Types>& forest);

}  // namespace ingot::engine
