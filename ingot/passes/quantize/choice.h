#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/passes/quantize/quantize.h"

namespace ingot::passes::quantize_parts {

/// What an operator does to integers that stand for floats.
enum class Role : std::uint8_t {
  none,     // it is computed in float
  product,  // it sums products of weights
  element,  // it has a form for integers
  move,     // what comes out has the scale of what goes in
};
Role role_of(const Node& node);

/// Whether the node is a product of float tensors by a weight that is stored: its input 1.
const Tensor* weight_of(const Node& node);
/// The axis of a product's weight that counts outputs; negative: a single scale fits no axis.
std::int64_t output_axis(const Node& node, const Tensor& weight);

bool is_float(const Value* v);
/// The stored value of what no input can replace; null: none.
const Tensor* stored(const Value* v);
/// The numbers of the inputs that carry activations.
std::vector<std::size_t> activation_inputs(const Node& node);

/// Why the user wants a node left alone; empty: the user does not.
std::string why_left(const Node& node, const QuantizeOptions& options);

struct Choice {
  std::unordered_set<const Node*> nodes;
  std::vector<FloatNode> kept;
};
/// The nodes whose inputs and outputs become integers: products, and what lies between them.
Choice choose(const Graph& graph, const QuantizeOptions& options);
/// Takes nodes out of the choice whose values no 8 bits can stand for, by the ranges that were seen.
void take_out_what_does_not_fit(const Graph& graph, Choice& choice, const ValueRanges& ranges);

}  // namespace ingot::passes::quantize_parts
