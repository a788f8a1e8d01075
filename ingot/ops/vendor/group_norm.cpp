// com.microsoft: normalization of groups of channels, which may come last, with the activation behind it.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// In the type of gamma, which is computed in, and back.
Values normalized(DecomposeContext& c, Value* x) {
  GraphBuilder& g = c.g;
  if (!x->type.shape || c.elem(1) == DType::undefined) return {};
  const bool is_last = c.attr("channels_last", std::int64_t{1}) != 0;
  Value* wide = g.cast(is_last ? channels_first(g, x) : x, c.elem(1));
  Value* y = g.op("GroupNormalization", {wide, c.in(1), c.in(2)},
                  {{"num_groups", c.attr("groups", std::int64_t{1})}, {"epsilon", c.attr("epsilon", 1e-5f)}});
  if (c.attr("activation", std::int64_t{0}) == 1) y = swish(g, y);
  y = g.cast(y, x->type.elem);
  return {is_last ? channels_last(g, y) : y};
}

Values group_norm(DecomposeContext& c) { return normalized(c, c.in(0)); }

/// What is added has the size of x, or a number for each channel of each example.
Values skip_group_norm(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(3);
  if (!rank || c.attr("channels_last", std::int64_t{1}) == 0) return {};
  Value* sum = g.add(c.in(0), *rank == 2 ? g.unsqueeze(c.in(3), {1, 2}) : c.in(3));
  if (c.has(4)) sum = g.add(sum, c.in(4));
  Values made = normalized(c, sum);
  if (!made.empty()) made.push_back(sum);
  return made;
}

}  // namespace

constinit const OpDef defs::microsoft::GroupNorm = {
    .name = "GroupNorm", .domain = kMicrosoft, .infer = infer_by_body, .decompose = group_norm};
constinit const OpDef defs::microsoft::SkipGroupNorm = {
    .name = "SkipGroupNorm", .domain = kMicrosoft, .infer = infer_by_body, .decompose = skip_group_norm};

}  // namespace ingot::ops
