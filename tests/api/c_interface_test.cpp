// The C interface from outside: every pointer may be NULL, and every mistake is an answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/ingot_c.h"
#include "tests/support/files.h"

namespace {

using ingot::test::TempDir;
using testing::HasSubstr;

constexpr const char* kModel = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N, 2] x, string[1] s) => (float[N, 2] y, string[1] t) { y = Add(x, x)  t = Identity(s) })";
constexpr const char* kNumbers = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N, 2] x) => (float[N, 2] y, string[2] words) <string[2] w = {"one", "two"}>
{ y = Add(x, x)  words = Identity(w) })";

/// The code and text of the last error, which is freed.
struct Failure {
  int32_t code;
  std::string text;
};
Failure taken(ingot_error* error) {
  Failure failure{ingot_error_code(error), ingot_error_text(error)};
  ingot_error_free(error);
  return failure;
}

ingot_model* loaded(const char* text) {
  ingot_model* model = nullptr;
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_model_load_memory(text, std::string_view(text).size(), "onnxtxt", &model, &error), INGOT_OK)
      << ingot_error_text(error);
  return model;
}

ingot_session* planned(const char* text, const ingot_session_options* options = nullptr) {
  ingot_model* model = loaded(text);
  ingot_session* session = nullptr;
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_session_create(model, options, &session, &error), INGOT_OK) << ingot_error_text(error);
  ingot_model_free(model);
  return session;
}

constexpr float kData[] = {1, 2, 3, 4};
constexpr int64_t kDims[] = {2, 2};
ingot_input good_input() { return {"x", INGOT_FLOAT32, kDims, 2, kData, sizeof kData}; }

TEST(CInterface, TellsWhatIsInAModel) {
  EXPECT_EQ(ingot_c_version(), INGOT_C_VERSION);
  ingot_model* model = loaded(kModel);
  EXPECT_EQ(ingot_model_opset(model, nullptr), 21);
  EXPECT_EQ(ingot_model_input_count(model), 2u);
  EXPECT_STREQ(ingot_model_input_name(model, 0), "x");
  EXPECT_STREQ(ingot_model_input_type(model, 0), "float[N,2]");
  EXPECT_STREQ(ingot_model_output_name(model, 1), "t");
  EXPECT_EQ(ingot_model_output_type(model, 2), nullptr);
  ingot_model_free(model);
}

TEST(CInterface, RunsAndHandsOutTensorsAndStrings) {
  ingot_session* session = planned(kNumbers);
  const ingot_input input = good_input();
  ingot_outputs* outputs = nullptr;
  ASSERT_EQ(ingot_session_run(session, &input, 1, &outputs, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_outputs_count(outputs), 2u);
  ingot_tensor y;
  ASSERT_EQ(ingot_output_tensor(outputs, 0, &y, nullptr), INGOT_OK);
  EXPECT_EQ(y.dtype, INGOT_FLOAT32);
  EXPECT_EQ(y.rank, 2u);
  EXPECT_EQ(y.byte_size, 16u);
  EXPECT_EQ(static_cast<const float*>(y.data)[3], 8);
  ASSERT_EQ(ingot_output_tensor(outputs, 1, &y, nullptr), INGOT_OK);
  EXPECT_EQ(y.data, nullptr);
  size_t length = 0;
  EXPECT_STREQ(ingot_output_string(outputs, 1, 1, &length), "two");
  EXPECT_EQ(length, 3u);
  EXPECT_EQ(ingot_output_string(outputs, 1, 2, &length), nullptr);
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_output_tensor(outputs, 2, &y, &error), INGOT_BAD_ARGUMENT);
  EXPECT_THAT(taken(error).text, HasSubstr("there is no output number 2"));
  ingot_outputs_free(outputs);
  ingot_session_free(session);
}

