// BatchNormalization: (x - mean) / sqrt(var + epsilon) * scale + bias per channel, with stored statistics or,
// in training, those of the batch.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/moments.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (const auto rank = c.rank(0)) c.require(*rank >= 1, "the input is a scalar");
  // A batch alone, without a channel axis, has one channel.
  Dim channels = c.rank(0) == 1 ? Dim(1) : c.dim(0, 1);
  for (std::size_t i = 1; i < 5; ++i) channels = require_vector(c, i, channels, "the parameters");
  if (const Shape* x = c.shape(0)) {
    Shape y = *x;
    if (y.size() > 1) y[1] = channels;
    c.out_shape(0, std::move(y));
  }
  c.out_shape(1, {channels});
  c.out_shape(2, {channels});
}

/// The type in which all floats of these types are exact.
DType wider(DType a, DType b) {
  if (a == b || b == DType::undefined) return a;
  if (a == DType::undefined) return b;
  return a == DType::f64 || b == DType::f64 ? DType::f64 : DType::f32;
}

/// Older versions want one type for several inputs: computes in the widest and converts back.
void unify_types(StepContext& c, std::size_t input_count) {
  DType widest = DType::undefined;
  for (std::size_t i = 0; i < input_count; ++i) widest = wider(widest, c.type(i).elem);
  bool is_mixed = false;
  for (std::size_t i = 0; i < input_count; ++i)
    is_mixed |= c.type(i).elem != DType::undefined && c.type(i).elem != widest;
  if (!is_mixed) return;
  Values inputs = c.node.inputs();
  for (std::size_t i = 0; i < input_count && i < inputs.size(); ++i)
    if (inputs[i]) inputs[i] = c.g.cast(inputs[i], widest);
  const DType result = c.type(0).elem, statistics = c.type(3).elem;
  Node* made = c.g.node("BatchNormalization", "", inputs, {}, c.node.output_count());
  made->attributes = std::move(c.node.attributes);
  Values outputs = made->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const DType wanted = i == 0 ? result : statistics;
    if (wanted == DType::undefined) c.cannot("the types of the inputs are needed but not known");
    if (wanted != widest && c.node.output(i)) outputs[i] = c.g.op("Cast", {outputs[i]}, {{"to", wanted}});
  }
  c.replace(outputs);
}

bool is_used(const Value* value) { return value && !value->uses().empty(); }

/// Until 6, is_test told inference from training; since then the number of outputs does.
void up_7(StepContext& c) {
  const bool is_test = c.node.attributes.int_or("is_test", 0) != 0;
  c.node.attributes.erase("is_test");
  if (!is_test) return;
  for (std::size_t i = 1; i < c.node.output_count(); ++i)
    if (is_used(c.node.output(i))) c.cannot("statistics of the batch are used, but is_test says inference");
  if (c.node.output_count() > 1) c.node.resize_outputs(1);
}

void down_7(StepContext& c) {
  if (c.node.output_count() == 1) c.node.attributes.set({"is_test", 1});
}

/// spatial = 0 gave each position statistics of its own, of shape [C, ...].
void up_9(StepContext& c) {
  const bool is_spatial = c.node.attributes.int_or("spatial", 1) != 0;
  c.node.attributes.erase("spatial");
  if (is_spatial || c.rank(0) == 2) return;
  if (c.node.output_count() > 1) c.cannot("training with spatial = 0 does not exist in newer versions");
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the type of the input is needed but not known");
  const float epsilon = c.node.attributes.float_or("epsilon", 1e-5f);
  Value* deviation = c.g.sub(c.node.input(0), c.node.input(3));
  Value* variance = c.g.add(c.node.input(4), c.g.scalar(static_cast<double>(epsilon), elem));
  Value* normal = c.g.div(deviation, c.g.op("Sqrt", {variance}));
  c.replace({c.g.add(c.g.mul(normal, c.node.input(1)), c.node.input(2))});
}

/// Until 13, five outputs meant training: Y, mean, var, saved_mean, saved_var.
void up_14(StepContext& c) {
  if (c.node.output_count() <= 1) return;
  for (std::size_t i = 3; i < c.node.output_count(); ++i)
    if (is_used(c.node.output(i))) c.cannot("saved_mean and saved_var do not exist in newer versions");
  if (c.node.output_count() > 3) c.node.resize_outputs(3);
  c.node.attributes.set({"training_mode", 1});
}

void down_14(StepContext& c) {
  const bool is_training = c.node.attributes.int_or("training_mode", 0) != 0;
  c.node.attributes.erase("training_mode");
  if (is_training) {
    while (c.node.output_count() < 5) c.node.add_output(c.node.graph().fresh_name(c.node.op));
  } else if (c.node.output_count() > 1) {
    for (std::size_t i = 1; i < c.node.output_count(); ++i)
      if (is_used(c.node.output(i))) c.cannot("running statistics are used, but training_mode is 0");
    c.node.resize_outputs(1);
  }
  unify_types(c, 5);
}

void down_15(StepContext& c) { unify_types(c, 3); }

constexpr Step kSteps[] = {
    {.since = 7, .up = up_7, .down = down_7},
    {.since = 9, .up = up_9},
    {.since = 14, .up = up_14, .down = down_14},
    {.since = 15, .down = down_15},
};

/// What the statistics will be after this batch.
Array moving(KernelContext& c, const Array& old, const Array& batch, double momentum) {
  const auto mix = [&](double v, const auto& other) { return v * momentum + other[0] * (1 - momentum); };
  return map_with(c, old, mix, batch.reshaped(old.dims()));
}

