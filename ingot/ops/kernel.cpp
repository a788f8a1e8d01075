// What kernels share: checked access to inputs and outputs.
#include "ingot/ops/kernel.h"

#include "ingot/base/error.h"

namespace ingot::ops {

const Array& KernelContext::in(std::size_t i) const {
  const Array* array = has(i) ? inputs_[i].array() : nullptr;
  if (!array) fail("input " + std::to_string(i) + " is absent or not a tensor");
  return *array;
}

Array& KernelContext::make(std::size_t i, DType dtype, Dims dims) {
  if (i >= outputs_.size()) fail("output " + std::to_string(i) + " does not exist");
  outputs_[i] = host_.allocate(dtype, std::move(dims));
  return const_cast<Array&>(*outputs_[i].array());
}

void KernelContext::set(std::size_t i, Datum value) {
  if (i < outputs_.size()) outputs_[i] = std::move(value);
}

std::vector<std::int64_t> KernelContext::attr_ints(std::string_view name) const {
  return node.attributes.ints_or(name, {});
}

std::int64_t KernelContext::axis(std::int64_t axis, std::int64_t rank) const {
  if (axis < -rank || axis >= rank)
    throw Error(Code::axis_out_of_range,
                "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank))
        .in_node(node.name, node.op, node.label());
  return axis < 0 ? axis + rank : axis;
}

void KernelContext::fail(std::string message) const {
  throw Error(Code::execution_failed, std::move(message)).in_node(node.name, node.op, node.label());
}

}  // namespace ingot::ops
