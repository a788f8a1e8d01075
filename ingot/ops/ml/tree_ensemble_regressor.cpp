// TreeEnsembleRegressor: trees with targets; TreeEnsemble since version 5.
#include <algorithm>

#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/forest.h"
#include "ingot/ops/ml/old_trees.h"
#include "ingot/ops/ml/post_transform.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/ml/votes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  check_post_transform(c);
  const auto* targets = c.node().attributes.get<std::int64_t>("n_targets");
  if (targets) c.require(*targets >= 1, "attribute 'n_targets' must be positive");
  c.out_shape(0, {rows(c), targets ? Dim(*targets) : Dim()});
}

std::int64_t aggregate_of(StepContext& c) {
  const std::string text = c.node.attributes.string_or("aggregate_function", "SUM");
  const std::string_view known[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto it = std::ranges::find(known, text);
  if (it == std::end(known)) c.cannot("attribute 'aggregate_function' is '" + text + "'");
  return it - std::begin(known);
}

void up_5(StepContext& c) {
  Forest forest = read_forest(c.node.attributes, "target");
  const auto* targets = c.node.attributes.get<std::int64_t>("n_targets");
  if (!targets || *targets < 1) c.cannot("attribute 'n_targets' is missing");
  constexpr std::int64_t kAverage = 0, kSum = 1;
  std::int64_t aggregate = aggregate_of(c);
  const Transform given = transform_of(c);
  const auto base = base_values(c, *targets);
  // One target knows no transform but PROBIT, and targets without a vote get no base value: as in ONNX Runtime.
  constexpr std::int64_t kProbit = 4;
  const Transform transform = *targets == 1 && given.number != kProbit ? Transform() : given;
  if (*targets > 1 && !base.empty() && !forest.reaches_all(*targets))
    c.cannot("TreeEnsemble cannot leave base values out where no tree has a weight for a target");
  bool is_repeated = false, is_uneven = false;
  for (const std::size_t root : forest.roots) {
    const auto votes = forest.votes_below(root);
    is_repeated |= votes.most > 1;
    is_uneven |= votes.is_uneven || votes.most == 0;
  }
  if (aggregate > kSum && is_uneven)
    c.cannot("leaves without a weight for each target have no meaning in MIN and MAX of TreeEnsemble");
  // Repeated trees would count more than once in the mean.
  const bool divides = aggregate == kAverage && is_repeated;
  if (transform.number != 0 && (divides || (!base.empty() && aggregate != kSum)))
    c.cannot("TreeEnsemble cannot add base values between aggregate_function and post_transform");
  if (divides) aggregate = kSum;
  if (transform.number != 0) add_constant_trees(forest, base);

  const double count = static_cast<double>(forest.roots.size());
  Value* y = ensemble(c, forest, *targets, aggregate, transform.number);
  const DType elem = working_type(c, forest);
  if (divides) y = c.g.div(y, c.g.scalar(count, elem));
  if (transform.number == 0 && !base.empty()) y = c.g.add(y, row(c.g, base, elem));
  y = transformed(c.g, y, transform);
  c.replace({elem == DType::f32 ? y : c.g.op("Cast", {y}, {{"to", DType::f32}})});
}

constexpr Step kSteps[] = {{.since = 5, .up = up_5}};

/// What the specification leaves open is as in ONNX Runtime: of several targets, one without a vote has 0, whatever its
/// base value; a single one is only ever transformed by PROBIT.
void run(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Forest forest = read_forest(c.node.attributes, "target");
  const std::int64_t given = c.attr("n_targets", std::int64_t{0});
  const std::string aggregate = c.attr("aggregate_function", "SUM");
  constexpr std::string_view kWords[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* it = std::ranges::find(kWords, aggregate);
  if (given < 1 || it == std::end(kWords)) c.fail("attribute 'n_targets' or 'aggregate_function' is out of range");
  const PostTransform transform = post_transform_of(c);
  const auto targets = static_cast<std::size_t>(given);
  const auto base = base_values_of(c);
  if (!base.empty() && base.size() != targets) c.fail("the base values do not fit the targets");
  const auto finish = [&](std::span<double> scores, const Ballot& ballot) {
    for (std::size_t i = 0; i < base.size(); ++i)
      if (targets == 1 || ballot.has_vote(i)) scores[i] += base[i];
    transform_targets(scores, transform);
  };
  const auto how = static_cast<Aggregate>(it - std::begin(kWords));
  put(c, 0, forest_scores(c, x, forest, targets, how, finish), DType::f32);
}

}  // namespace

constinit const OpDef defs::TreeEnsembleRegressor = {
    .name = "TreeEnsembleRegressor",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
};

}  // namespace ingot::ops
