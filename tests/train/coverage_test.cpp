// The table that 'ingot ops --gradients' prints is what the tests of this program ran.
#include "ingot/train/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "tests/support/files.h"
#include "tests/train/operator_cases.h"

namespace ingot {
namespace {

std::string table_of(const std::map<std::string, test::Coverage>& ran) {
  std::string text =
      "// Written by ingot_test_train with INGOT_WRITE_COVERAGE: domain, operator, derivatives compared with central\n"
      "// differences, with PyTorch, of second order.\n";
  for (const auto& [key, counts] : ran) {
    const std::size_t colon = key.find(':');
    text += "{\"" + key.substr(0, colon) + "\", \"" + key.substr(colon + 1) + "\", " +
            std::to_string(counts.differences) + ", " + std::to_string(counts.torch) + ", " +
            std::to_string(counts.second_order) + "},\n";
  }
  return text;
}

/// Runs when all tests have run.
class CoverageTable : public testing::Environment {
 public:
  void TearDown() override {
    std::erase_if(test::coverage(), [](const auto& line) { return line.second.differences == 0; });
    // Whether all of it ran: a filter, or peers that are not here, leave gaps.
    const auto& program = *testing::UnitTest::GetInstance();
    for (const char* name : {"AreDifferentiatedAgain", "EqualCentralDifferencesAtAllShapes", "EqualThoseOfPyTorch",
                             "GradientsOfOfficialCasesEqualCentralDifferences"})
      if (!has_passed(program, name)) return;
    if (const char* path = std::getenv("INGOT_WRITE_COVERAGE"))
      return test::write_text(path, table_of(test::coverage()));
    std::map<std::string, test::Coverage> stored;
    for (const train::GradientCoverage& line : train::gradient_coverage())
      stored[std::string(line.domain) + ":" + std::string(line.op)] = {static_cast<std::size_t>(line.differences),
                                                                       static_cast<std::size_t>(line.torch),
                                                                       static_cast<std::size_t>(line.second_order)};
    // How many points lie beside kinks may differ from machine to machine; what is compared at all may not.
    for (auto* table : {&stored, &test::coverage()})
      for (auto& [key, counts] : *table) counts = {counts.differences > 0, counts.torch > 0, counts.second_order > 0};
    EXPECT_EQ(table_of(stored), table_of(test::coverage()))
        << "write it anew: INGOT_WRITE_COVERAGE=ingot/train/coverage_data.inc ingot_test_train";
  }

 private:
  static bool has_passed(const testing::UnitTest& program, const std::string& name) {
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
      const testing::TestSuite& suite = *program.GetTestSuite(i);
      for (int k = 0; k < suite.total_test_count(); ++k)
        if (suite.GetTestInfo(k)->name() == name)
          return suite.GetTestInfo(k)->should_run() && suite.GetTestInfo(k)->result()->Passed();
    }
    return false;
  }
};

TEST(GradientCoverage, HasEveryOperatorThatOnnxCallsDifferentiable) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the table of ONNX's own tags is not here: no shared directory";
  std::istringstream lines(test::read_text(*shared / "training/differentiable.tsv"));
  std::string line;
  std::getline(lines, line);  // the columns' names
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::array<std::string, 6> cell;  // domain, operator, version, deprecated, kind, differentiable inputs
    for (std::string& text : cell) std::getline(cells, text, '\t');
    if (cell[0] != "ai.onnx" || cell[5].empty()) continue;
    ++count;
    const auto is_it = [&](const train::GradientCoverage& row) { return row.domain == cell[0] && row.op == cell[1]; };
    EXPECT_TRUE(std::ranges::any_of(train::gradient_coverage(), is_it)) << cell[1];
  }
  EXPECT_EQ(count, 121u);
}

const testing::Environment* const kTable = testing::AddGlobalTestEnvironment(new CoverageTable);

}  // namespace
}  // namespace ingot
