// Results that say little about what led to them.
#include "ingot/verify/saturation.h"

#include <algorithm>
#include <cmath>

#include "ingot/ir/graph.h"

namespace ingot::verify {
namespace {

constexpr double kNear = 1e-6;  // what float still tells from 1

bool only_moves(const Node& node) {
  return std::ranges::any_of(std::initializer_list<const char*>{"Identity", "Reshape", "Transpose", "Squeeze",
                                                                "Unsqueeze", "Slice", "Gather", "Concat", "Flatten"},
                             [&](const char* op) { return node.is(op); });
}

/// What an output of an If is in one of its branches.
const Value* result_of_branch(const Node& node, const Value& output) {
  const auto* branch = node.attributes.get<GraphPtr>("then_branch");
  for (std::size_t i = 0; branch && i < node.output_count(); ++i)
    if (node.output(i) == &output && i < (*branch)->output_count()) return (*branch)->output(i);
  return nullptr;
}

}  // namespace

const Node* bounded_function(const Model& model, const std::string& value) {
  const Value* v = model.graph->find(value);
  for (int steps = 0; v && v->producer() && steps < 8; ++steps) {
    const Node& node = *v->producer();
    for (const char* op : {"Softmax", "Sigmoid", "HardSigmoid", "Tanh"})
      if (node.is(op)) return &node;
    if (node.is("If")) {
      v = result_of_branch(node, *v);
      continue;
    }
    if (!only_moves(node)) return nullptr;
    v = node.input(0);
  }
  return nullptr;
}

bool is_saturated(const Model& model, const std::string& value, const Array& elements) {
  const Node* function = bounded_function(model, value);
  if (!function || !is_float(elements.dtype()) || elements.size() == 0) return false;
  bool has_zero = false;
  for (const double x : elements.to_doubles()) {
    const double magnitude = std::abs(x);
    has_zero |= magnitude <= kNear;
    if (!(magnitude <= kNear || std::abs(magnitude - 1) <= kNear)) return false;
    if (function->is("Tanh") && magnitude <= kNear) return false;
  }
  return has_zero || !function->is("Softmax");  // a Softmax of one class is 1
}

}  // namespace ingot::verify
