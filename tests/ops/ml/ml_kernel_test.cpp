// Operators of ai.onnx.ml at run time.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

std::vector<Datum> run_ml(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs,
                          std::size_t outputs = 1) {
  return run_ops(op, inputs, attrs, outputs, "ai.onnx.ml");
}
Array first(const std::vector<Datum>& outputs) { return *outputs.front().array(); }

TEST(ArrayFeatureExtractor, PicksColumns) {
  const Array x = Array::of<std::string>({2, 3}, {"a", "b", "c", "d", "e", "f"});
  EXPECT_THAT(values<std::string>(first(run_ml("ArrayFeatureExtractor", {x, ints({2, 0})}, {}))),
              ElementsAre("c", "a", "f", "d"));
  EXPECT_EQ(first(run_ml("ArrayFeatureExtractor", {floats({1, 2}), ints({1})}, {})).dims(), (Dims{1, 1}));
  EXPECT_REFUSED(Code::execution_failed, run_ml("ArrayFeatureExtractor", {x, ints({3})}, {}));
  EXPECT_REFUSED(Code::execution_failed, run_ml("ArrayFeatureExtractor", {x, ints({-1})}, {}));
}

TEST(Binarizer, ComparesWithTheThreshold) {
  EXPECT_THAT(values<float>(first(run_ml("Binarizer", {floats({0.5f, 1, 2})}, {{"threshold", 1.0}}))),
              ElementsAre(0, 0, 1));
}

TEST(CategoryMapper, MapsBothWays) {
  const Attrs attrs = {{"cats_strings", Strings{"a", "b"}}, {"cats_int64s", {7, 8}}, {"default_string", "none"}};
  EXPECT_THAT(values<std::int64_t>(first(run_ml("CategoryMapper", {Array::of<std::string>({2}, {"b", "?"})}, attrs))),
              ElementsAre(8, -1));
  EXPECT_THAT(values<std::string>(first(run_ml("CategoryMapper", {ints({7, 9})}, attrs))), ElementsAre("a", "none"));
}

TEST(LabelEncoder, LooksUpEveryTypeOfKey) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(values<std::int64_t>(first(run_ml("LabelEncoder", {floats({nan, 1, 2})},
                                                {{"keys_floats", Floats{nan, 1}}, {"values_int64s", {5, 6}}}))),
              ElementsAre(5, 6, -1));
  const Array x = Array::of<std::int16_t>({2}, {3, 4});
  const Tensor keys = Tensor::of<std::int16_t>({1}, {3}), made = Tensor::of<double>({1}, {0.5}),
               other = Tensor::of<double>({1}, {9});
  EXPECT_THAT(values<double>(first(run_ml(
                  "LabelEncoder", {x}, {{"keys_tensor", keys}, {"values_tensor", made}, {"default_tensor", other}}))),
              ElementsAre(0.5, 9));
}

TEST(FeatureVectorizer, CutsAndFillsToTheStatedSizes) {
  const Array x = floats({2, 2}, {1, 2, 3, 4}), y = Array::of<std::int64_t>({2, 1}, {5, 6});
  EXPECT_THAT(values<float>(first(run_ml("FeatureVectorizer", {x, y}, {{"inputdimensions", {1, 2}}}))),
              ElementsAre(1, 5, 0, 3, 6, 0));
}

TEST(FeatureVectorizer, TakesExamplesOfAnyRank) {
  const Array x = floats({2, 1, 2}, {1, 2, 3, 4}), y = floats({2, 1}, {5, 6});
  EXPECT_THAT(values<float>(first(run_ml("FeatureVectorizer", {x, y}, {}))), ElementsAre(1, 2, 5, 3, 4, 6));
}

TEST(Imputer, ReplacesNaNAndNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(values<float>(first(run_ml("Imputer", {floats({2, 2}, {nan, 1, 2, nan})},
                                         {{"imputed_value_floats", Floats{7, 8}}, {"replaced_value_float", nan}}))),
              ElementsAre(7, 1, 2, 8));
  EXPECT_THAT(values<std::int64_t>(first(run_ml("Imputer", {Array::of<std::int64_t>({1, 2}, {0, 5})},
                                                {{"imputed_value_int64s", {9}}, {"replaced_value_int64", 0}}))),
              ElementsAre(9, 5));
}

TEST(Normalizer, DividesByTheNorm) {
  const Array x = floats({2, 2}, {3, -4, 0, 0});
  const auto run = [&](const char* norm) { return values<float>(first(run_ml("Normalizer", {x}, {{"norm", norm}}))); };
  EXPECT_THAT(run("MAX"), ElementsAre(0.75f, -1, 0, 0));
  EXPECT_THAT(run("L1"), ElementsAre(FloatEq(3.0f / 7), FloatEq(-4.0f / 7), 0, 0));
  EXPECT_THAT(run("L2"), ElementsAre(FloatEq(0.6f), FloatEq(-0.8f), 0, 0));
}

