// Random models of each operator of ai.onnx.ml that scores: ONNX Runtime decides what the specification leaves open.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/writer.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

constexpr std::int64_t kFeatures = 3, kRows = 6;
constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool chance(double p) { return real(0, 1) < static_cast<float>(p); }
  float real(float least, float most) {
    return least + (most - least) * static_cast<float>(engine_() % 65536) / 65536.0f;
  }
  Floats reals(std::size_t count, float least = -1) {
    Floats values(count);
    for (float& v : values) v = real(least, 1);
    return values;
  }

 private:
  std::mt19937 engine_;
};

struct Case {
  Model model;
  std::string text;             // what was drawn, for messages
  bool compares_labels = true;  // ONNX Runtime gives labels of the model
  bool compares_last = true;    // ONNX Runtime writes the last score of a row
};

/// A model of one node.
Model model_of(const std::string& op, Attrs attrs, bool has_label, bool has_strings) {
  Model model;
  model.ir_version = 8;
  model.opsets.set("", 17);
  model.opsets.set("ai.onnx.ml", 3);
  Graph& graph = *model.graph;
  graph.name = "g";
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), kFeatures}));
  Node* node = GraphBuilder(graph, nullptr, false).node(op, "ai.onnx.ml", {x}, attrs, has_label ? 2 : 1);
  const auto declare = [&](std::size_t i, const char* name, Type type) {
    graph.rename(node->output(i), name);
    node->output(i)->type = std::move(type);
    node->output(i)->is_declared = true;
    graph.add_output(node->output(i));
  };
  const Shape scores = {Dim::symbol("N"), Dim::symbol("M")};
  if (has_label) declare(0, "label", Type::tensor(has_strings ? DType::string : DType::i64, Shape{Dim::symbol("N")}));
  declare(has_label ? 1 : 0, "scores", Type::tensor(DType::f32, scores));
  return model;
}

/// Trees with weights for some of the classes or targets.
class Trees {
 public:
  Trees(Draw& draw, std::string prefix, Ints ids, bool has_negative)
      : draw_(draw), prefix_(std::move(prefix)), ids_(std::move(ids)), least_(has_negative ? -1.0f : 0.01f) {
    votes_for_all_ = draw.chance(0.5);
    constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT"};
    mode_ = kModes[draw.below(3)];
    const std::size_t trees = 1 + draw.below(3);
    for (std::size_t t = 0; t < trees; ++t) {
      next_ = 0;
      add(static_cast<std::int64_t>(t), 1 + draw.below(3));
    }
  }
  Attrs attributes() const {
    return {{"nodes_treeids", trees_},
            {"nodes_nodeids", nodes_},
            {"nodes_featureids", features_},
            {"nodes_values", splits_},
            {"nodes_modes", modes_},
            {"nodes_truenodeids", yes_},
            {"nodes_falsenodeids", no_},
            {prefixed("_treeids"), vote_trees_},
            {prefixed("_nodeids"), vote_nodes_},
            {prefixed("_ids"), vote_ids_},
            {prefixed("_weights"), weights_}};
  }

 private:
  std::string_view prefixed(const char* name) const {
    return names_.emplace(name, prefix_ + name).first->second;  // attributes keep views of their names
  }

  std::int64_t add(std::int64_t tree, std::size_t depth) {
    const std::int64_t id = next_++;
    const std::size_t at = trees_.size();
    trees_.push_back(tree);
    nodes_.push_back(id);
    features_.push_back(static_cast<std::int64_t>(draw_.below(kFeatures)));
    splits_.push_back(draw_.real(-1, 1));
    modes_.emplace_back(depth == 0 || draw_.chance(0.2) ? "LEAF" : mode_);
    yes_.push_back(0);
    no_.push_back(0);
    if (modes_[at] == "LEAF") {
      vote(tree, id);
    } else {
      const std::int64_t yes = add(tree, depth - 1);
      yes_[at] = yes;
      const std::int64_t no = add(tree, depth - 1);
      no_[at] = no;
    }
    return id;
  }

