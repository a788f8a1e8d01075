// The legaliser with a target of a dozen operators of float: what it is turned into, and what is refused.
#include "ingot/passes/legalize/legalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/catalog.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Refusal::Kind;

constexpr std::string_view kOperators[] = {"Abs", "Add", "Concat",    "Div",     "Exp",  "Identity", "MatMul",
                                           "Mul", "Neg", "ReduceSum", "Reshape", "Sqrt", "Sub",      "Transpose"};

std::optional<Refusal> refuses(const Node& node) {
  if (!node.domain.empty() || !std::ranges::binary_search(kOperators, std::string_view(node.op)))
    return Refusal{Kind::unknown_operator, "Toy has no such operator"};
  const Type& x = node.input(0)->type;
  if (x.elem != DType::f32) return Refusal{Kind::element_type, "Toy computes in float"};
  if (!x.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  if (node.is("Transpose") && x.shape->size() > 3) return Refusal{Kind::dimensions, "Toy transposes 3 dimensions"};
  if (node.is("Reshape") && !node.input(1)->initializer) return Refusal{Kind::not_constant, "the shape is computed"};
  return std::nullopt;
}

Target toy() {
  Target target;
  target.title = "Toy";
  target.refuses = refuses;
  target.has_port = [](const Type& type) { return type.elem == DType::f32; };
  target.most_dimensions = 4;
  target.rewrites = {"batch-normalization-as-line", "hyperbolic-by-exp",        "known-branch",
                     "reductions-in-float",         "transpose-of-joined-axes", "unrolled-loop"};
  target.has_doubles = false;
  target.has_defaults = false;
  return target;
}

Model parse(const std::string& graph) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph, ".", {});
}

std::vector<std::string> operators_of(const Model& model) {
  std::vector<std::string> operators;
  for (const Node& n : model.graph->nodes()) operators.push_back(n.op);
  return operators;
}

std::vector<float> run(const Model& model) {
  std::vector<engine::NamedDatum> inputs;
  for (const Value* v : model.graph->inputs()) {
    Array x(DType::f32, *static_dims(v->type.shape));
    for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i)
      x.mutable_data<float>()[i] = std::sin(static_cast<float>(3 * i + 1));
    inputs.push_back({v->name(), x});
  }
  engine::SessionOptions options;
  options.is_fast = false;
  const std::vector<engine::NamedDatum> outputs = engine::Session(model, options).run(inputs);
  const auto& y = *outputs.front().value.array();
  return {y.data<float>().begin(), y.data<float>().end()};
}

/// What Toy makes of a graph; the numbers must stay.
std::vector<std::string> legalized(const std::string& graph, const Target& target = toy()) {
  const Model before = parse(graph);
  Model after = before.clone();
  const Report report = to_target(after, target);
  for (const Obstacle& o : report.obstacles) ADD_FAILURE() << o.where << ": " << o.reason;
  EXPECT_THAT(run(after), testing::Pointwise(testing::FloatNear(1e-5f), run(before)));
  return operators_of(after);
}

TEST(Legalize, NormalisationWithConstantStatisticsIsALine) {
  EXPECT_THAT(legalized(R"(g (float[2,3,4] x) => (float[2,3,4] y)
      <float[3] s = {1, 2, 3}, float[3] b = {0.5, 1, 2}, float[3] m = {0, 1, 2}, float[3] v = {1, 4, 9}>
      { y = BatchNormalization(x, s, b, m, v) })"),
              ElementsAre("Mul", "Add"));
}

TEST(Legalize, AxesThatStayTogetherAreTransposedAsOne) {
  EXPECT_THAT(legalized("g (float[2,3,4,5] x) => (float[2,4,5,3] y) { y = Transpose<perm = [0, 2, 3, 1]>(x) }"),
              ElementsAre("Reshape", "Transpose", "Reshape"));
}

TEST(Legalize, FunctionsBecomeSimplerOnes) {
  EXPECT_THAT(legalized("g (float[2,3] x) => (float[2,3] y) { y = Sinh(x) }"),
              ElementsAre("Exp", "Neg", "Exp", "Sub", "Mul"));
  EXPECT_THAT(legalized("g (float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceL2(x, a) }"),
              ElementsAre("Mul", "ReduceSum", "Sqrt"));
}

