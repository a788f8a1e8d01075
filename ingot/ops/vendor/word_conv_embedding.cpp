// com.microsoft.WordConvEmbedding: words as what filters find in the embeddings of their letters.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// Filters see as many letters as a word has, or their own width where it has fewer. Letters are above 0.
Values word_conv_embedding(DecomposeContext& c) {
  if (c.rank(0) != 2 || c.rank(1) != 4 || c.rank(3) != 2) return {};
  const Dim& taps = (*c.in(1)->type.shape)[2];
  if (!taps.is_known()) return {};
  GraphBuilder& g = c.g;
  Value *ids = c.in(0), *zero = g.scalar(0, DType::i32);
  Value* letters = g.cast(count_of(g, c.in(3), 0), DType::i32);
  Value* is_letter = g.op("And", {g.op("GreaterOrEqual", {ids, zero}), g.op("Less", {ids, letters})});
  Value* rows = g.op("Gather", {c.in(3), g.where(is_letter, ids, zero)});  // [word, letter, width]
  rows = g.where(g.unsqueeze(is_letter, {2}), rows, g.scalar(0, DType::f32));
  Value* found = g.op("Tanh", {g.squeeze(g.op("Conv", {g.unsqueeze(rows, {1}), c.in(1), c.in(2)}), {3})});
  Value* length = g.reduce_sum(g.cast(g.op("Greater", {ids, zero}), DType::i64), {1});  // [word, 1]
  Value* last = g.sub(g.op("Max", {length, g.index(taps.value())}), g.index(taps.value()));
  Value* places = g.op("Range", {g.index(0), count_of(g, found, 2), g.index(1)});
  Value* is_seen = g.unsqueeze(g.op("LessOrEqual", {places, last}), {1});  // [word, 1, place]
  Value* seen = g.where(is_seen, found, g.scalar(-1e12, DType::f32));
  return {g.op("ReduceMax", {seen, g.ints({2})}, {{"keepdims", 0}})};
}

}  // namespace

constinit const OpDef defs::microsoft::WordConvEmbedding = {
    .name = "WordConvEmbedding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = word_conv_embedding};

}  // namespace ingot::ops