  void vote(std::int64_t tree, std::int64_t node) {
    const Ints voted = votes_for_all_ ? ids_ : Ints{ids_[draw_.below(ids_.size())]};
    for (const std::int64_t id : voted) {
      vote_trees_.push_back(tree);
      vote_nodes_.push_back(node);
      vote_ids_.push_back(id);
      weights_.push_back(draw_.real(least_, 1));
    }
  }

  Draw& draw_;
  std::string prefix_, mode_;
  mutable std::map<std::string, std::string> names_;
  Ints ids_;
  float least_;
  bool votes_for_all_ = false;
  std::int64_t next_ = 0;
  Ints trees_, nodes_, features_, yes_, no_, vote_trees_, vote_nodes_, vote_ids_;
  Floats splits_, weights_;
  Strings modes_;
};

void add_labels(Attrs& attrs, std::size_t count, bool has_strings, const char* strings, const char* ints) {
  Strings names;
  Ints numbers;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back("k" + std::to_string(i));
    numbers.push_back(static_cast<std::int64_t>(10 + 5 * i));
  }
  if (has_strings)
    attrs.emplace_back(strings, names);
  else
    attrs.emplace_back(ints, numbers);
}

/// Of two labels only one has weights: with weights for both ONNX Runtime gives 0 and 1 for labels, whatever they are
/// called, and with base values takes the scores of one class for those of the other, while the specification says what
/// the label and the scores are.
Case tree_classifier(Draw& draw) {
  Case made;
  const std::size_t labels = 1 + draw.below(3);
  const bool has_strings = labels > 1 && draw.chance(0.3), has_negative = draw.chance(0.5);
  const std::size_t first = draw.below(labels);
  Ints ids;
  for (std::size_t i = 0; i < labels; ++i)
    if (labels > 2 ? i == first || draw.chance(0.7) : i == first) ids.push_back(static_cast<std::int64_t>(i));
  const Trees trees(draw, "class", ids, has_negative);
  Attrs attrs = trees.attributes();
  add_labels(attrs, labels, has_strings, "classlabels_strings", "classlabels_int64s");
  const std::size_t bases = labels == 2 ? draw.below(3) : draw.chance(0.5) ? labels : 0;
  if (bases) attrs.emplace_back("base_values", draw.reals(bases, 0));
  const std::size_t transform = draw.below(5);
  attrs.emplace_back("post_transform", kTransforms[transform]);
  made.compares_labels = labels > 1;  // of a single class ONNX Runtime gives 0 or 1
  made.compares_last = labels != 2 || transform != 4 || bases == 2 || ids[0] == 1;
  made.text = std::to_string(labels) + " labels, first class " + std::to_string(first) + ", " + kTransforms[transform] +
              (has_negative ? ", negative, " : ", ") + std::to_string(bases) + " base values";
  made.model = model_of("TreeEnsembleClassifier", attrs, true, has_strings);
  return made;
}

Case tree_regressor(Draw& draw) {
  Case made;
  const std::size_t targets = 1 + draw.below(3), first = draw.below(targets);
  Ints ids;
  for (std::size_t i = 0; i < targets; ++i)
    if (i == first || draw.chance(0.5)) ids.push_back(static_cast<std::int64_t>(i));
  const Trees trees(draw, "target", ids, draw.chance(0.5));
  Attrs attrs = trees.attributes();
  constexpr const char* kAggregates[] = {"SUM", "AVERAGE", "MIN", "MAX"};
  const std::size_t aggregate = draw.below(4), transform = draw.below(5);
  const bool has_base = draw.chance(0.5);
  attrs.emplace_back("n_targets", static_cast<std::int64_t>(targets));
  attrs.emplace_back("aggregate_function", kAggregates[aggregate]);
  attrs.emplace_back("post_transform", kTransforms[transform]);
  if (has_base) attrs.emplace_back("base_values", draw.reals(targets, 0));
  made.text = std::to_string(targets) + " targets, " + kAggregates[aggregate] + ", " + kTransforms[transform] +
              (has_base ? ", base values" : "");
  made.model = model_of("TreeEnsembleRegressor", attrs, false, false);
  return made;
}

