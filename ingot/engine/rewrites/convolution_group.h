#pragma once
#include <optional>
#include <unordered_set>
#include <vector>

#include "ingot/engine/element_step.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/passes/affine.h"

namespace ingot::engine {

/// A convolution and the nodes behind it that become a part of it, in the order in which they are applied.
struct ConvolutionGroup {
  Node* conv = nullptr;
  std::optional<passes::Affine> affine;  // of normalisation, biases and scales behind it
  Node* sum = nullptr;           // adds something else to the convolution:
  std::size_t residual = 0;      // which of its inputs
  std::optional<Limits> limits;
  std::vector<ElementStep> functions;
  std::vector<Node*> nodes;  // conv first
};

/// The group of a convolution with constant weights; it takes no node of `taken`. Where the channels of the result do
/// not fill blocks, it takes only functions that leave the zeros beside them as they are.
ConvolutionGroup group_of(Node& conv, const std::unordered_set<const Node*>& taken);

}  // namespace ingot::engine
