// NonMaxSuppression: batch by batch and class by class.
#include <cmath>
#include <limits>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

Ref part(Emitter& e, Ref x, const Ints& begin, const Ints& size) {
  return e.add("Slice", {x, e.ints(begin), e.ints(size)});
}

/// Centre, width and height as two corners.
Ref corners(Emitter& e, Ref boxes) {
  const Ref half = e.scalar(0.5, DType::f32);
  Ref low[2], high[2];
  for (const std::int64_t axis : {0, 1}) {  // x, y
    const Ref centre = part(e, boxes, {0, axis}, {-1, 1});
    const Ref reach = e.add("Mul", {part(e, boxes, {0, axis + 2}, {-1, 1}), half});
    low[axis] = e.add("Sub", {centre, reach});
    high[axis] = e.add("AddV2", {centre, reach});
  }
  return e.add("ConcatV2", {low[1], low[0], high[1], high[0], e.index(1)});
}

}  // namespace

Refused refuse_non_max_suppression(const Node& n, Dialect) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape& scores = *n.input(1)->type.shape;
  if (!scores[0].is_known() || !scores[1].is_known())
    return Refusal{Kind::unknown_size, "numbers of batches and classes that are not known before running"};
  if (!n.input(2)) return Refusal{Kind::structure, "nothing to select"};
  constexpr std::int64_t kMost = 256;
  if (scores[0].value() * scores[1].value() > kMost)
    return Refusal{Kind::dimensions, "more than 256 classes of a batch"};
  if (same(scores[2], 0)) return Refusal{Kind::structure, "nothing to select"};
  return {};
}

void emit_non_max_suppression(NodeOut& n) {
  Emitter& e = n.e;
  const std::int64_t batches = n.shape(1)[0].value(), classes = n.shape(1)[1].value();
  const std::int64_t count = n.shape(1)[2].is_known() ? n.shape(1)[2].value() : INT32_MAX;
  const Ref most = n.constant(2) ? e.index(std::min(n.ints(2)[0], count)) : reshaped(e, n.int32(2), {});
  const auto limit = [&](std::size_t i, double fallback) {
    return n.has(i) ? n.scalar(i) : e.scalar(fallback, DType::f32);
  };
  const Ref overlap = limit(3, 0), least = limit(4, static_cast<double>(std::numeric_limits<float>::lowest()));
  Refs found;
  for (std::int64_t b = 0; b < batches; ++b) {
    Ref own = reshaped(e, part(e, n.in(0), {b, 0, 0}, {1, -1, 4}), {-1, 4});
    if (n.attr("center_point_box", 0)) own = corners(e, own);
    for (std::int64_t c = 0; c < classes; ++c) {
      const Ref row = reshaped(e, part(e, n.in(1), {b, c, 0}, {1, 1, -1}), {-1});
      const Ref kept = e.add("NonMaxSuppressionV3", {own, row, most, overlap, least});
      const Ref column = e.add("ExpandDims", {kept, e.index(1)}), like = shape_of(e, column);
      const Ref batch = e.add("Fill", {like, e.index(b)}), kind = e.add("Fill", {like, e.index(c)});
      found.push_back(e.add("ConcatV2", {batch, kind, column, e.index(1)}));
    }
  }
  Ref all = found[0];
  if (found.size() > 1) {
    found.push_back(e.index(0));
    all = e.add("ConcatV2", found);
  }
  n.set(n.cast(all, DType::i64));
}

}  // namespace ingot::backends::tensorflow