void add_kernel(Attrs& attrs, Draw& draw) {
  constexpr const char* kKernels[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  attrs.emplace_back("kernel_type", kKernels[draw.below(4)]);
  attrs.emplace_back("kernel_params", Floats{0.5f, 0.25f, 2.0f});
}

Case svm_classifier(Draw& draw) {
  Case made;
  Attrs attrs;
  const std::size_t labels = 2 + draw.below(3), pairs = labels * (labels - 1) / 2, transform = draw.below(5);
  const bool has_strings = draw.chance(0.3), has_vectors = draw.chance(0.6);
  const float least = draw.chance(0.5) ? -1.0f : 0.01f;
  add_kernel(attrs, draw);
  bool has_probabilities = false;
  if (has_vectors) {
    Ints counts(labels);
    std::size_t all = 0;
    for (std::int64_t& count : counts)
      all += static_cast<std::size_t>(count = static_cast<std::int64_t>(1 + draw.below(3)));
    attrs.emplace_back("vectors_per_class", counts);
    attrs.emplace_back("support_vectors", draw.reals(all * kFeatures));
    attrs.emplace_back("coefficients", draw.reals((labels - 1) * all, least));
    attrs.emplace_back("rho", draw.reals(pairs));
    has_probabilities = draw.chance(0.4);
    if (has_probabilities) {
      attrs.emplace_back("prob_a", draw.reals(pairs));
      attrs.emplace_back("prob_b", draw.reals(pairs));
    }
  } else {
    attrs.emplace_back("coefficients", draw.reals(labels * kFeatures, least));
    attrs.emplace_back("rho", draw.reals(1));
  }
  add_labels(attrs, labels, has_strings, "classlabels_strings", "classlabels_ints");
  attrs.emplace_back("post_transform", kTransforms[transform]);
  made.compares_last = labels != 2 || !has_vectors || has_probabilities || transform != 4;
  made.text = std::to_string(labels) + " labels, " + kTransforms[transform] + (has_vectors ? ", vectors" : ", lines") +
              (has_probabilities ? ", probabilities" : "");
  made.model = model_of("SVMClassifier", attrs, true, has_strings);
  return made;
}

Case svm_regressor(Draw& draw) {
  Case made;
  Attrs attrs;
  const std::size_t vectors = draw.below(4), transform = draw.below(5);
  add_kernel(attrs, draw);
  attrs.emplace_back("n_supports", static_cast<std::int64_t>(vectors));
  if (vectors) attrs.emplace_back("support_vectors", draw.reals(vectors * kFeatures));
  attrs.emplace_back("coefficients", draw.reals(vectors ? vectors : kFeatures));
  attrs.emplace_back("rho", draw.reals(1));
  attrs.emplace_back("post_transform", kTransforms[transform]);
  made.text = std::to_string(vectors) + " vectors, " + kTransforms[transform];
  made.model = model_of("SVMRegressor", attrs, false, false);
  return made;
}

Case linear_classifier(Draw& draw) {
  Case made;
  Attrs attrs;
  const std::size_t scores = 1 + draw.below(3), labels = scores == 1 ? 2 : scores;
  // By PROBIT of a single score ONNX Runtime fills the first places of the output alone.
  const std::size_t transform = draw.below(scores == 1 ? 4 : 5);
  const bool has_strings = draw.chance(0.3);
  attrs.emplace_back("coefficients", draw.reals(scores * kFeatures));
  attrs.emplace_back("intercepts", draw.reals(scores));
  attrs.emplace_back("post_transform", kTransforms[transform]);
  add_labels(attrs, labels, has_strings, "classlabels_strings", "classlabels_ints");
  made.text = std::to_string(scores) + " scores, " + kTransforms[transform];
  made.model = model_of("LinearClassifier", attrs, true, has_strings);
  return made;
}

Case linear_regressor(Draw& draw) {
  Case made;
  Attrs attrs;
  const std::size_t targets = 1 + draw.below(3), transform = draw.below(5);
  attrs.emplace_back("coefficients", draw.reals(targets * kFeatures));
  attrs.emplace_back("targets", static_cast<std::int64_t>(targets));
  if (draw.chance(0.7)) attrs.emplace_back("intercepts", draw.reals(targets));
  attrs.emplace_back("post_transform", kTransforms[transform]);
  made.text = std::to_string(targets) + " targets, " + kTransforms[transform];
  made.model = model_of("LinearRegressor", attrs, false, false);
  return made;
}

/// Without the scores that ONNX Runtime does not write.
Datum without_last(const Datum& scores) {
  const Array& all = *scores.array();
  const auto columns = static_cast<std::size_t>(all.dims()[1]);
  std::vector<float> kept;
  for (std::size_t i = 0; i < all.data<float>().size(); ++i)
    if (i % columns != columns - 1) kept.push_back(all.data<float>()[i]);
  return Array::of<float>({static_cast<std::int64_t>(kept.size())}, kept);
}

std::string compare(const Case& one, const std::vector<engine::NamedDatum>& got,
                    const std::vector<engine::NamedDatum>& expected) {
  // ONNX Runtime computes in float, where PROBIT loses digits around 0.
  const verify::Tolerance near{.rtol = 2e-4, .atol = one.text.find("PROBIT") == std::string::npos ? 2e-5 : 3e-4};
  for (const engine::NamedDatum& e : expected) {
    if (e.name == "label" && !one.compares_labels) continue;
    const auto it = std::ranges::find(got, e.name, &engine::NamedDatum::name);
    if (it == got.end()) return "no output " + e.name;
    const bool is_cut = e.name == "scores" && !one.compares_last;
    const auto what = is_cut ? verify::difference(without_last(it->value), without_last(e.value), near)
                             : verify::difference(it->value, e.value, near);
    if (what) return e.name + " " + *what;
  }
  return {};
}

/// What differs in the engine's ways to run the model; empty: nothing.
std::string differences(const Case& one, const std::vector<engine::NamedDatum>& inputs,
                        const std::vector<engine::NamedDatum>& expected) {
  std::string text;
  const auto run = [&](const Model& model, bool is_fast, const char* how) {
    try {
      const engine::Session session(model, {.budget = nullptr, .threads = 1, .is_fast = is_fast});
      const std::string what = compare(one, session.run(inputs), expected);
      if (!what.empty()) text += std::string(" ") + how + ": " + what;
    } catch (const Error& error) {
      text += std::string(" ") + how + ": " + error.what();
    }
  };
  run(one.model, true, "fast");
  run(one.model, false, "plain");
  Model expressed = one.model.clone();
  passes::canonicalize(expressed);
  if (passes::decompose(expressed, [](const Node& node) { return node.domain != "ai.onnx.ml"; }))
    run(expressed, true, "decomposed");
  return text;
}

struct Operator {
  const char* name;
  Case (*draw)(Draw&);
};

class MlOperator : public testing::TestWithParam<Operator> {};

TEST_P(MlOperator, AgreesWithOnnxRuntimeOnRandomModels) {
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  verify::Peer ort(verify::Runtime::ort, peers);
  const test::TempDir directory;
  constexpr unsigned kModels = 120;
  unsigned compared = 0;
  for (unsigned seed = 0; seed < kModels; ++seed) {
    Draw draw(seed);
    const Case one = GetParam().draw(draw);
    const std::vector<engine::NamedDatum> inputs = {
        {"x", Array::of<float>({kRows, kFeatures}, draw.reals(kRows * kFeatures))}};
    const std::string path = directory / "model.onnx";
    onnx::write(one.model, path);
    const auto answer = ort.run({.model = path, .inputs = inputs});
    ASSERT_EQ(answer.error, "") << one.text;
    ++compared;
    EXPECT_EQ(differences(one, inputs, answer.outputs), "") << "seed " << seed << ": " << one.text;
  }
  std::printf("%u models of %s\n", compared, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Random, MlOperator,
                         testing::Values(Operator{"TreeEnsembleClassifier", tree_classifier},
                                         Operator{"TreeEnsembleRegressor", tree_regressor},
                                         Operator{"SVMClassifier", svm_classifier},
                                         Operator{"SVMRegressor", svm_regressor},
                                         Operator{"LinearClassifier", linear_classifier},
                                         Operator{"LinearRegressor", linear_regressor}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace ingot
