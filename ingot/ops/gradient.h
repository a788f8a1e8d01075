#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// Reverse mode for one node: given d loss / d outputs, a rule builds d loss / d inputs in ONNX operators.
class GradContext {
 public:
  GradContext(GraphBuilder& builder, const Node& n, Values output_gradients)
      : g(builder), node(n), dys_(std::move(output_gradients)) {}

  GraphBuilder& g;
  const Node& node;
  Value* x(std::size_t i = 0) const { return node.input(i); }
  Value* y(std::size_t i = 0) const { return node.output(i); }
  /// Null: the loss does not depend on this output.
  Value* dy(std::size_t i = 0) const { return i < dys_.size() ? dys_[i] : nullptr; }
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }

  /// Sums x over the axes that broadcasting stretched, back to the shape of `like`; by run-time shapes where the
  /// static ones are not known.
  Value* sum_to(Value* x, Value* like);

 private:
  Values dys_;
};

}  // namespace ingot::ops
