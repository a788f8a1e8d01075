// Unique elements of a whole tensor: TFLite's own come in the order in which they appear.
#include "ingot/backends/tflite/rows.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

std::int32_t negated(Emitter& e, std::int32_t x, DType elem, const Shape& shape) {
  const std::int32_t y = e.temporary(elem, shape);
  e.add(Op::NEG, {x}, {y});
  return y;
}

/// The places of all elements in ascending order, and the elements in that order.
struct Sorted {
  std::int32_t values, places;
};
Sorted sorted(Emitter& e, std::int32_t x, DType elem, std::int32_t count) {
  const Shape open{Dim()};
  const std::int32_t largest = e.temporary(elem, open), places = e.temporary(DType::i32, open);
  e.add(Op::TOPK_V2, {negated(e, x, elem, open), count}, {largest, places});
  return {negated(e, largest, elem, open), places};
}

void cast_to(Emitter& e, std::int32_t x, TensorType from, std::int32_t y, TensorType to) {
  Options options(Op::CAST);
  options.set("in_data_type", from).set("out_data_type", to);
  e.add(Op::CAST, {x}, {y}, options);
}

}  // namespace

Refused refuse_unique(const Node& n) {
  if (n.attributes.has("axis")) return Refusal{Kind::attribute_value, "unique slices along an axis"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64});
}

void emit_unique(NodeOut& n) {
  Emitter& e = n.e;
  const Shape open{Dim()}, table{Dim(), Dim()};
  const std::int32_t all = reshaped(e, n.in(0), n.elem(), open);
  std::int32_t values = e.temporary(n.elem(), open), classes = e.temporary(DType::i32, open);
  Options options(Op::UNIQUE);
  options.set("idx_out_type", TensorType::INT32);
  e.add(Op::UNIQUE, {all}, {values, classes}, options);
  const std::int32_t sizes = shape_of(e, values, 1), count = reshaped(e, sizes, DType::i32, Shape{});
  if (n.attr("sorted", 1)) {
    const Sorted order = sorted(e, values, n.elem(), count);
    // Where each one went is the order of the order.
    const std::int32_t moved = sorted(e, order.places, DType::i32, count).places;
    const std::int32_t renamed = e.temporary(DType::i32, open);
    e.add(Op::GATHER, {moved, classes}, {renamed});
    values = order.values;
    classes = renamed;
  }
  if (n.node.output(0)) e.add(Op::RESHAPE, {values, sizes}, {n.out(0)});
  if (n.node.output(2)) cast_to(e, classes, TensorType::INT32, n.out(2), TensorType::INT64);
  if (!n.node.output(1) && !n.node.output(3)) return;
  // [elements, classes]: which is of which.
  const std::int32_t last = e.index(1), rows = e.temporary(DType::i32, table);
  e.add(Op::EXPAND_DIMS, {classes, last}, {rows});
  const std::int32_t zero = e.index(0), one = e.index(1), numbers = e.temporary(DType::i32, open);
  e.add(Op::RANGE, {zero, count, one}, {numbers});
  const std::int32_t is = e.temporary(DType::boolean, table), marks = e.temporary(DType::f32, table);
  e.add(Op::EQUAL, {rows, numbers}, {is});
  cast_to(e, is, TensorType::BOOL, marks, TensorType::FLOAT32);
  if (n.node.output(1)) {
    Options first(Op::ARG_MAX);
    first.set("output_type", TensorType::INT64);
    const std::int32_t axis = e.index(0);
    e.add(Op::ARG_MAX, {marks, axis}, {n.out(1)}, first);
  }
  if (n.node.output(3)) {
    const std::int32_t axes = e.ints({0}), sums = e.temporary(DType::f32, open);
    e.add(Op::SUM, {marks, axes}, {sums});
    cast_to(e, sums, TensorType::FLOAT32, n.out(3), TensorType::INT64);
  }
}

}  // namespace ingot::backends::tflite
