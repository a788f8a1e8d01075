// Whole layers of transformers, which PyTorch computes by one operator where it need not learn.
#include <cmath>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

Value* linear_of(GraphBuilder& g, Value* x, Value* weight, Value* bias) {
  Value* y = g.op("MatMul", {x, g.transpose(weight, {1, 0})});
  return bias ? g.add(y, bias) : y;
}

/// [batch, steps, heads * width] -> [batch, heads, steps, width]
Value* by_heads(GraphBuilder& g, Value* x, std::int64_t heads) {
  return g.transpose(g.reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

struct Attention {
  Value *output, *weights;  // [batch, steps, features], [batch, heads, steps, steps]
};

struct Projections {
  Value *in_weight, *in_bias, *out_weight, *out_bias;
  std::int64_t features, heads;
};

/// `hidden`: what is masked, as bool or as numbers to add; `is_padding`: a row of steps for each example.
Attention attend(const Call& c, const Values& from, const Projections& p, Value* hidden, bool is_padding) {
  GraphBuilder& g = c.g();
  const Values weights = g.op("Split", {p.in_weight}, {{"axis", 0}, {"num_outputs", 3}}, 3);
  const Values biases = p.in_bias ? g.op("Split", {p.in_bias}, {{"axis", 0}, {"num_outputs", 3}}, 3) : Values(3);
  Values parts;
  for (std::size_t i = 0; i < 3; ++i)
    parts.push_back(by_heads(g, linear_of(g, from[i], weights[i], biases[i]), p.heads));
  const double width = static_cast<double>(p.features / p.heads);
  Value* scores = g.op("MatMul", {g.div(parts[0], std::sqrt(width)), g.transpose(parts[1], {0, 1, 3, 2})});
  if (hidden && is_padding) hidden = g.unsqueeze(hidden, {1, 2});
  if (hidden)
    scores = hidden->type.elem == DType::boolean ? g.where(hidden, g.scalar(-INFINITY, scores->type.elem), scores)
                                                 : g.add(scores, hidden);
  Value* shares = g.op("Softmax", {scores}, {{"axis", -1}});
  Value* mixed = g.transpose(g.op("MatMul", {shares, parts[2]}), {0, 2, 1, 3});
  return {linear_of(g, g.reshape(mixed, {0, 0, p.features}), p.out_weight, p.out_bias), shares};
}

bool is_padding_mask(const Call& c, std::size_t mask_type) { return c.has(mask_type) && c.integer(mask_type) == 1; }

}  // namespace

Item native_multi_head_attention(const Call& c) {
  GraphBuilder& g = c.g();
  Values from{c.tensor(0), c.tensor(1), c.tensor(2)};
  for (Value* x : from) c.expect_rank(x, 3);
  const Attention made = attend(c, from,
                                {.in_weight = c.tensor(5),
                                 .in_bias = c.optional_tensor(6),
                                 .out_weight = c.tensor(7),
                                 .out_bias = c.optional_tensor(8),
                                 .features = c.integer(3),
                                 .heads = c.integer(4)},
                                c.optional_tensor(9), is_padding_mask(c, 12));
  if (!c.flag(10)) return Item::tuple({Item(made.output), Item()});
  return Item::tensors(
      {made.output, c.flag(11) ? g.op("ReduceMean", {made.weights, g.ints({1})}, {{"keepdims", 0}}) : made.weights});
}

Item transformer_encoder_layer(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  c.expect_rank(x, 3);
  const bool norm_first = c.flag(8);
  const auto normalised = [&](Value* v, std::size_t weight) {
    return g.op("LayerNormalization", {v, c.tensor(weight), c.tensor(weight + 1)},
                {{"axis", -1}, {"epsilon", c.real(9)}});
  };
  const auto attended = [&](Value* v) {
    return attend(c, {v, v, v},
                  {.in_weight = c.tensor(3),
                   .in_bias = c.optional_tensor(4),
                   .out_weight = c.tensor(5),
                   .out_bias = c.optional_tensor(6),
                   .features = c.integer(1),
                   .heads = c.integer(2)},
                  c.optional_tensor(18), is_padding_mask(c, 19))
        .output;
  };
  const auto fed = [&](Value* v) {
    Value* wide = linear_of(g, v, c.tensor(14), c.tensor(15));
    return linear_of(g, c.flag(7) ? g.op("Gelu", {wide}) : g.op("Relu", {wide}), c.tensor(16), c.tensor(17));
  };
  if (norm_first) {
    x = g.add(x, attended(normalised(x, 10)));
    return g.add(x, fed(normalised(x, 12)));
  }
  x = normalised(g.add(x, attended(x)), 10);
  return normalised(g.add(x, fed(x)), 12);
}

}  // namespace ingot::frontends::torch
