#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot::train {

/// Processes that train one model together, each on its share of every batch. All of them make the same calls in the
/// same order, one after the other, from whatever thread.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// `from` has a part for each rank, in their order; `to` becomes what each of them has for this one.
  virtual void exchange(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  /// Each rank knows its own part of `all`; then everyone knows all of them.
  virtual void spread(std::span<std::byte> all) = 0;
  /// Everyone gets what the owner has.
  virtual void share(std::span<std::byte> bytes, int owner) = 0;

  bool is_first() const { return rank() == 0; }

  /// Each number becomes the sum of what all have in its place, each times its rank's weight (none: 1). It is computed
  /// in double, in the order of the ranks, and rounded once: the same bits for all.
  void add(std::span<double> numbers, std::span<const double> weights = {});
  void add(std::span<float> numbers, std::span<const double> weights = {});
};

/// What one of them takes of a batch: neighbours, in parts that differ by one example at most.
std::vector<std::int64_t> share_of(const std::vector<std::int64_t>& examples, const Ranks& ranks);
/// Which part of a batch of so many examples each of them takes, by rank; they add up to 1.
std::vector<double> weights_of(std::size_t examples, const Ranks& ranks);

}  // namespace ingot::train
