#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ingot::train {

/// Processes that train one model together, each on its share of every batch. All of them make the same calls in the
/// same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// Each number becomes the sum of what all have in its place, added in the order of the ranks: the same bits for all.
  virtual void add(std::span<double> numbers) = 0;

  bool is_first() const { return rank() == 0; }
};

/// What one of them takes of a batch: neighbours, in parts that differ by one example at most.
std::vector<std::int64_t> share_of(const std::vector<std::int64_t>& examples, const Ranks& ranks);

}  // namespace ingot::train
