// Decompositions by value: every official node test whose operator has one, with that decomposition in its place.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/verify/test_case.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

/// Cases whose decomposition gives other numbers than the stored ones, and why. Each must still differ.
const std::map<std::string, std::string, std::less<>> kDeviates = {
    {"test_bernoulli", "a random draw"},
    {"test_bernoulli_double", "a random draw"},
    {"test_bernoulli_seed", "a random draw"},
    {"test_dft_inverse", "the stored outputs have the rounding of a float32 transform where the exact result is 0"},
    {"test_dft_inverse_opset19", "the same"},
};

/// Puts decompositions in place of the graph's nodes; how many there were.
std::size_t decompose_all(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes()) nodes.push_back(&node);
  std::size_t count = 0;
  for (Node* node : nodes) count += passes::decompose_node(*node) ? 1 : 0;
  return count;
}

/// What differs from the stored outputs; empty: nothing does. `count`: nodes that were decomposed.
std::string differences(const verify::TestCase& test, std::size_t& count) {
  const Model original = driver::load(test.model, {}).model;
  Model model = original.clone();
  passes::canonicalize(model);
  count = decompose_all(*model.graph);
  if (count == 0) return {};
  std::string text;
  const engine::Session session(model);
  for (std::size_t set = 0; set < verify::data_set_count(test); ++set) {
    verify::TestData data = verify::load_test_data(test, set, original);
    std::vector<engine::NamedDatum> inputs;
    for (auto& [name, value] : data.inputs) inputs.push_back({name, std::move(value)});
    const auto outputs = session.run(inputs);
    for (std::size_t i = 0; i < data.outputs.size(); ++i)
      if (const auto what = verify::difference(outputs[i].value, data.outputs[i]))
        text += " output '" + outputs[i].name + "' " + *what;
  }
  return text;
}

TEST(Decompositions, GiveTheStoredOutputs) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  std::size_t cases = 0;
  std::set<std::string> met;
  for (const verify::TestCase& test : verify::find_test_cases({(*shared / "onnx-backend-tests/node").string()})) {
    std::size_t count = 0;
    std::string what;
    try {
      what = differences(test, count);
    } catch (const Error& error) {
      what = error.what();
    }
    if (count == 0) continue;
    ++cases;
    const bool may_deviate = kDeviates.contains(test.name);
    if (may_deviate) met.insert(test.name);
    EXPECT_EQ(!what.empty(), may_deviate) << test.name << ":" << what;
  }
  EXPECT_EQ(met.size(), kDeviates.size()) << "a listed case is not there any more";
  EXPECT_GT(cases, 300u);
  std::printf("%zu cases run by decomposition, %zu deviate\n", cases, met.size());
}

}  // namespace
}  // namespace ingot
