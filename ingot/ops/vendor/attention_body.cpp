// Attention in plain operators.
#include "ingot/ops/vendor/attention_body.h"

#include <cmath>
#include <limits>

#include "ingot/ops/vendor/body.h"

namespace ingot::ops {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

/// 0, 1, ... as int32
Value* places(GraphBuilder& g, Value* x, std::int64_t axis) {
  Value* count = g.cast(count_of(g, x, axis), DType::i32);
  const auto number = [&](std::int32_t n) { return g.constant(Tensor::scalar<std::int32_t>(n)); };
  return g.op("Range", {number(0), count, number(1)});
}

/// What is added where `keeps` does not hold.
Value* added(GraphBuilder& g, Value* keeps, double filter, DType elem) {
  return g.where(keeps, g.scalar(0, elem), g.scalar(filter, elem));
}

/// A list with as many ends as batches, or with ends and then starts; [B,1,1,T].
std::optional<Value*> mask_of_list(GraphBuilder& g, Value* mask, Value* q, Value* k, double filter) {
  const Dim &length = mask->type.shape->at(0), &batch = q->type.shape->at(0);
  const bool is_ends = same(length, batch), is_both = same(length, batch * Dim(2)) && !is_ends;
  if (!is_ends && !is_both) return std::nullopt;
  Value* at = places(g, k, 2);
  const auto as_column = [&](Value* v) { return g.unsqueeze(v, {1, 2, 3}); };
  if (is_ends) return added(g, g.op("Less", {at, as_column(mask)}), filter, q->type.elem);
  const Values halves = g.op("Split", {mask}, {{"axis", 0}, {"num_outputs", 2}}, 2);
  Value* before_end = g.op("Less", {at, as_column(halves[0])});
  Value* from_start = g.op("GreaterOrEqual", {at, as_column(halves[1])});
  return added(g, g.op("And", {before_end, from_start}), filter, q->type.elem);
}

std::optional<Value*> mask_of_places(GraphBuilder& g, Value* mask, Value* q, Value* k, double filter) {
  if (!mask->type.shape) return std::nullopt;
  const std::size_t rank = mask->type.shape->size();
  if (rank == 1) return mask_of_list(g, mask, q, k, filter);
  if (rank != 2 && rank != 3) return std::nullopt;
  const Dim& last = mask->type.shape->back();
  // A single column is there in place of a mask, unless there is a single key.
  if (rank == 2 && last.is_known() && last.value() == 1) return nullptr;
  Value* keeps = g.op("Greater", {mask, g.scalar(0, mask->type.elem)});
  return added(g, g.unsqueeze(keeps, rank == 2 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1}),
               filter, q->type.elem);
}

}  // namespace

Value* join_heads(GraphBuilder& g, Value* x) { return g.reshape(g.transpose(x, {0, 2, 1, 3}), {0, 0, -1}); }

std::optional<Value*> mask_of(GraphBuilder& g, Value* q, Value* k, const MaskParts& parts) {
  Value* sum = nullptr;
  if (parts.mask) {
    const auto made = mask_of_places(g, parts.mask, q, k, parts.filter);
    if (!made) return std::nullopt;
    sum = *made;
  }
  if (parts.is_causal) {
    Value* rows = g.unsqueeze(places(g, q, 2), {1});
    Value* before = parts.before ? parts.before : g.sub(count_of(g, k, 2), count_of(g, q, 2));
    Value* keeps = g.op("LessOrEqual", {places(g, k, 2), g.add(rows, g.cast(before, DType::i32))});
    // ONNX Runtime hides nothing from the last row, which is right where it is the row of the last key.
    if (parts.before) {
      Value* last = g.sub(g.cast(count_of(g, q, 2), DType::i32), g.scalar(1, DType::i32));
      keeps = g.op("Or", {keeps, g.op("Equal", {rows, last})});
    }
    sum = g.where(keeps, sum ? sum : g.scalar(0, q->type.elem), g.scalar(kLowest, q->type.elem));
  }
  if (parts.bias) sum = sum ? g.add(sum, parts.bias) : parts.bias;
  return sum;
}

Attended attend(GraphBuilder& g, Value* q, Value* k, Value* v, double scale, Value* mask) {
  Value* scores = g.mul(g.op("MatMul", {q, g.transpose(k, {0, 1, 3, 2})}), scale);
  if (mask) scores = g.add(scores, mask);
  return {g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", -1}}), v}), scores};
}

std::optional<double> scale_of(const Value* q, float attribute) {
  if (attribute != 0) return static_cast<double>(attribute);
  if (!q->type.shape || !q->type.shape->back().is_known()) return std::nullopt;
  return 1 / std::sqrt(static_cast<double>(q->type.shape->back().value()));
}

}  // namespace ingot::ops
