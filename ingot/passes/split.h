#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::passes {

/// How a model is cut; exactly one of them is given.
struct SplitOptions {
  /// Each cut is a list of values: what they depend on, and no cut before them does, is a part; the rest is the last.
  std::vector<std::vector<std::string>> cuts{};
  bool by_stage = false;        // nodes with the same "ingot.stage"; those without belong to the stage before them
  std::uint64_t most_bytes = 0;  // of weights in a part, as far as a single node allows
  std::size_t parts = 0;         // of about equally large weights, or nodes where there are none
};

struct Part {
  std::string name;  // of its stage, or part_0 ...
  Model model;
};

/// Cuts a model into parts that run one after the other: what one part gives and a later one needs has the same name in
/// both. Weights that several parts read are in each. Works on any operator set; refuses names that are not there,
/// stages that need each other, and models with training information.
std::vector<Part> split(const Model& model, const SplitOptions& options);

}  // namespace ingot::passes
