// What is a product and a sum for each channel, all of them constant: batch normalisation, biases, scales.
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

/// A constant that numbers of a tensor's axis 1 are paired with, one for each.
std::optional<std::vector<double>> constant_of_channels(const Value* value, std::size_t rank, std::int64_t channels) {
  const Tensor* tensor = ops::constant_of(value);
  if (!tensor || tensor->dtype() != DType::f32 || tensor->dims().size() > rank) return {};
  const Dims& dims = tensor->dims();
  const auto count = static_cast<std::size_t>(channels);
  if (tensor->size() == 1) return std::vector<double>(count, tensor->to_doubles()[0]);
  const std::size_t from_end = rank - 1;
  if (tensor->size() != channels || dims.size() < from_end || dims[dims.size() - from_end] != channels) return {};
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

std::optional<Affine> channel_affine_of(const Node& node, const Value* x, std::int64_t channels) {
  if (channels < 1 || !node.domain.empty()) return {};
  const auto count = static_cast<std::size_t>(channels);
  if (node.op == "BatchNormalization") {
    if (node.input(0) != x) return {};
    auto affine = affine_of(node);
    return affine && affine->factor.size() == count ? affine : std::nullopt;
  }
  if (!x->type.shape || x->type.shape->size() < 3 || x->type.elem != DType::f32) return {};
  const bool is_sum = node.op == "Add" || node.op == "Sub", is_product = node.op == "Mul" || node.op == "Div";
  if ((!is_sum && !is_product) || node.input_count() != 2) return {};
  const bool is_first = node.input(0) == x;
  if (node.op == "Div" && !is_first) return {};
  const auto numbers = constant_of_channels(node.input(is_first ? 1 : 0), x->type.shape->size(), channels);
  if (!numbers) return {};
  Affine affine{std::vector<double>(count, 1), std::vector<double>(count, 0)};
  if (node.op == "Sub" && !is_first) affine.factor.assign(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite((*numbers)[i])) return {};
    if (node.op == "Div" && (*numbers)[i] == 0) return {};
    if (is_sum) affine.offset[i] = node.op == "Sub" && is_first ? -(*numbers)[i] : (*numbers)[i];
    if (is_product) affine.factor[i] = node.op == "Div" ? 1 / (*numbers)[i] : (*numbers)[i];
  }
  return affine;
}

Affine joined(const Affine& first, const Affine& then) {
  Affine both = then;
  for (std::size_t i = 0; i < both.factor.size(); ++i) {
    both.offset[i] += first.offset[i] * then.factor[i];
    both.factor[i] *= first.factor[i];
  }
  return both;
}

}  // namespace ingot::passes
