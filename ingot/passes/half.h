#pragma once
#include <string>
#include <vector>

#include "ingot/base/dtype.h"
#include "ingot/ir/opaque_model.h"

namespace ingot::passes {

struct HalfOptions {
  DType to = DType::f16;            // or bf16
  std::vector<std::string> keep{};  // operators ("Op", "Op:domain") and names of nodes that stay float
  bool converts_ports = false;      // inputs and outputs of the model too
  /// The largest absolute value seen of values, by name; those that half precision cannot hold stay float.
  std::vector<std::pair<std::string, double>> ranges{};
};

/// Why a node keeps computing in float.
struct HalfIsland {
  std::string node, op, reason;
};

/// A weight whose numbers half precision does not hold well.
struct HalfRange {
  std::string name;
  double largest = 0, smallest = 0;  // of the absolute values that are not zero
  std::size_t elements = 0, vanishing = 0, too_large = 0;
};

struct HalfReport {
  std::size_t converted = 0, kept = 0, casts = 0;   // nodes
  std::uint64_t bytes_before = 0, bytes_after = 0;  // of weights
  std::vector<HalfIsland> islands;
  std::vector<HalfRange> ranges;
};

/// Computes in half precision what the model computes in float, where the operators of its operator set have a form for
/// it and the numbers fit; the rest are islands between casts. Names stay; types of inputs and outputs too unless asked
/// otherwise. Functions become their bodies; what is in subgraphs stays float. Refuses operator sets before 7 and
/// training information.
HalfReport to_half(Model& model, const HalfOptions& options);

}  // namespace ingot::passes
