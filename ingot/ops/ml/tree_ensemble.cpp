// TreeEnsemble: sums, means or extremes of the leaves that an example reaches in many trees.
#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/forest.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

void infer(InferContext& c) {
  const Attributes& a = c.node().attributes;
  const auto in_range = [&](const char* name, std::int64_t fallback, std::int64_t end) {
    const std::int64_t value = c.attr(name, fallback);
    if (value < 0 || value >= end) c.fail("attribute '" + std::string(name) + "' is out of range");
  };
  in_range("aggregate_function", 1, 4);
  in_range("post_transform", 0, 5);
  for (const char* name : {"nodes_splits", "leaf_weights", "membership_values"})
    if (const auto* tensor = a.get<Tensor>(name))
      if (c.elem(0) != DType::undefined && tensor->dtype() != c.elem(0))
        c.fail("attribute '" + std::string(name) + "' and the input differ in type");
  if (const auto* splits = a.get<Tensor>("nodes_splits"))
    for (const char* name :
         {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"})
      if (const auto* list = c.attr_ints(name))
        if (static_cast<std::int64_t>(list->size()) != splits->size())
          c.fail("attribute '" + std::string(name) + "' does not have the length of 'nodes_splits'");
  if (const auto* rank = c.shape(0)) c.require(rank->size() == 2, "the input must have shape [N, C]");
  const auto* targets = a.get<std::int64_t>("n_targets");
  if (targets) c.require(*targets >= 1, "attribute 'n_targets' must be positive");
  c.out_shape(0, {c.dim(0, 0), targets ? Dim(*targets) : Dim()});
}

/// The operator of versions 1 to 4, whose output is always float.
Values decompose(DecomposeContext& c) {
  const DType elem = c.elem(0);
  const auto* targets = c.node.attributes.get<std::int64_t>("n_targets");
  const std::int64_t aggregate = c.attr("aggregate_function", std::int64_t{1});
  const std::int64_t transform = c.attr("post_transform", std::int64_t{0});
  if ((elem != DType::f32 && elem != DType::f16) || !targets) return {};
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) return {};
  const auto forest = read_ensemble(c.node.attributes);
  if (!forest) return {};
  Attrs attrs = forest_attributes(*forest, "target");
  attrs.push_back({"n_targets", *targets});
  attrs.push_back({"aggregate_function", kAggregates[aggregate]});
  attrs.push_back({"post_transform", kTransforms[transform]});
  Value* y = c.g.op("TreeEnsembleRegressor", {c.g.cast(c.in(0), DType::f32)}, attrs);
  return {c.g.cast(y, elem)};
}

}  // namespace

constinit const OpDef defs::TreeEnsemble = {
    .name = "TreeEnsemble",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
