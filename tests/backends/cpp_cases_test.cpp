// Generated C++ gives the numbers of the official backend tests.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "ingot/verify/test_suite.h"
#include "tests/backends/generated_cpp.h"

namespace ingot::test {
namespace {

std::vector<GeneratedCase> chosen_cases(const std::string& pattern, std::size_t every) {
  std::vector<GeneratedCase> cases;
  const std::string root = (*shared_dir() / "onnx-backend-tests").string();
  std::size_t i = 0;
  for (const char* group : {"/node", "/simple", "/pytorch-converted", "/pytorch-operator"})
    for (verify::TestCase& test : verify::find_test_cases({root + group}))
      if (verify::matches_glob(test.name, pattern) && i++ % every == 0) cases.push_back({std::move(test), "", ""});
  return cases;
}

TEST(GeneratedCpp, GivesTheNumbersOfTheOfficialTests) {
  if (!shared_dir()) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  const char* pattern = std::getenv("INGOT_CASES");
  const char* every = std::getenv("INGOT_WHOLE_CORPUS") ? "1" : std::getenv("INGOT_EVERY");
  std::vector<GeneratedCase> cases =
      chosen_cases(pattern ? pattern : "*", every ? static_cast<std::size_t>(std::atoi(every)) : 24);
  run_generated(cases);
  std::size_t passed = 0;
  for (const GeneratedCase& c : cases) {
    passed += c.problem.empty();
    if (!c.problem.empty()) std::cout << c.test.name << ": " << c.problem << "\n";
  }
  std::cout << passed << " of " << cases.size() << " cases\n";
  EXPECT_GE(static_cast<double>(passed), 0.85 * static_cast<double>(cases.size()));
}

}  // namespace
}  // namespace ingot::test