TEST(CInterface, RefusesInputsThatDoNotFit) {
  ingot_session* session = planned(kNumbers);
  const auto refusal = [&](const ingot_input& input) {
    ingot_outputs* outputs = nullptr;
    ingot_error* error = nullptr;
    EXPECT_NE(ingot_session_run(session, &input, 1, &outputs, &error), INGOT_OK);
    EXPECT_EQ(outputs, nullptr);
    return taken(error).text;
  };
  ingot_input bad = good_input();
  bad.byte_size = 15;
  EXPECT_THAT(refusal(bad), HasSubstr("15 bytes do not fit"));
  bad = good_input();
  bad.data = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("data is NULL"));
  bad = good_input();
  bad.dims = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("dims is NULL"));
  bad = good_input();
  bad.dtype = 99;
  EXPECT_THAT(refusal(bad), HasSubstr("the element type does not exist"));
  bad = good_input();
  bad.name = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("'inputs[i].name' is NULL"));
  bad = good_input();
  bad.data = reinterpret_cast<const char*>(kData) + 1;
  EXPECT_THAT(refusal(bad), HasSubstr("not aligned"));
  const int64_t negative[] = {-2, -2};
  bad = good_input();
  bad.dims = negative;
  EXPECT_THAT(refusal(bad), HasSubstr("negative"));
  const unsigned char two[] = {0, 2};
  const int64_t pair[] = {2};
  EXPECT_THAT(refusal({"x", INGOT_BOOL, pair, 1, two, 2}), HasSubstr("a bool is a byte that is 0 or 1"));
  ingot_session_free(session);
}

