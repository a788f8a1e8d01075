// What gradient rules share.
#include "ingot/ops/gradient.h"

namespace ingot::ops {

Value* GradContext::sum_to(Value* x, Value* like) {
  const auto &from = x->type.shape, &to = like->type.shape;
  if (from && to && from->size() >= to->size()) {
    // An axis is settled if it is the same in both or 1 in `like`.
    std::vector<std::int64_t> leading, stretched;
    bool settled = true;
    const std::size_t extra = from->size() - to->size();
    for (std::size_t i = 0; i < extra; ++i) leading.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < to->size(); ++i) {
      if (same((*from)[extra + i], (*to)[i])) continue;
      if (same((*to)[i], 1))
        stretched.push_back(static_cast<std::int64_t>(i));
      else
        settled = false;
    }
    if (settled) {
      if (!leading.empty()) x = g.reduce_sum(x, leading, false);
      return stretched.empty() ? x : g.reduce_sum(x, stretched);
    }
  }
  // Where `like`, filled up with ones in front, has a 1, summing is right whether or not it was stretched.
  Value* shape = g.shape(like);
  Value* missing = g.sub(g.op("Size", {g.shape(x)}), g.op("Size", {shape}));
  Value* ones = g.op("ConstantOfShape", {g.unsqueeze(missing, {0})}, {{"value", Tensor::ints({1})}});
  Value* is_one = g.op("Equal", {g.concat({ones, shape}, 0), g.ints({1})});
  Value* axes = g.squeeze(g.op("NonZero", {is_one}), {0});
  Value* sum = g.op("ReduceSum", {x, axes}, {{"keepdims", 1}, {"noop_with_empty_axes", 1}});
  return g.op("Reshape", {sum, shape}, {{"allowzero", 1}});
}

}  // namespace ingot::ops