void run(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 1) c.fail("the input is a scalar");
  // A batch alone, without a channel axis, has one channel.
  const std::int64_t channels = x.rank() > 1 ? x.dims()[1] : 1;
  const auto parameter = [&](std::size_t i) { return channel_parameter(c, i, channels, x.rank()); };
  const Array scale = parameter(1), bias = parameter(2);
  const Moments given{parameter(3), parameter(4)};
  Moments used = given, next = given;
  if (c.attr("training_mode", std::int64_t{0}) != 0) {
    Dims dims(x.dims().size(), 1);
    if (x.rank() > 1) dims[1] = channels;
    used = moments_over(c, x, dims);
    const double momentum = c.attr("momentum", 0.9f);
    next = {moving(c, given.mean, used.mean, momentum), moving(c, given.variance, used.variance, momentum)};
  }
  const Array normal = normalised(c, x, used, c.attr("epsilon", 1e-5f));
  put(c, 0, scaled(c, normal, scale, bias), c.in(0).dtype());
  if (c.wants(1)) put(c, 1, next.mean.reshaped({channels}), c.in(3).dtype());
  if (c.wants(2)) put(c, 2, next.variance.reshaped({channels}), c.in(4).dtype());
}

// The running statistics are no function to be trained: nothing flows back through them.
Values gradient_batch_normalization(GradContext& c) {
  GraphBuilder& g = c.g;
  if (!c.dy()) return {};
  const std::int64_t rank = c.rank();
  std::vector<std::int64_t> axes = {0}, column(static_cast<std::size_t>(rank), 1);
  for (std::int64_t i = 2; i < rank; ++i) axes.push_back(i);
  if (rank > 1) column[1] = -1;
  const DType elem = c.elem();
  const auto per_channel = [&](std::size_t i) { return g.reshape(g.cast(c.x(i), elem), column); };
  const auto to_input = [&](Value* sums, std::size_t i) { return c.shaped(g.cast(sums, c.elem(i)), c.x(i)); };
  const bool trains = c.attr("training_mode", std::int64_t{0}) != 0;
  Value* mean = trains ? g.op("ReduceMean", {c.x(), g.ints(axes)}) : per_channel(3);
  Value* deviation = g.sub(c.x(), mean);
  Value* variance = trains ? g.op("ReduceMean", {g.mul(deviation, deviation), g.ints(axes)}) : per_channel(4);
  Value* spread = g.op("Sqrt", {g.add(variance, c.attr("epsilon", 1e-5f))});
  Value* normal = g.div(deviation, spread);
  Value* slope = g.div(per_channel(1), spread);
  Value* sum = g.reduce_sum(c.dy(), axes);
  Value* weighted_sum = g.reduce_sum(g.mul(c.dy(), normal), axes);
  Value* dscale = to_input(weighted_sum, 1);
  Value* dbias = to_input(sum, 2);
  if (!trains) {
    Value* dx = g.mul(c.dy(), slope);
    Value* dmean = to_input(g.neg(g.mul(sum, slope)), 3);
    Value* tilt = g.mul(weighted_sum, slope);
    Value* shrink = g.div(tilt, g.mul(spread, -2));
    return {dx, dscale, dbias, dmean, to_input(shrink, 4)};
  }
  Value* count = c.ratio_of_sizes(c.x(), mean);
  Value *moved = g.div(sum, count), *scaled = g.div(weighted_sum, count);
  Value* centred = g.sub(c.dy(), moved);
  Value* own = g.sub(centred, g.mul(normal, scaled));
  return {g.mul(own, slope), dscale, dbias};
}

Values decompose(DecomposeContext& c) {
  if (Values wider = halves_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!rank || *rank < 2) return {};
  for (std::size_t i = 0; i < 5; ++i)
    if (c.elem(i) != c.elem(0) || c.elem(0) == DType::undefined) return {};
  std::vector<std::int64_t> axes = {0}, column(static_cast<std::size_t>(*rank) - 1, 1);
  for (std::int64_t i = 2; i < *rank; ++i) axes.push_back(i);
  column[0] = -1;
  const auto per_channel = [&](Value* v) { return g.reshape(v, column); };
  const bool trains = c.attr("training_mode", std::int64_t{0}) != 0;
  Value *mean = nullptr, *variance = nullptr;
  if (trains) {
    Value* over = g.ints(axes);
    mean = g.op("ReduceMean", {c.in(0), over});
    Value* deviation = g.sub(c.in(0), mean);
    variance = g.op("ReduceMean", {g.mul(deviation, deviation), over});
  } else {
    mean = per_channel(c.in(3));
    variance = per_channel(c.in(4));
  }
  Value* deviation = g.sub(c.in(0), mean);
  Value* spread = g.op("Sqrt", {g.add(variance, c.attr("epsilon", 1e-5f))});
  Value* normal = g.div(deviation, spread);
  Value* scaled = g.mul(normal, per_channel(c.in(1)));
  Values made{g.add(scaled, per_channel(c.in(2)))};
  made.resize(c.node.output_count());
  const double momentum = c.attr("momentum", 0.9f);
  for (std::size_t i = 1; i < made.size() && i < 3; ++i) {
    if (!c.wants(i)) continue;
    Value* old = g.mul(c.in(i + 2), momentum);
    Value* batch = g.mul(g.reshape(i == 1 ? mean : variance, {-1}), 1 - momentum);
    made[i] = trains ? g.add(old, batch) : g.op("Identity", {c.in(i + 2)});
  }
  return made;
}

}  // namespace

constinit const OpDef defs::BatchNormalization = {
    .name = "BatchNormalization",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_batch_normalization,
};

}  // namespace ingot::ops
