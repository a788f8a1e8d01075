// LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor: models by weighted sums and by support vectors.
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/post_transform.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

using Floats = std::vector<float>;

std::size_t size_of(const Attributes& attributes, std::string_view name) {
  const auto* values = attributes.get<Floats>(name);
  return values ? values->size() : 0;
}

void infer_linear_classifier(InferContext& c) {
  const Attributes& a = c.node().attributes;
  check_post_transform(c);
  const Dim n = rows(c);
  const std::size_t labels = label_count(a, "classlabels_strings", "classlabels_ints");
  // One intercept for two labels: the second score follows from the first.
  std::size_t classes = size_of(a, "intercepts");
  if (classes == 0 || (classes == 1 && labels == 2)) classes = labels;
  c.out_elem(0, label_type(a, "classlabels_strings"));
  c.out_shape(0, {n});
  c.out_shape(1, {n, classes ? Dim(static_cast<std::int64_t>(classes)) : Dim()});
}

void infer_linear_regressor(InferContext& c) {
  check_post_transform(c);
  const std::int64_t targets = c.attr("targets", std::int64_t{1});
  c.require(targets >= 1, "attribute 'targets' must be positive");
  const auto weights = static_cast<std::int64_t>(size_of(c.node().attributes, "coefficients"));
  if (weights && c.rank(0) && !may_equal(c.dim(0, -1) * targets, weights))
    c.fail(std::to_string(weights) + " coefficients for " + c.dim(0, -1).str() + " features and " +
           std::to_string(targets) + " targets");
  c.out_shape(0, {rows(c), targets});
}

Values decompose_linear_regressor(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto* weights = c.node.attributes.get<Floats>("coefficients");
  const auto* intercepts = c.node.attributes.get<Floats>("intercepts");
  const std::int64_t targets = c.attr("targets", std::int64_t{1});
  const auto rank = c.rank(0);
  if (!weights || weights->empty() || targets < 1 || !rank || c.elem(0) == DType::undefined) return {};
  const auto count = static_cast<std::int64_t>(weights->size());
  if (count % targets ||
      (intercepts && !intercepts->empty() && static_cast<std::int64_t>(intercepts->size()) != targets))
    return {};
  Value* x = g.cast(c.in(0), DType::f32);
  if (*rank == 1) x = g.unsqueeze(x, {0});
  Value* matrix = g.constant(Tensor::of<float>({targets, count / targets}, *weights));
  Value* y = g.op("MatMul", {x, g.transpose(matrix, {1, 0})});
  if (intercepts && !intercepts->empty()) y = g.add(y, g.constant(Tensor::of<float>({targets}, *intercepts)));
  y = post_transformed(g, y, c.attr("post_transform", "NONE"));
  return y ? Values{y} : Values{};
}

void infer_svm_classifier(InferContext& c) {
  const Attributes& a = c.node().attributes;
  check_post_transform(c);
  const Dim n = rows(c);
  const std::size_t labels = label_count(a, "classlabels_strings", "classlabels_ints");
  c.out_elem(0, label_type(a, "classlabels_strings"));
  c.out_shape(0, {n});
  // Raw scores come per pair of classes or per class, as the runtime has it; probabilities per class.
  const bool is_probability = size_of(a, "prob_a") > 0 && labels > 0;
  c.out_shape(1, {n, is_probability ? Dim(static_cast<std::int64_t>(labels)) : Dim()});
}

void infer_svm_regressor(InferContext& c) {
  check_post_transform(c);
  c.out_shape(0, {rows(c), 1});
}

}  // namespace

constinit const OpDef defs::LinearClassifier = {
    .name = "LinearClassifier",
    .domain = "ai.onnx.ml",
    .infer = infer_linear_classifier,
};
constinit const OpDef defs::LinearRegressor = {
    .name = "LinearRegressor",
    .domain = "ai.onnx.ml",
    .infer = infer_linear_regressor,
    .decompose = decompose_linear_regressor,
};
constinit const OpDef defs::SVMClassifier = {
    .name = "SVMClassifier",
    .domain = "ai.onnx.ml",
    .infer = infer_svm_classifier,
};
constinit const OpDef defs::SVMRegressor = {
    .name = "SVMRegressor",
    .domain = "ai.onnx.ml",
    .infer = infer_svm_regressor,
};

}  // namespace ingot::ops
