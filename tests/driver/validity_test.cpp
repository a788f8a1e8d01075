// What `check` refuses is neither run nor transformed, and what Ingot makes is checked before it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ingot/driver/check.h"
#include "ingot/driver/convert.h"
#include "ingot/driver/run.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/writer.h"
#include "tests/driver/sources.h"
#include "tests/driver/toy_format.h"
#include "tests/support/refusal.h"

namespace ingot::driver {
namespace {

using testing::HasSubstr;

Model valid() {
  return onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 13, "acme" : 1]>
    g (float[2,3] x) => (float[2,1] y) { [f] a = acme.F(x) [n] y = ReduceMean<axes = [1]>(a) }
    <domain: "acme", opset_import: ["" : 13]> F (p) => (q) { q = Relu(p) })");
}

/// Models that another than Ingot may read in its own way, each with the code that `check` has for it.
std::vector<std::pair<Code, std::function<void(Model&)>>> flaws() {
  const auto node = [](Model& m) -> Node& { return *m.graph->find("y")->producer(); };
  return {
      {Code::bad_opset_import, [](Model& m) { m.opsets.set("", 0); }},
      {Code::bad_opset_import, [](Model& m) { m.opsets.set("", 9999); }},
      {Code::bad_opset_import, [](Model& m) { m.opsets.set("", (std::int64_t{1} << 32) + 17); }},
      {Code::bad_ir_version, [](Model& m) { m.ir_version = -5; }},
      {Code::unknown_operator,
       [=](Model& m) {
         node(m).op = "Mish";
         node(m).attributes.erase("axes");
       }},
      {Code::bad_attribute, [=](Model& m) { node(m).attributes.set(Attribute("axes", 1)); }},
      {Code::bad_arity, [](Model& m) { m.graph->find("a")->producer()->add_input(m.graph->find("x")); }},
      {Code::duplicate_name,
       [](Model& m) {
         m.graph->add_initializer("a", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
       }},
  };
}

TEST(Validity, IsAskedForByRunAndConvertInTheWordsOfCheck) {
  const test::TempDir directory;
  RunRequest run_request{.model = directory / "m.onnx", .load = {}, .inputs = {}, .seed = 1, .input_shapes = {}};
  run_request.load.requires_valid = true;
  ConvertRequest request{.input = directory / "m.onnx",
                         .output = directory / "out.onnx"};  // as a library's user has it
  onnx::write(valid(), request.input);
  EXPECT_NO_THROW(run(run_request));
  EXPECT_NO_THROW(convert(request));
  std::filesystem::remove(request.output);
  for (const auto& flaw : flaws()) {
    const Code code = flaw.first;
    Model model = valid();
    flaw.second(model);
    onnx::write(model, request.input);
    std::string words;
    for (const Problem& p : check(load(request.input).model))
      if (p.severity == Severity::error && words.empty()) words = p.place + ": " + p.message;
    const auto refusal = [&](const std::function<void()>& act) -> std::string {
      try {
        act();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.message();
      }
      return "accepted";
    };
    EXPECT_THAT(refusal([&] { run(run_request); }), HasSubstr(words)) << code_name(code);
    EXPECT_THAT(refusal([&] { convert(request); }), HasSubstr(words)) << code_name(code);
    EXPECT_FALSE(words.empty());
    EXPECT_FALSE(std::filesystem::exists(request.output));
  }
}

TEST(Validity, OfTheValuesInAFileIsTheFilesMatter) {
  test::register_toy();
  const test::TempDir directory;
  test::write_text(directory / "good.toy", "TOY1\nin x 3\ny = Relu x\nout y\n");
  test::write_text(directory / "bad.toy", "TOY1\nin x 3\nin z 4\ny = Add x z\nout y\n");
  ConvertRequest request{.input = directory / "good.toy", .output = directory / "out.onnx", .requires_valid = true};
  EXPECT_NO_THROW(convert(request));
  std::filesystem::remove(request.output);
  request.input = directory / "bad.toy";
  try {
    convert(request);
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_source_graph);
    EXPECT_THAT(error.what(), HasSubstr("its operators do not take the values that they get: 1 error"));
    EXPECT_THAT(error.what(), HasSubstr("bug in Ingot")) << "the file may be right";
    EXPECT_THAT(error.what(), HasSubstr("'y' (Add)")) << "the node is named";
  }
  EXPECT_FALSE(std::filesystem::exists(request.output));
  request.requires_valid = false;
  EXPECT_NO_THROW(convert(request));
}

TEST(Validity, OfShapesThatTheUserAskedForIsTheUsers) {
  const test::TempDir directory;
  onnx::write(onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[N,K] x) => (float[N,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { y = MatMul(x, w) })"),
              directory / "m.onnx");
  ConvertRequest request{.input = directory / "m.onnx", .output = directory / "out.onnx", .requires_valid = true};
  request.input_shapes = {{"x", Shape{1, 5}}};
  EXPECT_REFUSED(Code::bad_usage, convert(request));
  request.input_shapes = {{"x", Shape{1, 3}}};
  EXPECT_NO_THROW(convert(request));
}

TEST(Validity, OrderAndStaleShapesDoNotMatter) {
  for (const char* text : {R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[2] x) => (float[2] y) { y = Relu(a) a = Neg(x) })",
                           R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[2] x) => (float[3] y) { y = Relu(x) })",
                           R"(<ir_version: 3, opset_import: ["" : 8]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) })"})
    EXPECT_NO_THROW(require_valid(onnx::parse_text(text))) << text;
}

TEST(Conversion, DoesNotOverwriteItsSource) {
  const test::TempDir directory;
  ConvertRequest request{.input = test::write_onnx(directory), .output = directory / "m.onnx"};
  EXPECT_REFUSED(Code::output_is_input, convert(request));
  std::filesystem::create_symlink(directory / "m.onnx", directory / "link.onnx");
  request.output = directory / "link.onnx";
  EXPECT_REFUSED(Code::output_is_input, convert(request));
  request.input = test::write_saved_model(directory);
  request.output = request.input + "/model.onnx";
  EXPECT_REFUSED(Code::output_is_input, convert(request));
}

}  // namespace
}  // namespace ingot::driver
