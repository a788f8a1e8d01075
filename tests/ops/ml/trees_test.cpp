// Trees of ai.onnx.ml, before and since version 5.
#include <gmock/gmock.h>

#include "ingot/passes/canonicalize.h"
#include "tests/ops/op_case.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Strings = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

constexpr const char* kDomain = "ai.onnx.ml";

/// x[0] <= 0.5 ? leaf 1 : (x[1] > 2 ? leaf 3 : leaf 4)
Attrs one_tree() {
  return {{"nodes_treeids", {0, 0, 0, 0, 0}},
          {"nodes_nodeids", {0, 1, 2, 3, 4}},
          {"nodes_featureids", {0, 0, 1, 0, 0}},
          {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}},
          {"nodes_values", Floats{0.5f, 0, 2, 0, 0}},
          {"nodes_truenodeids", {1, 0, 3, 0, 0}},
          {"nodes_falsenodeids", {2, 0, 4, 0, 0}},
          {"nodes_missing_value_tracks_true", {0, 0, 1, 0, 0}}};
}

Attrs regressor(const Attrs& more = {}) {
  Attrs attrs = one_tree();
  attrs.push_back({"target_treeids", {0, 0, 0}});
  attrs.push_back({"target_nodeids", {1, 3, 4}});
  attrs.push_back({"target_ids", {0, 0, 0}});
  attrs.push_back({"target_weights", Floats{10, 20, 30}});
  attrs.push_back({"n_targets", 1});
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

Attrs classifier(const Attrs& more, const Floats& weights = {1, 2, -3}) {
  Attrs attrs = one_tree();
  attrs.push_back({"class_treeids", {0, 0, 0}});
  attrs.push_back({"class_nodeids", {1, 3, 4}});
  attrs.push_back({"class_weights", weights});
  attrs.insert(attrs.end(), more.begin(), more.end());
  return attrs;
}

TEST(TreeEnsembleRegressor, BecomesTreeEnsemble) {
  OpCase c(3, kDomain);
  c.op("TreeEnsembleRegressor", {c.in("float[N,2]")}, regressor({{"base_values", Floats{5}}}));
  c.convert(5);
  EXPECT_EQ(c.nodes(), "TreeEnsemble Add");
  const Attributes& a = c.node("TreeEnsemble").attributes;
  EXPECT_THAT(a.get<Tensor>("nodes_splits")->to_doubles(), ElementsAre(0.5, 2));
  EXPECT_THAT(a.get<Tensor>("nodes_modes")->to_ints(), ElementsAre(0, 3));
  EXPECT_THAT(*a.get<Ints>("nodes_trueleafs"), ElementsAre(1, 1));
  EXPECT_THAT(*a.get<Ints>("nodes_falseleafs"), ElementsAre(0, 1));
  EXPECT_THAT(*a.get<Ints>("nodes_falsenodeids"), ElementsAre(1, 2));
  EXPECT_THAT(*a.get<Ints>("nodes_missing_value_tracks_true"), ElementsAre(0, 1));
  EXPECT_THAT(a.get<Tensor>("leaf_weights")->to_doubles(), ElementsAre(10, 20, 30));
  EXPECT_THAT(*a.get<Ints>("tree_roots"), ElementsAre(0));
  EXPECT_EQ(c.type(), "float[N,1]");
}

TEST(TreeEnsembleRegressor, ComesBack) {
  OpCase c(3, kDomain);
  c.op("TreeEnsembleRegressor", {c.in("float[N,2]")}, regressor({{"aggregate_function", "MAX"}}));
  c.convert(5);
  c.convert(3);
  EXPECT_EQ(c.nodes(), "TreeEnsembleRegressor");
  const Attributes& a = c.node("TreeEnsembleRegressor").attributes;
  EXPECT_THAT(*a.get<Strings>("nodes_modes"), ElementsAre("BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF"));
  EXPECT_THAT(*a.get<Floats>("target_weights"), ElementsAre(10, 20, 30));
  EXPECT_EQ(a.string_or("aggregate_function", ""), "MAX");
}

TEST(TreeEnsembleRegressor, KeepsDoubles) {
  OpCase c(3, kDomain);
  c.op("TreeEnsembleRegressor", {c.in("double[N,2]")}, regressor());
  c.convert(5);
  EXPECT_EQ(c.nodes(), "TreeEnsemble Cast");
  EXPECT_EQ(c.node("TreeEnsemble").attributes.get<Tensor>("nodes_splits")->dtype(), DType::f64);
  EXPECT_EQ(c.type(), "float[N,1]");
}

// What a step of ai.onnx.ml writes is not in the words of the oldest operators: Cast named its type by a text.
TEST(TreeEnsembleRegressor, IsReadBesideTheOldestOperators) {
  OpCase c(1, kDomain);
  c.model.opsets.set("", 3);
  c.op("TreeEnsembleRegressor", {c.in("double[N,2]")}, regressor());
  passes::canonicalize(c.model);
  EXPECT_EQ(c.nodes(), "TreeEnsemble Cast");
}

TEST(TreeEnsembleRegressor, RepeatsTreesForSeveralTargets) {
  OpCase c(3, kDomain);
  Attrs attrs = one_tree();
  attrs.push_back({"target_treeids", {0, 0, 0, 0}});
  attrs.push_back({"target_nodeids", {1, 1, 3, 4}});
  attrs.push_back({"target_ids", {0, 1, 0, 1}});
  attrs.push_back({"target_weights", Floats{1, 2, 3, 4}});
  attrs.push_back({"n_targets", 2});
  c.op("TreeEnsembleRegressor", {c.in("float[N,2]")}, attrs);
  c.convert(5);
  const Attributes& a = c.node("TreeEnsemble").attributes;
  EXPECT_EQ(a.get<Ints>("tree_roots")->size(), 2u);
  EXPECT_THAT(*a.get<Ints>("leaf_targetids"), ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_THAT(a.get<Tensor>("leaf_weights")->to_doubles(), ElementsAre(1, 3, 4, 2, 0, 0));
  EXPECT_EQ(c.type(), "float[N,2]");
}

TEST(TreeEnsembleRegressor, RefusesWhatFormsNoTree) {
  const auto convert = [](std::string_view name, Ints values) {
    OpCase c(3, kDomain);
    Attrs attrs;
    for (const Attr& attr : regressor()) attrs.push_back(attr.name == name ? Attr(name, values) : attr);
    c.op("TreeEnsembleRegressor", {c.in("float[N,2]")}, attrs);
    return refusal([&] { c.convert(5); });
  };
  EXPECT_THAT(convert("nodes_truenodeids", {9, 0, 3, 0, 0}), HasSubstr("does not exist"));
  EXPECT_THAT(convert("nodes_truenodeids", {1, 0, 0, 0, 0}), HasSubstr("no trees"));
  EXPECT_THAT(convert("nodes_truenodeids", {2, 0, 3, 0, 0}), HasSubstr("no trees"));
  EXPECT_THAT(convert("nodes_truenodeids", {1}), HasSubstr("length"));
  EXPECT_THAT(convert("nodes_nodeids", {0, 0, 2, 3, 4}), HasSubstr("twice"));
  EXPECT_THAT(convert("target_ids", {0, 0, 1}), HasSubstr("target"));
  EXPECT_THAT(convert("target_ids", {0, 0, -1}), HasSubstr("negative"));
}

TEST(TreeEnsembleClassifier, BecomesEnsembleArgMaxAndLabels) {
  OpCase c(3, kDomain);
  c.ops("TreeEnsembleClassifier", {c.in("float[N,2]")},
        classifier(
            {{"class_ids", {0, 1, 2}}, {"classlabels_strings", Strings{"a", "b", "c"}}, {"post_transform", "SOFTMAX"}},
            {1, 2, 3}),
        2);
  c.convert(5);
  EXPECT_EQ(c.nodes(), "TreeEnsemble ArgMax LabelEncoder Softmax");
  EXPECT_EQ(c.node("TreeEnsemble").attributes.int_or("post_transform", 0), 0);
  EXPECT_EQ(c.type(0), "string[N]");
  EXPECT_EQ(c.type(1), "float[N,3]");
}

TEST(TreeEnsembleClassifier, MakesTwoScoresOfOne) {
  OpCase c(3, kDomain);
  c.ops("TreeEnsembleClassifier", {c.in("float[N,2]")},
        classifier({{"class_ids", {0, 0, 0}}, {"classlabels_int64s", {0, 1}}, {"post_transform", "LOGISTIC"}}), 2);
  c.convert(5);
  EXPECT_EQ(c.nodes(), "TreeEnsemble Neg Concat ArgMax LabelEncoder Sigmoid");
  EXPECT_EQ(c.type(0), "int64[N]");
  EXPECT_EQ(c.type(1), "float[N,2]");
}

TEST(TreeEnsembleClassifier, RefusesNegativeWeightsOfClassesThatSomeLeavesLeaveOut) {
  OpCase c(3, kDomain);
  c.ops("TreeEnsembleClassifier", {c.in("float[N,2]")},
        classifier({{"class_ids", {0, 1, 2}}, {"classlabels_strings", Strings{"a", "b", "c"}}}), 2);
  EXPECT_THAT(refusal([&] { c.convert(5); }), HasSubstr("not every class has a weight in all leaves"));
}

TEST(TreeEnsembleClassifier, RefusesLabelsThatDoNotFollowFromTheScores) {
  OpCase c(3, kDomain);
  c.ops("TreeEnsembleClassifier", {c.in("float[N,2]")},
        classifier({{"class_ids", {0, 0, 0}}, {"classlabels_int64s", {0, 1}}, {"post_transform", "NONE"}}), 2);
  EXPECT_THAT(refusal([&] { c.convert(5); }), HasSubstr("does not follow from the scores"));
}

}  // namespace
}  // namespace ingot::test
