// Suppression of overlapping boxes.
#include <limits>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* scalar_f32(GraphBuilder& g, Value* v) { return g.reshape(g.cast(v, DType::f32), {1}); }

/// The numbers of the boxes that stay, best first, int64.
Value* kept(const TfNode& n, GraphBuilder& g, Value* overlap, Value* threshold) {
  Value* boxes = g.unsqueeze(g.cast(n.input(0), DType::f32), {0});
  Value* scores = g.unsqueeze(g.cast(n.input(1), DType::f32), {0, 1});
  Value* most = as_int64_vector(g, n.input(2));
  // ONNX wants a limit of 0 to 1. No two boxes overlap by more than all, and beyond a limit below zero are all others.
  Value* zero = g.constant(Tensor::of<float>({1}, {0.0F}));
  Value* is_negative = g.op("Less", {overlap, zero});
  most = g.where(is_negative, g.op("Min", {most, g.ints({1})}), most);
  overlap = g.op("Clip", {overlap, g.scalar(0, DType::f32), g.scalar(1, DType::f32)});
  Value* all = g.op("NonMaxSuppression", {boxes, scores, most, overlap, threshold});
  Value* numbers = g.op("Slice", {all, g.ints({2}), g.ints({3}), g.ints({1})});
  return g.squeeze(numbers, {1});
}

Value* padded(GraphBuilder& g, Value* numbers, Value* size) {
  Value* missing = g.sub(size, g.shape(numbers));
  return g.op("Pad", {numbers, g.concat({g.ints({0}), missing}, 0)});
}

Value* no_threshold(GraphBuilder& g) {
  return g.constant(Tensor::of<float>({1}, {std::numeric_limits<float>::lowest()}));
}

/// How much each box overlaps each other one: the common part of what both cover.
Value* overlaps_of(GraphBuilder& g, Value* boxes) {
  const Values edges = g.op("Split", {boxes}, {{"axis", 1}, {"num_outputs", 4}}, 4);  // each [n, 1]
  const auto sides = [&](Value* a, Value* b) {
    Value* low = g.op("Min", {a, b});
    return std::pair(low, g.op("Max", {a, b}));
  };
  const auto [top, bottom] = sides(edges[0], edges[2]);
  const auto [left, right] = sides(edges[1], edges[3]);
  const auto common = [&](Value* low, Value* high) {
    Value* end = g.op("Min", {high, g.transpose(high, {1, 0})});
    Value* begin = g.op("Max", {low, g.transpose(low, {1, 0})});
    return g.op("Max", {g.sub(end, begin), g.scalar(0, DType::f32)});
  };
  Value* height = g.sub(bottom, top);
  Value* area = g.mul(height, g.sub(right, left));
  Value* rows = common(top, bottom);
  Value* both = g.mul(rows, common(left, right));
  Value* all = g.sub(g.add(area, g.transpose(area, {1, 0})), both);
  Value* is_empty = g.op("LessOrEqual", {all, g.scalar(0, DType::f32)});
  Value* share = g.div(both, g.where(is_empty, g.scalar(1, DType::f32), all));
  return g.where(is_empty, g.scalar(0, DType::f32), share);
}

struct Picked {
  Value *numbers, *scores;
};

