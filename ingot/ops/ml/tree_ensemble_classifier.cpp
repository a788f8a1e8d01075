// TreeEnsembleClassifier: trees that vote for classes; TreeEnsemble, ArgMax and LabelEncoder since version 5.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/forest.h"
#include "ingot/ops/ml/old_trees.h"
#include "ingot/ops/ml/post_transform.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/ml/votes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

constexpr std::int64_t kSum = 1, kNone = 0;

void infer(InferContext& c) {
  const Attributes& a = c.node().attributes;
  check_post_transform(c);
  const Dim n = rows(c);
  const std::size_t labels = label_count(a, "classlabels_strings", "classlabels_int64s");
  c.out_elem(0, label_type(a, "classlabels_strings"));
  c.out_shape(0, {n});
  // A single label gets a second score in some runtimes.
  c.out_shape(1, {n, labels > 1 ? Dim(static_cast<std::int64_t>(labels)) : Dim()});
}

/// The label at the place of each row's highest score.
Value* label(StepContext& c, Value* scores) {
  Value* best = c.g.op("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 0}});
  Ints places(label_count(c.node.attributes, "classlabels_strings", "classlabels_int64s"));
  std::iota(places.begin(), places.end(), 0);
  if (label_type(c.node.attributes, "classlabels_strings") == DType::string)
    return c.g.op(
        "LabelEncoder", {best},
        {{"keys_int64s", places}, {"values_strings", *c.node.attributes.get<Strings>("classlabels_strings")}});
  return c.g.op("LabelEncoder", {best},
                {{"keys_int64s", places}, {"values_int64s", *c.node.attributes.get<Ints>("classlabels_int64s")}});
}

/// How the weights are spread over the classes.
struct Weights {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;  // classes
  bool has_negative = false, has_zero = false, has_empty_leaf = false;

  explicit Weights(const Forest& forest) {
    for (const Forest::Item& item : forest.items) {
      has_empty_leaf |= item.is_leaf && item.votes.empty();
      for (const Forest::Vote& vote : item.votes) {
        lowest = std::min(lowest, vote.target);
        highest = std::max(highest, vote.target);
        has_negative |= vote.weight < 0;
        has_zero |= vote.weight == 0;
      }
    }
  }
  bool is_one_class() const { return lowest == highest; }
};

/// Two labels and all weights s for the first class: [1 - s, s], or, where s may be negative, what is made of [-s, s].
/// What else runtimes make of one class cannot be said by ArgMax of the scores.
Value* two_columns(StepContext& c, Forest& forest, const Weights& weights, const Transform& transform) {
  const bool is_none = transform.number == kNone && !transform.is_softmax && !transform.is_logistic;
  const auto base = base_values(c, 1);
  if (weights.lowest != 0 || (weights.has_negative ? !transform.is_logistic : !is_none) ||
      (!base.empty() && weights.has_empty_leaf))
    c.cannot("the label of a classifier of two classes with one score does not follow from the scores here");
  add_constant_trees(forest, base);
  Value* score = ensemble(c, forest, 1, kSum, kNone);
  Value* other = weights.has_negative ? c.g.neg(score) : c.g.sub(c.g.scalar(1, working_type(c, forest)), score);
  return c.g.concat({other, score}, 1);
}

void up_5(StepContext& c) {
  Forest forest = read_forest(c.node.attributes, "class");
  const auto labels =
      static_cast<std::int64_t>(label_count(c.node.attributes, "classlabels_strings", "classlabels_int64s"));
  if (labels < 2) c.cannot("what a classifier of one class does differs between runtimes");
  const Transform transform = transform_of(c);
  if (transform.number != kNone) c.cannot("its labels do not follow from scores that are transformed so");
  const Weights weights(forest);
  const DType elem = working_type(c, forest);
  Value* scores = nullptr;
  if (labels == 2 && weights.is_one_class()) {
    scores = two_columns(c, forest, weights, transform);
  } else {
    add_constant_trees(forest, base_values(c, labels));
    // ArgMax takes the score 0 of a class without a vote for one of the others.
    if ((weights.has_negative || weights.has_zero) && !forest.reaches_all(labels))
      c.cannot("not every class has a weight in all leaves of some tree");
    scores = ensemble(c, forest, labels, kSum, kNone);
  }
  Value* best = label(c, scores);
  scores = transformed(c.g, scores, transform);
  c.replace({best, elem == DType::f32 ? scores : c.g.op("Cast", {scores}, {{"to", DType::f32}})});
}

constexpr Step kSteps[] = {{.since = 5, .up = up_5}};

/// Two labels, and weights for one class only: scores and label as ONNX Runtime has them, whether they make sense or
/// not (with two base values, trees for the second class do not count). The scores are sums of weights.
std::size_t score_one_class(std::span<double> scores, const Ballot& ballot, std::span<const double> base,
                            PostTransform transform, bool has_negative) {
  const bool has_second = ballot.has_vote(1);
  if (base.size() == 2 && has_second) {
    scores[1] = base[1] + scores[0];
    scores[0] = 0;
  } else if (!base.empty()) {
    scores[0] = ballot.has_vote(0) ? scores[0] + base[0] : 0;
  }
  const double decisive = scores[has_second ? 1 : 0];
  if (has_second || base.size() == 2)
    transform_scores(scores, transform);
  else
    spread_score(scores, transform, !has_negative);
  return decisive > (has_negative ? 0 : 0.5) ? 1 : 0;
}

/// The first of the highest scores among classes that got a vote.
std::size_t highest_voted(std::span<const double> scores, const Ballot& ballot, std::size_t based) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if ((i < based || ballot.has_vote(i)) && (!best || scores[i] > scores[*best])) best = i;
  return best.value_or(0);
}

void run(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Forest forest = read_forest(c.node.attributes, "class");
  const Labels labels(c, "classlabels_strings", "classlabels_int64s");
  const PostTransform transform = post_transform_of(c);
  const std::size_t classes = labels.size();
  if (classes == 0) c.fail("there are no classes");
  const Weights weights(forest);
  const bool is_one_class = classes == 2 && weights.is_one_class();
  const auto base = base_values_of(c);
  if (!base.empty() && base.size() != classes && !(classes == 2 && base.size() == 1))
    c.fail("the base values do not fit the classes");
  std::vector<std::size_t> places;
  const auto finish = [&](std::span<double> scores, const Ballot& ballot) {
    if (is_one_class) return places.push_back(score_one_class(scores, ballot, base, transform, weights.has_negative));
    for (std::size_t i = 0; i < base.size(); ++i) scores[i] += base[i];
    places.push_back(highest_voted(scores, ballot, base.size()));
    transform_targets(scores, transform);
  };
  const Array z = forest_scores(c, x, forest, classes, Aggregate::sum, finish);
  labels.put(c, places);
  put(c, 1, z, DType::f32);
}

}  // namespace

constinit const OpDef defs::TreeEnsembleClassifier = {
    .name = "TreeEnsembleClassifier",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
};

}  // namespace ingot::ops
