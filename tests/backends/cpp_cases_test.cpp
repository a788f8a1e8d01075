// Generated C++ gives the numbers of the official backend tests.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "ingot/driver/native_code.h"
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

/// Those that the environment names, or one in `every`.
std::vector<GeneratedCase> cases_at_hand(std::size_t every) {
  const char* pattern = std::getenv("INGOT_CASES");
  const char* step = std::getenv("INGOT_WHOLE_CORPUS") ? "1" : std::getenv("INGOT_EVERY");
  return chosen_cases(pattern ? pattern : "*", step ? static_cast<std::size_t>(std::atoi(step)) : every);
}

/// The share of cases that pass, with the reason of each other printed.
double share(const std::vector<GeneratedCase>& cases) {
  std::size_t passed = 0;
  for (const GeneratedCase& c : cases) {
    passed += c.problem.empty();
    if (!c.problem.empty()) std::cout << c.test.name << ": " << c.problem << "\n";
  }
  std::cout << passed << " of " << cases.size() << " cases\n";
  return static_cast<double>(passed) / static_cast<double>(cases.size());
}

/// Whatever is not refused gives the right numbers, but where they are drawn, and where rounding errors of float are
/// stored and ours, of double, are nearer to 0.
bool may_be(const GeneratedCase& c) {
  const std::string& name = c.test.name;
  const bool draws = name.starts_with("test_bernoulli") ||
                     (name.starts_with("test_training_dropout") && name.find("zero_ratio") == std::string::npos);
  return draws || c.problem.empty() || c.problem.starts_with("refused") || name.starts_with("test_dft_inverse");
}

TEST(GeneratedCpp, GivesTheNumbersOfTheOfficialTests) {
  if (!shared_dir()) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  std::vector<GeneratedCase> cases = cases_at_hand(24);
  run_generated(cases);
  // How many are refused is chance in a small sample.
  for (const GeneratedCase& c : cases)
    EXPECT_TRUE(may_be(c)) << c.test.name << ": " << c.problem;
  const double passed = share(cases);
  if (std::getenv("INGOT_WHOLE_CORPUS")) {
    EXPECT_GE(passed, 0.975);
  }
}

/// Sizes of inputs become names: equal ones the same, those of 1 stay, as they may be broadcast.
void name_sizes(Model& model) {
  for (Value* input : model.graph->inputs()) {
    if (input->initializer || !input->type.is_tensor() || !input->type.shape) continue;
    for (Dim& d : *input->type.shape)
      if (d.is_known() && d.value() > 1) d = Dim::symbol("n" + std::to_string(d.value()));
  }
  for (Value* output : model.graph->outputs())
    if (output->type.is_tensor() && output->type.shape && output->producer())
      for (Dim& d : *output->type.shape) d = Dim();
}

TEST(GeneratedCppOfNamedSizes, GivesTheNumbersOfTheOfficialTests) {
  if (!shared_dir()) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  std::vector<GeneratedCase> cases = cases_at_hand(48);
  run_generated(cases, name_sizes);
  for (const GeneratedCase& c : cases)
    EXPECT_TRUE(may_be(c)) << c.test.name << ": " << c.problem;
  const double passed = share(cases);
  if (std::getenv("INGOT_WHOLE_CORPUS")) {
    EXPECT_GE(passed, 0.97);
  }
}

TEST(GeneratedMatlab, GivesTheNumbersOfTheOfficialTests) {
  if (!shared_dir()) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  if (std::system("octave-cli --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "Octave is not installed";
  std::vector<GeneratedCase> cases = cases_at_hand(48);
  run_generated_matlab(cases);
  EXPECT_GE(share(cases), 0.85);
}

TEST(GeneratedNative, GivesTheNumbersOfTheOfficialTests) {
  if (!shared_dir()) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  if (const std::string why = driver::why_no_native_code(); !why.empty()) GTEST_SKIP() << "no native code: " << why;
  std::vector<GeneratedCase> cases = cases_at_hand(48);
  run_generated_native(cases);
  for (const GeneratedCase& c : cases)
    EXPECT_TRUE(c.problem.empty() || c.problem.starts_with("refused")) << c.test.name << ": " << c.problem;
  const double passed = share(cases);
  if (std::getenv("INGOT_WHOLE_CORPUS")) {
    EXPECT_GE(passed, 0.85);
  }
}

}  // namespace
}  // namespace ingot::test