/// The best box again and again. Boxes that overlap it beyond the limit leave; with a sigma, others lose score.
Picked greedily(GraphBuilder& g, Value* overlaps, Value* scores, Value* most, Value* limit, Value* threshold,
                Value* sigma) {
  const float low = std::numeric_limits<float>::lowest();
  Value* count = size_of(g, scores, 0);
  Value* rounds = g.op("Min", {g.squeeze(most, {0}), count});
  Value* numbers = counted(g, count);
  const Values done = repeat(g, rounds, {scores}, [&](GraphBuilder& b, Value*, const Values& state) -> Values {
    Value* best = b.op("ArgMax", {state[0]}, {{"axis", 0}, {"keepdims", 0}});
    Value* score = b.op("Gather", {state[0], best});
    Value* share = b.op("Gather", {overlaps, best}, {{"axis", 0}});
    Value* is_gone = b.op("Greater", {share, limit});
    Value* rest = state[0];
    if (sigma) {
      Value* power = b.div(b.mul(b.mul(share, share), -0.5), sigma);
      rest = b.mul(rest, b.op("Exp", {power}));
    }
    Value* is_best = b.op("Equal", {numbers, best});
    Value* is_out = b.op("Or", {is_gone, is_best});
    // What has left stays below every threshold.
    Value* was_out = b.op("LessOrEqual", {state[0], b.scalar(low, DType::f32)});
    is_out = b.op("Or", {is_out, was_out});
    return {b.where(is_out, b.scalar(low, DType::f32), rest), best, score};
  });
  Value* is_good = g.op("Greater", {done[2], threshold});
  Value* is_there = g.op("Greater", {done[2], g.scalar(low, DType::f32)});
  Value* stays = g.op("And", {is_good, is_there});
  Value* kept = g.op("Compress", {done[1], stays}, {{"axis", 0}});
  return {kept, g.op("Compress", {done[2], stays}, {{"axis", 0}})};
}

}  // namespace

Values nms(const TfNode& n, GraphBuilder& g) {
  Value* overlap = g.constant(Tensor::of<float>({1}, {static_cast<float>(n.real("iou_threshold", 0.5))}));
  return {g.cast(kept(n, g, overlap, no_threshold(g)), DType::i32)};
}
Values nms_v2(const TfNode& n, GraphBuilder& g) {
  Value* overlap = scalar_f32(g, n.input(3));
  return {g.cast(kept(n, g, overlap, no_threshold(g)), DType::i32)};
}
Values nms_v3(const TfNode& n, GraphBuilder& g) {
  Value* overlap = scalar_f32(g, n.input(3));
  return {g.cast(kept(n, g, overlap, scalar_f32(g, n.input(4))), DType::i32)};
}
Values nms_v4(const TfNode& n, GraphBuilder& g) {
  Value* overlap = scalar_f32(g, n.input(3));
  Value* numbers = kept(n, g, overlap, scalar_f32(g, n.input(4)));
  Value* count = g.cast(g.op("Size", {numbers}), DType::i32);
  if (n.flag("pad_to_max_output_size", false)) numbers = padded(g, numbers, as_int64_vector(g, n.input(2)));
  return {g.cast(numbers, DType::i32), count};
}
Values nms_v5(const TfNode& n, GraphBuilder& g) {
  const Tensor* sigma = n.constant(5);
  const bool is_hard = sigma && sigma->size() == 1 && sigma->to_doubles().front() == 0;
  Value* overlap = scalar_f32(g, n.input(3));
  Value* size = as_int64_vector(g, n.input(2));
  Picked picked{};
  if (is_hard) {
    picked.numbers = kept(n, g, overlap, scalar_f32(g, n.input(4)));
    picked.scores = g.op("Gather", {n.input(1), picked.numbers});
  } else {
    Value* overlaps = overlaps_of(g, g.cast(n.input(0), DType::f32));
    Value* scores = g.cast(n.input(1), DType::f32);
    Value* threshold = scalar_f32(g, n.input(4));
    Value* tiny = g.constant(Tensor::of<float>({1}, {1e-30F}));  // a sigma of zero: no score is lowered but to nothing
    Value* soft = g.op("Max", {scalar_f32(g, n.input(5)), tiny});
    picked = greedily(g, overlaps, scores, size, overlap, threshold, soft);
    picked.scores = g.cast(picked.scores, n.elem(1));
  }
  Value* count = g.cast(g.op("Size", {picked.numbers}), DType::i32);
  if (n.flag("pad_to_max_output_size", false)) {
    picked.scores = padded(g, picked.scores, size);
    picked.numbers = padded(g, picked.numbers, size);
  }
  return {g.cast(picked.numbers, DType::i32), picked.scores, count};
}
Values nms_with_overlaps(const TfNode& n, GraphBuilder& g) {
  // overlaps [n, n], scores, max_output_size, overlap_threshold, score_threshold
  Value* limit = scalar_f32(g, n.input(3));
  Value* threshold = scalar_f32(g, n.input(4));
  const Picked picked = greedily(g, n.input(0), n.input(1), as_int64_vector(g, n.input(2)), limit, threshold, nullptr);
  return {g.cast(picked.numbers, DType::i32)};
}

