// CausalConvWithState: a depthwise convolution along time that sees the past only and hands its last inputs on.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/pace.h"
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
    Value* wide = g.cast(y, elem == DType::f64 ? elem : DType::f32);
    y = g.cast(g.mul(wide, g.op("Sigmoid", {wide})), elem);
  }
  // From the end backwards would fail for a kernel of 1, which keeps nothing.
  Value* length = size_along(g, history, 2);
  Value* state = g.op("Slice", {history, g.sub(length, kept), length, g.ints({2})});
  return {y, state};
}

void run(KernelContext& c) {
  const auto wide = [&](std::size_t i) { return converted(c.in(i), DType::f64, c.host()); };
  const std::string activation = c.attr("activation", "none");
  if (!is_known_activation(activation)) c.fail("attribute 'activation' is '" + activation + "'");
  const Array x = wide(0), w = wide(1);
  if (x.rank() != 3 || w.rank() != 3 || w.dims()[0] != x.dims()[1] || w.dims()[1] != 1 || w.dims()[2] < 1)
    c.fail("the input must be [batch, channels, length] and the kernel [channels, 1, taps]");
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1], length = x.dims()[2];
  const std::int64_t taps = w.dims()[2], kept = taps - 1;
  const Array bias = c.has(2) ? wide(2) : scratch(c, DType::f64, {channels});
  const Array past = c.has(3) ? wide(3) : scratch(c, DType::f64, {batch, channels, kept});
  if (bias.dims() != Dims{channels} || past.dims() != Dims{batch, channels, kept})
    c.fail("bias or past_state does not fit input and kernel");
  Array y = scratch(c, DType::f64, x.dims()), state = scratch(c, DType::f64, past.dims());
  const double *in = x.data<double>().data(), *before = past.data<double>().data();
  const double *weights = w.data<double>().data(), *offsets = bias.data<double>().data();
  double *out = y.mutable_data<double>().data(), *after = state.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t row = 0; x.size() + past.size() > 0 && row < batch * channels; ++row) {
    // The past, then the input.
    const auto at = [&](std::int64_t t) { return t < kept ? before[row * kept + t] : in[row * length + t - kept]; };
    for (std::int64_t t = 0; t < length; ++t) {
      double sum = offsets[row % channels];
      for (std::int64_t k = 0; k < taps; ++k) sum += weights[row % channels * taps + k] * at(t + k);
      out[row * length + t] = activation == "none" ? sum : sum / (1 + std::exp(-sum));
      pace.step(taps);
    }
    for (std::int64_t t = 0; t < kept; ++t) after[row * kept + t] = at(length + t);
  }
  put(c, 0, y, c.in(0).dtype());
  if (c.wants(1)) put(c, 1, state, c.in(c.has(3) ? 3 : 0).dtype());
}

}  // namespace

constinit const OpDef defs::CausalConvWithState = {
    .name = "CausalConvWithState",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
