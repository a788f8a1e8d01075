// Losses as ONNX operators, each a mean over the batch as PyTorch defines it.
#include "ingot/train/losses.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"

namespace ingot::train {
namespace {

using Formula = Value* (*)(GraphBuilder&, const LossOptions&, Value*, Value*);

Value* mean(GraphBuilder& g, Value* x) { return g.op("ReduceMean", {x}, {{"keepdims", 0}}); }

Attrs class_attrs(const LossOptions& options) {
  Attrs attrs = {{"reduction", "mean"}};
  if (options.ignore_index) attrs.emplace_back("ignore_index", *options.ignore_index);
  return attrs;
}

Value* cross_entropy(GraphBuilder& g, const LossOptions& options, Value* x, Value* t) {
  const Attrs attrs = class_attrs(options);
  if (options.label_smoothing == 0) return g.op("SoftmaxCrossEntropyLoss", {x, t}, attrs);
  // A part of the target is spread over all classes.
  const Values both = g.op("SoftmaxCrossEntropyLoss", {x, t}, attrs, 2);
  Value* spread = g.neg(mean(g, both[1]));
  Value* sharp = g.mul(both[0], 1 - options.label_smoothing);
  return g.add(sharp, g.mul(spread, options.label_smoothing));
}

Value* nll(GraphBuilder& g, const LossOptions& options, Value* x, Value* t) {
  return g.op("NegativeLogLikelihoodLoss", {x, t}, class_attrs(options));
}

/// log x, no less than -100: so that a certain mistake stays finite.
Value* bounded_log(GraphBuilder& g, Value* x) { return g.op("Max", {g.op("Log", {x}), g.scalar(-100, x->type.elem)}); }

Value* bce(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value* yes = g.mul(t, bounded_log(g, x));
  Value* doubt = bounded_log(g, g.sub(1, x));
  Value* no = g.mul(g.sub(1, t), doubt);
  return g.neg(mean(g, g.add(yes, no)));
}

Value* bce_logits(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value* cost = g.op("Softplus", {x});
  return mean(g, g.sub(cost, g.mul(x, t)));
}

Value* mse(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value* error = g.sub(x, t);
  return mean(g, g.mul(error, error));
}

Value* mae(GraphBuilder& g, const LossOptions&, Value* x, Value* t) { return mean(g, g.op("Abs", {g.sub(x, t)})); }

/// Half the square up to delta, then a line; `scale` over all.
Value* rounded_corner(GraphBuilder& g, double delta, double scale, Value* x, Value* t) {
  Value* size = g.op("Abs", {g.sub(x, t)});
  Value* square = g.mul(g.mul(size, size), 0.5 * scale);
  Value* line = g.mul(g.sub(size, 0.5 * delta), delta * scale);
  Value* is_small = g.op("Less", {size, g.scalar(delta, size->type.elem)});
  return mean(g, g.where(is_small, square, line));
}

Value* huber(GraphBuilder& g, const LossOptions& options, Value* x, Value* t) {
  return rounded_corner(g, options.delta, 1, x, t);
}

Value* smooth_l1(GraphBuilder& g, const LossOptions& options, Value* x, Value* t) {
  return rounded_corner(g, options.delta, 1 / options.delta, x, t);
}

Value* hinge(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  return mean(g, g.op("Relu", {g.sub(1, g.mul(x, t))}));
}

/// Predictions are logarithms; a target of 0 adds nothing. The mean is over the batch, not over the classes.
Value* kl(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value* zero = g.scalar(0, t->type.elem);
  Value* is_none = g.op("Equal", {t, zero});
  Value* safe = g.where(is_none, g.scalar(1, t->type.elem), t);
  Value* each = g.mul(t, g.sub(g.op("Log", {safe}), x));
  Value* sum = g.op("ReduceSum", {each}, {{"keepdims", 0}});
  Value* batch = g.op("Gather", {g.shape(x), g.index(0)});
  return g.div(sum, g.cast(batch, x->type.elem));
}

Value* poisson(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value* rate = g.op("Exp", {x});
  return mean(g, g.sub(rate, g.mul(t, x)));
}

Value* cosine(GraphBuilder& g, const LossOptions&, Value* x, Value* t) {
  Value *a = g.op("LpNormalization", {x}), *b = g.op("LpNormalization", {t});
  Value* likeness = g.reduce_sum(g.mul(a, b), {-1}, false);
  return mean(g, g.sub(1, likeness));
}

struct Row {
  std::string_view name;
  Formula formula;
  bool takes_classes = false;
};
constexpr Row kLosses[] = {
    {"cross_entropy", cross_entropy, true},
    {"nll", nll, true},
    {"bce", bce},
    {"bce_logits", bce_logits},
    {"mse", mse},
    {"mae", mae},
    {"huber", huber},
    {"smooth_l1", smooth_l1},
    {"hinge", hinge},
    {"kl", kl},
    {"poisson", poisson},
    {"cosine", cosine},
};

const Row& row_of(const std::string& name) {
  for (const Row& row : kLosses)
    if (row.name == name) return row;
  std::string known;
  for (const Row& row : kLosses) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw Error(Code::bad_usage, "there is no loss '" + name + "'").hint("known losses: " + known);
}

}  // namespace

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Row& row : kLosses) list.emplace_back(row.name);
    return list;
  }();
  return names;
}

Type target_type(const LossOptions& options, const Type& prediction) {
  Type target = prediction;
  if (!row_of(options.name).takes_classes) return Type::tensor(target.elem, target.shape);
  if (target.shape && target.shape->size() < 2)
    throw Error(Code::bad_usage, "loss '" + options.name + "' needs predictions [batch, classes, ...]");
  if (target.shape) target.shape->erase(target.shape->begin() + 1);
  return Type::tensor(DType::i64, target.shape);
}

Value* add_loss(const LossOptions& options, Value* prediction, Value* target) {
  GraphBuilder g(prediction->graph());
  g.name_after("train/" + options.name);
  return row_of(options.name).formula(g, options, prediction, target);
}

}  // namespace ingot::train