Values combined_nms(const TfNode& n, GraphBuilder& g) {
  // boxes [b, n, q, 4] (q: the classes or 1), scores [b, n, c], per class, in all, overlap, threshold.
  const float low = std::numeric_limits<float>::lowest();
  Value* classes = g.unsqueeze(size_of(g, n.input(1), 2), {0});
  Value* count = g.unsqueeze(size_of(g, n.input(1), 1), {0});
  Value* batch = g.unsqueeze(size_of(g, n.input(1), 0), {0});
  Value* scores = g.transpose(n.input(1), {0, 2, 1});
  Value* boxes = g.transpose(n.input(0), {0, 2, 1, 3});
  boxes = g.op("Expand", {boxes, g.concat({g.ints({1}), classes, g.ints({1, 1})}, 0)});  // [b, c, n, 4]
  // Each class of each image is an image of its own.
  Value* many = g.op("Reshape", {boxes, g.concat({g.ints({-1}), count, g.ints({4})}, 0)});
  Value* lone = g.op("Reshape", {scores, g.concat({g.ints({-1, 1}), count}, 0)});
  Value* overlap = scalar_f32(g, n.input(4));
  Value* kept_places =
      g.op("NonMaxSuppression", {many, lone, as_int64_vector(g, n.input(2)), overlap, scalar_f32(g, n.input(5))});
  Value* chosen = g.op("GatherND", {lone, kept_places});
  Value* open = filled_like(g, lone, low);
  Value* left = g.op("ScatterND", {open, kept_places, chosen});
  // The best of all classes of an image.
  Value* flat = g.op("Reshape", {left, g.concat({batch, g.ints({-1})}, 0)});
  Value* size = as_int64_vector(g, n.input(3));
  if (n.flag("pad_per_class", false)) {
    Value* per_class = g.mul(as_int64_vector(g, n.input(2)), classes);
    size = g.op("Min", {size, per_class});
  }
  Value* pads = g.concat({g.ints({0, 0, 0}), size}, 0);
  Value* wide = g.op("Pad", {flat, pads, g.scalar(low, DType::f32)});
  const Values best = g.op("TopK", {wide, size}, {{"axis", 1}}, 2);
  Value* is_there = g.op("Greater", {best[0], g.scalar(low, DType::f32)});
  Value* zero = g.scalar(0, DType::f32);
  Value* valid = g.reduce_sum(g.cast(is_there, DType::i32), {1}, false);
  Value* at = g.where(is_there, best[1], g.index(0));
  Value* all_boxes = g.op("Reshape", {boxes, g.concat({batch, g.ints({-1, 4})}, 0)});
  Value* found = g.op("GatherND", {all_boxes, g.unsqueeze(at, {2})}, {{"batch_dims", 1}});
  if (n.flag("clip_boxes", true)) found = g.op("Clip", {found, zero, g.scalar(1, DType::f32)});
  found = g.where(g.unsqueeze(is_there, {2}), found, zero);
  Value* found_scores = g.where(is_there, best[0], zero);
  Value* numbers = g.cast(g.div(at, count), DType::f32);
  return {found, found_scores, g.where(is_there, numbers, zero), valid};
}

