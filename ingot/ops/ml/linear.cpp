// LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor: models by weighted sums and by support vectors.
#include "ingot/base/checked.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/post_transform.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/ml/scores.h"
#include "ingot/ops/ml/svm_kernel.h"
#include "ingot/ops/pace.h"
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
  const std::string transform = c.attr("post_transform", "NONE");
  if (targets == 1 && transform != "PROBIT") return {y};  // a single score is only ever changed by PROBIT
  y = post_transformed(g, y, transform);
  return y ? Values{y} : Values{};
}

/// Scores by a matrix product, and the label of the highest; two labels by one score s: the second where s > 0.
Values decompose_linear_classifier(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Attributes& a = c.node.attributes;
  const auto* weights = a.get<Floats>("coefficients");
  const auto* intercepts = a.get<Floats>("intercepts");
  const auto* ints = a.get<std::vector<std::int64_t>>("classlabels_ints");
  const auto* strings = a.get<std::vector<std::string>>("classlabels_strings");
  const std::string transform = c.attr("post_transform", "NONE");
  const std::size_t labels = label_count(a, "classlabels_strings", "classlabels_ints");
  const auto rank = c.rank(0);
  if (!weights || weights->empty() || !rank || c.elem(0) == DType::undefined || labels == 0) return {};
  const auto classes = static_cast<std::int64_t>(intercepts && !intercepts->empty() ? intercepts->size() : labels);
  const bool is_single = classes == 1 && labels == 2;
  if (std::ssize(*weights) % classes || (!is_single && classes != static_cast<std::int64_t>(labels))) return {};
  Value* x = g.cast(c.in(0), DType::f32);
  if (*rank == 1) x = g.unsqueeze(x, {0});
  Value* matrix = g.constant(Tensor::of<float>({classes, std::ssize(*weights) / classes}, *weights));
  Value* scores = g.op("MatMul", {x, g.transpose(matrix, {1, 0})});
  if (intercepts && !intercepts->empty()) scores = g.add(scores, g.constant(Tensor::of<float>({classes}, *intercepts)));
  Value* place = nullptr;
  if (is_single) {
    Value* is_second = g.op("Greater", {scores, g.scalar(0, DType::f32)});
    place = g.squeeze(g.cast(is_second, DType::i64), {1});
    const bool is_logistic = transform == "LOGISTIC";
    if (transform == "PROBIT") return {};
    Value* other = is_logistic ? g.neg(scores) : g.sub(1.0, scores);
    scores = g.concat({other, scores}, 1);
    if (is_logistic) scores = g.op("Sigmoid", {scores});
  } else {
    place = g.op("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 0}});
    if (classes > 1 || transform == "PROBIT") scores = post_transformed(g, scores, transform);
    if (!scores) return {};
  }
  Value* names = strings ? g.constant(Tensor::of_strings({std::ssize(*strings)}, *strings)) : g.ints(*ints);
  return {g.op("Gather", {names, place}), scores};
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

/// Sums of how alike an example is to each support vector, in double: exp of a difference of large numbers. As in ONNX
/// Runtime, post_transform changes nothing, and without support vectors the kernel is linear.
Values decompose_svm_regressor(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Attributes& a = c.node.attributes;
  const auto *weights = a.get<Floats>("coefficients"), *rho = a.get<Floats>("rho");
  const auto *vectors = a.get<Floats>("support_vectors"), *params = a.get<Floats>("kernel_params");
  const std::int64_t supports = c.attr("n_supports", std::int64_t{0});
  const std::string kind = supports ? c.attr("kernel_type", "LINEAR") : "LINEAR";
  const auto rank = c.rank(0);
  if (!weights || weights->empty() || !rho || rho->empty() || supports < 0 || !rank || *rank < 1 || *rank > 2)
    return {};
  if ((params && params->size() != 3) || (!params && kind != "LINEAR") || c.elem(0) == DType::undefined) return {};
  const double gamma = params ? (*params)[0] : 0, coef0 = params ? (*params)[1] : 0, degree = params ? (*params)[2] : 0;
  const auto count = supports ? supports : 1;
  const Floats& rows = supports && vectors ? *vectors : *weights;
  if (rows.empty() || std::ssize(rows) % count || (supports && (!vectors || std::ssize(*weights) != supports)))
    return {};
  const std::vector<double> wide(rows.begin(), rows.end());
  Value* x = g.cast(c.in(0), DType::f64);
  if (*rank == 1) x = g.unsqueeze(x, {0});
  Value* points = g.transpose(g.constant(Tensor::of<double>({count, std::ssize(rows) / count}, wide)), {1, 0});
  Value* alike = g.op("MatMul", {x, points});
  if (kind == "RBF") {
    Value* own = g.reduce_sum(g.mul(x, x), {1});
    Value* others = g.reduce_sum(g.mul(points, points), {0});
    Value* distance = g.sub(g.add(own, others), g.mul(alike, 2));
    alike = g.op("Exp", {g.mul(distance, -gamma)});
  } else if (kind != "LINEAR") {
    Value* inner = g.add(g.mul(alike, gamma), coef0);
    alike = kind == "POLY" ? g.op("Pow", {inner, g.scalar(degree, DType::f64)}) : g.op("Tanh", {inner});
  }
  if (supports) {
    const std::vector<double> factors(weights->begin(), weights->end());
    alike = g.op("MatMul", {alike, g.constant(Tensor::of<double>({supports, 1}, factors))});
  }
  Value* score = g.add(alike, (*rho)[0]);
  if (c.attr("one_class", std::int64_t{0})) {
    Value *one = g.scalar(1, DType::f32), *other = g.scalar(-1, DType::f32);
    return {g.where(g.op("Greater", {score, g.scalar(0, DType::f64)}), one, other)};
  }
  return {g.cast(score, DType::f32)};
}

/// Scores of one example: coefficients [scores, features] times the example, plus intercepts.
class Lines {
 public:
  Lines(const KernelContext& c, const Examples& x, std::size_t count)
      : features_(static_cast<std::size_t>(x.features)) {
    coefficients_ = floats_of(c, "coefficients");
    intercepts_ = floats_of(c, "intercepts");
    const auto needed = checked_mul(count, features_);
    if (!needed || coefficients_.size() != *needed) c.fail("the coefficients do not fit the features");
    if (!intercepts_.empty() && intercepts_.size() != count) c.fail("the intercepts do not fit the coefficients");
  }
  double score(std::span<const double> row, std::size_t i) const {
    const auto line = std::span<const double>(coefficients_).subspan(i * features_, features_);
    return dot(row, line) + (intercepts_.empty() ? 0 : intercepts_[i]);
  }

 private:
  std::size_t features_;
  std::vector<double> coefficients_, intercepts_;
};

void run_linear_regressor(KernelContext& c) {
  const Examples x = Examples::of(c);
  const std::int64_t targets = c.attr("targets", std::int64_t{1});
  if (targets < 1) c.fail("attribute 'targets' must be positive");
  const PostTransform transform = post_transform_of(c);
  const Lines lines(c, x, static_cast<std::size_t>(targets));
  Array y = scratch(c, DType::f64, {x.count, targets});
  Pace pace(c.host().budget());
  for (std::int64_t n = 0; n < x.count; ++n) {
    const auto scores =
        y.mutable_data<double>().subspan(static_cast<std::size_t>(n * targets), static_cast<std::size_t>(targets));
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = lines.score(x.row(n), i);
    transform_targets(scores, transform);
    pace.step(targets * x.features);
  }
  put(c, 0, y, DType::f32);
}

/// Two labels by one score s, the second where s > 0.
void run_linear_classifier(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Labels labels(c, "classlabels_strings", "classlabels_ints");
  const PostTransform transform = post_transform_of(c);
  std::size_t classes = floats_of(c, "intercepts").size();
  if (classes == 0) classes = labels.size();
  if (classes == 0) c.fail("there are no classes");
  const bool is_single = classes == 1 && labels.size() == 2;
  const Lines lines(c, x, classes);
  const std::size_t columns = is_single ? 2 : classes;
  Array z = scratch(c, DType::f64, {x.count, static_cast<std::int64_t>(columns)});
  std::vector<std::size_t> places;
  Pace pace(c.host().budget());
  for (std::int64_t n = 0; n < x.count; ++n) {
    const auto scores = z.mutable_data<double>().subspan(static_cast<std::size_t>(n) * columns, columns);
    for (std::size_t i = 0; i < classes; ++i) scores[i] = lines.score(x.row(n), i);
    if (is_single) {
      places.push_back(scores[0] > 0 ? 1 : 0);
      spread_score(scores, transform, true);
    } else {
      places.push_back(highest(scores));
      transform_targets(scores, transform);
    }
    pace.step(static_cast<std::int64_t>(classes) * x.features);
  }
  labels.put(c, places);
  put(c, 1, z, DType::f32);
}

}  // namespace

constinit const OpDef defs::LinearClassifier = {
    .name = "LinearClassifier",
    .domain = "ai.onnx.ml",
    .infer = infer_linear_classifier,
    .decompose = decompose_linear_classifier,
    .kernel = run_linear_classifier,
};
constinit const OpDef defs::LinearRegressor = {
    .name = "LinearRegressor",
    .domain = "ai.onnx.ml",
    .infer = infer_linear_regressor,
    .decompose = decompose_linear_regressor,
    .kernel = run_linear_regressor,
};
constinit const OpDef defs::SVMClassifier = {
    .name = "SVMClassifier",
    .domain = "ai.onnx.ml",
    .infer = infer_svm_classifier,
    .kernel = run_svm_classifier,
};
constinit const OpDef defs::SVMRegressor = {
    .name = "SVMRegressor",
    .domain = "ai.onnx.ml",
    .infer = infer_svm_regressor,
    .decompose = decompose_svm_regressor,
    .kernel = run_svm_regressor,
};

}  // namespace ingot::ops
