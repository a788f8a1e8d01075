// com.microsoft: a sum, and the normalisation of its rows.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// input + skip (+ bias): a skip without batch is the same for all.
Value* sum_of(DecomposeContext& c, std::size_t bias) {
  Value* sum = c.g.add(c.in(0), c.in(1));
  return c.has(bias) ? c.g.add(sum, c.in(bias)) : sum;
}

double epsilon_of(const DecomposeContext& c) { return static_cast<double>(c.attr("epsilon", 1e-12f)); }

Values skip_layer_normalization(DecomposeContext& c) {
  Value* sum = sum_of(c, 4);
  const bool wants_moments = c.wants(1) || c.wants(2);
  const Values made = c.g.op("LayerNormalization", {sum, c.in(2), c.in(3)}, {{"axis", -1}, {"epsilon", epsilon_of(c)}},
                             wants_moments ? 3 : 1);
  return {made[0], wants_moments ? made[1] : nullptr, wants_moments ? made[2] : nullptr, sum};
}

Values skip_simplified_layer_normalization(DecomposeContext& c) {
  Value* sum = sum_of(c, 3);
  Value* y = c.g.op("RMSNormalization", {sum, c.in(2)}, {{"axis", -1}, {"epsilon", epsilon_of(c)}});
  Value* inverse = nullptr;
  if (c.wants(1)) return {};  // there is no mean
  if (c.wants(2)) {
    Value* x = c.g.cast(sum, DType::f32);
    Value* mean = c.g.op("ReduceMean", {c.g.mul(x, x), c.g.ints({-1})});
    inverse = c.g.op("Reciprocal", {c.g.op("Sqrt", {c.g.add(mean, epsilon_of(c))})});
  }
  return {y, nullptr, inverse, sum};
}

/// ONNX Runtime has it in ai.onnx, with any operator set.
Values simplified_layer_normalization(DecomposeContext& c) {
  const std::int64_t axis = c.attr("axis", std::int64_t{-1});
  const auto epsilon = static_cast<double>(c.attr("epsilon", 1e-5f));
  Value* y = c.g.op("RMSNormalization", {c.in(0), c.in(1)}, {{"axis", axis}, {"epsilon", epsilon}});
  if (!c.wants(1)) return {y};
  const auto rank = c.rank(0);
  if (!rank) return {};
  std::vector<std::int64_t> axes;
  for (std::int64_t i = axis < 0 ? axis + *rank : axis; i < *rank; ++i) axes.push_back(i);
  Value* x = c.g.cast(c.in(0), DType::f32);
  Value* mean = c.g.op("ReduceMean", {c.g.mul(x, x), c.g.ints(axes)});
  return {y, c.g.op("Reciprocal", {c.g.op("Sqrt", {c.g.add(mean, epsilon)})})};
}

/// Groups as long as the scale are normalised, then gated.
Values gated_rms_norm(DecomposeContext& c) {
  const Value* scale = c.in(1);
  if (!scale->type.shape || scale->type.shape->size() != 1) return {};
  Value* grouped =
      c.g.op("Reshape", {c.g.cast(c.in(0), DType::f32), c.g.concat({c.g.ints({-1}), size_of(c.g, c.in(1), 0)}, 0)});
  Value* normal = c.g.op("RMSNormalization", {grouped, c.g.cast(c.in(1), DType::f32)},
                         {{"axis", -1}, {"epsilon", static_cast<double>(c.attr("epsilon", 1e-5f))}});
  Value* whole = c.g.op("Reshape", {normal, c.g.shape(c.in(0))});
  Value* gate = c.g.cast(c.in(2), DType::f32);
  return {c.g.cast(c.g.mul(whole, swish(c.g, gate)), c.elem(0))};
}

}  // namespace

constinit const OpDef defs::microsoft::SkipLayerNormalization = {.name = "SkipLayerNormalization",
                                                                 .domain = kMicrosoft,
                                                                 .infer = infer_by_body,
                                                                 .decompose = skip_layer_normalization};
constinit const OpDef defs::microsoft::SkipSimplifiedLayerNormalization = {
    .name = "SkipSimplifiedLayerNormalization",
    .domain = kMicrosoft,
    .infer = infer_by_body,
    .decompose = skip_simplified_layer_normalization};
constinit const OpDef defs::experiments::SimplifiedLayerNormalization = {
    .name = "SimplifiedLayerNormalization", .infer = infer_by_body, .decompose = simplified_layer_normalization};
constinit const OpDef defs::microsoft::GatedRMSNorm = {
    .name = "GatedRMSNorm", .domain = kMicrosoft, .infer = infer_by_body, .decompose = gated_rms_norm};

}  // namespace ingot::ops