TEST(OneHotEncoder, MarksCategories) {
  const Attrs attrs = {{"cats_int64s", {3, 5}}};
  const Array y = first(run_ml("OneHotEncoder", {ints({5, 4})}, attrs));
  EXPECT_EQ(y.dims(), (Dims{2, 2}));
  EXPECT_THAT(values<float>(y), ElementsAre(0, 1, 0, 0));
  EXPECT_REFUSED(Code::execution_failed, run_ml("OneHotEncoder", {ints({4})}, {{"cats_int64s", {3}}, {"zeros", 0}}));
  EXPECT_THAT(values<float>(first(run_ml("OneHotEncoder", {Array::of<std::string>({1}, {"b"})},
                                         {{"cats_strings", Strings{"a", "b"}}}))),
              ElementsAre(0, 1));
}

TEST(Scaler, ShiftsAndScalesIntegersToo) {
  EXPECT_THAT(values<float>(first(run_ml("Scaler", {Array::of<std::int64_t>({1, 2}, {3, 5})},
                                         {{"offset", Floats{1, 2}}, {"scale", Floats{0.5f}}}))),
              ElementsAre(1, 1.5f));
}

TEST(LinearRegressor, AddsUpAndTransforms) {
  const Array x = floats({1, 2}, {1, 2});
  Attrs attrs = {{"coefficients", Floats{1, 2, 3, 4}}, {"targets", 2}};
  EXPECT_THAT(values<float>(first(run_ml("LinearRegressor", {x}, attrs))), ElementsAre(5, 11));
  attrs.emplace_back("intercepts", Floats{-5, -11});
  attrs.emplace_back("post_transform", "LOGISTIC");
  EXPECT_THAT(values<float>(first(run_ml("LinearRegressor", {x}, attrs))), ElementsAre(0.5f, 0.5f));
}

TEST(PostTransform, HasItsFormulas) {
  const auto run = [](const Floats& scores, const char* transform) {
    return values<float>(first(run_ml("LinearRegressor", {floats({1, 1}, {1})},
                                      {{"coefficients", scores},
                                       {"targets", static_cast<std::int64_t>(scores.size())},
                                       {"post_transform", transform}})));
  };
  EXPECT_THAT(run({0, 0}, "SOFTMAX"), ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(run({0, 1, 1}, "SOFTMAX_ZERO"), ElementsAre(0, 0.5f, 0.5f));
  // By Winitzki's approximation, as ONNX Runtime has it; exactly it would be 1.959964 and -4.753424.
  EXPECT_THAT(run({0.5f, 0.975f, 1e-6f, 0, 1}, "PROBIT"),
              ElementsAre(FloatNear(0, 1e-7f), FloatNear(1.959049f, 1e-5f), FloatNear(-4.747652f, 1e-5f),
                          -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()));
}

TEST(LinearClassifier, LabelsTheHighestScore) {
  const auto y = run_ml("LinearClassifier", {floats({2, 1}, {1, -1})},
                        {{"coefficients", Floats{1, 0, -1}},
                         {"intercepts", Floats{0, 0, 0}},
                         {"classlabels_strings", Strings{"a", "b", "c"}}},
                        2);
  EXPECT_THAT(values<std::string>(first(y)), ElementsAre("a", "c"));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(1, 0, -1, -1, 0, 1));
}

TEST(LinearClassifier, MakesTwoScoresOfOne) {
  const auto y = run_ml("LinearClassifier", {floats({2, 1}, {0.25f, -1})},
                        {{"coefficients", Floats{1}}, {"intercepts", Floats{0}}, {"classlabels_ints", {4, 9}}}, 2);
  EXPECT_THAT(values<std::int64_t>(first(y)), ElementsAre(9, 4));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(0.75f, 0.25f, 2, -1));
}

Attrs two_class_svm() {
  return {{"coefficients", Floats{1, -1}},
          {"support_vectors", Floats{1, -1}},
          {"vectors_per_class", {1, 1}},
          {"rho", Floats{0}},
          {"classlabels_ints", {0, 1}}};
}

TEST(SVMClassifier, LetsPairsVote) {
  const auto y = run_ml("SVMClassifier", {floats({2, 1}, {2, -3})}, two_class_svm(), 2);
  // 1 * (x * 1) - 1 * (x * -1) = 2x: above 0 the first class wins.
  EXPECT_THAT(values<std::int64_t>(first(y)), ElementsAre(0, 1));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(-4, 4, 6, -6));
}

