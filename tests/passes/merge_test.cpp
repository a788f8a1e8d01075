// Two models as one, and one as several.
#include "ingot/passes/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/split.h"
#include "tests/support/refusal.h"

namespace ingot::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Model parse(const std::string& graph, int opset = 21) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + graph, ".", {});
}

std::vector<std::string> names(const Values& values) {
  std::vector<std::string> list;
  for (const Value* v : values) list.push_back(v->name());
  return list;
}

std::vector<std::string> inputs_of(const Model& model) {
  return names({model.graph->inputs().begin(), model.graph->inputs().end()});
}

const char* kFirst =
    "a (float[N, 2] x) => (float[N, 2] y, float[N, 2] z) <float[2] w = {1, 2}> { y = Mul(x, w) z = Neg(y) }";
const char* kSecond =
    "b (float[M, 2] q, float[2] r) => (float[M, 2] s) <float[2] w = {3, 4}> { t = Add(q, w) s = Mul(t, r) }";

std::vector<float> run(const Model& model, const std::vector<engine::NamedDatum>& inputs, const std::string& output) {
  const engine::Session session(model, {});
  for (const engine::NamedDatum& d : session.run(inputs))
    if (d.name == output) return d.value.array()->to_tensor().to_vector<float>();
  return {};
}

engine::NamedDatum datum(const std::string& name, Dims dims, const std::vector<float>& values) {
  return {name, Array::from(Tensor::of<float>(std::move(dims), values))};
}

TEST(Merge, GivesTheSecondWhatTheFirstGives) {
  MergeReport report;
  const Model merged = merge(parse(kFirst), parse(kSecond), {.connections = {{"y", "q"}}}, report);
  EXPECT_THAT(inputs_of(merged), ElementsAre("x", "r"));
  EXPECT_THAT(names(merged.graph->outputs()), ElementsAre("z", "s"));
  const auto s = run(merged, {datum("x", {1, 2}, {5, 6}), datum("r", {2}, {10, 100})}, "s");
  EXPECT_THAT(s, ElementsAre(80, 1600));
}

TEST(Merge, TakesTheNewerOperatorSet) {
  MergeReport report;
  const Model merged = merge(parse(kFirst, 13), parse(kSecond, 21), {.connections = {{"y", "q"}}}, report);
  EXPECT_EQ(merged.opsets.version(""), 21);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("moves to opset 21")));
}

TEST(Merge, KeepsDimensionsApartThatOnlyHaveTheSameName) {
  MergeReport report;
  const Model merged = merge(parse("a (float[N] x) => (float[N] y) { y = Neg(x) }"),
                             parse("b (float[M] q, float[N] r) => (float[M] s, float[N] t) { s = Neg(q) t = Neg(r) }"),
                             {.connections = {{"y", "q"}}}, report);
  EXPECT_EQ(merged.graph->find("s")->type.str(), "float[N]");
  EXPECT_EQ(merged.graph->find("t")->type.str(), "float[N_b]");
}

TEST(Merge, RefusesWithAllProblemsAtOnce) {
  MergeReport report;
  try {
    merge(parse(kFirst), parse("b (int64[2] q, float[2] x) => (int64[2] z) { z = Neg(q) }"),
          {.connections = {{"y", "q"}}}, report);
    FAIL() << "merged";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("output 'y' is float[N,2], but input 'q' is int64[2]"));
    EXPECT_THAT(error.message(), HasSubstr("'x'"));
    EXPECT_THAT(error.message(), HasSubstr("'z'"));
  }
}

TEST(Merge, PortsOfTheSecondKeepTheirNames) {
  MergeReport report;
  const Model merged = merge(
      parse("a (float[2] x) => (float[2] y) { z = Neg(x) w = Neg(z) z_1 = Neg(w) y = Neg(z_1) }"),
      parse("b (float[2] y, float[2] w) => (float[2] z, float[2] z_2) { z = Add(y, w) z_2 = Neg(z) }"), {}, report);
  EXPECT_THAT(inputs_of(merged), ElementsAre("x", "w"));
  EXPECT_THAT(names(merged.graph->outputs()), ElementsAre("z", "z_2"));
  std::set<std::string> all;
  for (const Node& node : merged.graph->nodes()) EXPECT_TRUE(all.insert(node.output(0)->name()).second);
}

