// Batch normalisation with constant statistics is a product and a sum for each channel.
#include "ingot/passes/affine.h"

#include <cmath>

#include "ingot/ops/infer.h"

namespace ingot::passes {
namespace {

std::optional<std::vector<double>> constant_floats(const Value* value) {
  const Tensor* tensor = ops::constant_of(value);
  if (!tensor || tensor->dtype() != DType::f32) return {};
  return tensor->to_doubles();
}

}  // namespace

std::optional<Affine> affine_of(const Node& node) {
  if (node.attributes.int_or("training_mode", 0) != 0 || node.output(1)) return {};
  const auto scale = constant_floats(node.input(1)), bias = constant_floats(node.input(2));
  const auto mean = constant_floats(node.input(3)), variance = constant_floats(node.input(4));
  if (!scale || !bias || !mean || !variance) return {};
  const std::size_t channels = scale->size();
  if (bias->size() != channels || mean->size() != channels || variance->size() != channels) return {};
  const double epsilon = node.attributes.float_or("epsilon", 1e-5f);
  Affine affine;
  for (std::size_t i = 0; i < channels; ++i) {
    const double factor = (*scale)[i] / std::sqrt((*variance)[i] + epsilon);
    affine.factor.push_back(factor);
    affine.offset.push_back((*bias)[i] - (*mean)[i] * factor);
  }
  return affine;
}

}  // namespace ingot::passes
