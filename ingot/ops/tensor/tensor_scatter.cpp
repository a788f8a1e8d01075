// TensorScatter: writes new entries into a cache, for each batch from its own position on.
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::string mode = c.attr("mode", "linear");
  c.require(mode == "linear" || mode == "circular", "the mode is not known");
  const Shape *cache = c.shape(0), *update = c.shape(1);
  if (cache) {
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-2}), static_cast<std::int64_t>(cache->size()));
    c.require(axis != 0, "the axis is that of the batch");
    if (update) {
      c.require(update->size() == cache->size(), "cache and update differ in rank");
      for (std::size_t i = 0; i < cache->size(); ++i)
        if (i != static_cast<std::size_t>(axis) && !may_equal((*cache)[i], (*update)[i]))
          c.fail("dimension " + std::to_string(i) + " is " + (*cache)[i].str() + " and " + (*update)[i].str());
    }
    if (const auto rank = c.rank(2); rank && *rank != 1) c.fail("the write indices are not a list");
  }
  c.out_shape_like(0, 0);
}

// ScatterElements along the axis, with index[b, .., s, ..] = write_indices[b] + s, in a circle if wanted
Values decompose(DecomposeContext& c) {
  const auto rank = c.rank(0);
  if (!rank || !c.has(1) || !newest_schema("", "ScatterElements")->input(0)->type->allows(c.in(0)->type)) return {};
  std::int64_t axis = c.attr("axis", std::int64_t{-2});
  if (axis < 0) axis += *rank;
  if (axis <= 0 || axis >= *rank) return {};
  GraphBuilder& g = c.g;
  Value* shape = g.shape(c.in(1));
  Value* count = g.op("Gather", {shape, g.index(axis)});
  Value* index = g.op("Range", {g.index(0), count, g.index(1)});
  std::vector<std::int64_t> along(static_cast<std::size_t>(*rank), 1), batch = along;
  along[static_cast<std::size_t>(axis)] = -1;
  batch[0] = -1;
  index = g.reshape(index, along);
  if (c.has(2)) index = g.add(index, g.reshape(c.in(2), batch));
  if (c.attr("mode", "linear") == "circular")
    index = g.op("Mod", {index, g.op("Gather", {g.shape(c.in(0)), g.index(axis)})});
  index = g.op("Expand", {index, shape});
  return {g.op("ScatterElements", {c.in(0), index, c.in(1)}, {{"axis", axis}})};
}

}  // namespace

constinit const OpDef defs::TensorScatter = {
    .name = "TensorScatter",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