TEST(Merge, InputsOfTheSameNameAreOneWhereAsked) {
  MergeReport report;
  const Model merged =
      merge(parse("a (float[2] x) => (float[2] y) { y = Neg(x) }"),
            parse("b (float[2] y, float[2] x) => (float[2] z) { z = Add(y, x) }"), {.shares_inputs = true}, report);
  EXPECT_THAT(inputs_of(merged), ElementsAre("x"));
  EXPECT_EQ(merged.graph->find("z")->producer()->input(1), merged.graph->find("x"));
}

TEST(Merge, PrefixesKeepNamesApart) {
  MergeReport report;
  const Model merged = merge(parse(kFirst), parse("b (float[K, 2] y, float[2] x) => (float[K, 2] z) { z = Mul(y, x) }"),
                             {.connections = {{"y", "y"}}, .prefix_a = "", .prefix_b = "b/"}, report);
  EXPECT_THAT(inputs_of(merged), ElementsAre("x", "b/x"));
  EXPECT_THAT(names(merged.graph->outputs()), ElementsAre("z", "b/z"));
}

const char* kChain =
    "g (float[2] x) => (float[2] y, float[2] side) <float[2] w = {2, 3}> "
    "{ a = Mul(x, w) b = Neg(a) side = Abs(b) c = Add(b, a) d = Mul(c, w) y = Add(d, x) }";

/// Runs parts one after the other, by the names of what they hand on.
std::vector<engine::NamedDatum> run_parts(const std::vector<Part>& parts, std::vector<engine::NamedDatum> known) {
  for (const Part& part : parts) {
    std::vector<engine::NamedDatum> inputs;
    for (const std::string& name : inputs_of(part.model))
      inputs.push_back(*std::ranges::find(known, name, &engine::NamedDatum::name));
    const engine::Session session(part.model, {});
    for (engine::NamedDatum& d : session.run(inputs)) known.push_back(std::move(d));
  }
  return known;
}

TEST(Split, PartsInTheirOrderGiveWhatTheWholeGives) {
  const Model whole = parse(kChain);
  const std::vector<engine::NamedDatum> x = {datum("x", {2}, {1.5f, -2})};
  for (const SplitOptions& options :
       {SplitOptions{.cuts = {{"b"}, {"d"}}}, SplitOptions{.cuts = {{"side"}}}, SplitOptions{.parts = 3}}) {
    const auto parts = split(whole, options);
    EXPECT_GE(parts.size(), 2u);
    const auto all = run_parts(parts, x);
    for (const char* name : {"y", "side"}) {
      const auto found = std::ranges::find(all, name, &engine::NamedDatum::name);
      ASSERT_NE(found, all.end()) << name;
      EXPECT_EQ(found->value.array()->to_tensor().to_vector<float>(), run(whole, x, name)) << name;
    }
  }
}

TEST(Split, CutsByTheSizeOfWeights) {
  const Model whole = parse(
      "g (float[2] x) => (float[2] y) <float[2] u = {1, 2}, float[2] v = {1, 2}, float[2] w = {1, 2}> "
      "{ a = Mul(x, u) b = Mul(a, v) y = Mul(b, w) }");
  EXPECT_EQ(split(whole, {.most_bytes = 8}).size(), 3u);
  EXPECT_EQ(split(whole, {.most_bytes = 16}).size(), 2u);
  EXPECT_EQ(split(whole, {.most_bytes = 1000}).size(), 1u);
}

TEST(Split, RefusesUnknownNames) { EXPECT_REFUSED(Code::unknown_name, split(parse(kChain), {.cuts = {{"nothing"}}})); }

}  // namespace
}  // namespace ingot::passes
