// A part of a model, by the names of its values.
#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "ingot/driver/check.h"
#include "ingot/driver/convert.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/extract.h"
#include "tests/driver/sources.h"

namespace ingot::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Model chain() {
  return onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[2] a, float[2] b) => (float[2] y, float[2] z) <float[2] w = {1, 2}, float[2] v = {3, 4}>
{ p = Add(a, w)
  q = Mul(p, b)
  r = Relu(q)
  y = Add(r, v)
  z = Neg(p) })");
}

std::vector<std::string> names_of(std::span<Value* const> values) {
  std::vector<std::string> names;
  for (const Value* v : values) names.push_back(v->name());
  return names;
}

void expect_valid(const Model& model) {
  for (const Problem& problem : check(model)) EXPECT_NE(problem.severity, Severity::error) << problem.str();
}

TEST(Cut, KeepsWhatLiesBetween) {
  Model model = chain();
  passes::extract(model, {"q"}, {"r"});
  EXPECT_THAT(names_of(model.graph->inputs()), ElementsAre("q"));
  EXPECT_THAT(names_of(model.graph->outputs()), ElementsAre("r"));
  EXPECT_EQ(model.graph->node_count(), 1U);
  EXPECT_THAT(names_of(model.graph->initializers()), IsEmpty());
  EXPECT_EQ(model.graph->inputs()[0]->type.str(), "float[2]");
  expect_valid(model);
}

TEST(Cut, KeepsInputsThatAreStillNeeded) {
  Model model = chain();
  passes::extract(model, {"p"}, {});
  EXPECT_THAT(names_of(model.graph->inputs()), ElementsAre("p", "b"));
  EXPECT_THAT(names_of(model.graph->outputs()), ElementsAre("y", "z"));
  EXPECT_EQ(model.graph->node_count(), 4U);
  expect_valid(model);
  Model shorter = chain();
  passes::extract(shorter, {}, {"p"});
  EXPECT_THAT(names_of(shorter.graph->inputs()), ElementsAre("a"));
  expect_valid(shorter);
}

TEST(Cut, RefusesNamesThatCannotBeCutAt) {
  const auto refusal = [](const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
    Model model = chain();
    try {
      passes::extract(model, inputs, outputs);
      return std::string("taken");
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(refusal({"nobody"}, {}), "the model has no value 'nobody' to cut at");
  EXPECT_EQ(refusal({}, {"nobody"}), "the model has no value 'nobody' to cut at");
  EXPECT_EQ(refusal({"w"}, {}), "'w' is a constant: it cannot become an input");
  EXPECT_EQ(refusal({"p", "p"}, {}), "'p' is named twice");
}

TEST(Cut, IsAConversionOfOnnxToo) {
  const test::TempDir directory;
  const ConvertReport done = convert({.input = test::write_onnx_text(directory),
                                      .output = directory / "part.onnx",
                                      .inputs = {"r"},
                                      .outputs = {"y"}});
  EXPECT_THAT(names_of(done.model.graph->inputs()), ElementsAre("r"));
  EXPECT_EQ(done.model.graph->node_count(), 1U);
  EXPECT_EQ(load(directory / "part.onnx").model.opsets.version(""), 18);
}

}  // namespace
}  // namespace ingot::driver
