// NonMaxSuppression: batch by batch and class by class.
#include <cmath>
#include <limits>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

std::int32_t part(Emitter& e, std::int32_t x, const Ints& begin, const Ints& size) {
  const std::int32_t from = e.ints(begin), count = e.ints(size), y = e.temporary(DType::f32, size);
  e.add(Op::SLICE, {x, from, count}, {y});
  return y;
}

/// Centre, width and height as two corners.
std::int32_t corners(Emitter& e, std::int32_t boxes, std::int64_t count) {
  const Ints column{count, 1};
  const std::int32_t half = e.scalar(0.5, DType::f32);
  std::int32_t low[2], high[2];
  for (const std::int64_t axis : {0, 1}) {  // x, y
    const std::int32_t centre = part(e, boxes, {0, axis}, column), extent = part(e, boxes, {0, axis + 2}, column);
    const std::int32_t reach = e.temporary(DType::f32, column);
    e.add(Op::MUL, {extent, half}, {reach});
    low[axis] = e.temporary(DType::f32, column);
    high[axis] = e.temporary(DType::f32, column);
    e.add(Op::SUB, {centre, reach}, {low[axis]});
    e.add(Op::ADD, {centre, reach}, {high[axis]});
  }
  const std::int32_t all = e.temporary(DType::f32, Ints{count, 4});
  Options options(Op::CONCATENATION);
  options.set("axis", 1);
  e.add(Op::CONCATENATION, {low[1], low[0], high[1], high[0]}, {all}, options);
  return all;
}

double number(const Node& n, std::size_t i, double fallback) {
  return n.input(i) ? ops::constant_of(n.input(i))->to_doubles()[0] : fallback;
}

/// The limits as scalars.
struct Limits {
  std::int32_t most, overlap, least;
  Dim count;  // how many places there are room for
};

Limits limits_of(NodeOut& n, std::int64_t boxes) {
  Emitter& e = n.e;
  Limits limits{};
  const auto scalar = [&](std::size_t i) { return reshaped(e, n.in(i), DType::f32, Shape{}); };
  if (n.constant(2)) {
    const double most = std::min(number(n.node, 2, 0), static_cast<double>(boxes));
    limits.most = e.index(static_cast<std::int64_t>(most));
    limits.count = static_cast<std::int64_t>(most);
  } else {
    const std::int32_t given = reshaped(e, n.in_int32(2), DType::i32, Shape{}), all = e.index(boxes);
    limits.most = e.temporary(DType::i32, Shape{});
    e.add(Op::MINIMUM, {given, all}, {limits.most});
  }
  // TFLite suppresses what overlaps by the threshold itself too: the next larger one is meant.
  constexpr float kNext = 1 + std::numeric_limits<float>::epsilon();
  if (n.has(3) && !n.constant(3)) {
    const std::int32_t given = scalar(3), next = e.scalar(kNext, DType::f32);
    limits.overlap = e.temporary(DType::f32, Shape{});
    e.add(Op::MUL, {given, next}, {limits.overlap});
  } else {
    const auto given = static_cast<float>(number(n.node, 3, 0));
    limits.overlap = e.scalar(std::nextafter(given, std::numeric_limits<float>::max()), DType::f32);
  }
  limits.least = n.has(4) && !n.constant(4)
                     ? scalar(4)
                     : e.scalar(number(n.node, 4, std::numeric_limits<float>::lowest()), DType::f32);
  return limits;
}

}  // namespace