Values draw_bounding_boxes(const TfNode& n, GraphBuilder& g) {
  // images [b, h, w, c], boxes [b, n, 4] of parts of the image, colors [k, c].
  Value* x = n.input(0);
  Value* height = size_of(g, x, 1);
  Value* width = size_of(g, x, 2);
  const Values edges = g.op("Split", {n.input(1)}, {{"axis", 2}, {"num_outputs", 4}}, 4);
  const auto pixel = [&](Value* edge, Value* size) {
    Value* last = g.cast(g.sub(size, g.index(1)), DType::f32);
    return g.unsqueeze(g.cast(g.mul(edge, last), DType::i64), {3});  // [b, n, 1, 1]
  };
  Value* top = pixel(edges[0], height);
  Value* left = pixel(edges[1], width);
  Value* bottom = pixel(edges[2], height);
  Value* right = pixel(edges[3], width);
  Value* row = g.unsqueeze(counted(g, height), {1});
  Value* column = g.unsqueeze(counted(g, width), {0});
  const auto between = [&](Value* at, Value* low, Value* high) {
    Value* is_past = g.op("GreaterOrEqual", {at, low});
    return g.op("And", {is_past, g.op("LessOrEqual", {at, high})});
  };
  const auto on = [&](Value* at, Value* low, Value* high) {
    Value* is_low = g.op("Equal", {at, low});
    return g.op("Or", {is_low, g.op("Equal", {at, high})});
  };
  Value* in_rows = between(row, top, bottom);
  Value* in_columns = between(column, left, right);
  Value* level = g.op("And", {on(row, top, bottom), in_columns});
  Value* upright = g.op("And", {on(column, left, right), in_rows});
  Value* is_upright = g.op("LessOrEqual", {top, bottom});  // what is upside down is not drawn
  Value* is_proper = g.op("And", {is_upright, g.op("LessOrEqual", {left, right})});
  Value* is_drawn = g.op("And", {is_proper, g.op("Or", {level, upright})});  // [b, n, h, w]
  // Later boxes cover earlier ones.
  Value* number = g.unsqueeze(g.add(counted(g, size_of(g, n.input(1), 1)), g.index(1)), {1, 2});
  Value* last = g.op("ReduceMax", {g.where(is_drawn, number, g.index(0)), g.ints({1})}, {{"keepdims", 0}});
  Value* is_line = g.op("Greater", {last, g.index(0)});
  Value* colors = nullptr;
  if (n.input_count() > 2) {
    // As many channels as the image has.
    Value* depth = g.unsqueeze(size_of(g, x, 3), {0});
    colors = g.op("Slice", {g.cast(n.input(2), n.elem(0)), g.ints({0}), depth, g.ints({1})});
  } else {
    // The first version has its own ten; grey images get white.
    const std::vector<float> ten{1,   1,   0, 1, 0,   0, 1, 1, 1, 0, 0,   1, 0, 1, 0, 1, 0.5, 0, 0.5, 1,
                                 0.5, 0.5, 0, 1, 0.5, 0, 0, 1, 0, 0, 0.5, 1, 0, 1, 1, 1, 1,   0, 1,   1};
    const auto depth = dim_of(x, 3);
    if (!depth || *depth < 1 || *depth > 4) n.unsupported("the number of channels must be known");
    std::vector<float> used;
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t c = 0; c < static_cast<std::size_t>(*depth); ++c)
        used.push_back(*depth == 1 ? 1.0F : ten[4 * i + c]);
    colors = g.cast(g.constant(Tensor::of<float>({10, *depth}, used)), n.elem(0));
  }
  Value* which = g.op("Mod", {g.op("Max", {g.sub(last, g.index(1)), g.index(0)}), size_of(g, colors, 0)});
  Value* painted = g.op("Gather", {colors, which}, {{"axis", 0}});
  return {g.where(g.unsqueeze(is_line, {3}), painted, x)};
}

}  // namespace ingot::frontends::tensorflow
