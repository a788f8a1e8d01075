// com.microsoft: dropout with what stands around it, outside of training.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// Whether nothing is dropped, as far as input i says; nothing is known of one that is computed.
bool is_still(const DecomposeContext& c, std::size_t i) {
  if (!c.has(i)) return true;
  const Tensor* mode = c.constant(i);
  return mode && mode->size() == 1 && mode->to_doubles()[0] == 0;
}

Value* all_kept(GraphBuilder& g, Value* x) {
  return g.op("ConstantOfShape", {g.shape(x)}, {{"value", Tensor::of<bool>({1}, {true})}});
}

Values bias_dropout(DecomposeContext& c) {
  if (!is_still(c, 4)) return {};
  Value* sum = c.g.add(c.in(0), c.in(1));
  Value* mask = c.wants(1) ? all_kept(c.g, sum) : nullptr;
  return {c.has(2) ? c.g.add(sum, c.in(2)) : sum, mask};
}

/// Their masks have a bit for each element, which plain operators do not make.
Values bitmask_bias_dropout(DecomposeContext& c) { return c.wants(1) ? Values{} : bias_dropout(c); }

Values bitmask_dropout(DecomposeContext& c) {
  if (c.wants(1) || !is_still(c, 2)) return {};
  return {c.g.op("Identity", {c.in(0)})};
}

}  // namespace

constinit const OpDef defs::microsoft::BiasDropout = {
    .name = "BiasDropout", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bias_dropout};
constinit const OpDef defs::microsoft::BitmaskBiasDropout = {
    .name = "BitmaskBiasDropout", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bitmask_bias_dropout};
constinit const OpDef defs::microsoft::BitmaskDropout = {
    .name = "BitmaskDropout", .domain = kMicrosoft, .infer = infer_by_body, .decompose = bitmask_dropout};

}  // namespace ingot::ops
