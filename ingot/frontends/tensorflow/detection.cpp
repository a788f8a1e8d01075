// Suppression of overlapping boxes.
#include <limits>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* scalar_f32(GraphBuilder& g, Value* v) { return g.reshape(g.cast(v, DType::f32), {1}); }

/// The numbers of the boxes that stay, best first, int64.
Value* kept(const TfNode& n, GraphBuilder& g, Value* overlap, Value* threshold) {
  Value* boxes = g.unsqueeze(g.cast(n.input(0), DType::f32), {0});
  Value* scores = g.unsqueeze(g.cast(n.input(1), DType::f32), {0, 1});
  Value* most = as_int64_vector(g, n.input(2));
  // No two boxes overlap by more than all: a greater limit means the same, and ONNX refuses it.
  overlap = g.op("Min", {overlap, g.constant(Tensor::of<float>({1}, {1.0F}))});
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
  if (!sigma || sigma->to_doubles().front() != 0) n.unsupported("soft suppression (soft_nms_sigma is not 0)");
  Value* overlap = scalar_f32(g, n.input(3));
  Value* numbers = kept(n, g, overlap, scalar_f32(g, n.input(4)));
  Value* scores = g.op("Gather", {n.input(1), numbers});
  Value* count = g.cast(g.op("Size", {numbers}), DType::i32);
  if (n.flag("pad_to_max_output_size", false)) {
    Value* size = as_int64_vector(g, n.input(2));
    scores = padded(g, scores, size);
    numbers = padded(g, numbers, size);
  }
  return {g.cast(numbers, DType::i32), scores, count};
}

}  // namespace ingot::frontends::tensorflow
