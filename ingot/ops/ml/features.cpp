// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler: features prepared
// one by one.
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/features_kernel.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

using Floats = std::vector<float>;

void infer_extractor(InferContext& c) {
  const Shape *x = c.shape(0), *indices = c.shape(1);
  if (!x) return;
  c.require(!x->empty(), "the input is a scalar");
  const Dim count = indices ? product(*indices) : Dim();
  Shape z = x->size() == 1 ? Shape{1, count} : *x;
  z.back() = count;
  c.out_shape(0, std::move(z));
}

Values decompose_extractor(DecomposeContext& c) {
  const auto rank = c.rank(0);
  if (!c.in(1) || !rank || *rank < 1) return {};
  Value* indices = c.g.reshape(c.in(1), {-1});
  Value* z = c.g.op("Gather", {c.in(0), indices}, {{"axis", *rank - 1}});
  return {*rank == 1 ? c.g.unsqueeze(z, {0}) : z};
}

Values decompose_binarizer(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (elem == DType::undefined) return {};
  // A fraction as threshold has no place among integers.
  const bool is_whole = is_integer(elem);
  Value* x = is_whole ? c.g.cast(c.in(0), DType::f64) : c.in(0);
  Value* threshold = c.g.scalar(static_cast<double>(c.attr("threshold", 0.0f)), is_whole ? DType::f64 : elem);
  return {c.g.cast(c.g.op("Greater", {x, threshold}), elem)};
}

void infer_vectorizer(InferContext& c) {
  const auto* sizes = c.attr_ints("inputdimensions");
  if (sizes && sizes->size() != c.input_count()) c.fail("attribute 'inputdimensions' needs one size per input");
  Dim batch, total = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Shape* x = c.shape(i);
    if (x && x->empty()) c.fail("an input is a scalar");
    if (sizes && (*sizes)[i] < 0) c.fail("attribute 'inputdimensions' is negative");
    const Dim width = !x ? Dim() : x->size() == 1 ? (*x)[0] : product(Shape(x->begin() + 1, x->end()));
    total = total + (sizes ? Dim((*sizes)[i]) : width);
    if (!x) continue;
    const Dim count = x->size() > 1 ? (*x)[0] : Dim(1);
    if (!may_equal(batch, count)) c.fail("the inputs differ in their number of rows");
    if (!batch.is_known() && !count.is_unknown()) batch = count;
  }
  c.out_shape(0, {batch, total});
}

/// One value for all features, or one for each.
void check_per_feature(const InferContext& c, std::size_t count, std::string_view what) {
  if (count > 1 && !may_equal(c.dim(0, -1), static_cast<std::int64_t>(count)))
    c.fail(std::string(what) + " has " + std::to_string(count) + " values for " + c.dim(0, -1).str() + " features");
}

void infer_imputer(InferContext& c) {
  if (const auto* floats = c.node().attributes.get<Floats>("imputed_value_floats"))
    check_per_feature(c, floats->size(), "attribute 'imputed_value_floats'");
  if (const auto* ints = c.attr_ints("imputed_value_int64s"))
    check_per_feature(c, ints->size(), "attribute 'imputed_value_int64s'");
  c.out_shape_like(0, 0);
}

void infer_normalizer(InferContext& c) {
  const std::string norm = c.attr("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") c.fail("attribute 'norm' is '" + norm + "'");
  rows(c);
  c.out_shape_like(0, 0);
}

void infer_encoder(InferContext& c) {
  const auto* ints = c.attr_ints("cats_int64s");
  const auto* strings = c.node().attributes.get<std::vector<std::string>>("cats_strings");
  if ((ints != nullptr) == (strings != nullptr)) c.fail("just one of 'cats_int64s' and 'cats_strings' must be given");
  const Shape* x = c.shape(0);
  if (!x) return;
  Shape y = *x;
  y.push_back(static_cast<std::int64_t>(ints ? ints->size() : strings->size()));
  c.out_shape(0, std::move(y));
}

void infer_scaler(InferContext& c) {
  for (const char* name : {"offset", "scale"})
    if (const auto* values = c.node().attributes.get<Floats>(name)) check_per_feature(c, values->size(), name);
  c.out_shape_like(0, 0);
}

Values decompose_scaler(DecomposeContext& c) {
  if (c.elem(0) == DType::undefined) return {};
  // Doubles are scaled as such and rounded once.
  const DType elem = c.elem(0) == DType::f64 ? DType::f64 : DType::f32;
  Value* y = c.g.cast(c.in(0), elem);
  const auto list = [&](const char* name) -> Value* {
    const auto* values = c.node.attributes.get<Floats>(name);
    if (!values || values->empty()) return nullptr;
    return c.g.cast(c.g.constant(Tensor::of<float>({static_cast<std::int64_t>(values->size())}, *values)), elem);
  };
  if (Value* offset = list("offset")) y = c.g.sub(y, offset);
  if (Value* scale = list("scale")) y = c.g.mul(y, scale);
  return {c.g.cast(y, DType::f32)};
}

}  // namespace

constinit const OpDef defs::ArrayFeatureExtractor = {
    .name = "ArrayFeatureExtractor",
    .domain = "ai.onnx.ml",
    .infer = infer_extractor,
    .decompose = decompose_extractor,
    .kernel = run_feature_extractor,
};
constinit const OpDef defs::Binarizer = {
    .name = "Binarizer",
    .domain = "ai.onnx.ml",
    .infer = infer_same_shape,
    .decompose = decompose_binarizer,
    .kernel = run_binarizer,
};
constinit const OpDef defs::FeatureVectorizer = {
    .name = "FeatureVectorizer",
    .domain = "ai.onnx.ml",
    .infer = infer_vectorizer,
    .kernel = run_feature_vectorizer,
};
constinit const OpDef defs::Imputer = {
    .name = "Imputer",
    .domain = "ai.onnx.ml",
    .infer = infer_imputer,
    .kernel = run_imputer,
};
constinit const OpDef defs::Normalizer = {
    .name = "Normalizer",
    .domain = "ai.onnx.ml",
    .infer = infer_normalizer,
    .kernel = run_normalizer,
};
constinit const OpDef defs::OneHotEncoder = {
    .name = "OneHotEncoder",
    .domain = "ai.onnx.ml",
    .infer = infer_encoder,
    .kernel = run_one_hot_encoder,
};
constinit const OpDef defs::Scaler = {
    .name = "Scaler",
    .domain = "ai.onnx.ml",
    .infer = infer_scaler,
    .decompose = decompose_scaler,
    .kernel = run_scaler,
};

}  // namespace ingot::ops
