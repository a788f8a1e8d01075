#pragma once
#include <optional>

#include "ingot/ir/graph.h"

// What the rewriting of graphs for fast kernels asks about values and nodes.

namespace ingot::engine {

/// The stored value of an initializer that no input stands before.
const Tensor* constant_of(const Value* v);
/// A constant float of one element, or `absent` where there is no value at all.
std::optional<float> constant_number(const Value* v, float absent);

/// The only node that reads the value, in the value's own graph; null if there are others, or outputs.
Node* only_reader(const Value* v);

/// What the user calls nodes that become one: their names, or where they have none what they make.
std::string names_of(std::span<Node* const> nodes);

/// Whether both shapes are known to be the same, symbols included.
bool have_same_shape(const Value* a, const Value* b);

struct Limits {
  float low, high;
};
/// What a Relu, or a Clip with constant limits, does to its input.
std::optional<Limits> limits_of(const Node& node);

/// One scale and one zero point for all elements.
struct Quantization {
  DType type = DType::u8;
  float scale = 0;
  std::int64_t zero = 0;
  bool operator==(const Quantization&) const = default;

  std::int64_t bits() const { return bits_of(type); }
  /// The least and the largest integer of the type.
  std::int64_t lowest() const;
  std::int64_t highest() const { return lowest() + (std::int64_t{1} << bits()) - 1; }
};
/// What a QuantizeLinear or DequantizeLinear of integers of 8 or 16 bits does, if it is the same to all elements and
/// known.
std::optional<Quantization> quantization_of(const Node& node, DType type);

}  // namespace ingot::engine