TEST(SVMClassifier, EstimatesProbabilities) {
  Attrs attrs = two_class_svm();
  attrs.emplace_back("prob_a", Floats{-1});
  attrs.emplace_back("prob_b", Floats{0});
  const auto y = run_ml("SVMClassifier", {floats({1, 1}, {1})}, attrs, 2);
  const float p = 1 / (1 + std::exp(-2.0f));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(FloatNear(p, 5e-3f), FloatNear(1 - p, 5e-3f)));
}

TEST(SVMClassifier, GivesOneScorePerPairOfThreeClasses) {
  const auto y = run_ml("SVMClassifier", {floats({1, 1}, {1})},
                        {{"coefficients", Floats{1, 2, 3, 4, 5, 6}},
                         {"support_vectors", Floats{1, 1, 1}},
                         {"vectors_per_class", {1, 1, 1}},
                         {"rho", Floats{0, 0, -20}},
                         {"classlabels_strings", Strings{"a", "b", "c"}}},
                        2);
  // a-b: c[0][a] + c[0][b]; a-c: c[1][a] + c[0][c]; b-c: c[1][b] + c[1][c] - 20
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(3, 7, -9));
  EXPECT_THAT(values<std::string>(first(y)), ElementsAre("a"));
}

TEST(SVMRegressor, KnowsAllKernels) {
  const auto run = [](const char* kernel, int one_class = 0) {
    return values<float>(first(run_ml("SVMRegressor", {floats({1, 2}, {1, 2})},
                                      {{"coefficients", Floats{2}},
                                       {"support_vectors", Floats{1, 1}},
                                       {"n_supports", 1},
                                       {"rho", Floats{-1}},
                                       {"kernel_type", kernel},
                                       {"one_class", one_class},
                                       {"kernel_params", Floats{0.5f, 1, 2}}})))[0];
  };
  EXPECT_FLOAT_EQ(run("LINEAR"), 5);
  EXPECT_FLOAT_EQ(run("POLY"), 2 * 6.25f - 1);
  EXPECT_FLOAT_EQ(run("RBF"), 2 * std::exp(-0.5f) - 1);
  EXPECT_FLOAT_EQ(run("SIGMOID"), 2 * std::tanh(2.5f) - 1);
  EXPECT_FLOAT_EQ(run("RBF", 1), 1);
}

TEST(ZipMap, MakesAMapPerRow) {
  const auto y = run_ml("ZipMap", {floats({2, 2}, {1, 2, 3, 4})}, {{"classlabels_strings", Strings{"b", "a"}}});
  const Sequence& maps = *y[0].sequence();
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_THAT(maps[1].map()->string_keys, ElementsAre("a", "b"));
  EXPECT_THAT(values<float>(maps[1].map()->values), ElementsAre(4, 3));
}

TEST(DictVectorizer, OrdersByVocabulary) {
  const MapData map{{}, {"a", "c"}, floats({1, 2})};
  EXPECT_THAT(values<float>(first(run_ml("DictVectorizer", {map}, {{"string_vocabulary", Strings{"c", "b", "a"}}}))),
              ElementsAre(2, 0, 1));
}

TEST(CastMap, PlacesValuesByKey) {
  const MapData map{{1, 3}, {}, Array::of<std::string>({2}, {"1.5", "2"})};
  EXPECT_THAT(values<float>(first(run_ml("CastMap", {map}, {}))), ElementsAre(1.5f, 2));
  EXPECT_THAT(values<std::int64_t>(
                  first(run_ml("CastMap", {map}, {{"map_form", "SPARSE"}, {"max_map", 4}, {"cast_to", "TO_INT64"}}))),
              ElementsAre(0, 1, 0, 2));
}

/// x[0] <= 0.5 ? 10 : (x[0] in {2, 3} ? 20 : 30)
Attrs one_tree() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {{"nodes_splits", Tensor::of<float>({2}, {0.5f, 0})},
          {"nodes_modes", Tensor::of<std::uint8_t>({2}, {0, 6})},
          {"nodes_featureids", {0, 0}},
          {"nodes_truenodeids", {0, 1}},
          {"nodes_falsenodeids", {1, 2}},
          {"nodes_trueleafs", {1, 1}},
          {"nodes_falseleafs", {0, 1}},
          {"membership_values", Tensor::of<float>({3}, {2, 3, nan})},
          {"leaf_targetids", {0, 0, 0}},
          {"leaf_weights", Tensor::of<float>({3}, {10, 20, 30})},
          {"tree_roots", {0}},
          {"n_targets", 1}};
}