TEST(CInterface, TakesNullEverywhere) {
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_model_load(nullptr, nullptr, nullptr, &error), INGOT_BAD_ARGUMENT);
  EXPECT_THAT(taken(error).text, HasSubstr("'model' is NULL"));
  ingot_model* model = nullptr;
  EXPECT_EQ(ingot_model_load(nullptr, nullptr, &model, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_model_load_memory(nullptr, 3, nullptr, &model, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_NE(ingot_model_load_memory(nullptr, 0, nullptr, &model, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_model_save(nullptr, "x.onnx", nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_convert(nullptr, nullptr, nullptr, 0, nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_convert("a", "b", nullptr, 1, nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_session_create(nullptr, nullptr, nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_session_run(nullptr, nullptr, 0, nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_output_tensor(nullptr, 0, nullptr, nullptr), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(ingot_output_string(nullptr, 0, 0, nullptr), nullptr);
  EXPECT_EQ(ingot_model_input_count(nullptr) + ingot_outputs_count(nullptr) + ingot_report_note_count(nullptr), 0u);
  EXPECT_EQ(ingot_model_input_name(nullptr, 0), nullptr);
  EXPECT_EQ(ingot_error_code(nullptr), 0);
  EXPECT_STREQ(ingot_error_text(nullptr), "");
  ingot_session_cancel(nullptr);
  ingot_model_free(nullptr);
  ingot_session_free(nullptr);
  ingot_outputs_free(nullptr);
  ingot_report_free(nullptr);
  ingot_error_free(nullptr);
}

TEST(CInterface, ConvertsWithTheOptionsOfTheProgram) {
  const TempDir dir;
  ingot::test::write_text(dir / "in.onnxtxt", kNumbers);
  const ingot_option options[] = {{"opset", "17"}, {"rename", "y=z"}, {"infer-types", ""}};
  ingot_report* report = nullptr;
  ingot_error* error = nullptr;
  ASSERT_EQ(ingot_convert((dir / "in.onnxtxt").c_str(), (dir / "out.onnx").c_str(), options, 3, &report, &error),
            INGOT_OK)
      << ingot_error_text(error);
  EXPECT_EQ(ingot_report_note(report, ingot_report_note_count(report)), nullptr);
  ingot_report_free(report);
  ingot_model* model = nullptr;
  ASSERT_EQ(ingot_model_load((dir / "out.onnx").c_str(), "onnx", &model, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_model_opset(model, ""), 17);
  EXPECT_STREQ(ingot_model_output_name(model, 0), "z");
  ingot_model_free(model);
}

TEST(CInterface, NamesWhatItDoesNotUnderstand) {
  const auto refusal = [](const char* name, const char* value) {
    const ingot_option option = {name, value};
    ingot_error* error = nullptr;
    EXPECT_EQ(ingot_convert("in.onnx", "out.onnx", &option, 1, nullptr, &error), INGOT_BAD_ARGUMENT);
    return taken(error).text;
  };
  EXPECT_THAT(refusal("opste", "1"), HasSubstr("there is no option 'opste'"));
  EXPECT_THAT(refusal("opset", "new"), HasSubstr("'new' is not a number above zero"));
  EXPECT_THAT(refusal("dequantize", "yes"), HasSubstr("takes no value"));
  EXPECT_THAT(refusal("half-ports", ""), HasSubstr("do nothing by themselves"));
  EXPECT_THAT(refusal("to", "pdf"), HasSubstr("there is no format 'pdf'"));
  ingot_model* model = nullptr;
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_model_load("no such file.onnx", nullptr, &model, &error), INGOT_IO);
  EXPECT_EQ(ingot_error_code(error), 101);
  EXPECT_THAT(taken(error).text, HasSubstr("no such file.onnx: cannot open"));
  const char* tfjs = R"({"format": "graph-model", "modelTopology": {"node": []}, "weightsManifest": []})";
  EXPECT_EQ(ingot_model_load_memory(tfjs, std::string_view(tfjs).size(), "tfjs", &model, &error), INGOT_BAD_ARGUMENT);
  EXPECT_THAT(taken(error).text, HasSubstr("are not read from memory"));
}

TEST(CInterface, TakesEveryWordOfTheProgram) {
  const TempDir dir;
  ingot::test::write_text(dir / "in.onnxtxt", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2] a, float[2] b) => (float[2] y, float[2] z) { y = Add(a, b) z = Sub(a, b) })");
  const ingot_option options[] = {{"inputs", "a,b"},    {"outputs", "y"},      {"float16", ""},
                                  {"half-ports", NULL}, {"external-data", ""}, {"external-threshold", "1K"}};
  ingot_error* error = nullptr;
  ASSERT_EQ(ingot_convert((dir / "in.onnxtxt").c_str(), (dir / "out.onnx").c_str(), options, 6, nullptr, &error),
            INGOT_OK)
      << ingot_error_text(error);
  ingot_model* model = nullptr;
  ASSERT_EQ(ingot_model_load((dir / "out.onnx").c_str(), nullptr, &model, nullptr), INGOT_OK);
  EXPECT_STREQ(ingot_model_input_type(model, 0), "float16[2]");
  EXPECT_EQ(ingot_model_output_count(model), 1u);
  ingot_model_free(model);
}

TEST(CInterface, RefusesShapesThatNoTensorHas) {
  ingot_session* session = planned(kNumbers);
  const auto refusal = [&](const std::vector<std::int64_t>& dims, std::size_t rank) {
    ingot_input input = good_input();
    input.dims = dims.data();
    input.rank = rank;
    ingot_outputs* outputs = nullptr;
    ingot_error* error = nullptr;
    EXPECT_EQ(ingot_session_run(session, &input, 1, &outputs, &error), INGOT_BAD_ARGUMENT);
    return taken(error).text;
  };
  EXPECT_THAT(refusal({-2, 3}, 2), HasSubstr("input 'x': a dimension of a tensor is negative"));
  EXPECT_THAT(refusal({INT64_MAX, 4}, 2), HasSubstr("input 'x': a dimension"));
  EXPECT_THAT(refusal({2, 3}, SIZE_MAX), HasSubstr("dimensions are more than any tensor has"));
  ingot_session_free(session);
}

TEST(CInterface, KeepsSessionsWithinTheirLimits) {
  ingot_session_options options = {sizeof options, 1, 1 << 20, 0, 0, 0};
  ingot_session* session = planned(kNumbers, &options);
  const ingot_input input = good_input();
  ingot_outputs* outputs = nullptr;
  ASSERT_EQ(ingot_session_run(session, &input, 1, &outputs, nullptr), INGOT_OK);
  ingot_outputs_free(outputs);
  ingot_session_cancel(session);
  EXPECT_EQ(ingot_session_run(session, &input, 1, &outputs, nullptr), INGOT_LIMIT);
  ingot_session_free(session);

  ingot_model* model = loaded(kNumbers);
  options.size = 1000;
  ingot_error* error = nullptr;
  EXPECT_EQ(ingot_session_create(model, &options, &session, &error), INGOT_BAD_ARGUMENT);
  EXPECT_EQ(session, nullptr);
  EXPECT_THAT(taken(error).text, HasSubstr("of another size"));
  ingot_model_free(model);
}

}  // namespace
