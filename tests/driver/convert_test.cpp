// What a conversion does and reports.
#include "ingot/driver/convert.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/driver/run.h"
#include "ingot/ir/model.h"
#include "tests/driver/sources.h"

namespace ingot::driver {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Convert : public testing::Test {
 protected:
  ConvertRequest request(const std::string& source, const std::string& output) const {
    return {.input = test::write_source(directory_, source), .output = directory_ / output};
  }

  /// Why a conversion is not verified; "asked" if it is.
  static std::string why_not(ConvertRequest request) {
    request.verify = [](const Comparison&) { return "asked"; };
    return convert(request).not_verified;
  }

  test::TempDir directory_;
};

TEST_F(Convert, OnnxKeepsItsOperatorSets) {
  const ConvertReport done = convert(request("onnx", "out.onnxtxt"));
  EXPECT_EQ(done.from->name, "onnx");
  EXPECT_EQ(done.to->name, "onnxtxt");
  EXPECT_FALSE(done.is_translated);
  EXPECT_THAT(done.notes, IsEmpty());
  EXPECT_EQ(load(directory_ / "out.onnxtxt").model.opsets.version(""), 18);
}

TEST_F(Convert, OtherFrameworksGetTheUsualOpsetOrTheOneAskedFor) {
  for (const char* source : {"tflite", "tensorflow", "savedmodel", "tfjs", "keras"}) {
    const ConvertReport done = convert(request(source, "out.onnx"));
    EXPECT_TRUE(done.is_translated);
    EXPECT_EQ(done.from->name, source);
    EXPECT_EQ(load(directory_ / "out.onnx").model.opsets.version(""), 21) << source;
  }
  ConvertRequest older = request("tensorflow", "out.onnx");
  older.opset = 17;
  EXPECT_EQ(convert(older).model.opsets.version(""), 17);
}

TEST_F(Convert, AnExportIsNotMovedToAnotherOpsetFirst) {
  const std::int64_t newest = load(test::write_tflite(directory_)).model.opsets.version("");
  EXPECT_GT(newest, 21);
  EXPECT_EQ(convert(request("tflite", "out.tflite")).model.opsets.version(""), newest);
  EXPECT_EQ(convert(request("onnx", "out.tflite")).model.opsets.version(""), 18);
}

TEST_F(Convert, LayoutsAreChangedOnceByTheEndThatKnowsBest) {
  ConvertRequest asked = request("onnx", "out.onnx");
  test::write_text(directory_ / "conv.onnxtxt", R"(<ir_version: 8, opset_import: ["" : 18]>
    g (float[1,2,3,3] x) => (float[1,2,3,3] y) { y = MaxPool<kernel_shape = [1, 1]>(x) })");
  asked.input = directory_ / "conv.onnxtxt";
  asked.layout = {Layout::channels_last, Layout::channels_last};
  EXPECT_THAT(convert(asked).notes, ElementsAre("layout: input 'x' is NHWC now", "layout: output 'y' is NHWC now"));
  EXPECT_EQ(load(asked.output).model.graph->inputs()[0]->type.str(), "float[1,3,3,2]");
  asked.output = directory_ / "out.tflite";
  EXPECT_EQ(convert(asked).model.graph->inputs()[0]->type.str(), "float[1,2,3,3]") << "TFLite's writer does it";
  EXPECT_EQ(load(asked.output).model.graph->inputs()[0]->type.str(), "float[1,3,3,2]");
}

TEST_F(Convert, ShapesAreThoseOfTheSourceAndNamesAreChecked) {
  ConvertRequest asked = request("tensorflow", "out.onnx");
  asked.input_shapes = {{"x", Shape{3}}};
  EXPECT_NO_THROW(convert(asked));
  asked.input_shapes = {{"z", Shape{3}}};
  try {
    convert(asked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unknown_name);
    EXPECT_EQ(error.message(), "the model has no input 'z'");
    EXPECT_EQ(error.file(), asked.input);
  }
}

TEST_F(Convert, ErrorsNameTheFileTheyAreAbout) {
  ConvertRequest asked = request("onnx", "out.onnx");
  asked.renames = {{"nobody", "z"}};
  try {
    convert(asked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), asked.input);
  }
  asked = {.input = directory_ / "missing.onnx", .output = directory_ / "out.onnx"};
  try {
    convert(asked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), asked.input);
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out.onnx"));
}

