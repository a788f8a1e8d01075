// CausalConvWithState: a depthwise convolution along time that sees the past only and hands its last inputs on.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

bool is_known_activation(const std::string& name) { return name == "none" || name == "silu" || name == "swish"; }

void infer(InferContext& c) {
  const std::string activation = c.attr("activation", "none");
  if (!is_known_activation(activation)) c.fail("attribute 'activation' is '" + activation + "'");
  require_rank(c, 0, 3, "the input");
  require_rank(c, 1, 3, "the kernel");
  require_rank(c, 3, 3, "past_state");
  agree(c, c.dim(1, 1), 1, "the second size of a depthwise kernel");
  const Dim batch = agree(c, c.dim(0, 0), c.dim(3, 0), "the batch size");
  Dim channels = agree(c, c.dim(0, 1), c.dim(1, 0), "the number of channels");
  channels = agree(c, channels, c.dim(3, 1), "the number of channels");
  channels = require_vector(c, 2, channels, "the bias");
  const Dim kernel = c.dim(1, 2);
  if (kernel.is_known() && kernel.value() < 1) c.fail("the kernel is empty");
  const Dim kept = agree(c, c.dim(3, 2), kernel - 1, "the length of the state");
  c.out_shape(0, {batch, channels, c.dim(0, 2)});
  c.out_shape(1, {batch, channels, kept});
}

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::string activation = c.attr("activation", "none");
  Dim channels = stated_size(c.in(0), 1);
  if (!channels.is_known()) channels = stated_size(c.in(1), 0);
  const DType elem = c.elem(0);
  if (!c.in(0) || !c.in(1) || !channels.is_known() || elem == DType::undefined || !is_known_activation(activation))
    return {};
  Value *x = c.in(0), *weights = c.in(1);
  const Dim kernel = stated_size(weights, 2);
  Value* kept = kernel.is_known() ? g.ints({kernel.value() - 1}) : g.sub(size_along(g, weights, 2), g.ints({1}));
  Value* past = c.in(3);
  if (!past) {
    Value* shape = g.concat({size_along(g, x, 0), size_along(g, x, 1), kept}, 0);
    past = g.cast(g.op("ConstantOfShape", {shape}), elem);
  }
  Value* history = g.concat({past, x}, 2);
  Value* y = g.op("Conv", {history, weights, c.in(2)}, {{"group", channels.value()}});
  if (activation != "none") {
    Value* wide = g.cast(y, DType::f32);
    y = g.cast(g.mul(wide, g.op("Sigmoid", {wide})), elem);
  }
  // From the end backwards would fail for a kernel of 1, which keeps nothing.
  Value* length = size_along(g, history, 2);
  Value* state = g.op("Slice", {history, g.sub(length, kept), length, g.ints({2})});
  return {y, state};
}

}  // namespace

constinit const OpDef defs::CausalConvWithState = {
    .name = "CausalConvWithState",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
