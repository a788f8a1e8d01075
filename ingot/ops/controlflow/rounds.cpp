// The types of what loops carry: a fixed point, found in few passes.
#include "ingot/ops/controlflow/rounds.h"

#include "ingot/ops/controlflow/merge_types.h"

namespace ingot::ops {
namespace {

constexpr int kMostPasses = 3;
/// Below this depth one pass must do: passes of nested loops multiply.
constexpr int kDeepestExact = 3;

// What holds at the start of every round. A round may turn an optional into its element.
Type generalised(const InferContext& c, const Type& carried, const Type& output) {
  if (!carried) return carried;
  if (carried.is_optional() && output && !output.is_optional())
    return Type::optional(merged(c, carried.inner(), output, "what the loop carries"));
  return merged(c, carried, output, "what the loop carries");
}

}  // namespace

std::vector<Type> infer_rounds(InferContext& c, std::vector<Type>& inputs, std::size_t first, std::size_t count,
                               std::size_t first_output) {
  const auto forget_shapes = [&] {
    for (std::size_t i = 0; i < count; ++i) inputs[first + i] = without_shapes(inputs[first + i]);
  };
  if (c.session().depth > kDeepestExact) {
    forget_shapes();
    return c.subgraph("body", inputs);
  }
  for (int pass = 1;; ++pass) {
    std::vector<Type> outputs = c.subgraph("body", inputs);
    if (pass == kMostPasses) return outputs;
    bool fits = true;
    for (std::size_t i = 0; i < count; ++i) {
      Type next = generalised(c, inputs[first + i], outputs[first_output + i]);
      fits &= next == inputs[first + i];
      inputs[first + i] = std::move(next);
    }
    if (fits) return outputs;
    if (pass + 1 == kMostPasses) forget_shapes();  // then every round fits
  }
}

Type after_rounds(const InferContext& c, const Type& carried, const Type& output) {
  if (!carried || !output) return without_shapes(output ? output : carried);
  if (carried.is_optional() && !output.is_optional()) return without_shapes(output);
  return merged(c, carried, output, "what the loop carries");
}

const Graph* body_of(const InferContext& c) {
  const auto* graph = c.node().attributes.get<GraphPtr>("body");
  if (!graph && !c.node().attributes.has("body")) c.fail("attribute 'body' is missing");
  return graph ? graph->get() : nullptr;
}

}  // namespace ingot::ops