Refused refuse_non_max_suppression(const Node& n) {
  for (const std::size_t i : {0U, 1U}) {
    if (Refused why = needs_rank(n, i)) return why;
    if (!is_fixed(*n.input(i)->type.shape))
      return Refusal{Kind::unknown_size, "sizes that are not known before running"};
  }
  for (const std::size_t i : {2U, 3U, 4U}) {
    const Tensor* limit = n.input(i) ? ops::constant_of(n.input(i)) : nullptr;
    if (limit && limit->size() != 1) return Refusal{Kind::structure, "a limit that is not one number"};
  }
  if (!n.input(2)) return Refusal{Kind::structure, "nothing to select"};
  const Shape& scores = *n.input(1)->type.shape;
  constexpr std::int64_t kMost = 256;
  if (scores.size() != 3 || n.input(0)->type.shape->size() != 3)
    return Refusal{Kind::dimensions, "boxes and scores have 3 dimensions"};
  const std::int64_t batches = scores[0].value(), classes = scores[1].value();
  if (batches > kMost || classes > kMost || batches * classes > kMost)
    return Refusal{Kind::dimensions, "more than 256 classes of a batch"};
  if (batches * classes == 0 || scores[2].value() == 0 || (ops::constant_of(n.input(2)) && number(n, 2, 0) < 1))
    return Refusal{Kind::structure, "nothing to select"};
  return needs_types(n, {DType::f32});
}

void emit_non_max_suppression(NodeOut& n) {
  Emitter& e = n.e;
  const Ints sizes = dims_of(n.shape(1));  // batches, classes, boxes
  const std::int64_t count = sizes[2];
  const std::int32_t boxes = n.in(0), scores = n.in(1);
  const Limits limits = limits_of(n, count);
  std::vector<std::int32_t> found;
  for (std::int64_t b = 0; b < sizes[0]; ++b) {
    std::int32_t own = reshaped(e, part(e, boxes, {b, 0, 0}, {1, count, 4}), DType::f32, Shape{Dim(count), Dim(4)});
    if (n.attr("center_point_box", 0)) own = corners(e, own, count);
    for (std::int64_t c = 0; c < sizes[1]; ++c) {
      const std::int32_t row = reshaped(e, part(e, scores, {b, c, 0}, {1, 1, count}), DType::f32, Shape{Dim(count)});
      const std::int32_t places = e.temporary(DType::i32, Shape{limits.count}),
                         valid = e.temporary(DType::i32, Shape{});
      e.add(Op::NON_MAX_SUPPRESSION_V4, {own, row, limits.most, limits.overlap, limits.least}, {places, valid});
      const std::int32_t size = reshaped(e, valid, DType::i32, Shape{Dim(1)}), begin = e.ints({0});
      const std::int32_t kept = e.temporary(DType::i32, Shape{Dim()});
      e.add(Op::SLICE, {places, begin, size}, {kept});
      const std::int32_t axis = e.index(1), column = e.temporary(DType::i32, Shape{Dim(), Dim(1)});
      e.add(Op::EXPAND_DIMS, {kept, axis}, {column});
      const auto filled = [&](std::int64_t value) {
        const std::int32_t one = e.ints({1}), dims = e.temporary(DType::i32, Ints{2});
        e.add(Op::CONCATENATION, {size, one}, {dims});
        const std::int32_t number = e.index(value), made = e.temporary(DType::i32, Shape{Dim(), Dim(1)});
        e.add(Op::FILL, {dims, number}, {made});
        return made;
      };
      const std::int32_t batch = filled(b), kind = filled(c), rows = e.temporary(DType::i32, Shape{Dim(), Dim(3)});
      Options across(Op::CONCATENATION);
      across.set("axis", 1);
      e.add(Op::CONCATENATION, {batch, kind, column}, {rows}, across);
      found.push_back(rows);
    }
  }
  std::int32_t all = found[0];
  if (found.size() > 1) {
    all = e.temporary(DType::i32, Shape{Dim(), Dim(3)});
    e.add(Op::CONCATENATION, found, {all});
  }
  Options options(Op::CAST);
  options.set("in_data_type", TensorType::INT32).set("out_data_type", TensorType::INT64);
  e.add(Op::CAST, {all}, {n.out()}, options);
}

}  // namespace ingot::backends::tflite
