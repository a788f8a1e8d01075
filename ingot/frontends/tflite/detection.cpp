// Selecting boxes: non-maximum suppression and the detection post-processing of SSD models.
#include "ingot/formats/tflite/flexbuffer.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

/// Fills up a list (its first dimension) with zeros to `count` entries.
Value* padded_to(Op& op, Value* list, Value* count) {
  const std::int64_t rank = op.rank_of(list);
  Value* shape = op.b.shape(list);
  Value* zero = op.b.ints({0});
  Value* length = op.b.op("Gather", {shape, zero});
  Value* missing = op.b.sub(count, length);
  Value* before = op.b.ints(Ints(static_cast<std::size_t>(rank), 0));
  Value* pads = op.b.concat({before, missing}, 0);
  if (rank > 1) {
    Value* after = op.b.ints(Ints(static_cast<std::size_t>(rank - 1), 0));
    pads = op.b.concat({pads, after}, 0);
  }
  return op.b.op("Pad", {list, pads});
}

/// The boxes that are left, best first, as indices into the list.
Value* suppressed(Op& op, Value* boxes, Value* scores, Value* most, Value* overlap, Value* least) {
  Value* all_boxes = op.b.unsqueeze(boxes, {0});
  Value* all_scores = op.b.unsqueeze(scores, {0, 1});
  Value* chosen = op.b.op("NonMaxSuppression", {all_boxes, all_scores, most, overlap, least});
  Value* column = op.b.index(2);
  return op.b.op("Gather", {chosen, column}, {{"axis", 1}});
}

Value* length_of(Op& op, Value* list) {
  Value* shape = op.b.shape(list);
  Value* zero = op.b.index(0);
  return op.b.op("Gather", {shape, zero});
}

}  // namespace

void non_max_suppression(Op& op) {
  // inputs: boxes, scores, most, overlap, least score, sigma (version 5); outputs: indices, scores (version 5), count
  const bool has_scores = op.row.name == "NON_MAX_SUPPRESSION_V5";
  if (has_scores && op.has(5)) {
    const auto sigma = op.known_doubles(5);
    op.require(sigma && sigma->size() == 1 && (*sigma)[0] == 0, "soft suppression has no counterpart");
  }
  Value* boxes = op.real(0);
  Value* scores = op.real(1);
  Value* most = op.index_list(2);
  Value* overlap = op.b.reshape(op.real(3), {1});
  Value* least = op.b.reshape(op.real(4), {1});
  Value* chosen = suppressed(op, boxes, scores, most, overlap, least);
  Value* count = length_of(op, chosen);
  Value* indices = op.b.cast(chosen, DType::i32);
  op.set(0, padded_to(op, indices, most));
  if (has_scores) {
    Value* best = op.b.op("Gather", {scores, chosen});
    op.set(1, padded_to(op, best, most));
  }
  const std::size_t last = has_scores ? 2 : 1;
  op.set(last, op.b.cast(count, op.out_dtype(last)));
}

namespace {

struct Detection {
  std::int64_t most, classes_each, per_class, classes;
  bool is_regular;
  double least, overlap, y, x, h, w;
};

Detection detection_options(const Op& op) {
  const tfl::FlexValue options = tfl::read_flexbuffer(op.source.custom_options);
  const auto number = [&](const char* key, double otherwise) {
    const tfl::FlexValue* found = options.find(key);
    return found ? found->number(otherwise) : otherwise;
  };
  const auto integer = [&](const char* key, std::int64_t otherwise) {
    const tfl::FlexValue* found = options.find(key);
    return found ? found->integer(otherwise) : otherwise;
  };
  const tfl::FlexValue* regular = options.find("use_regular_nms");
  return {integer("max_detections", 0),
          integer("max_classes_per_detection", 1),
          integer("detections_per_class", 100),
          integer("num_classes", 0),
          regular && regular->boolean(),
          number("nms_score_threshold", 0),
          number("nms_iou_threshold", 0),
          number("y_scale", 1),
          number("x_scale", 1),
          number("h_scale", 1),
          number("w_scale", 1)};
}

/// Corners of the boxes that were predicted relative to anchors: [count, 4].
Value* decoded_boxes(Op& op, const Detection& d) {
  op.require(!op.tensor(0).shape.empty(), "the boxes have no coordinates");
  Value* encoded = op.b.reshape(op.real(0), {-1, op.tensor(0).shape.back()});
  Value* start = op.b.ints({0});
  Value* end = op.b.ints({4});
  Value* along = op.b.ints({1});
  encoded = op.b.op("Slice", {encoded, start, end, along});
  Value* anchors = op.real(2);
  const Values e = op.b.op("Split", {encoded}, {{"axis", 1}, {"num_outputs", 4}}, 4);
  const Values a = op.b.op("Split", {anchors}, {{"axis", 1}, {"num_outputs", 4}}, 4);
  const auto centre = [&](std::size_t i, double scale) {
    Value* scaled = op.b.div(e[i], scale);
    Value* moved = op.b.mul(scaled, a[i + 2]);
    return op.b.add(moved, a[i]);
  };
  const auto half = [&](std::size_t i, double scale) {
    Value* scaled = op.b.div(e[i], scale);
    Value* grown = op.b.op("Exp", {scaled});
    Value* size = op.b.mul(grown, a[i]);
    return op.b.mul(size, 0.5);
  };
  Value* y = centre(0, d.y);
  Value* x = centre(1, d.x);
  Value* h = half(2, d.h);
  Value* w = half(3, d.w);
  Value* top = op.b.sub(y, h);
  Value* left = op.b.sub(x, w);
  Value* bottom = op.b.add(y, h);
  Value* right = op.b.add(x, w);
  return op.b.concat({top, left, bottom, right}, 1);
}

void set_detections(Op& op, Value* boxes, Value* classes, Value* scores, std::int64_t rows) {
  Value* count = op.b.ints({rows});
  Value* found = length_of(op, scores);
  boxes = padded_to(op, boxes, count);
  classes = padded_to(op, op.b.cast(classes, DType::f32), count);
  scores = padded_to(op, scores, count);
  op.set_real(0, op.b.reshape(boxes, {1, rows, 4}));
  op.set_real(1, op.b.reshape(classes, {1, rows}));
  op.set_real(2, op.b.reshape(scores, {1, rows}));
  Value* number = op.b.cast(found, DType::f32);
  op.set_real(3, op.b.reshape(number, {1}));
}

}  // namespace

