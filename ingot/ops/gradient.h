#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// Reverse mode for one node: given d loss / d outputs, a rule builds d loss / d inputs in ONNX operators. A null
/// entry, or none, stands for an input that has no gradient.
class GradContext {
 public:
  /// `wanted[i]`: somebody asks for the gradient of input i; empty: of all.
  GradContext(GraphBuilder& builder, Node& n, Values output_gradients, std::vector<bool> wanted = {});
  ~GradContext();

  GraphBuilder& g;
  Node& node;
  Value* x(std::size_t i = 0) const { return node.input(i); }
  Value* y(std::size_t i = 0) const { return node.output(i); }
  /// Null: the loss does not depend on this output.
  Value* dy(std::size_t i = 0) const { return i < dys_.size() ? dys_[i] : nullptr; }
  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  bool wants(std::size_t i) const { return has(i) && wants_read(i); }
  /// The same for a value that a subgraph of the node reads: those are counted after the inputs.
  bool wants_read(std::size_t i) const;
  DType elem(std::size_t i = 0) const { return node.input(i) ? node.input(i)->type.elem : DType::undefined; }
  /// The rank of an input; refuses the node where it is not known.
  std::int64_t rank(std::size_t i = 0) const;
  /// An axis counted from the front.
  std::int64_t axis(std::int64_t axis, std::size_t i = 0) const { return axis < 0 ? axis + rank(i) : axis; }
  const Tensor* constant(std::size_t i) const;
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }
  /// The node's integer and string attributes of these names, for a node that does the like.
  Attrs same_attrs(std::initializer_list<const char*> names) const;
  [[noreturn]] void fail(std::string message) const;

  /// Output i, which the node is made to produce if it did not.
  Value* ensure_output(std::size_t i);
  /// A number of the type of input 0.
  Value* number(double value) { return g.scalar(value, elem()); }
  /// Zeros in the shape and type of `like`.
  Value* zeros(Value* like);
  Value* ones(Value* like);
  /// x with the dimensions of `like`.
  Value* shaped(Value* x, Value* like);
  /// x stretched to the dimensions of `like`.
  Value* stretched(Value* x, Value* like);
  /// x where the condition holds, else zero.
  Value* keep(Value* condition, Value* x);
  Value* less(Value* a, Value* b);
  Value* equal(Value* a, Value* b);
  /// Sums x over the axes that broadcasting stretched, back to the shape of `like`; by run-time shapes where the
  /// static ones are not known.
  Value* sum_to(Value* x, Value* like);
  /// The number of elements of x per element of y, in x's type.
  Value* ratio_of_sizes(Value* x, Value* y);
  /// For an operator that only picks elements of `from`: `pick` applies it to a tensor of their positions, and what
  /// arrives in dy goes back there.
  template <class Pick> Value* back_to_picked(Value* from, Value* dy, Pick pick) {
    return add_at(from, pick(positions(from)), dy);
  }
  /// 0, 1, 2 ... in the shape of x.
  Value* positions(Value* x);
  /// Zeros like `from`, with dy added at these positions.
  Value* add_at(Value* from, Value* at, Value* dy);

 private:
  Values dys_;
  std::vector<bool> wanted_;
};

/// The rule of operators whose outputs are constant almost everywhere.
Values gradient_zero(GradContext& c);

}  // namespace ingot::ops
