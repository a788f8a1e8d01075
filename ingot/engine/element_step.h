#pragma once
#include <optional>

#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {

/// One step of a chain of elementwise operators on floats. Registers 0, 1, ... are the chain's inputs, the next ones
/// the results of its steps.
struct ElementStep {
  bool is_binary = false;
  Unary unary = Unary::relu;
  Binary binary = Binary::add;
  std::uint32_t x = 0, y = 0;  // registers
  float a = 0, b = 0;          // parameters of the function

  /// Whether the unary function of 0 is 0.
  bool keeps_zero() const;
};

/// The operator as one step, its registers not yet known; nothing if there is none.
std::optional<ElementStep> step_for(const Node& node);

/// Attributes that hold steps, and the steps of a node that has them.
Attrs attributes_of(const std::vector<ElementStep>& steps);
std::vector<ElementStep> steps_of(const Node& node);

}  // namespace ingot::engine