TEST(Legalize, WhatIsKnownBeforeRunningIsNotThereWhenRunning) {
  EXPECT_THAT(legalized(R"(g (float[2,3] x) => (float[6] y) {
      two = Constant<value_floats = [2.0]>()
      shape = Shape(x)
      count = ReduceProd<keepdims = 1>(shape)
      flat = Reshape(x, count)
      kept = Dropout(flat)
      y = Mul(kept, two) })"),
              ElementsAre("Constant", "Reshape", "Mul"));
}

TEST(Legalize, KnownBranchesAndShortLoopsAreWrittenOut) {
  EXPECT_THAT(legalized(R"(g (float[2] x) => (float[2] y) <bool c = {1}> {
      y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = f () => (float[2] b) { b = Exp(x) }> })"),
              ElementsAre("Neg"));
  EXPECT_THAT(legalized(R"(g (float[2] x) => (float[2] y) <int64 n = {3}, bool c = {1}> {
      y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] s) => (bool on, float[2] t) {
        on = Identity(go)  t = Mul(s, s) }> })"),
              ElementsAre("Mul", "Mul", "Mul"));
}

TEST(Legalize, SequencesOfKnownMembersAreTheirMembers) {
  EXPECT_THAT(legalized(R"(g (float[2] x, float[2] z) => (float[4] y) {
      s = SequenceConstruct(x, z)  n = Neg(x)  t = SequenceInsert(s, n)  o = Constant<value_int = 0>()
      u = SequenceErase(t, o)  y = ConcatFromSequence<axis = 0>(u) })"),
              ElementsAre("Neg", "Concat"));
}

TEST(Legalize, ATargetsOwnRewritesComeFirst) {
  static constexpr Rewrite kOwn[] = {{"relu-by-size", "Relu", [](Rewriting& r) {
                                        Value* size = r.g.op("Abs", {r.in()});
                                        Value* twice = r.g.add(r.in(), size);
                                        return Values{r.g.mul(twice, 0.5)};
                                      }}};
  Target target = toy();
  target.own_rewrites = kOwn;
  EXPECT_THAT(legalized("g (float[5] x) => (float[5] y) { y = Relu(x) }", target), ElementsAre("Abs", "Add", "Mul"));
  EXPECT_TRUE(has_rewrite(target, "Relu", ""));
  EXPECT_TRUE(has_rewrite(target, "Sinh", ""));
  EXPECT_FALSE(has_rewrite(target, "Erf", "")) << "there is one, which Toy does not name";
}

TEST(Legalize, ARewriteThatIsNotThereIsOurMistake) {
  Target target = toy();
  target.rewrites.push_back("no-such");
  Model model = parse("g (float[5] x) => (float[5] y) { y = Neg(x) }");
  try {
    to_target(model, target);
    FAIL() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::broken_invariant);
    EXPECT_THAT(error.what(), HasSubstr("Toy names a rewrite 'no-such'"));
  }
}

TEST(Legalize, TypesChangeOnRequestAndAreNoted) {
  Target target = toy();
  target.refuses = [](const Node& node) { return node.is("Cast") ? std::nullopt : refuses(node); };
  target.has_port = nullptr;
  target.casts = {{DType::f16, DType::f32, false}, {DType::f64, DType::f32, true}};
  const Model source = parse(R"(g (float16[3] x, double[3] d) => (float16[3] y, double[3] z) {
      [half] y = Abs(x)  [wide] z = Abs(d) })");
  const auto report_of = [&](CastRule rule) {
    Model model = source.clone();
    Options options;
    options.auto_cast = rule;
    return to_target(model, target, options);
  };
  EXPECT_THAT(report_of(CastRule::none).notes, IsEmpty());
  EXPECT_EQ(report_of(CastRule::none).obstacles.size(), 2u);
  EXPECT_THAT(report_of(CastRule::up).notes, ElementsAre("node 'half' (Abs): computed in float instead of float16"));
  ASSERT_EQ(report_of(CastRule::up).obstacles.size(), 1u);
  EXPECT_EQ(report_of(CastRule::up).obstacles[0].remedy, "--auto-cast all");
  EXPECT_EQ(report_of(CastRule::all).notes.size(), 2u);
  EXPECT_THAT(report_of(CastRule::all).obstacles, IsEmpty());
}

