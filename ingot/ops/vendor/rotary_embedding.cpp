// com.microsoft: rotary position embeddings.
#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/rotary_body.h"

namespace ingot::ops {

Value* rotated(GraphBuilder& g, Value* x, Value* cosines, Value* sines, Value* positions, bool is_interleaved) {
  std::int64_t turned = 0;  // all
  const auto &cache = cosines->type.shape, &shape = x->type.shape;
  if (cache && cache->back().is_known() && shape && shape->back().is_known() &&
      2 * cache->back().value() != shape->back().value())
    turned = 2 * cache->back().value();
  return g.op("RotaryEmbedding", {x, cosines, sines, positions},
              {{"interleaved", is_interleaved ? 1 : 0}, {"rotary_embedding_dim", turned}});
}

Value* positions_from(GraphBuilder& g, Value* first, Value* x, std::int64_t batch_axis, std::int64_t row_axis) {
  Value* rows = g.op("Range", {g.index(0), count_of(g, x, row_axis), g.index(1)});
  Value* all = g.add(rows, first);
  return g.op("Expand", {g.unsqueeze(all, {0}), g.concat({size_of(g, x, batch_axis), size_of(g, x, row_axis)}, 0)});
}

namespace {

/// How wide a head is; 0: not known.
std::int64_t head_width(const DecomposeContext& c) {
  const auto& cache = c.in(2)->type.shape;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  const Shape& x = *c.in(0)->type.shape;
  if (heads > 0 && x.back().is_known()) return x.back().value() / heads;
  return cache && cache->back().is_known() ? 2 * cache->back().value() : 0;
}

Values rotary_embedding(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0), position_rank = c.rank(1);
  if (!rank || !position_rank || (*rank != 3 && *rank != 4)) return {};
  const bool is_flat = *rank == 3;
  Value* positions = c.in(1);
  if (*position_rank < 2)
    positions =
        positions_from(g, *position_rank == 0 ? positions : g.squeeze(positions, {0}), c.in(0), 0, is_flat ? 1 : 2);
  Value* x = c.in(0);
  if (is_flat) {
    const std::int64_t width = head_width(c);
    if (width <= 0) return {};
    x = g.transpose(g.reshape(x, {0, 0, -1, width}), {0, 2, 1, 3});
  }
  Value* y = rotated(g, x, c.in(2), c.in(3), positions, c.attr("interleaved", std::int64_t{0}) != 0);
  return {is_flat ? join_heads(g, y) : y};
}

}  // namespace

constinit const OpDef defs::microsoft::RotaryEmbedding = {
    .name = "RotaryEmbedding", .domain = kMicrosoft, .infer = infer_by_body, .decompose = rotary_embedding};

}  // namespace ingot::ops
