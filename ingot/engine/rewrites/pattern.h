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

}  // namespace ingot::engine