TEST(Legalize, DefaultsOfInputsBecomeConstantsWhereTheTargetHasNone) {
  Model model = parse("g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Mul(x, w) }");
  EXPECT_THAT(to_target(model, toy()).notes, ElementsAre("input 'w' has a default and is now a constant"));
  EXPECT_EQ(model.graph->inputs().size(), 1u);
}

TEST(Legalize, EveryObstacleIsListedWithItsKindAndRemedy) {
  Model model = parse(R"(g (float[N,N] m, double[3] d, int64[K] k, float[2,3,4,5] t, float[1,1,1,1,1] big)
      => (float e, double[3] z, r, float[5,4,3,2] u, float[1,1,1,1,1] n) {
      [one] e = Det(m)  [two] z = Neg(d)  [three] r = Reshape(m, k)
      [four] u = Transpose<perm = [3, 2, 1, 0]>(t)  [five] n = Neg(big) })");
  const Target target = toy();
  const Report report = to_target(model, target);
  std::vector<std::string> lines;
  for (const Obstacle& o : report.obstacles)
    lines.push_back(o.where + " " + std::string(name_of(o.kind)) + ": " + o.reason + " | " + o.remedy);
  EXPECT_THAT(lines, ElementsAre("node 'one' unknown_operator: Toy has no such operator | --allow-custom Det",
                                 "node 'two' element_type: Toy computes in float | --auto-cast up, or all",
                                 "node 'three' not_constant: the shape is computed | --allow-custom Reshape",
                                 "node 'four' dimensions: Toy transposes 3 dimensions | --allow-custom Transpose",
                                 "node 'five' dimensions: 'big' has more than 4 dimensions | ",
                                 "input 'd' element_type: Toy has no double[3] | ",
                                 "input 'k' element_type: Toy has no int64[K] | ",
                                 "output 'z' element_type: Toy has no double[3] | "));
  try {
    require_none(report.obstacles, target);
    FAIL() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::not_expressible);
    EXPECT_THAT(error.what(),
                HasSubstr("8 parts of the model cannot be expressed in Toy:\n  node 'one' (Det): Toy has"));
  }
}

TEST(Legalize, CustomOperatorsStayOnRequest) {
  Model model = parse("g (float[3,3] m) => (float e) { e = Det(m) }");
  Options options;
  options.allow_custom = {"Det"};
  EXPECT_THAT(to_target(model, toy(), options).obstacles, IsEmpty());
  EXPECT_THAT(operators_of(model), ElementsAre("Det"));
}

TEST(Legalize, TheTargetSaysWhereChannelsAre) {
  Target target = toy();
  target.refuses = [](const Node& node) { return node.is("Conv") ? std::nullopt : refuses(node); };
  target.layout.wanted = [](const Node&) { return Layout::channels_last; };
  Model model = parse(R"(g (float[1,2,4,4] x) => (float[1,3,4,4] y) <float[3,2,1,1] w = {1, 2, 3, 4, 5, 6}> {
      y = Conv(x, w) })");
  Options options;
  options.inputs_as = options.outputs_as = Layout::channels_last;
  Report report = to_target(model, target, options);
  lay_out(*model.graph, target, options, report.notes);
  EXPECT_THAT(operators_of(model), ElementsAre("Conv"));
  EXPECT_EQ(model.graph->first()->domain, kChannelsLastDomain);
  EXPECT_THAT(report.notes, ElementsAre("input 'x' is now float[1,4,4,2]", "output 'y' is now float[1,4,4,3]"));
}

TEST(Legalize, SharedRewritesAreOfOperatorsThatExist) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Rewrite& row : shared_rewrites()) {
    EXPECT_TRUE(ops::find(row.domain, row.op)) << row.op;
    EXPECT_TRUE(seen.emplace(row.name, row.op).second) << row.name << " has two rows for " << row.op;
  }
}

}  // namespace
}  // namespace ingot::passes::legalize
