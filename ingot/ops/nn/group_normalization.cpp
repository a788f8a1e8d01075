// GroupNormalization: zero mean and unit variance over groups of channels, then scale and bias per channel.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/moments.h"
#include "ingot/ops/nn/trailing_axes.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::int64_t groups = c.need_int("num_groups").value_or(1);
  c.require(groups >= 1, "attribute 'num_groups' must be positive");
  if (!stash_type(c.node().attributes)) c.fail("attribute 'stash_type' is no floating-point type");
  Dim channels = c.dim(0, 1);
  channels = require_vector(c, 1, channels, "the scale");
  channels = require_vector(c, 2, channels, "the bias");
  if (channels.is_known() && channels.value() % groups)
    c.fail(channels.str() + " channels cannot be split into " + std::to_string(groups) + " groups");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input has no channels");
  Shape y = *x;
  y[1] = channels;
  c.out_shape(0, std::move(y));
}

/// The same from simpler operators, written for opsets from 18 on.
Value* expanded(GraphBuilder& g, const Node& node, DType elem, DType stash, std::int64_t groups) {
  const std::vector<std::int64_t> rows = {0, groups, -1};  // [N, groups, the rest]
  Value* x = g.reshape(g.cast(node.input(0), stash), rows);
  Value* axes = g.ints({2});
  Value* mean = g.op("ReduceMean", {x, axes});
  Value* deviation = g.sub(x, mean);
  Value* variance = g.op("ReduceMean", {g.mul(deviation, deviation), axes});
  Value* epsilon = g.scalar(static_cast<double>(node.attributes.float_or("epsilon", 1e-5f)), stash);
  Value* normal = g.div(deviation, g.op("Sqrt", {g.add(variance, epsilon)}));
  Value* shape = g.shape(node.input(0));
  // [N, C, the rest], so that scale and bias fit as [C, 1].
  Value* channels = g.reshape(g.op("Reshape", {normal, shape}), {0, 0, -1});
  channels = g.cast(channels, elem);
  Value* scale = g.unsqueeze(node.input(1), {1});
  Value* bias = g.unsqueeze(node.input(2), {1});
  return g.op("Reshape", {g.add(g.mul(channels, scale), bias), shape});
}

Values decompose(DecomposeContext& c) {
  const auto stash = stash_type(c.node.attributes);
  const std::int64_t groups = c.attr("num_groups", std::int64_t{0});
  if (!c.in(0) || !c.in(1) || !c.in(2) || c.elem(0) == DType::undefined || !stash || groups < 1) return {};
  return {expanded(c.g, c.node, c.elem(0), *stash, groups)};
}

/// Version 18 had one scale and bias per group, and its statistics in the input's own precision.
void up_21(StepContext& c) {
  const std::int64_t groups = c.node.attributes.int_or("num_groups", 0);
  if (groups < 1) c.cannot("attribute 'num_groups' must be positive");
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the type of the input is needed but not known");
  c.node.attributes.set({"stash_type", elem});
  Value* channels = c.g.op("Shape", {c.node.input(0)}, {{"start", 1}, {"end", 2}});
  Value* per_group = c.g.div(channels, c.g.ints({groups}));
  Value* shape = c.g.concat({c.g.ints({groups}), per_group}, 0);
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    Value* column = c.g.unsqueeze(c.node.input(i), {1});
    c.node.set_input(i, c.g.reshape(c.g.op("Expand", {column, shape}), {-1}));
  }
}

void down_21(StepContext& c) {
  const auto stash = stash_type(c.node.attributes);
  const std::int64_t groups = c.node.attributes.int_or("num_groups", 0);
  const DType elem = c.type(0).elem;
  if (!stash || groups < 1) c.cannot("attribute 'stash_type' or 'num_groups' is out of range");
  if (elem == DType::undefined) c.cannot("the type of the input is needed but not known");
  c.replace({expanded(c.g, c.node, elem, *stash, groups)});
}

constexpr Step kSteps[] = {{.since = 21, .up = up_21, .down = down_21}};

void run(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2) c.fail("the input has no channels");
  const std::int64_t channels = x.dims()[1], groups = c.attr("num_groups", std::int64_t{0});
  if (groups < 1 || channels % groups)
    c.fail(std::to_string(channels) + " channels cannot be split into " + std::to_string(groups) + " groups");
  if (!stash_type(c.node.attributes)) c.fail("attribute 'stash_type' is no floating-point type");
  const Array scale = channel_parameter(c, 1, channels, x.rank()), bias = channel_parameter(c, 2, channels, x.rank());
  if (x.size() == 0) return put(c, 0, x, c.in(0).dtype());
  const Array rows = x.reshaped({x.dims()[0], groups, x.size() / (x.dims()[0] * groups)});
  const Moments moments = moments_over(c, rows, {rows.dims()[0], groups, 1});
  const Array normal = normalised(c, rows, moments, c.attr("epsilon", 1e-5f)).reshaped(x.dims());
  put(c, 0, scaled(c, normal, scale, bias), c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::GroupNormalization = {
    .name = "GroupNormalization",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
