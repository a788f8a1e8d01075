// What the emitters share: one node's inputs and outputs, and the reasons why a node is refused.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ingot/backends/tensorflow/definitions.h"
#include "ingot/backends/tensorflow/operators.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {

Refs NodeOut::all_inputs() const {
  Refs refs;
  for (std::size_t i = 0; i < node.input_count(); ++i) refs.push_back(in(i));
  return refs;
}

const Tensor* NodeOut::constant(std::size_t i) const { return has(i) ? ops::constant_of(node.input(i)) : nullptr; }

Ints NodeOut::ints(std::size_t i) const { return constant(i)->to_ints(); }

Ref NodeOut::index(std::size_t i) const {
  const Tensor* t = constant(i);
  const DType type = elem(i);
  if (!t) return type == DType::i32 || type == DType::i64 ? in(i) : cast(in(i), DType::i64);
  std::vector<std::int32_t> narrow;
  for (const std::int64_t x : t->to_ints())
    narrow.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX)));
  return e.constant(Tensor::of<std::int32_t>(t->dims(), narrow));
}

Ref NodeOut::int32(std::size_t i) const { return constant(i) ? index(i) : cast(in(i), DType::i32); }

Ref NodeOut::scalar(std::size_t i) const {
  if (const Tensor* t = constant(i)) return e.constant(t->reshaped({}));
  const auto& sizes = node.input(i)->type.shape;
  return sizes && sizes->empty() ? in(i) : reshaped(e, in(i), {});
}

std::int64_t NodeOut::axis(std::int64_t fallback, std::size_t input) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 ? a + static_cast<std::int64_t>(rank(input)) : a;
}

Ref NodeOut::cast(Ref tensor, DType to) const {
  return e.elem_of(tensor) == to ? tensor : e.add("Cast", {tensor}, {{"DstT", to}});
}

bool takes(std::string_view op, DType elem) {
  const tf::DataType type = tf::data_type_of(elem);
  const Definition* definition = definition_of(op);
  if (type == tf::DataType::invalid || !definition || definition->inputs.empty()) return false;
  const Definition::Argument& first = definition->inputs.front();
  return first.type_attr.empty() ? first.type == type : definition->find(first.type_attr)->allows(type);
}

Ref reshaped(Emitter& e, Ref tensor, const Ints& dims) { return e.add("Reshape", {tensor, e.ints(dims)}); }

Ref transposed(Emitter& e, Ref tensor, const Ints& perm) { return e.add("Transpose", {tensor, e.ints(perm)}); }

Ref shape_of(Emitter& e, Ref tensor) { return e.add("Shape", {tensor}, {{"out_type", DType::i32}}); }

Ref part_of_list(Emitter& e, Ref list, std::int64_t begin, std::int64_t count) {
  return e.add("Slice", {list, e.ints({begin}), e.ints({count})});
}

Ints swapped_with_last(std::size_t rank, std::int64_t axis) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  return perm;
}

}  // namespace ingot::backends::tensorflow
