// What the emitters share: one node's inputs and outputs, and the reasons why a node is refused.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tflite/operators.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {

const Tensor* NodeOut::constant(std::size_t i) const { return has(i) ? ops::constant_of(node.input(i)) : nullptr; }

Ints NodeOut::ints(std::size_t i) const { return constant(i)->to_ints(); }

std::int32_t NodeOut::in_int32(std::size_t i) const {
  const Value* v = node.input(i);
  if (const Tensor* t = constant(i)) {
    std::vector<std::int32_t> narrow;
    for (const std::int64_t x : t->to_ints())
      narrow.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX)));
    return e.constant(Tensor::of<std::int32_t>(t->dims(), narrow));
  }
  if (v->type.elem == DType::i32) return e.tensor(v);
  const std::int32_t narrow = e.temporary(DType::i32, v->type.shape.value_or(Shape{}));
  Options options(BuiltinOperator::CAST);
  options.set("in_data_type", *tensor_type_of(v->type.elem)).set("out_data_type", TensorType::INT32);
  e.add(BuiltinOperator::CAST, {e.tensor(v)}, {narrow}, options);
  return narrow;
}

std::int64_t NodeOut::axis(std::int64_t fallback, std::size_t input) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 ? a + static_cast<std::int64_t>(rank(input)) : a;
}

Refused needs_types(const Node& node, std::initializer_list<DType> types, std::size_t input) {
  const Value* v = node.input(input);
  if (!v || std::ranges::find(types, v->type.elem) != types.end()) return {};
  return Refusal{Kind::element_type, fmt::format("TFLite has no kernel for {}", name_of(v->type.elem))};
}

void add_reshape(Emitter& e, std::int32_t from, std::int32_t to, const Ints& dims) {
  Options options(BuiltinOperator::RESHAPE);
  options.set("new_shape", dims);
  std::vector<std::int32_t> inputs{from};
  // An empty list has no data and would not count as a constant: the option alone says that there are no sizes.
  if (!dims.empty()) inputs.push_back(e.ints(dims));
  e.add(BuiltinOperator::RESHAPE, inputs, {to}, options);
}

std::int32_t reshaped(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape) {
  const std::int32_t out = e.temporary(elem, shape);
  add_reshape(e, tensor, out, dims_of(shape));
  return out;
}

std::int32_t transposed(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape, const Ints& perm) {
  const std::int32_t out = e.temporary(elem, passes::permuted(shape, perm));
  const std::int32_t order = e.ints(perm);
  e.add(BuiltinOperator::TRANSPOSE, {tensor, order}, {out});
  return out;
}

}  // namespace ingot::backends::tflite
