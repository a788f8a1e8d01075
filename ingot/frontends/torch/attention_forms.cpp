// Attention under the names of its implementations, which differ in the order of their arguments and in what they give
// beside the result.
#include <cmath>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

Item scaled(const Call& c, const Item& mask, const Item& is_causal, const Item& scale,
            const Item& shares_heads = false) {
  return c.t.call("scaled_dot_product_attention",
                  {c.arg(0), c.arg(1), c.arg(2), mask, 0.0, is_causal, scale, shares_heads});
}

}  // namespace

Item flash_attention(const Call& c) { return Item::tuple({scaled(c, c.arg(5), c.arg(4), c.arg(6)), Item(Unknown{})}); }
Item flash_attention_gpu(const Call& c) {
  std::vector<Item> made(9, Item(Unknown{}));
  made[0] = scaled(c, Item(), c.arg(4), c.arg(6));
  return Item::tuple(std::move(made));
}
Item efficient_attention(const Call& c) {
  return Item::tuple({scaled(c, c.arg(3), c.arg(6), c.arg(7)), Item(Unknown{}), Item(Unknown{}), Item(Unknown{})});
}
Item attention_math(const Call& c) {
  return Item::tuple({scaled(c, c.arg(3), c.arg(5), c.arg(7), c.arg(8)), Item(Unknown{})});
}
/// Of PyTorch 1.13, with the weights beside the result.
Item attention_with_weights(const Call& c) {
  GraphBuilder& g = c.g();
  if (c.flag(6)) return Item::tuple({scaled(c, c.arg(3), true, Item()), Item(Unknown{})});
  Value *q = c.tensor(0), *k = c.tensor(1);
  const auto width = dim_of(q, -1);
  if (!width) refuse("the width of an attention's heads is not known");
  Ints perm;
  for (std::int64_t i = 0; i < c.rank(k); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  Value* scores = g.op("MatMul", {g.div(q, std::sqrt(static_cast<double>(*width))), g.transpose(k, perm)});
  if (c.has(3)) {
    Value* mask = c.tensor(3);
    scores = mask->type.elem == DType::boolean ? g.where(mask, scores, g.scalar(-INFINITY, scores->type.elem))
                                               : g.add(scores, mask);
  }
  Value* shares = g.op("Softmax", {scores}, {{"axis", -1}});
  return Item::tensors({g.op("MatMul", {shares, c.tensor(2)}), shares});
}
/// What the mask names is left out; a row without anything left is zero.
Item masked_softmax(const Call& c) {
  GraphBuilder& g = c.g();
  Value *x = c.tensor(0), *mask = g.cast(c.tensor(1), DType::boolean);
  if (c.has(3) && c.integer(3) == 1 && rank_of(mask) == 2 && c.rank(x) == 4) mask = g.unsqueeze(mask, {1, 2});
  Value* left = g.where(mask, g.scalar(-INFINITY, x->type.elem), x);
  return g.op("Softmax", {left}, {{"axis", c.has(2) ? c.integer(2) : -1}});
}

}  // namespace ingot::frontends::torch