TEST(TreeEnsembleKernel, TestsForMembership) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(values<float>(first(run_ml("TreeEnsemble", {floats({4, 1}, {0, 3, 4, nan})}, one_tree()))),
              ElementsAre(10, 20, 30, 30));
}

TEST(TreeEnsembleKernel, AggregatesAndTransforms) {
  const auto run = [](int aggregate) {
    Attrs attrs = one_tree();
    std::erase_if(attrs, [](const Attr& a) { return a.name == "tree_roots"; });
    attrs.emplace_back("tree_roots", std::vector<std::int64_t>{0, 1});
    attrs.emplace_back("aggregate_function", aggregate);
    return values<float>(first(run_ml("TreeEnsemble", {floats({1, 1}, {0})}, attrs)))[0];
  };
  EXPECT_EQ(run(0), 20);
  EXPECT_EQ(run(1), 40);
  EXPECT_EQ(run(2), 10);
  EXPECT_EQ(run(3), 30);
}

TEST(TreeEnsembleKernel, RefusesCirclesAndMissingFeatures) {
  Attrs attrs = one_tree();
  std::erase_if(attrs, [](const Attr& a) { return a.name == "nodes_falsenodeids"; });
  attrs.emplace_back("nodes_falsenodeids", std::vector<std::int64_t>{0, 2});
  EXPECT_REFUSED(Code::execution_failed, run_ml("TreeEnsemble", {floats({1, 1}, {1})}, attrs));
  EXPECT_REFUSED(Code::execution_failed, run_ml("TreeEnsemble", {floats({1, 0}, {})}, one_tree()));
}

Attrs old_tree() {
  return {{"nodes_treeids", {0, 0, 0}},      {"nodes_nodeids", {0, 1, 2}},
          {"nodes_featureids", {0, 0, 0}},   {"nodes_modes", Strings{"BRANCH_LT", "LEAF", "LEAF"}},
          {"nodes_values", Floats{1, 0, 0}}, {"nodes_truenodeids", {1, 0, 0}},
          {"nodes_falsenodeids", {2, 0, 0}}};
}

std::vector<Datum> run_old(std::string_view op, const Attrs& more, const Array& x, std::size_t outputs) {
  Attrs attrs = old_tree();
  attrs.insert(attrs.end(), more.begin(), more.end());
  OpCase c(3, "ai.onnx.ml");
  c.ops(op, {c.in("float[N,1]")}, attrs, outputs);
  return c.run({x});
}

TEST(TreeEnsembleRegressorKernel, AddsBaseValues) {
  const Attrs attrs = {{"target_treeids", {0, 0}}, {"target_nodeids", {1, 2}},   {"target_ids", {0, 0}},
                       {"n_targets", 1},           {"base_values", Floats{100}}, {"target_weights", Floats{1, 2}}};
  EXPECT_THAT(values<float>(first(run_old("TreeEnsembleRegressor", attrs, floats({2, 1}, {0, 1}), 1))),
              ElementsAre(101, 102));
}

Attrs votes(const Floats& weights, const char* transform) {
  return {{"class_treeids", {0, 0}},  {"class_nodeids", {1, 2}},      {"class_ids", {0, 0}},
          {"class_weights", weights}, {"classlabels_int64s", {5, 6}}, {"post_transform", transform}};
}

TEST(TreeEnsembleClassifierKernel, MakesTwoScoresOfOne) {
  const Array x = floats({2, 1}, {0, 1});
  auto y = run_old("TreeEnsembleClassifier", votes({0.25f, 0.75f}, "NONE"), x, 2);
  EXPECT_THAT(values<std::int64_t>(first(y)), ElementsAre(5, 6));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(0.75f, 0.25f, 0.25f, 0.75f));
  y = run_old("TreeEnsembleClassifier", votes({-1, 1}, "LOGISTIC"), x, 2);
  EXPECT_THAT(values<std::int64_t>(first(y)), ElementsAre(5, 6));
  const float p = 1 / (1 + std::exp(-1.0f));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(FloatEq(p), FloatEq(1 - p), FloatEq(1 - p), FloatEq(p)));
}

TEST(TreeEnsembleClassifierKernel, RunsWhatTreeEnsembleCannotSay) {
  const auto y = run_old("TreeEnsembleClassifier", votes({-1, 1}, "NONE"), floats({2, 1}, {0, 1}), 2);
  EXPECT_THAT(values<std::int64_t>(first(y)), ElementsAre(5, 6));
  EXPECT_THAT(values<float>(*y[1].array()), ElementsAre(1, -1, -1, 1));
}

}  // namespace
}  // namespace ingot::test