void detection_post_process(Op& op) {
  const Detection d = detection_options(op);
  const std::int64_t columns = op.tensor(1).shape.empty() ? 0 : op.tensor(1).shape.back();
  op.require(d.most > 0 && d.classes > 0 && d.classes <= columns && d.classes_each > 0,
             "the options do not fit the inputs");
  Value* boxes = decoded_boxes(op, d);
  Value* scores = op.b.reshape(op.real(1), {-1, columns});
  if (columns > d.classes) {
    // The background comes first.
    Value* start = op.b.ints({columns - d.classes});
    Value* end = op.b.ints({columns});
    Value* along = op.b.ints({1});
    scores = op.b.op("Slice", {scores, start, end, along});
  }
  Value* overlap = op.b.constant(Tensor::of<float>({1}, {static_cast<float>(d.overlap)}));
  Value* least = op.b.constant(Tensor::of<float>({1}, {static_cast<float>(d.least)}));
  if (!d.is_regular) {
    const std::int64_t each = std::min(d.classes_each, d.classes);
    Value* k = op.b.ints({each});
    const Values best = op.b.op("TopK", {scores, k}, {{"axis", 1}}, 2);
    Value* first = op.b.index(0);
    Value* highest = op.b.op("Gather", {best[0], first}, {{"axis", 1}});
    Value* most = op.b.ints({d.most});
    Value* chosen = suppressed(op, boxes, highest, most, overlap, least);
    Value* kept_boxes = op.b.op("Gather", {boxes, chosen});
    Value* kept_scores = op.b.op("Gather", {best[0], chosen});
    Value* kept_classes = op.b.op("Gather", {best[1], chosen});
    if (each > 1) {
      Value* spread = op.b.unsqueeze(kept_boxes, {1});
      Value* repeats = op.b.ints({1, each, 1});
      Value* repeated = op.b.op("Tile", {spread, repeats});
      kept_boxes = op.b.reshape(repeated, {-1, 4});
    }
    kept_scores = op.b.reshape(kept_scores, {-1});
    kept_classes = op.b.reshape(kept_classes, {-1});
    return set_detections(op, kept_boxes, kept_classes, kept_scores, d.most * each);
  }
  // Each class on its own, then the best of all of them.
  Value* by_class = op.b.transpose(scores, {1, 0});
  Value* all_boxes = op.b.unsqueeze(boxes, {0});
  Value* all_scores = op.b.unsqueeze(by_class, {0});
  Value* most = op.b.ints({d.per_class});
  Value* chosen = op.b.op("NonMaxSuppression", {all_boxes, all_scores, most, overlap, least});
  Value* start = op.b.ints({1});
  Value* end = op.b.ints({3});
  Value* along = op.b.ints({1});
  Value* places = op.b.op("Slice", {chosen, start, end, along});
  Value* found = op.b.op("GatherND", {by_class, places});
  Value* count = length_of(op, found);
  Value* limit = op.b.index(d.most);
  Value* kept = op.b.op("Min", {count, limit});
  Value* k = op.b.reshape(kept, {1});
  const Values best = op.b.op("TopK", {found, k}, {{"axis", 0}}, 2);
  Value* rows = op.b.op("Gather", {places, best[1]});
  Value* first = op.b.index(0);
  Value* second = op.b.index(1);
  Value* classes = op.b.op("Gather", {rows, first}, {{"axis", 1}});
  Value* boxes_at = op.b.op("Gather", {rows, second}, {{"axis", 1}});
  Value* kept_boxes = op.b.op("Gather", {boxes, boxes_at});
  set_detections(op, kept_boxes, classes, best[0], d.most);
}

}  // namespace ingot::frontends::tflite
