// TreeEnsembleRegressor: trees with targets; TreeEnsemble since version 5.
#include <algorithm>
#include <functional>

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
  const Transform transform = transform_of(c);
  const auto base = base_values(c, *targets);
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

void run(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Forest forest = read_forest(c.node.attributes, "target");
  const std::int64_t given = c.attr("n_targets", std::int64_t{0});
  const std::string aggregate = c.attr("aggregate_function", "SUM");
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* it = std::ranges::find(kNames, aggregate);
  if (given < 1 || it == std::end(kNames)) c.fail("attribute 'n_targets' or 'aggregate_function' is out of range");
  const PostTransform transform = post_transform_of(c);
  const auto targets = static_cast<std::size_t>(given);
  const auto base = base_values_of(c, targets);
  Array y = forest_scores(c, x, forest, targets, static_cast<Aggregate>(it - std::begin(kNames)));
  for (std::size_t n = 0; n < static_cast<std::size_t>(x.count); ++n) {
    const auto scores = y.mutable_data<double>().subspan(n * targets, targets);
    std::ranges::transform(scores, base, scores.begin(), std::plus<>());
    transform_scores(scores, transform);
  }
  put(c, 0, y, DType::f32);
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
