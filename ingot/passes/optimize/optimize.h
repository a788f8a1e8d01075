#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot {
class Budget;
}

namespace ingot::passes {

/// How far a model may be changed. `basic` gives the same bits wherever kernels are the same; `extended` also moves
/// constants into weights and chooses layouts; `all` also puts operators of newer operator sets in place of what spells
/// them out.
enum class OptimizeLevel : std::uint8_t { basic, extended, all };

struct OptimizeOptions {
  OptimizeLevel level = OptimizeLevel::extended;
  /// NaN and infinity may be taken for numbers: x * 0 is 0, x - x too.
  bool ignores_nan = false;
  /// The newest operator set of ai.onnx whose operators may be used; 0: the model's own.
  std::int64_t opset = 0;
  /// Off: attention stays spelled out, for fusions that make another operator of it.
  bool makes_attention = true;
  /// Off: transposes stay where they are, between what fusions look for.
  bool lays_out = true;
  Budget* budget = nullptr;
};

/// What was done, by the name of each rule, in the order of the table.
struct OptimizeReport {
  std::vector<std::pair<std::string, std::size_t>> rules;
  std::size_t nodes_before = 0, nodes_after = 0;
};

/// Makes a model smaller that means the same; names of inputs and outputs stay. Functions are inlined. The model is
/// left in the newest operator sets with types inferred. Refuses models with training information.
OptimizeReport optimize(Model& model, const OptimizeOptions& options = {});

}  // namespace ingot::passes
