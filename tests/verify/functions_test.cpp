// Every official node test as a function whose attributes the call gives: it means the same in other operator sets.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/verify/test_case.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

/// The only node becomes the body of a function that refers to its attributes; false: there is no such node.
bool wrap(Model& model) {
  Graph& graph = *model.graph;
  if (graph.node_count() != 1 || std::ranges::distance(graph.first()->attributes) == 0) return false;
  Node& node = *graph.first();
  bool has_graphs = false;
  for_each_subgraph(node, [&](Graph&) { has_graphs = true; });
  if (has_graphs) return false;
  auto function = std::make_unique<Function>();
  function->domain = "own";
  function->name = "F";
  function->opsets = model.opsets;
  function->body = std::make_unique<Graph>();
  Node* call = graph.add_node("F", "own", &node);
  Graph::ValueMap map;
  for (Value* input : node.inputs()) {
    if (!input || map.contains(input)) continue;
    map[input] = function->body->add_input(input->name());
    call->add_input(input);
  }
  Node* made = function->body->add_copy(node, map);
  for (Attribute& a : made->attributes) {
    Attribute given;
    given.name = a.name;
    a.reference_type = a.type();
    std::swap(given.value, a.value);
    a.reference = a.name;
    function->attributes.push_back(a.name);
    call->attributes.set(std::move(given));
  }
  Values results;
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    results.push_back(nullptr);
    if (!node.output(i)) continue;
    function->body->add_output(made->output(i));
    results.back() = call->add_output(graph.fresh_name("result"));
    results.back()->type = node.output(i)->type;
  }
  replace_node(node, results);
  model.functions.push_back(std::move(function));
  model.opsets.set("own", 1);
  model.ir_version = std::max<std::int64_t>(model.ir_version, 8);
  return true;
}

/// What differs from the stored outputs after a move to another operator set, or why there is no such move.
std::string differences(Model model, const verify::TestCase& test, const Model& original, std::int64_t target) {
  try {
    OpsetImports targets;
    targets.set("", target);
    passes::convert_version(model, targets);
    verify::TestData data = verify::load_test_data(test, 0, original);
    std::vector<engine::NamedDatum> inputs;
    for (auto& [name, value] : data.inputs) inputs.push_back({name, std::move(value)});
    const auto outputs = engine::Session(model).run(inputs);
    for (std::size_t i = 0; i < data.outputs.size(); ++i)
      if (const auto what = verify::difference(outputs[i].value, data.outputs[i], test.tolerance))
        return "output '" + outputs[i].name + "' " + *what;
    return {};
  } catch (const Error& error) {
    return "exit code " + std::to_string(error.exit_code());
  }
}

TEST(Functions, MeanTheSameInOtherOperatorSets) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  std::size_t cases = 0, moved = 0;
  for (const verify::TestCase& test : verify::find_test_cases({(*shared / "onnx-backend-tests/node").string()})) {
    const Model original = driver::load(test.model, {}).model;
    Model wrapped = original.clone();
    if (verify::data_set_count(test) == 0 || !wrap(wrapped)) continue;
    ++cases;
    for (const std::int64_t target : {12, 17, ops::newest_opset("")}) {
      const std::string plain = differences(original.clone(), test, original, target);
      const std::string what = differences(wrapped.clone(), test, original, target);
      EXPECT_EQ(what.empty(), plain.empty()) << test.name << " to " << target << ": " << what << plain;
      moved += plain.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(cases, 700u);
  std::printf("%zu cases as functions, %zu moves gave the stored outputs\n", cases, moved);
}

}  // namespace
}  // namespace ingot
