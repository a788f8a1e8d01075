// Unique elements of a whole tensor: TensorFlow's own come in the order in which they appear.
#include "ingot/backends/tensorflow/rows.h"

namespace ingot::backends::tensorflow {
namespace {

/// The places of all elements in ascending order, and the elements in that order.
struct Sorted {
  Ref values, places;
};
Sorted sorted(Emitter& e, Ref x, Ref count) {
  const Ref top = e.add("TopKV2", {e.add("Neg", {x}), count}, {{"sorted", true}});
  return {e.add("Neg", {top}), {top.node, 1}};
}

}  // namespace

Refused refuse_unique(const Node& n, Dialect) {
  if (n.attributes.has("axis")) return Refusal{Kind::attribute_value, "unique slices along an axis"};
  const DType type = n.input(0)->type.elem;
  if (n.attributes.int_or("sorted", 1) && (!takes("Neg", type) || !takes("TopKV2", type)))
    return Refusal{Kind::element_type, "TensorFlow does not sort this type"};
  return {};
}

void emit_unique(NodeOut& n) {
  Emitter& e = n.e;
  const Ref found = e.add("Unique", {reshaped(e, n.in(0), {-1})}, {{"out_idx", DType::i32}});
  Ref values = found, classes{found.node, 1};
  const Ref count = e.add("Size", {values}, {{"out_type", DType::i32}});
  if (n.attr("sorted", 1)) {
    const Sorted order = sorted(e, values, count);
    // Where each one went is the order of the order.
    classes = e.add("GatherV2", {sorted(e, order.places, count).places, classes, e.index(0)});
    values = order.values;
  }
  n.set(values, 0);
  n.set(n.cast(classes, DType::i64), 2);
  if (!n.node.output(1) && !n.node.output(3)) return;
  // [elements, classes]: which is of which.
  const Ref numbers = e.add("Range", {e.index(0), count, e.index(1)});
  const Ref is = e.add("Equal", {e.add("ExpandDims", {classes, e.index(1)}), numbers});
  const Ref marks = e.add("Cast", {is}, {{"DstT", DType::f32}});
  n.set(e.add("ArgMax", {marks, e.index(0)}, {{"output_type", DType::i64}}), 1);
  n.set(e.add("Cast", {e.add("Sum", {marks, e.ints({0})})}, {{"DstT", DType::i64}}), 3);
}

}  // namespace ingot::backends::tensorflow
