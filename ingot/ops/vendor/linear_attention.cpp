// com.microsoft: what ONNX took over under the same names.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

Values linear_attention(DecomposeContext& c) {
  if (c.attr("state_window", std::int64_t{0}) > 0) return {};
  return c.g.op("LinearAttention", c.node.inputs(),
                attributes_of(c.node, {"update_rule", "scale", "q_num_heads", "kv_num_heads", "chunk_size"}), 2);
}

Values causal_conv_with_state(DecomposeContext& c) {
  if (c.attr("state_window", std::int64_t{0}) > 0 || c.attr("ndim", std::int64_t{1}) != 1) return {};
  return c.g.op("CausalConvWithState", c.node.inputs(), attributes_of(c.node, {"activation"}), 2);
}

}  // namespace

constinit const OpDef defs::microsoft::CausalConvWithState = {
    .name = "CausalConvWithState", .domain = kMicrosoft, .infer = infer_by_body, .decompose = causal_conv_with_state};
constinit const OpDef defs::microsoft::LinearAttention = {
    .name = "LinearAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = linear_attention};

}  // namespace ingot::ops
