// RotaryEmbedding: rotates pairs of features by an angle that grows with the position.
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/heads.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.require(c.attr("rotary_embedding_dim", std::int64_t{0}) >= 0, "attribute 'rotary_embedding_dim' is negative");
  require_rank(c, 3, 2, "position_ids");
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    require_rank(c, i, c.has(3) ? 2 : 3, i == 1 ? "cos_cache" : "sin_cache");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() == 3 || x->size() == 4, "the input must have rank 3 or 4");
  if (x->size() == 3) {
    const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
    c.require(heads >= 1, "an input of rank 3 needs a positive attribute 'num_heads'");
    divide_heads(c, (*x)[2], heads, "the input");
  }
  c.out_shape(0, *x);
}

/// All of x from `first` on along its last axis, or every second element of it.
Value* tail(GraphBuilder& g, Value* x, Value* first, std::int64_t step = 1) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return g.op("Slice", {x, first, g.ints({kEnd}), g.ints({-1}), g.ints({step})});
}

Value* head(GraphBuilder& g, Value* x, Value* end) { return g.op("Slice", {x, g.ints({0}), end, g.ints({-1})}); }

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (!c.in(0) || !c.in(1) || !c.in(2) || (rank != 3 && rank != 4) || (rank == 3 && heads < 1)) return {};
  // [B, S, H, D]
  Value* x = rank == 3 ? g.reshape(c.in(0), {0, 0, heads, -1}) : g.transpose(c.in(0), {0, 2, 1, 3});
  Dim size = stated_size(c.in(0), -1);
  if (rank == 3) size = exact_div(size, heads);
  const std::int64_t partial = c.attr("rotary_embedding_dim", std::int64_t{0});
  const bool is_partial = partial > 0 && !same(size, partial);
  Value* rotated_size = partial > 0       ? g.ints({partial})
                        : size.is_known() ? g.ints({size.value()})
                                          : size_along(g, x, 3);
  const Dim known_size = partial > 0 ? Dim(partial) : size;
  Value* half = known_size.is_known() ? g.ints({known_size.value() / 2}) : g.div(rotated_size, g.ints({2}));
  Value* rotated = is_partial ? head(g, x, rotated_size) : x;

  const auto angles = [&](Value* cache) {
    if (c.has(3)) cache = g.op("Gather", {cache, c.in(3)}, {{"axis", 0}});
    return g.unsqueeze(head(g, cache, half), {2});  // [B, S, 1, half]
  };
  Value *cos = angles(c.in(1)), *sin = angles(c.in(2));
  const bool interleaved = c.attr("interleaved", std::int64_t{0}) != 0;
  Value* a = interleaved ? tail(g, rotated, g.ints({0}), 2) : head(g, rotated, half);
  Value* b = interleaved ? tail(g, rotated, g.ints({1}), 2) : tail(g, rotated, half);
  Value* real = g.sub(g.mul(cos, a), g.mul(sin, b));
  Value* imaginary = g.add(g.mul(sin, a), g.mul(cos, b));
  Value* y = nullptr;
  if (interleaved) {
    y = g.concat({g.unsqueeze(real, {4}), g.unsqueeze(imaginary, {4})}, -1);  // [B, S, H, half, 2]
    y = g.reshape(y, {0, 0, 0, -1});
  } else {
    y = g.concat({real, imaginary}, -1);
  }
  if (is_partial) y = g.concat({y, tail(g, x, rotated_size)}, -1);
  return {rank == 3 ? g.reshape(y, {0, 0, -1}) : g.transpose(y, {0, 2, 1, 3})};
}

}  // namespace

constinit const OpDef defs::RotaryEmbedding = {
    .name = "RotaryEmbedding",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
