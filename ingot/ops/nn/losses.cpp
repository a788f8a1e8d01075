// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: how unlikely the target classes were.
#include "ingot/ops/nn/losses.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

/// Scores [N, C, d...], targets [N, d...], weights [C]: the shape of the targets without reduction, else a scalar.
void infer(InferContext& c) {
  const std::string reduction = c.attr("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    c.fail("attribute 'reduction' is '" + reduction + "'");
  const Shape *scores = c.shape(0), *targets = c.shape(1);
  require_vector(c, 2, c.dim(0, 1), "the weights");
  if (scores) c.require(scores->size() >= 2, "the scores have no classes");
  Shape each;
  if (scores) {
    each = *scores;
    each.erase(each.begin() + 1);
    if (targets) {
      require_rank(c, 1, static_cast<std::int64_t>(each.size()), "the target");
      for (std::size_t i = 0; i < each.size(); ++i) each[i] = agree(c, each[i], (*targets)[i], "a size of the target");
    }
    c.out_shape(1, *scores);
  } else if (targets) {
    each = *targets;
  }
  if (reduction != "none")
    c.out_shape(0, {});
  else if (scores || targets)
    c.out_shape(0, std::move(each));
}

/// The loss of log-probabilities.
Value* likelihood_loss(DecomposeContext& c, Value* log_probabilities) {
  GraphBuilder& g = c.g;
  const DType elem = c.elem(0), index = c.elem(1);
  const auto* ignored = c.node.attributes.get<std::int64_t>("ignore_index");
  Value *target = c.in(1), *weights = c.in(2);
  // An ignored target may lie outside the classes: class 0 stands in, with weight 0.
  Value* is_ignored = nullptr;
  if (ignored) {
    is_ignored =
        g.op("Equal", {target, g.constant(index == DType::i32 ? Tensor::scalar(static_cast<std::int32_t>(*ignored))
                                                              : Tensor::scalar(*ignored))});
    target = g.where(is_ignored, g.scalar(0, index), target);
  }
  Value* picked = g.op("GatherElements", {log_probabilities, g.unsqueeze(target, {1})}, {{"axis", 1}});
  Value* loss = g.neg(g.squeeze(picked, {1}));
  Value* weight = weights ? g.op("Gather", {weights, target}, {{"axis", 0}}) : nullptr;
  if (weight) loss = g.mul(loss, weight);
  if (is_ignored) {
    loss = g.where(is_ignored, g.scalar(0, elem), loss);
    weight = g.where(is_ignored, g.scalar(0, elem), weight ? weight : g.scalar(1, elem));
  }
  const std::string reduction = c.attr("reduction", "mean");
  if (reduction == "none") return loss;
  const Attrs whole = {{"keepdims", 0}};
  if (reduction == "mean" && !weight) return g.op("ReduceMean", {loss}, whole);
  Value* sum = g.op("ReduceSum", {loss}, whole);
  return reduction == "sum" ? sum : g.div(sum, g.op("ReduceSum", {weight}, whole));
}

bool is_expandable(const DecomposeContext& c) {
  const auto* ignored = c.node.attributes.get<std::int64_t>("ignore_index");
  const bool fits = !ignored || c.elem(1) != DType::i32 || *ignored == static_cast<std::int32_t>(*ignored);
  return c.in(0) && c.in(1) && c.elem(0) != DType::undefined && (c.elem(1) == DType::i32 || c.elem(1) == DType::i64) &&
         fits;
}

Values decompose_likelihood(DecomposeContext& c) {
  if (!is_expandable(c)) return {};
  return {likelihood_loss(c, c.in(0))};
}

Values decompose_cross_entropy(DecomposeContext& c) {
  if (!is_expandable(c)) return {};
  Value* log_probabilities = c.g.op("LogSoftmax", {c.in(0)}, {{"axis", 1}});
  return {likelihood_loss(c, log_probabilities), log_probabilities};
}

/// The logarithm of the softmax over axis 1 of scores [N, C, d...].
Array log_softmax(KernelContext& c, const Array& scores, std::int64_t positions) {
  Array y = scratch(c, DType::f64, scores.dims());
  const std::int64_t classes = scores.dims()[1];
  const double* in = scores.data<double>().data();
  double* out = y.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t first = 0; first < scores.size(); first += classes * positions)
    for (std::int64_t d = first; d < first + positions; ++d) {
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t k = 0; k < classes; ++k) most = std::max(most, in[d + k * positions]);
      for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(in[d + k * positions] - most);
      const double total = most + std::log(sum);
      for (std::int64_t k = 0; k < classes; ++k) out[d + k * positions] = in[d + k * positions] - total;
      pace.step(classes);
    }
  return y;
}

/// How many elements each class has: the product of d... in [N, C, d...].
std::int64_t position_count(KernelContext& c, const Dims& scores) {
  if (scores.size() < 2) c.fail("the scores have no classes");
  return tensor_size(std::span(scores).subspan(2));
}

void run_likelihood(KernelContext& c) {
  const Array& x = c.in(0);
  put_loss(c, x.dtype() == DType::f32 ? x : converted(x, DType::f64, c.host()));
}

void run_cross_entropy(KernelContext& c) {
  const Array scores = converted(c.in(0), DType::f64, c.host());
  const Array log_probabilities = log_softmax(c, scores, position_count(c, scores.dims()));
  put_loss(c, log_probabilities);
  if (c.wants(1)) put(c, 1, log_probabilities, c.in(0).dtype());
}

