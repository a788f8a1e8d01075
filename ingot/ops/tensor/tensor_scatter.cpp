// TensorScatter: writes new entries into a cache, for each batch from its own position on.
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"

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

void run(KernelContext& c) {
  const Array &cache = c.in(0), &update = c.in(1);
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-2}), cache.rank());
  if (axis == 0) c.fail("the axis is that of the batch");
  const std::string mode = c.attr("mode", "linear");
  if (mode != "linear" && mode != "circular") c.fail("the mode is not known");
  if (update.rank() != cache.rank() || update.dtype() != cache.dtype()) c.fail("cache and update differ in type");
  for (std::int64_t i = 0; i < cache.rank(); ++i)
    if (i != axis && cache.dims()[static_cast<std::size_t>(i)] != update.dims()[static_cast<std::size_t>(i)])
      c.fail("cache and update differ in dimension " + std::to_string(i));
  const Blocks all = blocks_along(cache.dims(), axis), fresh = blocks_along(update.dims(), axis);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(cache.dims().front()), 0);
  if (c.has(2)) starts = list_of_ints(c, 2);
  if (static_cast<std::int64_t>(starts.size()) != cache.dims().front())
    c.fail("there is not one write index per batch");
  if (fresh.size > all.size) c.fail("the update is longer than the cache");
  Array& y = c.make(0, cache.dtype(), cache.dims());
  copy_elements(cache, 0, y, 0, cache.size());
  if (update.size() == 0) return;
  WorkMeter meter(c.host().budget());
  const std::int64_t per_batch = all.outer / cache.dims().front();
  for (std::int64_t block = 0; block < all.outer; ++block) {
    const std::int64_t start = starts[static_cast<std::size_t>(block / per_batch)];
    if (start < 0 || (mode == "linear" && start > all.size - fresh.size))
      c.fail("write index " + std::to_string(start) + " is out of range");
    for (std::int64_t s = 0; s < fresh.size; ++s) {
      const std::int64_t to = (start % all.size + s) % all.size;
      copy_elements(update, (block * fresh.size + s) * all.inner, y, (block * all.size + to) * all.inner, all.inner);
    }
    meter.did(fresh.size * all.inner);
  }
}

}  // namespace

constinit const OpDef defs::TensorScatter = {
    .name = "TensorScatter",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
