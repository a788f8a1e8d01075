// Questions that a TFLite model answers by itself.
#include "ingot/formats/tflite/model.h"

#include <fmt/format.h>

#include "ingot/base/checked.h"

namespace ingot::formats::tflite {

Bytes constant_data(const Model& model, const Tensor& tensor) {
  return tensor.buffer < model.buffers.size() ? model.buffers[tensor.buffer] : Bytes();
}

std::optional<std::uint64_t> dense_size(const Tensor& tensor) {
  const std::optional<unsigned> bits = element_bits(tensor.type);
  const std::optional<std::uint64_t> count = element_count(tensor.shape);
  if (!bits || !count) return std::nullopt;
  const std::optional<std::uint64_t> total = checked_mul<std::uint64_t>(*count, *bits);
  return total ? std::optional(*total / 8 + (*total % 8 != 0)) : std::nullopt;
}

std::optional<std::size_t> quantized_axis(const Tensor& tensor) {
  if (!tensor.quantization || tensor.quantization->scale.size() <= 1) return std::nullopt;
  if (tensor.shape.size() == 1) return 0;
  const std::int32_t axis = tensor.quantization->quantized_dimension;
  if (axis < 0 || static_cast<std::size_t>(axis) >= tensor.shape.size()) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

std::string describe(const OperatorCode& code) {
  if (code.builtin == BuiltinOperator::CUSTOM) return "CUSTOM:" + code.custom;
  const std::string_view known = name(code.builtin);
  return known.empty() ? fmt::format("operator {}", static_cast<int>(code.builtin)) : std::string(known);
}

}  // namespace ingot::formats::tflite