TEST_F(Convert, TellsWhyNothingWasVerified) {
  EXPECT_EQ(convert(request("tflite", "out.onnx")).not_verified, "as asked for");
  EXPECT_EQ(why_not(request("onnx", "out.onnx")), "source and result are ONNX; 'ingot verify' compares them");
  EXPECT_EQ(why_not(request("tflite", "out.json")), "a description does not run");
  ConvertRequest untrusted = request("tflite", "out.onnx");
  untrusted.allow_runtimes = false;
  EXPECT_EQ(why_not(untrusted), "other runtimes are off under --untrusted");
  ConvertRequest cut = request("tflite", "out.onnx");
  cut.outputs = {"y"};
  EXPECT_EQ(why_not(cut), "the graph was cut; TFLite's runtimes begin and end where the file does");
  ConvertRequest dequantized = request("tflite", "out.onnx");
  dequantized.dequantize = true;
  EXPECT_EQ(why_not(dequantized), "quantised values became floats");
  ConvertRequest more = request("onnx", "out.onnx");
  more.verifies_onnx = true;
  EXPECT_EQ(why_not(more), "asked");
  more.batch = Dim(8);
  EXPECT_EQ(why_not(more), "the batch is another one; Ingot alone compared the two, example by example");
  for (const char* source : {"tflite", "tensorflow", "savedmodel", "tfjs", "keras"})
    EXPECT_EQ(why_not(request(source, "out.onnx")), "asked") << source;
  EXPECT_EQ(why_not(request("onnx", "out.tflite")), "asked");
}

TEST_F(Convert, TellsTheVerifierHowBothAreRead) {
  ConvertRequest asked = request("savedmodel", "out.file");
  asked.from = &format_by_name("savedmodel");
  asked.to = &format_by_name("onnx");
  asked.signature = "serving_default";
  asked.tag = "serve";
  asked.input_shapes = {{"x", Shape{3}}};
  asked.allow_links = true;
  int count = 0;
  asked.verify = [&](const Comparison& files) -> std::string {
    ++count;
    EXPECT_TRUE(std::filesystem::exists(files.result)) << "it is written first";
    EXPECT_EQ(files.source, asked.input);
    EXPECT_EQ(files.load_source.from, asked.from);
    EXPECT_EQ(files.load_source.import.signature, "serving_default");
    EXPECT_EQ(files.load_source.import.tag, "serve");
    EXPECT_EQ(files.load_result.from, asked.to);
    EXPECT_TRUE(files.load_result.allow_links);
    EXPECT_EQ(files.input_shapes.size(), 1U);
    return "";
  };
  EXPECT_EQ(convert(asked).not_verified, "");
  EXPECT_EQ(count, 1);
}

TEST_F(Convert, TellsWhatTheModelSaysOfItsDataAndTheResultDoesNot) {
  test::write_text(directory_ / "m.onnxtxt", R"(<ir_version: 8, opset_import: ["" : 13],
    metadata_props: ["ingot.scale": "10", "ingot.columns": "b,a", "ingot.classes": "yes,no"]>
    g (float[1,2] x) => (float[1,2] y) { y = Relu(x) })");
  const auto notes_of = [&](const char* output) {
    return convert({.input = directory_ / "m.onnxtxt", .output = directory_ / output}).notes;
  };
  EXPECT_THAT(notes_of("m.onnx"), testing::IsEmpty());
  EXPECT_THAT(notes_of("m.tflite"),
              testing::Contains(testing::HasSubstr(
                  "how its inputs are prepared, the order of its columns, the names of its classes; 'ingot train")));
}

TEST_F(Convert, DerivativesThatAModelAsksForAreOperatorsElsewhere) {
  test::write_text(directory_ / "m.onnxtxt", R"(<ir_version: 8, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>
g (float[2] x) => (float[2] y, float[2] dy) {
  y = Mul (x, x)
  dy = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x)
})");
  const auto result_of = [&](const char* output) {
    convert({.input = directory_ / "m.onnxtxt", .output = directory_ / output});
    return load(directory_ / output).model;
  };
  EXPECT_TRUE(runnable_form(result_of("m.onnx")).has_value());
  for (const char* output : {"m.pb", "m.tflite"}) {
    const Model made = result_of(output);
    EXPECT_FALSE(runnable_form(made).has_value()) << output;
    EXPECT_EQ(made.graph->outputs().size(), 2U) << output;
  }
}

TEST_F(Convert, NotesOfImportAdjustmentAndExportComeInThatOrder) {
  test::write_text(directory_ / "wide.onnxtxt", R"(<ir_version: 8, opset_import: ["" : 18]>
g (double[2] x) => (double[2] y) { y = Relu(x) })");
  ConvertRequest asked{.input = directory_ / "wide.onnxtxt", .output = directory_ / "out.tflite"};
  asked.auto_cast = AutoCast::all;
  EXPECT_THAT(convert(asked).notes, Contains(HasSubstr("double")));
}

}  // namespace
}  // namespace ingot::driver
