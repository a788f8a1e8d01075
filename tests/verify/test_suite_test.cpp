// Stored cases: found, run, compared, varied and written.
#include "ingot/verify/test_suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/datum.h"
#include "ingot/driver/load.h"
#include "ingot/onnx/text.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Outcome = TestResult::Outcome;

constexpr const char* kAdd = R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] a, float[2] b) => (float[2] y) { y = Add(a, b) })";

Array floats(std::vector<float> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Array::of<float>({n}, values);
}

/// A case of a + b with the output that it claims.
void write_case(const fs::path& root, const std::string& name, const Array& expected, const char* model = kAdd) {
  const fs::path set = root / name / "test_data_set_0";
  fs::create_directories(set);
  driver::save(onnx::parse_text(model), (root / name / "model.onnx").string());
  const Type type = Type::tensor(DType::f32);
  driver::save_datum(floats({1, 2}), type, (set / "input_0.pb").string());
  driver::save_datum(floats({10, 20}), type, (set / "input_1.pb").string());
  driver::save_datum(expected, Type::tensor(expected.dtype()), (set / "output_0.pb").string());
}

TestResult run_one(const fs::path& root, const TestOptions& options = {}) {
  const auto results = run_tests(find_test_cases({root.string()}), options);
  EXPECT_EQ(results.size(), 1u);
  return results.empty() ? TestResult() : results[0];
}

TEST(TestSuite, RightOutputsPass) {
  test::TempDir dir;
  write_case(dir.path(), "good", floats({11, 22}));
  const TestResult result = run_one(dir.path());
  EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
  EXPECT_EQ(result.name, "good");
}

TEST(TestSuite, WrongOutputsFailAndSayWhere) {
  test::TempDir dir;
  write_case(dir.path(), "bad", floats({11, 23}));
  const TestResult result = run_one(dir.path());
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_EQ(result.reason, "output 'y' element [1] is 22, expected 23");
}

TEST(TestSuite, OtherTypesAndShapesFail) {
  test::TempDir dir;
  write_case(dir.path(), "type", Array::of<double>({2}, {11, 22}));
  EXPECT_EQ(run_one(dir.path() / "type").outcome, Outcome::failed);
  write_case(dir.path(), "shape", Array::of<float>({1, 2}, {11, 22}));
  EXPECT_EQ(run_one(dir.path() / "shape").outcome, Outcome::failed);
}

TEST(TestSuite, TheCasesOwnToleranceCounts) {
  test::TempDir dir;
  write_case(dir.path(), "loose", floats({11, 23}));
  test::write_text(dir.path() / "loose" / "data.json", R"({"rtol": 0.1})");
  EXPECT_EQ(run_one(dir.path()).outcome, Outcome::passed);
  test::write_text(dir.path() / "loose" / "data.json", R"({"rtol": -1})");
  EXPECT_REFUSED(Code::bad_json, find_test_cases({dir.path().string()}));
}

TEST(TestSuite, EveryDataSetIsRun) {
  test::TempDir dir;
  write_case(dir.path(), "two", floats({11, 22}));
  fs::copy(dir.path() / "two" / "test_data_set_0", dir.path() / "two" / "test_data_set_1");
  driver::save_datum(floats({0, 0}), Type::tensor(DType::f32),
                     (dir.path() / "two" / "test_data_set_1" / "output_0.pb").string());
  EXPECT_THAT(run_one(dir.path()).reason, HasSubstr("data set 1: output 'y'"));
}

TEST(TestSuite, OperatorsThatCannotBeRunFailAndAreNamed) {
  test::TempDir dir;
  write_case(dir.path(), "foreign", floats({11, 22}), R"(<ir_version: 8, opset_import: ["" : 13, "zoo" : 1]>
g (float[2] a, float[2] b) => (float[2] y) { y = zoo.Lion(a, b) })");
  const TestResult result = run_one(dir.path());
  EXPECT_EQ(result.outcome, Outcome::failed);
  EXPECT_THAT(result.no_kernel, ::testing::ElementsAre("zoo.Lion"));
}

TEST(TestSuite, AnOpsetWithoutTheOperatorSkipsWithTheReason) {
  test::TempDir dir;
  write_case(dir.path(), "new", floats({11, 22}), R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] a, float[2] b) => (float[N] y) { t = Add(a, b) y = Unique(t) })");
  TestOptions options;
  options.opset = 9;
  const TestResult result = run_one(dir.path(), options);
  EXPECT_EQ(result.outcome, Outcome::skipped) << result.reason;
  EXPECT_FALSE(result.reason.empty());
}

TEST(TestSuite, VariantsHideShapesAndGiveTheSameNumbers) {
  test::TempDir dir, emitted;
  write_case(dir.path(), "good", floats({11, 22}));
  for (const auto how : {UnknownShapes::symbolic, UnknownShapes::rank}) {
    TestOptions options;
    options.unknown_shapes = how;
    options.emit = emitted.path().string();
    EXPECT_EQ(run_one(dir.path(), options).outcome, Outcome::passed);
    const Model model = driver::load((emitted.path() / "good" / "model.onnx").string()).model;
    const Type& type = model.graph->inputs()[0]->type;
    EXPECT_EQ(type.str(), how == UnknownShapes::rank ? "float[...]" : "float[in0_0]");
    EXPECT_EQ(run_one(emitted.path()).outcome, Outcome::passed);
  }
}

TEST(TestSuite, LightModelsAreFedACountingRow) {
  test::TempDir dir;
  driver::save(onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 2] x) => (float[2, 2] y) { y = Identity(x) })"),
               dir / "light_one.onnx");
  driver::save_datum(Array::of<float>({2, 2}, {0, 0.25f, 0.5f, 0.75f}), Type::tensor(DType::f32),
                     dir / "light_one_output_0.pb");
  EXPECT_EQ(run_one(dir.path()).outcome, Outcome::passed);
}

TEST(TestSuite, AnInterruptionEndsAllOfIt) {
  test::TempDir dir;
  write_case(dir.path(), "good", floats({11, 22}));
  Budget budget;
  budget.cancel();
  TestOptions options;
  options.budget = &budget;
  EXPECT_REFUSED(Code::cancelled, run_tests(find_test_cases({dir.path().string()}), options));
}

TEST(TestSuite, KnownFailuresNeedAReason) {
  test::TempDir dir;
  test::write_text(dir.path() / "k", "# comment\ntest_a: random  # more\n\ntest_b: other\n");
  EXPECT_THAT(read_known_failures(dir / "k"),
              ::testing::ElementsAre(std::pair("test_a", "random"), std::pair("test_b", "other")));
  test::write_text(dir.path() / "k", "test_a\n");
  EXPECT_REFUSED(Code::bad_usage, read_known_failures(dir / "k"));
}

TEST(Glob, StarsAndQuestionMarksStandForCharacters) {
  EXPECT_TRUE(matches_glob("test_conv_1", "test_*"));
  EXPECT_TRUE(matches_glob("test_conv_1", "*conv*"));
  EXPECT_TRUE(matches_glob("test_conv_1", "test_conv_?"));
  EXPECT_TRUE(matches_glob("aab", "a*ab"));
  EXPECT_FALSE(matches_glob("test_conv_1", "conv"));
  EXPECT_FALSE(matches_glob("test_conv_1", "test_conv_"));
  EXPECT_FALSE(matches_glob("", "?"));
  EXPECT_TRUE(matches_glob("", "*"));
}

}  // namespace
}  // namespace ingot::verify
