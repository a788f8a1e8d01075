// Version conversion over the official backend suite: up to the newest operator sets, and down from there.
#include <gtest/gtest.h>

#include <sstream>

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/check/check.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "tests/passes/backend_cases.h"

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

/// Meanings that an older version of an operator cannot express although it allows the types, and that no
/// decomposition covers. The list must only shrink.
struct Meaning {
  const char* op;
  const char* reason;
};
constexpr Meaning kNeedsNewer[] = {
    {"Split", "a dimension of 5 has no 4 parts"},
};

/// Whether an obstacle is one of the three kinds that may be: the operator does not exist there, it does not allow
/// the types, or it is in the list above.
bool is_justified(const std::string& obstacle) {
  if (obstacle.find("exists since opset") != obstacle.npos) return true;
  if (obstacle.find("which the operator allows since opset") != obstacle.npos) return true;
  for (const Meaning& m : kNeedsNewer)
    if (obstacle.find("(" + std::string(m.op) + ")") != obstacle.npos && obstacle.find(m.reason) != obstacle.npos)
      return true;
  return false;
}

std::vector<std::string> obstacles_in(const Error& error) {
  std::vector<std::string> lines;
  std::istringstream text(error.message());
  std::string line;
  std::getline(text, line);  // the headline
  while (std::getline(text, line)) lines.push_back(line);
  return lines;
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
  std::size_t meanings = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    Model& model = c.model;
    try {
      passes::canonicalize(model);
    } catch (const Error&) {
      return;  // the test above reports it
    }
    try {
      passes::convert_version(model, opset(GetParam()));
      raise_ir_version(model);
      EXPECT_EQ(errors_of(model), "") << c.name;
      ++converted;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4) << c.name << ": " << error.what();
      ++refused;
      const auto obstacles = obstacles_in(error);
      EXPECT_FALSE(obstacles.empty()) << c.name << ": " << error.what();
      for (const std::string& obstacle : obstacles) {
        EXPECT_TRUE(is_justified(obstacle)) << c.name << ":" << obstacle;
        meanings += obstacle.find("since opset") == obstacle.npos ? 1 : 0;
      }
    }
  });
  std::printf("opset %d: %zu models converted, %zu refused (%zu obstacles of meaning)\n", static_cast<int>(GetParam()),
              converted, refused, meanings);
}

INSTANTIATE_TEST_SUITE_P(ConvertBackendSuite, Downgrade, testing::Values(21, 17, 13),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ingot
