// What kernels that run graphs share: conditions and collected results.
#include "ingot/ops/controlflow/run_body.h"

#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {

const Graph& graph_of(const KernelContext& c, std::string_view attribute) {
  const auto* graph = c.node.attributes.get<GraphPtr>(attribute);
  if (!graph || !*graph) c.fail("attribute '" + std::string(attribute) + "' is missing");
  return **graph;
}

bool holds(const KernelContext& c, const Datum& condition) {
  const Array* array = condition.array();
  if (!array || array->dtype() != DType::boolean || array->size() != 1) c.fail("a condition is not one truth value");
  return array->data<bool>()[0];
}

const Array& tensor_of(const KernelContext& c, const Datum& result) {
  if (!result.array()) c.fail("what is collected in each round is not a tensor");
  return *result.array();
}

Array collected(KernelContext& c, std::vector<Array> rounds, const Value* output, std::int64_t axis) {
  if (!rounds.empty()) return stacked(c, std::move(rounds), axis);
  const Type type = output ? output->type : Type();
  if (type.elem == DType::undefined) c.fail("there was no round, and the type of a result is not known");
  Dims dims;
  if (type.shape)
    for (const Dim& d : *type.shape) dims.push_back(std::max<std::int64_t>(d.as_int().value_or(0), 0));
  dims.insert(dims.begin() + c.axis(axis, static_cast<std::int64_t>(dims.size()) + 1), 0);
  return c.host().allocate(type.elem, std::move(dims));
}

}  // namespace ingot::ops
