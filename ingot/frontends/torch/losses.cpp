// Loss functions.
#include <cmath>
#include <numbers>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// 0 none, 1 mean, 2 sum.
Item reduced(const Call& c, Value* loss, std::size_t reduction) {
  const std::int64_t how = c.integer(reduction);
  if (how == 1) return c.g().op("ReduceMean", {loss}, {{"keepdims", 0}});
  if (how == 2) return c.g().op("ReduceSum", {loss}, {{"keepdims", 0}});
  return loss;
}

/// Scores and target without a batch: as a batch of one.
Item of_one_sample(const Call& c, Item (*loss)(const Call&)) {
  Call batch = c;
  for (std::size_t i = 0; i < 2; ++i) batch.args[i] = Item(c.g().unsqueeze(c.tensor(i), {0}));
  const Item made = loss(batch);
  return c.g().reshape(c.t.read(*made.get<TensorRef>()), {});
}

const char* word(std::int64_t reduction) { return reduction == 1 ? "mean" : reduction == 2 ? "sum" : "none"; }

Value* difference(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().sub(x[0], x[1]);
}

Value* log_of(GraphBuilder& g, Value* x) { return g.op("Max", {g.op("Log", {x}), g.scalar(-100, x->type.elem)}); }

}  // namespace

Item mse_loss(const Call& c) {
  Value* d = difference(c);
  return reduced(c, c.g().mul(d, d), 2);
}
Item l1_loss(const Call& c) { return reduced(c, c.g().op("Abs", {difference(c)}), 2); }
Item smooth_l1_loss(const Call& c) {
  GraphBuilder& g = c.g();
  Value* d = g.op("Abs", {difference(c)});
  const double beta = c.real(3);
  if (beta == 0) return reduced(c, d, 2);
  Value* near = g.mul(g.mul(d, d), 0.5 / beta);
  return reduced(c, g.where(g.op("Less", {d, g.scalar(beta, d->type.elem)}), near, g.sub(d, 0.5 * beta)), 2);
}
Item huber_loss(const Call& c) {
  GraphBuilder& g = c.g();
  Value* d = g.op("Abs", {difference(c)});
  const double delta = c.real(3);
  Value* far = g.mul(g.sub(d, 0.5 * delta), delta);
  return reduced(c, g.where(g.op("Less", {d, g.scalar(delta, d->type.elem)}), g.mul(g.mul(d, d), 0.5), far), 2);
}
Item binary_cross_entropy(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* y = c.tensor(1);
  Value* loss = g.neg(g.add(g.mul(y, log_of(g, x)), g.mul(g.sub(1, y), log_of(g, g.sub(1, x)))));
  if (c.has(2)) loss = g.mul(loss, c.tensor(2));
  return reduced(c, loss, 3);
}
Item binary_cross_entropy_with_logits(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* y = c.tensor(1);
  Value* soft = g.op("Softplus", {g.neg(x)});  // -log sigmoid(x)
  Value* loss = nullptr;
  if (c.has(3)) {
    Value* weight = g.add(g.mul(g.sub(c.tensor(3), 1), y), 1);
    loss = g.add(g.mul(g.sub(1, y), x), g.mul(weight, soft));
  } else {
    loss = g.add(g.mul(g.sub(1, y), x), soft);
  }
  if (c.has(2)) loss = g.mul(loss, c.tensor(2));
  return reduced(c, loss, 4);
}
Item nll_loss(const Call& c) {
  if (rank_of(c.tensor(0)) == 1) return of_one_sample(c, nll_loss);
  Values inputs{c.tensor(0), as_int64(c.g(), c.tensor(1))};
  if (c.has(2)) inputs.push_back(c.tensor(2));
  return c.g().op("NegativeLogLikelihoodLoss", inputs,
                  {{"reduction", word(c.integer(3))}, {"ignore_index", c.integer(4)}});
}
Item nll_loss_forward(const Call& c) { return Item::tuple({nll_loss(c), Item(Unknown{})}); }
Item cross_entropy_loss(const Call& c) {
  GraphBuilder& g = c.g();
  if (rank_of(c.tensor(0)) == 1) return of_one_sample(c, cross_entropy_loss);
  if (c.real(5) != 0 || is_float(c.tensor(1)->type.elem)) {
    const bool is_of_classes = !is_float(c.tensor(1)->type.elem);
    if (c.integer(4) >= 0 || (is_of_classes && c.has(2))) refuse("smoothed labels of classes that weigh differently");
    Value* logs = g.op("LogSoftmax", {c.tensor(0)}, {{"axis", 1}});
    Value* target = c.tensor(1);
    if (!is_float(target->type.elem)) {
      Value* classes = g.op("Gather", {g.shape(c.tensor(0)), g.index(1)});
      target = g.op("OneHot", {as_int64(g, target), classes, g.constant(Tensor::of<float>({2}, {0.0f, 1.0f}))},
                    {{"axis", 1}});
    }
    Value* classes = g.cast(g.op("Gather", {g.shape(c.tensor(0)), g.index(1)}), logs->type.elem);
    if (c.real(5) != 0) target = g.add(g.mul(target, 1 - c.real(5)), g.div(c.real(5), classes));
    if (c.has(2)) {
      Ints shape(static_cast<std::size_t>(c.rank(logs)) - 1, 1);
      shape[0] = -1;
      target = g.mul(target, g.reshape(c.tensor(2), shape));
    }
    Value* loss = g.neg(g.reduce_sum(g.mul(target, logs), {1}, false));
    return reduced(c, loss, 3);
  }
  Values inputs{c.tensor(0), as_int64(g, c.tensor(1))};
  if (c.has(2)) inputs.push_back(c.tensor(2));
  return g.op("SoftmaxCrossEntropyLoss", inputs, {{"reduction", word(c.integer(3))}, {"ignore_index", c.integer(4)}},
              1)[0];
}
Item kl_div(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* y = c.tensor(1);
  if (c.flag(3)) return reduced(c, g.mul(g.op("Exp", {y}), g.sub(y, x)), 2);
  Value* zero = g.scalar(0, y->type.elem);
  Value* is_some = g.op("Greater", {y, zero});
  Value* logs = g.op("Log", {g.where(is_some, y, g.scalar(1, y->type.elem))});
  return reduced(c, g.where(is_some, g.mul(y, g.sub(logs, x)), zero), 2);
}
Item hinge_embedding_loss(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* y = c.tensor(1);
  Value* zero = g.scalar(0, x->type.elem);
  Value* far = g.where(g.op("Equal", {y, g.scalar(1, y->type.elem)}), zero, g.op("Max", {g.sub(c.real(2), x), zero}));
  Value* near = g.where(g.op("Equal", {y, g.scalar(-1, y->type.elem)}), zero, x);
  return reduced(c, g.add(far, near), 3);
}
Item soft_margin_loss(const Call& c) {
  GraphBuilder& g = c.g();
  return reduced(c, g.op("Softplus", {g.neg(g.mul(c.tensor(0), c.tensor(1)))}), 2);
}
Item margin_ranking_loss(const Call& c) {
  GraphBuilder& g = c.g();
  Value* y = g.add(g.mul(g.neg(c.real_tensor(2)), g.sub(c.real_tensor(0), c.real_tensor(1))), c.real(3));
  return reduced(c, g.op("Max", {y, g.scalar(0, y->type.elem)}), 4);
}
Item poisson_nll_loss(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.real_tensor(0);
  Value* y = c.real_tensor(1);
  Value* loss =
      c.flag(2) ? g.sub(g.op("Exp", {x}), g.mul(y, x)) : g.sub(x, g.mul(y, g.op("Log", {g.add(x, c.real(4))})));
  if (c.flag(3)) {  // Stirling's term for targets above 1
    Value* stirling = g.add(g.sub(g.mul(y, g.op("Log", {y})), y),
                            g.mul(g.op("Log", {g.mul(y, 2 * std::numbers::pi)}), 0.5));
    Value* one = g.scalar(1, y->type.elem);
    loss = g.add(loss, g.where(g.op("Greater", {y, one}), stirling, g.scalar(0, y->type.elem)));
  }
  return reduced(c, loss, 5);
}
Item triplet_margin_loss(const Call& c) {
  GraphBuilder& g = c.g();
  const auto distance = [&](std::size_t a, std::size_t b) {
    const Item made = c.t.call("pairwise_distance", {c.arg(a), c.arg(b), c.arg(4), c.arg(5), false});
    return c.t.read(*made.get<TensorRef>());
  };
  Value* far = distance(0, 2);
  if (c.flag(6)) far = g.op("Min", {far, distance(1, 2)});
  Value* loss = g.add(g.sub(distance(0, 1), far), c.real(3));
  return reduced(c, g.op("Max", {loss, g.scalar(0, loss->type.elem)}), 7);
}
/// For each sample the mean over classes of how far each other one reaches into the margin of the right one.
Item multi_margin_loss(const Call& c) {
  if (rank_of(c.tensor(0)) == 1) return of_one_sample(c, multi_margin_loss);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* target = g.reshape(as_int64(g, c.tensor(1)), {-1, 1});
  Value* gap = g.sub(g.add(x, c.real(3)), g.op("GatherElements", {x, target}, {{"axis", 1}}));
  Value* zero = g.scalar(0, x->type.elem);
  Value* cost = g.op("Max", {gap, zero});
  if (c.real(2) != 1) cost = g.op("Pow", {cost, g.scalar(c.real(2), x->type.elem)});
  if (c.has(4)) cost = g.mul(cost, g.op("Gather", {c.tensor(4), target}));
  Value* classes = g.unsqueeze(counted(g, size_of(g, x, 1)), {0});
  cost = g.where(g.op("Equal", {classes, target}), zero, cost);
  return reduced(c, g.op("ReduceMean", {cost, g.ints({1})}, {{"keepdims", 0}}), 5);
}
/// Targets are the classes before the first -1: how far each other class reaches into their margins.
Item multilabel_margin_loss(const Call& c) {
  if (rank_of(c.tensor(0)) == 1) return of_one_sample(c, multilabel_margin_loss);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* target = as_int64(g, c.tensor(1));
  Value* ends = g.cast(g.op("Less", {target, g.index(0)}), DType::i64);
  Value* counts = g.cast(g.op("Equal", {g.op("CumSum", {ends, g.index(1)}), g.index(0)}), x->type.elem);
  Value* places = g.op("Max", {target, g.index(0)});
  Value* hits = g.op("ScatterElements", {filled_like(g, x, 0), places, counts}, {{"axis", 1}, {"reduction", "add"}});
  Value* is_other = g.cast(g.op("Equal", {hits, g.scalar(0, x->type.elem)}), x->type.elem);
  Value* of_target = g.op("GatherElements", {x, places}, {{"axis", 1}});
  Value* gap = g.add(g.sub(g.unsqueeze(x, {1}), g.unsqueeze(of_target, {2})), 1);
  Value* cost = g.mul(g.op("Max", {gap, g.scalar(0, x->type.elem)}), g.unsqueeze(counts, {2}));
  cost = g.reduce_sum(g.mul(cost, g.unsqueeze(is_other, {1})), {1, 2}, false);
  return reduced(c, g.div(cost, g.cast(size_of(g, x, 1), x->type.elem)), 2);
}
Item cosine_embedding_loss(const Call& c) {
  GraphBuilder& g = c.g();
  const Item same = c.t.call("cosine_similarity", {c.arg(0), c.arg(1), -1, 1e-8});
  Value* cosine = c.t.read(*same.get<TensorRef>());
  Value* y = c.tensor(2);
  Value* far = g.op("Max", {g.sub(cosine, c.real(3)), g.scalar(0, cosine->type.elem)});
  return reduced(c, g.where(g.op("Equal", {y, g.scalar(1, y->type.elem)}), g.sub(1, cosine), far), 4);
}

}  // namespace ingot::frontends::torch
