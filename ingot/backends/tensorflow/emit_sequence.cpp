// Sequences as lists of tensors.
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/sequences.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {

Ref element_shape(Emitter& e, const Type& element) {
  if (!element.shape) return e.index(-1);
  return e.ints(dims_of(*element.shape));
}

Ref empty_list(Emitter& e, const Type& element) {
  return e.add("EmptyTensorList", {element_shape(e, element), e.index(-1)}, {{"element_dtype", element.elem}});
}

Ref stacked(Emitter& e, Ref list, const Type& element) {
  return e.add("TensorListStack", {list, element_shape(e, element)}, {{"element_dtype", element.elem}});
}

namespace {

const Type& element_of(const Value* sequence) { return *sequence->type.element; }

/// Elements of a sequence may differ in their sizes: nothing is said of them.
Ref open_shape(Emitter& e) { return e.index(-1); }

Ref new_list(Emitter& e, DType elem) {
  return e.add("EmptyTensorList", {open_shape(e), e.index(-1)}, {{"element_dtype", elem}});
}

/// A place as it counts from the front.
Ref place_in(NodeOut& n, std::size_t input, Ref list) {
  Emitter& e = n.e;
  if (const Tensor* t = n.constant(input); t && t->to_ints()[0] >= 0) return e.index(t->to_ints()[0]);
  const Ref place = reshaped(e, n.int32(input), {});
  const Ref is_negative = e.add("Less", {place, e.index(0)});
  return e.add("SelectV2", {is_negative, e.add("AddV2", {place, e.add("TensorListLength", {list})}), place});
}

}  // namespace

namespace {

bool holds_numbers(const Type& sequence) { return sequence.element->shape && sequence.element->shape->empty(); }

/// All elements one behind the other.
Type joined(const Type& sequence) {
  Type type = *sequence.element;
  if (!type.shape) return type;
  if (type.shape->empty()) type.shape->push_back(Dim());
  type.shape->front() = Dim();
  return type;
}

}  // namespace

std::vector<ListPart> parts_of_list(Emitter& e, const Type& sequence, Ref list) {
  const Type& element = *sequence.element;
  const Type values = joined(sequence);
  if (holds_numbers(sequence)) return {{"", values, stacked(e, list, element)}};
  const Ref none = e.constant(Tensor::of<std::int64_t>({0}, std::vector<std::int64_t>{}));
  const Ref all =
      e.add("TensorListConcatV2", {list, element_shape(e, values), none}, {{"element_dtype", element.elem}});
  const Ref ends = e.add("Cumsum", {Ref{all.node, 1}, e.index(0)});
  const Ref first = e.constant(Tensor::of<std::int64_t>({1}, {0}));
  const Ref splits = e.add("ConcatV2", {first, ends, e.index(0)});
  return {{"/values", values, all}, {"/row_splits", Type::tensor(DType::i64, Shape{Dim()}), splits}};
}

Ref list_of_parts(Emitter& e, const Type& sequence, const std::function<Ref(const char*, const Type&)>& feed) {
  if (holds_numbers(sequence)) return e.add("TensorListFromTensor", {feed("", joined(sequence)), e.ints({})});
  const Ref values = feed("/values", joined(sequence));
  const Ref splits = feed("/row_splits", Type::tensor(DType::i64, Shape{Dim()}));
  const auto part = [&](std::int64_t begin, std::int64_t end, const char* mask) {
    return e.add("StridedSlice", {splits, e.ints({begin}), e.ints({end}), e.ints({1})}, {{mask, 1}});
  };
  const Ref lengths = e.add("Sub", {part(1, 0, "end_mask"), part(0, -1, "begin_mask")});
  return e.add("TensorListSplit", {values, open_shape(e), lengths});
}

void emit_sequence_empty(NodeOut& n) { n.set(new_list(n.e, element_of(n.node.output(0)).elem)); }

void emit_sequence_construct(NodeOut& n) {
  Ref list = new_list(n.e, n.elem());
  for (const Ref& x : n.all_inputs()) list = n.e.add("TensorListPushBack", {list, x});
  n.set(list);
}

void emit_sequence_at(NodeOut& n) {
  const Ref list = n.in(0), place = place_in(n, 1, list);
  n.set(n.e.add("TensorListGetItem", {list, place, open_shape(n.e)}, {{"element_dtype", n.out_elem()}}));
}

void emit_sequence_length(NodeOut& n) { n.set(n.cast(n.e.add("TensorListLength", {n.in(0)}), DType::i64)); }

void emit_sequence_insert(NodeOut& n) { n.set(n.e.add("TensorListPushBack", {n.in(0), n.in(1)})); }
Refused refuse_sequence_insert(const Node& n, Dialect) {
  if (n.input(2)) return Refusal{Kind::structure, "TensorFlow's lists grow at their end only"};
  return {};
}

void emit_concat_from_sequence(NodeOut& n) {
  Emitter& e = n.e;
  if (n.attr("new_axis", 0)) return n.set(stacked(e, n.in(0), element_of(n.node.input(0))));
  const Ref none = e.constant(Tensor::of<std::int64_t>({0}, std::vector<std::int64_t>{}));
  n.set(e.add("TensorListConcatV2", {n.in(0), open_shape(e), none}, {{"element_dtype", n.out_elem()}}));
}
Refused refuse_concat_from_sequence(const Node& n, Dialect) {
  if (n.attributes.int_or("axis", 0) != 0) return Refusal{Kind::attribute_value, "TensorFlow joins lists along axis 0"};
  return {};
}

void emit_split_to_sequence(NodeOut& n) {
  Emitter& e = n.e;
  n.set(e.add("TensorListFromTensor", {n.in(0), open_shape(e)}));
}
Refused refuse_split_to_sequence(const Node& n, Dialect) {
  if (n.input(1) || n.attributes.int_or("keepdims", 1) || n.attributes.int_or("axis", 0) != 0)
    return Refusal{Kind::attribute_value, "TensorFlow takes tensors apart along axis 0"};
  return {};
}

}  // namespace ingot::backends::tensorflow
