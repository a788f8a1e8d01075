// Questions about values and nodes.
#include "ingot/engine/rewrites/pattern.h"

#include <algorithm>
#include <limits>

namespace ingot::engine {

const Tensor* constant_of(const Value* v) { return v && !v->is_input() && v->initializer ? &*v->initializer : nullptr; }

std::optional<float> constant_number(const Value* v, float absent) {
  if (!v) return absent;
  const Tensor* tensor = constant_of(v);
  if (!tensor || tensor->dtype() != DType::f32 || tensor->size() != 1) return {};
  return tensor->at<float>(0);
}

Node* only_reader(const Value* v) {
  if (v->uses().size() != 1) return nullptr;
  const Use& use = v->uses()[0];
  return use.node && &use.node->graph() == &v->graph() ? use.node : nullptr;
}

std::string names_of(std::span<Node* const> nodes) {
  std::string text;
  for (const Node* node : nodes) {
    const Value* made = node->output(0);
    text += (text.empty() ? "" : " + ") + (node->name.empty() && made ? made->name() : node->name);
  }
  return text;
}

bool have_same_shape(const Value* a, const Value* b) {
  return a->type.shape && b->type.shape &&
         std::ranges::equal(*a->type.shape, *b->type.shape, [](const Dim& x, const Dim& y) { return same(x, y); });
}

std::optional<Limits> limits_of(const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (node.is("Relu")) return Limits{0, kInfinity};
  if (!node.is("Clip")) return {};
  const auto low = constant_number(node.input(1), -kInfinity), high = constant_number(node.input(2), kInfinity);
  if (!low || !high) return {};
  return Limits{*low, *high};
}

std::int64_t Quantization::lowest() const {
  const bool is_signed = type == DType::i8 || type == DType::i16;
  return is_signed ? -(std::int64_t{1} << (bits() - 1)) : 0;
}

std::optional<Quantization> quantization_of(const Node& node, DType type) {
  if (type != DType::i8 && type != DType::u8 && type != DType::i16 && type != DType::u16) return {};
  const Attributes& attributes = node.attributes;
  if (attributes.int_or("block_size", 0) != 0 || attributes.int_or("precision", 0) != 0) return {};
  const Tensor *scale = constant_of(node.input(1)), *zero = constant_of(node.input(2));
  if (!scale || scale->dtype() != DType::f32 || scale->size() != 1 || scale->rank() > 1) return {};
  if (node.input(2) && (!zero || zero->dtype() != type || zero->dims() != scale->dims())) return {};
  return Quantization{type, scale->at<float>(0), zero ? zero->to_ints()[0] : 0};
}

}  // namespace ingot::engine
