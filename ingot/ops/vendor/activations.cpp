// com.microsoft: activations with what stands before them.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

Values plain_gelu(DecomposeContext& c) { return {gelu(c.g, c.in(0))}; }
Values bias_gelu(DecomposeContext& c) { return {gelu(c.g, c.g.add(c.in(0), c.in(1)))}; }
/// A list of another length than the last axis is repeated over all elements, as ONNX Runtime's web build does; its CPU
/// build refuses it.
Value* with_repeated(GraphBuilder& g, Value* x, Value* bias) {
  const auto &shape = x->type.shape, &length = bias->type.shape;
  const bool fits = !shape || !length || shape->empty() || length->empty() || !shape->back().is_known() ||
                    !length->back().is_known() || length->back().value() == 1 ||
                    shape->back().value() == length->back().value();
  if (fits) return g.add(x, bias);
  Value* places = g.op("Range", {g.index(0), g.op("Size", {x}), g.index(1)});
  Value* all = g.op("Gather", {bias, g.op("Mod", {places, g.index(length->back().value())})});
  return g.add(x, g.op("Reshape", {all, g.shape(x)}));
}

Values fast_gelu(DecomposeContext& c) {
  return {gelu_tanh(c.g, c.has(1) ? with_repeated(c.g, c.in(0), c.in(1)) : c.in(0))};
}
Values quick_gelu(DecomposeContext& c) { return {swish(c.g, c.in(0), static_cast<double>(c.attr("alpha", 1.702f)))}; }

/// The halves of the last axis: one gates the other.
Values bias_split_gelu(DecomposeContext& c) {
  Value* sum = c.g.add(c.in(0), c.in(1));
  const Values halves = c.g.op("Split", {sum}, {{"axis", -1}, {"num_outputs", 2}}, 2);
  return {c.g.mul(halves[0], gelu(c.g, halves[1]))};
}

Values bias_add(DecomposeContext& c) { return {c.g.add(c.g.add(c.in(0), c.in(1)), c.in(2))}; }
Values gated_add(DecomposeContext& c) { return {c.g.add(c.in(0), c.g.mul(c.in(1), c.in(2)))}; }
Values sample_op(DecomposeContext& c) { return {c.g.op("Identity", {c.in(0)})}; }

}  // namespace

constinit const OpDef defs::microsoft::BiasAdd = {
    .name = "BiasAdd", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bias_add};
constinit const OpDef defs::microsoft::BiasGelu = {
    .name = "BiasGelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bias_gelu};
constinit const OpDef defs::microsoft::BiasSplitGelu = {
    .name = "BiasSplitGelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bias_split_gelu};
constinit const OpDef defs::microsoft::FastGelu = {
    .name = "FastGelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = fast_gelu};
constinit const OpDef defs::microsoft::GatedAdd = {
    .name = "GatedAdd", .domain = kMicrosoft, .infer = infer_by_body, .decompose = gated_add};
constinit const OpDef defs::microsoft::Gelu = {
    .name = "Gelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = plain_gelu};
constinit const OpDef defs::microsoft::QuickGelu = {
    .name = "QuickGelu", .domain = kMicrosoft, .infer = infer_by_body, .decompose = quick_gelu};
constinit const OpDef defs::microsoft::SampleOp = {
    .name = "SampleOp", .domain = kMicrosoft, .infer = infer_by_body, .decompose = sample_op};

}  // namespace ingot::ops
