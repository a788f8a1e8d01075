#pragma once
#include <array>
#include <cstdint>

#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// Whether the node's results differ from run to run.
bool is_random(const Node& node);

/// A host that runs a model many times, each with numbers of its own, says which run this is.
class DrawingHost {
 public:
  virtual ~DrawingHost() = default;
  virtual std::uint64_t draw() const = 0;
};

/// The random numbers of one node, by counter: number i depends on the seed, on the draw and on i alone, whoever draws
/// it and when.
/// Philox4x32-10 (Salmon et al., 2011). The key is the seed's bits, or, without a seed, a hash (FNV-1a, 64 bits) of
/// the node's name (of its first output's name where it has none), so that runs repeat. The counter is the index of
/// the element and the number of the draw.
class Random {
 public:
  Random(std::uint32_t key_low, std::uint32_t key_high) : key_{key_low, key_high} {}
  /// Seeded by the attribute seed (a float or an integer) or by the name.
  explicit Random(const Node& node);
  /// The same for the run that the host names.
  explicit Random(KernelContext& c);

  const std::array<std::uint32_t, 2>& key() const { return key_; }

  using Block = std::array<std::uint32_t, 4>;
  Block block(std::uint64_t i) const;

  /// 0 <= u < 1, in steps of 2^-digits (at most 53): the first words of the block.
  double uniform(std::uint64_t i, int digits = 53) const;
  /// Of mean 0 and deviation 1, by Box and Muller's method from both halves of the block.
  double normal(std::uint64_t i) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t draw_ = 0;
};

}  // namespace ingot::ops
