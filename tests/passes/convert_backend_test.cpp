// Version conversion over the official backend suite: up to the newest operator sets, and down from there.
#include <gtest/gtest.h>

#include <map>

#include "tests/passes/backend_cases.h"
#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/check.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"

namespace ingot {
namespace {

std::string errors_of(const Model& model) {
  std::string text;
  for (const passes::Problem& p : passes::check(model))
    if (p.severity == passes::Severity::error) text += "\n" + p.str();
  return text;
}

OpsetImports newest_of(const Model& model) {
  OpsetImports targets;
  for (const OpsetImport& import : model.opsets)
    if (const int newest = ops::newest_opset(normal_domain(import.domain))) targets.set(import.domain, newest);
  if (targets.version("") == 0) targets.set("", ops::newest_opset(""));
  return targets;
}

OpsetImports opset(std::int64_t version) {
  OpsetImports targets;
  targets.set("", version);
  return targets;
}

/// Every element type needs its IR version; the opset's own may be older.
void raise_ir_version(Model& model) {
  model.ir_version = std::max<std::int64_t>({model.ir_version, 8, passes::needed_ir_version(model).version});
}

/// Whether each operator has a version that is old enough and allows its types, or a decomposition.
bool should_convert(const Model& newest, std::int64_t version) {
  for (const GraphPlace& place : all_graphs(newest)) {
    for (const Node& node : place.graph->nodes()) {
      const ops::OpDef* def = ops::find(node);
      if (!def || !normal_domain(node.domain).empty() || def->decompose) continue;
      const ops::Schema* schema = ops::schema_for(node.domain, node.op, version);
      if (!schema) return false;
      for (std::size_t i = 0; i < node.input_count(); ++i)
        if (node.input(i) && schema->input(i) && !schema->input(i)->type->allows(node.input(i)->type)) return false;
      for (std::size_t i = 0; i < node.output_count(); ++i)
        if (node.output(i) && schema->output(i) && !schema->output(i)->type->allows(node.output(i)->type)) return false;
    }
  }
  return true;
}

TEST(ConvertBackendSuite, EveryModelReachesTheNewestOperatorSetsAndIsValidThere) {
  std::size_t count = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    try {
      passes::convert_version(c.model, newest_of(c.model));
      raise_ir_version(c.model);
      EXPECT_EQ(errors_of(c.model), "") << c.name;
      ++count;
    } catch (const Error& error) {
      ADD_FAILURE() << c.name << ": " << error.what();
    }
  });
  std::printf("%zu models upgraded to opset %d\n", count, ops::newest_opset(""));
}

class Downgrade : public testing::TestWithParam<std::int64_t> {};

TEST_P(Downgrade, SucceedsWhereverTheOperatorsAllowAndListsObstaclesElsewhere) {
  std::size_t converted = 0, refused = 0;
  std::map<std::string, int> obstacles;
  test::for_each_backend_case([&](test::BackendCase& c) {
    Model& model = c.model;
    try {
      passes::canonicalize(model);
    } catch (const Error&) {
      return;  // the test above reports it
    }
    const bool expected = should_convert(model, GetParam());
    try {
      passes::convert_version(model, opset(GetParam()));
      raise_ir_version(model);
      EXPECT_EQ(errors_of(model), "") << c.name;
      ++converted;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4) << c.name << ": " << error.what();
      ++refused;
      ++obstacles[error.message().substr(error.message().find('\n') + 1)];
      EXPECT_FALSE(expected) << c.name << ": " << error.what();
    }
  });
  std::printf("opset %d: %zu models converted, %zu refused\n", static_cast<int>(GetParam()), converted, refused);
}

INSTANTIATE_TEST_SUITE_P(ConvertBackendSuite, Downgrade, testing::Values(21, 17, 13),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ingot
