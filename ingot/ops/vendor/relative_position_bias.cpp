// com.microsoft: what is added to attention's scores for the distance of a key from a query.
#include <cmath>

#include "ingot/ops/nn/heads.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

Value* places(GraphBuilder& g, Value* count) { return g.op("Range", {g.index(0), g.reshape(count, {}), g.index(1)}); }

/// T5's: near distances have a bucket each, far ones share buckets that grow.
Value* bucket_of(DecomposeContext& c, Value* distance, std::int64_t buckets) {
  GraphBuilder& g = c.g;
  Value* first = nullptr;
  if (c.attr("is_bidirectional", std::int64_t{0})) {
    buckets /= 2;
    first = g.mul(g.cast(g.op("Greater", {distance, g.index(0)}), DType::i64), g.index(buckets));
    distance = g.op("Abs", {distance});
  } else {
    distance = g.op("Max", {g.neg(distance), g.index(0)});
  }
  const std::int64_t exact = buckets / 2;
  const double span =
      std::log(static_cast<double>(c.attr("max_distance", std::int64_t{128})) / static_cast<double>(exact));
  Value* ratio = g.div(g.cast(g.op("Max", {distance, g.index(1)}), DType::f32), static_cast<double>(exact));
  Value* steps = g.mul(g.div(g.op("Log", {ratio}), span), static_cast<double>(buckets - exact));
  Value* far = g.op("Min", {g.add(g.cast(steps, DType::i64), g.index(exact)), g.index(buckets - 1)});
  Value* bucket = g.where(g.op("Less", {distance, g.index(exact)}), distance, far);
  return first ? g.add(bucket, first) : bucket;
}

Values relative_position_bias(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto& table = c.in(0)->type.shape;
  if (!table || table->size() != 2 || !(*table)[0].is_known() || !(*table)[1].is_known()) return {};
  const std::int64_t buckets = (*table)[0].value(), heads = (*table)[1].value();
  if (buckets < 4) return {};
  Value* rows = g.unsqueeze(places(g, c.in(1)), {1});
  Value* bucket = bucket_of(c, g.sub(places(g, c.in(2)), rows), buckets);
  // The numbers of a head lie together, whatever the sizes say.
  Value* bias = g.op("Gather", {g.reshape(c.in(0), {heads, buckets}), bucket}, {{"axis", 1}});
  return {g.unsqueeze(bias, {0})};
}

/// WavLM's: the query decides how much of the bias counts.
Values gated_relative_position_bias(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (heads <= 0 || c.has(6)) return {};
  Value* q = split_heads(g, g.add(c.in(0), c.in(1)), heads);
  Value* gates = g.add(g.op("MatMul", {q, c.in(3)}), c.in(4));
  const Values halves = g.op("Split", {gates}, {{"axis", -1}, {"num_outputs", 2}}, 2);
  Value* update = g.op("Sigmoid", {g.reduce_sum(halves[0], {-1})});
  Value* reset = g.op("Sigmoid", {g.reduce_sum(halves[1], {-1})});
  Value* share = g.add(g.mul(update, g.sub(g.mul(reset, c.in(5)), 1.0)), 2.0);
  return {g.mul(share, c.in(2))};
}

}  // namespace

constinit const OpDef defs::microsoft::GatedRelativePositionBias = {.name = "GatedRelativePositionBias",
                                                                    .domain = kMicrosoft,
                                                                    .infer = infer_by_body,
                                                                    .decompose = gated_relative_position_bias};
constinit const OpDef defs::microsoft::RelativePositionBias = {
    .name = "RelativePositionBias", .domain = kMicrosoft, .infer = infer_by_body, .decompose = relative_position_bias};

}  // namespace ingot::ops
