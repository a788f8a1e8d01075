#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "ingot/ir/array.h"
#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"

namespace ingot::test {

/// "float[N,3]", "int64" (a scalar), "float[...]" (unknown rank), "int64[?]", as Type::str() writes tensors.
Type tensor_type(std::string_view text);

/// A small model for the tests of one operator.
class OpCase {
 public:
  /// Of the newest operator set, or of an older one. Of another domain than ai.onnx, that set is newest beside it.
  explicit OpCase(int opset = 0, std::string domain = {});

  Value* in(std::string_view type) { return in(tensor_type(type)); }
  Value* in(Type type);
  Value* constant(Tensor value);
  Value* ints(const std::vector<std::int64_t>& values) { return constant(Tensor::ints(values)); }
  /// A vector or scalar of known elements: the sizes of an input that has these dimensions.
  Value* known(std::string_view dims);

  /// Adds a node whose outputs are outputs of the graph. In the newest operator set it is inferred.
  Values ops(std::string_view op, const Values& inputs, const Attrs& attrs, std::size_t outputs);
  Value* op(std::string_view name, const Values& inputs, const Attrs& attrs = {}) {
    return ops(name, inputs, attrs, 1).front();
  }

  /// Moves the model to another operator set.
  void convert(int opset);
  /// Puts the decomposition of the last node in its place; false: it has none for this case.
  bool decompose();

  /// Runs the model on values of its inputs, in order.
  std::vector<Datum> run(const std::vector<Datum>& inputs) const;

  /// The graph's operators in order: "Unsqueeze Add".
  std::string nodes() const;
  Node& node(std::string_view op) const;
  Value* output(std::size_t i = 0) const { return model.graph->output(i); }
  /// The type of an output.
  std::string type(std::size_t i = 0) const { return output(i)->type.str(); }

  Model model;

 private:
  std::string domain_;
};

/// Runs one operator of the newest operator set on these inputs (nothing: absent) and returns its first output.
Array run_op(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs = {});
/// As run_op, all outputs.
std::vector<Datum> run_ops(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs,
                           std::size_t outputs, std::string domain = {});

/// What inference refuses with; "" when it does not.
std::string refusal(const std::function<void()>& run);

/// The known elements of a value: "[N,2*M,?]"; "unknown" when none are.
std::string elements(const Value* value);

}  // namespace ingot::test
