// com.microsoft: sums of embeddings, normalised; of floats and of 8-bit tables.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

struct Embedding {
  Value *ids, *segment_ids, *words, *positions, *segments, *gamma, *beta, *mask, *position_ids;
};

Values embed(DecomposeContext& c, const Embedding& in, bool wants_sum) {
  GraphBuilder& g = c.g;
  Value* sum = g.op("Gather", {in.words, in.ids});
  Value* positions = nullptr;
  if (in.position_ids)
    positions = g.op("Gather", {in.positions, in.position_ids});
  else
    positions = g.op("Slice", {in.positions, g.ints({0}), size_of(g, in.ids, 1), g.ints({0})});
  sum = g.add(sum, positions);
  if (in.segments && in.segment_ids) sum = g.add(sum, g.op("Gather", {in.segments, in.segment_ids}));
  Value* y = g.op("LayerNormalization", {sum, in.gamma, in.beta},
                  {{"axis", -1}, {"epsilon", static_cast<double>(c.attr("epsilon", 1e-12f))}});
  Value* counts = nullptr;
  if (c.wants(1) && in.mask) {
    Value* ones = g.op("Equal", {in.mask, g.constant(Tensor::scalar<std::int32_t>(1))});
    counts = g.reduce_sum(g.cast(ones, DType::i32), {1}, false);
  } else if (c.wants(1)) {
    counts = g.op("ConstantOfShape", {size_of(g, in.ids, 0)}, {{"value", Tensor::of<std::int32_t>({1}, {0})}});
  }
  return {y, counts, wants_sum ? sum : nullptr};
}

Values embed_layer_normalization(DecomposeContext& c) {
  return embed(c, {c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.in(5), c.in(6), c.in(7), c.in(8)}, true);
}

Values quantized_embed_layer_normalization(DecomposeContext& c) {
  const auto floats = [&](std::size_t table, std::size_t scale, std::size_t zero) -> Value* {
    if (!c.has(table)) return nullptr;
    return c.g.op("DequantizeLinear", {c.in(table), c.g.reshape(c.in(scale), {}), c.g.reshape(c.in(zero), {})});
  };
  Values made = embed(c,
                      {c.in(0), c.in(1), floats(2, 8, 13), floats(3, 9, 14), floats(4, 10, 15), floats(5, 11, 16),
                       floats(6, 12, 17), c.in(7), nullptr},
                      false);
  made.resize(2);
  return made;
}

}  // namespace

constinit const OpDef defs::microsoft::EmbedLayerNormalization = {.name = "EmbedLayerNormalization",
                                                                  .domain = kMicrosoft,
                                                                  .infer = infer_by_body,
                                                                  .decompose = embed_layer_normalization};
constinit const OpDef defs::microsoft::QEmbedLayerNormalization = {.name = "QEmbedLayerNormalization",
                                                                   .domain = kMicrosoft,
                                                                   .infer = infer_by_body,
                                                                   .decompose = quantized_embed_layer_normalization};

}  // namespace ingot::ops
