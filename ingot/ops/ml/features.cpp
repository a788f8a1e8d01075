// ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler: features prepared
// one by one.
#include <algorithm>
#include <cmath>

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

/// All inputs side by side; the first features of those that have more than are stated.
Values decompose_vectorizer(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto sizes = c.node.attributes.ints_or("inputdimensions", {});
  if (!sizes.empty() && sizes.size() != c.node.input_count()) return {};
  Values parts;
  for (std::size_t i = 0; i < c.node.input_count(); ++i) {
    const auto rank = c.rank(i);
    if (!rank || *rank < 1 || c.elem(i) == DType::undefined) return {};
    Value* x = g.cast(c.in(i), DType::f32);
    x = *rank == 1 ? g.unsqueeze(x, {0}) : *rank > 2 ? g.op("Flatten", {x}, {{"axis", 1}}) : x;
    const Dim width = x->type.shape ? (*x->type.shape)[1] : Dim();
    if (!sizes.empty() && !same(width, sizes[i])) {
      if (!width.is_known() || width.value() < sizes[i] || sizes[i] < 0) return {};
      Value *begin = g.ints({0}), *end = g.ints({sizes[i]}), *along = g.ints({1});
      x = g.op("Slice", {x, begin, end, along});
    }
    parts.push_back(x);
  }
  return {g.concat(parts, 1)};
}

Values decompose_imputer(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const DType elem = c.elem(0);
  const auto* floats = c.node.attributes.get<Floats>("imputed_value_floats");
  const auto ints = c.node.attributes.ints_or("imputed_value_int64s", {});
  Value *gap = nullptr, *filling = nullptr;
  if (is_integer(elem)) {
    if (ints.empty()) return {};
    gap = g.cast(g.index(c.attr("replaced_value_int64", std::int64_t{0})), elem);
    filling = g.cast(g.ints(ints), elem);
  } else {
    if (!floats || floats->empty() || (elem != DType::f32 && elem != DType::f64)) return {};
    gap = g.scalar(static_cast<double>(c.attr("replaced_value_float", 0.0f)), elem);
    filling = g.cast(g.constant(Tensor::of<float>({static_cast<std::int64_t>(floats->size())}, *floats)), elem);
  }
  const bool is_nan = !is_integer(elem) && std::isnan(c.attr("replaced_value_float", 0.0f));
  Value* is_gap = is_nan ? g.op("IsNaN", {c.in(0)}) : g.op("Equal", {c.in(0), gap});
  return {g.where(is_gap, filling, c.in(0))};
}

/// Rows whose norm is 0 stay as they are.
Values decompose_normalizer(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::string norm = c.attr("norm", "MAX");
  const auto rank = c.rank(0);
  if (!rank || *rank < 1 || *rank > 2 || c.elem(0) == DType::undefined) return {};
  Value* x = g.cast(c.in(0), DType::f32);
  Value* axes = g.ints({*rank - 1});
  Value* size = norm == "MAX"  ? g.op("ReduceMax", {g.op("Abs", {x}), axes})
                : norm == "L1" ? g.op("ReduceL1", {x, axes})
                               : g.op("ReduceL2", {x, axes});
  Value *zero = g.scalar(0, DType::f32), *one = g.scalar(1, DType::f32);
  Value* is_zero = g.op("Equal", {size, zero});
  return {g.div(x, g.where(is_zero, one, size))};
}

/// Elements that are none of the categories are zeros everywhere; without leave for that, only a kernel can refuse.
Values decompose_encoder(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto ints = c.node.attributes.ints_or("cats_int64s", {});
  const auto rank = c.rank(0);
  if (ints.empty() || !rank || c.elem(0) == DType::undefined || c.elem(0) == DType::string) return {};
  if (c.attr("zeros", std::int64_t{1}) == 0) return {};
  std::vector<std::int64_t> sorted = ints;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return {};
  Value* x = g.unsqueeze(g.cast(c.in(0), DType::i64), {*rank});
  return {g.cast(g.op("Equal", {x, g.ints(ints)}), DType::f32)};
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
    .decompose = decompose_vectorizer,
    .kernel = run_feature_vectorizer,
};
constinit const OpDef defs::Imputer = {
    .name = "Imputer",
    .domain = "ai.onnx.ml",
    .infer = infer_imputer,
    .decompose = decompose_imputer,
    .kernel = run_imputer,
};
constinit const OpDef defs::Normalizer = {
    .name = "Normalizer",
    .domain = "ai.onnx.ml",
    .infer = infer_normalizer,
    .decompose = decompose_normalizer,
    .kernel = run_normalizer,
};
constinit const OpDef defs::OneHotEncoder = {
    .name = "OneHotEncoder",
    .domain = "ai.onnx.ml",
    .infer = infer_encoder,
    .decompose = decompose_encoder,
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
