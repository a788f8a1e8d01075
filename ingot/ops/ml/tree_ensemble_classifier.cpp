// TreeEnsembleClassifier: trees that vote for classes; TreeEnsemble, ArgMax and LabelEncoder since version 5.
#include <algorithm>
#include <functional>
#include <numeric>

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

/// Two classes, all weights for one of them, taken for the score of the second: [1 - s, s], or, as something is to be
/// made of it, [-s, s]. Runtimes agree on the label in these two cases only.
void check_two_columns(const StepContext& c, const Transform& transform, bool has_negative) {
  const bool is_none = transform.number == kNone && !transform.is_softmax && !transform.is_logistic;
  if (has_negative ? !transform.is_logistic : !is_none)
    c.cannot("what a classifier of two classes with one score does here differs between runtimes");
}

Value* two_columns(StepContext& c, Value* score, const Transform& transform, DType elem) {
  if (!transform.is_logistic) {
    Value* one = c.g.scalar(1, elem);
    Value* other = c.g.sub(one, score);
    return c.g.concat({other, score}, 1);
  }
  Value* opposite = c.g.neg(score);
  return transformed(c.g, c.g.concat({opposite, score}, 1), transform);
}

void up_5(StepContext& c) {
  Forest forest = read_forest(c.node.attributes, "class");
  const auto labels =
      static_cast<std::int64_t>(label_count(c.node.attributes, "classlabels_strings", "classlabels_int64s"));
  if (labels < 2) c.cannot("what a classifier of one class does differs between runtimes");
  const Transform transform = transform_of(c);
  std::int64_t lowest = labels, highest = -1;
  bool has_negative = false;
  for (const Forest::Item& item : forest.items)
    for (const Forest::Vote& vote : item.votes) {
      lowest = std::min(lowest, vote.target);
      highest = std::max(highest, vote.target);
      has_negative |= vote.weight < 0;
    }
  const DType elem = working_type(c, forest);
  Value* scores = nullptr;
  if (labels == 2 && lowest == highest) {
    check_two_columns(c, transform, has_negative);
    for (Forest::Item& item : forest.items)
      for (Forest::Vote& vote : item.votes) vote.target = 0;
    add_constant_trees(forest, base_values(c, 1));
    scores = two_columns(c, ensemble(c, forest, 1, kSum, kNone), transform, elem);
  } else {
    add_constant_trees(forest, base_values(c, labels));
    scores = transformed(c.g, ensemble(c, forest, labels, kSum, transform.number), transform);
  }
  Value* best = label(c, scores);
  c.replace({best, elem == DType::f32 ? scores : c.g.op("Cast", {scores}, {{"to", DType::f32}})});
}

constexpr Step kSteps[] = {{.since = 5, .up = up_5}};

/// Two classes by one score s: [1 - s, s] where s is a probability (no negative weights, no transform), else [-s, s].
void run(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Forest forest = read_forest(c.node.attributes, "class");
  const Labels labels(c, "classlabels_strings", "classlabels_int64s");
  const PostTransform transform = post_transform_of(c);
  const std::size_t classes = labels.size();
  if (classes == 0) c.fail("there are no classes");
  bool has_negative = false, is_single = classes == 2;
  std::int64_t only = -1;
  for (const Forest::Item& item : forest.items)
    for (const Forest::Vote& vote : item.votes) {
      has_negative |= vote.weight < 0;
      is_single &= only == -1 || only == vote.target;
      only = vote.target;
    }
  const auto base = base_values_of(c, classes);
  Array z = forest_scores(c, x, forest, classes, Aggregate::sum);
  std::vector<std::size_t> places;
  for (std::size_t n = 0; n < static_cast<std::size_t>(x.count); ++n) {
    const auto scores = z.mutable_data<double>().subspan(n * classes, classes);
    std::ranges::transform(scores, base, scores.begin(), std::plus<>());
    if (is_single && only >= 0) {
      const double score = scores[static_cast<std::size_t>(only)];
      scores[0] = transform == PostTransform::none && !has_negative ? 1 - score : -score;
      scores[1] = score;
    }
    places.push_back(highest(scores));
    transform_scores(scores, transform);
  }
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
