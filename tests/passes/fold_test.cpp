// What is computed once and for all, and what stays.
#include "ingot/passes/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/kernel.h"
#include "ingot/passes/infer.h"
#include "tests/support/refusal.h"

namespace ingot::passes {
namespace {

using testing::ElementsAre;

Model parse(const std::string& graph) {
  Model model = onnx::parse_text("<ir_version: 13, opset_import: [\"\" : 28]>\n" + graph, ".", {});
  infer(model);
  return model;
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& n : graph.nodes()) operators.push_back(n.op);
  return operators;
}

FoldOptions for_running() {
  FoldOptions options;
  options.is_for_running = true;
  return options;
}

/// Refuses arrays of more elements than it may lend.
class Host final : public ops::KernelHost {
 public:
  explicit Host(std::int64_t most) : most_(most) {}
  Array allocate(DType dtype, Dims dims) override {
    if (error) throw Error(*error, "no more");
    if (tensor_size(dims) > most_) throw Error(Code::memory_limit, "too large");
    return Array(dtype, std::move(dims));
  }
  std::vector<Datum> run_graph(const Graph&, const std::vector<Datum>&) override { return {}; }
  Budget& budget() override { return budget_; }

  std::optional<Code> error;

 private:
  std::int64_t most_;
  Budget budget_{Limits{}};
};

TEST(Fold, ComputesWhatDoesNotDependOnTheInputs) {
  const Model model =
      parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Neg(w) b = Mul(a, w) y = Add(x, b) }");
  EXPECT_EQ(fold_constants(*model.graph), 2u);
  EXPECT_THAT(operators_of(*model.graph), ElementsAre("Add"));
  const Value* sum = model.graph->first()->input(1);
  EXPECT_EQ(sum->initializer->to_doubles(), (std::vector<double>{-1, -4}));
  EXPECT_EQ(model.graph->initializers().size(), 1u) << "what nobody reads goes";
}

TEST(Fold, SizesOfFixedShapesAreNumbersInFilesOnly) {
  const char* text =
      "g (float[2, 3] x) => (float[6] y) <int64[1] zero = {0}> { n = Size(x) s = Unsqueeze(n, zero) y = Reshape(x, s) "
      "}";
  const Model file = parse(text), run = parse(text);
  fold_constants(*file.graph);
  EXPECT_THAT(operators_of(*file.graph), ElementsAre("Reshape"));
  fold_constants(*run.graph, for_running());
  EXPECT_THAT(operators_of(*run.graph), ElementsAre("Size", "Unsqueeze", "Reshape")) << "a run may bring another shape";
}

TEST(Fold, AnOutputKeepsItsNameInFiles) {
  const char* text = "g (float[1] x) => (float[1] y, float[1] z) <float[1] w = {4}> { y = Neg(w) z = Abs(x) }";
  const Model file = parse(text), run = parse(text);
  fold_constants(*file.graph);
  EXPECT_EQ(file.graph->output(0)->name(), "y");
  EXPECT_THAT(operators_of(*file.graph), ElementsAre("Identity", "Abs"));
  fold_constants(*run.graph, for_running());
  EXPECT_THAT(operators_of(*run.graph), ElementsAre("Abs"));
  EXPECT_TRUE(run.graph->output(0)->initializer);
}

TEST(Fold, ConstantNodesBecomeInitializersOfGraphsThatAreRun) {
  const char* text = "g (float[1] x) => (float[1] y) { c = Constant<value_float = 2.0>() y = Add(x, c) }";
  const Model file = parse(text), run = parse(text);
  fold_constants(*file.graph);
  EXPECT_THAT(operators_of(*file.graph), ElementsAre("Constant", "Add"));
  fold_constants(*run.graph, for_running());
  EXPECT_THAT(operators_of(*run.graph), ElementsAre("Add"));
}

TEST(Fold, SubgraphsReadConstantsAroundThem) {
  const Model model = parse(R"(g (bool b, float[1] x) => (float[1] y) <float[1] w = {4}> {
  v = Neg(w)
  y = If(b) <then_branch = t () => (float[1] p) { n = Abs(v) p = Add(x, n) }, else_branch = e () => (float[1] q) { q = Neg(v) }>
})");
  fold_constants(*model.graph, for_running());
  EXPECT_THAT(operators_of(*model.graph), ElementsAre("If"));
  std::vector<std::vector<std::string>> inner;
  for_each_subgraph(*model.graph->first(), [&](Graph& g) { inner.push_back(operators_of(g)); });
  EXPECT_THAT(inner, ElementsAre(ElementsAre("Add"), ElementsAre()));
}

TEST(Fold, WhatTheHostRefusesStays) {
  const Model model = parse(
      "g (float[2] x) => (float[2] y) <float[1] v = {1}, float[2] w = {1, 2}> "
      "{ a = Neg(v) b = Neg(w) c = Add(a, b) y = Add(x, c) }");
  Host host(1);
  fold_constants(*model.graph, for_running(), host);
  EXPECT_THAT(operators_of(*model.graph), ElementsAre("Neg", "Add", "Add"));
}

TEST(Fold, ABudgetThatEndsIsNotSwallowed) {
  const Model model = parse("g (float[1] x) => (float[1] y) <float[1] w = {1}> { a = Neg(w) y = Add(x, a) }");
  Host host(1);
  for (const Code code : {Code::cancelled, Code::time_limit}) {
    host.error = code;
    EXPECT_REFUSED(code, fold_constants(*model.graph, for_running(), host));
  }
  host.error = Code::memory_limit;
  EXPECT_EQ(fold_constants(*model.graph, for_running(), host), 0u);
}

TEST(Fold, LargeResultsAndKeptNodesStay) {
  const Model model = parse("g (float[1] x) => (float[2] y) <float[2] w = {1, 2}> { a = Neg(w) y = Add(x, a) }");
  FoldOptions options;
  options.most_bytes = 7;
  EXPECT_EQ(fold_constants(*model.graph, options), 0u);
  options.most_bytes = 8;
  options.keeps = [](const Node& node) { return node.is("Neg"); };
  EXPECT_EQ(fold_constants(*model.graph, options), 0u);
  options.keeps = nullptr;
  EXPECT_EQ(fold_constants(*model.graph, options), 1u);
}

}  // namespace
}  // namespace ingot::passes