// Probabilities minus the target's, weighted; through the log-probabilities, if they are used, as in LogSoftmax.
Values gradient_cross_entropy(GradContext& c) {
  GraphBuilder& g = c.g;
  const DType elem = c.elem(), index = c.elem(1);
  Value* likely = g.op("Exp", {c.ensure_output(1)});
  Value *dx = nullptr, *dweights = nullptr;
  if (c.dy()) {
    Value *target = c.x(1), *weight = nullptr;
    const auto* ignored = c.node.attributes.get<std::int64_t>("ignore_index");
    Value* is_ignored = nullptr;
    if (ignored) {
      is_ignored = c.equal(target, g.scalar(static_cast<double>(*ignored), index));
      target = g.where(is_ignored, g.scalar(0, index), target);
    }
    if (c.has(2)) weight = g.op("Gather", {c.x(2), target});
    if (is_ignored && !weight) weight = c.number(1);
    if (is_ignored) weight = g.where(is_ignored, c.number(0), weight);
    Value* each = weight ? g.mul(c.dy(), weight) : c.dy();
    if (c.attr("reduction", "mean") == "mean") {
      Value* total = weight ? g.op("ReduceSum", {weight}, {{"keepdims", 0}}) : g.cast(g.op("Size", {target}), elem);
      each = g.div(each, total);
    }
    // A scalar serves all; else one number per target, with the classes' axis put in.
    const bool is_single = !weight && c.attr("reduction", "mean") != "none";
    Value* marks = g.cast(g.constant(Tensor::of<float>({2}, {0.0f, 1.0f})), elem);
    Value* certain = g.op("OneHot", {target, size_along(g, c.x(), 1), marks}, {{"axis", 1}});
    if (c.wants(2)) {
      // A weight scales the losses of its class and, in a mean, the number that all are divided by.
      const bool is_mean = c.attr("reduction", "mean") == "mean";
      Value* picked = g.op("GatherElements", {c.y(1), g.unsqueeze(target, {1})}, {{"axis", 1}});
      Value* loss = g.neg(g.squeeze(picked, {1}));
      if (is_mean) loss = g.sub(loss, c.y());
      Value* share = is_mean ? g.div(c.dy(), g.op("ReduceSum", {weight}, {{"keepdims", 0}})) : c.dy();
      Value* rise = g.mul(loss, share);
      if (is_ignored) rise = g.where(is_ignored, c.number(0), rise);
      Value *places = g.reshape(target, {-1}), *amounts = g.reshape(rise, {-1});
      dweights = g.op("ScatterElements", {c.zeros(c.x(2)), places, amounts}, {{"axis", 0}, {"reduction", "add"}});
    }
    if (!is_single) each = g.unsqueeze(each, {1});
    dx = g.mul(g.sub(likely, certain), each);
  }
  if (c.dy(1)) {
    Value* sum = g.reduce_sum(c.dy(1), {1});
    Value* more = g.sub(c.dy(1), g.mul(likely, sum));
    dx = dx ? g.add(dx, more) : more;
  }
  return {dx, nullptr, dweights};
}

}  // namespace

void put_loss(KernelContext& c, const Array& log_probabilities) {
  const std::int64_t positions = position_count(c, log_probabilities.dims()), classes = log_probabilities.dims()[1];
  Dims each = log_probabilities.dims();
  each.erase(each.begin() + 1);
  const Array target = converted(c.in(1), DType::i64, c.host());
  if (target.dims() != each) c.fail("the target does not have one class for each position");
  Array weights;
  if (c.has(2)) weights = converted(c.in(2), DType::f64, c.host());
  if (weights && weights.dims() != Dims{classes}) c.fail("the weights do not have one element per class");
  const auto* ignored = c.node.attributes.get<std::int64_t>("ignore_index");
  const std::string reduction = c.attr("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    c.fail("attribute 'reduction' is '" + reduction + "'");

  Array losses = scratch(c, DType::f64, each);
  double total = 0, total_weight = 0;
  const std::span<double> out = losses.mutable_data<double>();
  const bool is_double = log_probabilities.dtype() == DType::f64;
  const auto likelihood = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return is_double ? log_probabilities.data<double>()[at] : static_cast<double>(log_probabilities.data<float>()[at]);
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t k = target.data<std::int64_t>()[i];
    if (ignored && k == *ignored) continue;
    if (k < 0 || k >= classes) c.fail("target class " + std::to_string(k) + " is none of " + std::to_string(classes));
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t from = (at / positions * classes + k) * positions + at % positions;
    const double weight = weights ? weights.data<double>()[static_cast<std::size_t>(k)] : 1;
    out[i] = -likelihood(from) * weight;
    total += out[i];
    total_weight += weight;
  }
  if (reduction != "none") {
    losses = scratch(c, DType::f64, {});
    losses.mutable_data<double>()[0] = reduction == "sum" ? total : total / total_weight;
  }
  put(c, 0, losses, c.in(0).dtype());
}

constinit const OpDef defs::NegativeLogLikelihoodLoss = {
    .name = "NegativeLogLikelihoodLoss",
    .infer = infer,
    .decompose = decompose_likelihood,
    .kernel = run_likelihood,
};
constinit const OpDef defs::SoftmaxCrossEntropyLoss = {
    .name = "SoftmaxCrossEntropyLoss",
    .infer = infer,
    .decompose = decompose_cross_entropy,
    .kernel = run_cross_entropy,
    .gradient = gradient_cross_entropy,
};

}  // namespace ingot::ops
