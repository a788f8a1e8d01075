// In which layout inputs are, and which one is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/driver/convert.h"
#include "ingot/driver/edit.h"
#include "ingot/ir/model.h"
#include "ingot/ir/source_notes.h"
#include "ingot/onnx/text.h"
#include "tests/driver/sources.h"
#include "tests/support/refusal.h"

namespace ingot::driver {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kConvolution = R"(<ir_version: 8, opset_import: ["" : 13]>
  g (float[N,3,8,6] x) => (float[N,3,8,6] y) { y = MaxPool<kernel_shape = [1, 1]>(x) })";
constexpr const char* kTransposed = R"(<ir_version: 8, opset_import: ["" : 13]>
  g (float[N,8,6,3] x) => (float[N,3,8,6] y) { t = Transpose<perm = [0, 3, 1, 2]>(x) y = Relu(t) })";
constexpr const char* kMarked = R"(<ir_version: 8, opset_import: ["" : 13], metadata_props: ["ingot.layout.x": "NHWC"]>
  g (float[N,8,6,3] x) => (float[N,8,6,3] y) { y = Relu(x) })";
constexpr const char* kSilent = R"(<ir_version: 8, opset_import: ["" : 13]>
  g (float[N,8,6,3] x) => (float[N,8,6,3] y) { y = Relu(x) })";

class InputLayout : public testing::Test {
 protected:
  ConvertReport asked(const char* text, Layout layout, const std::string& output = "out.onnx") {
    test::write_text(directory_ / "m.onnxtxt", text);
    ConvertRequest request{.input = directory_ / "m.onnxtxt", .output = directory_ / output, .requires_valid = true};
    request.layout.inputs_as = layout;
    return convert(request);
  }
  std::string input_of(const char* text, Layout layout) {
    const ConvertReport report = asked(text, layout);
    return report.model.graph->inputs()[0]->type.str() + " " +
           std::string(note_of(report.model.metadata, "ingot.layout.x"));
  }

  test::TempDir directory_;
};

TEST_F(InputLayout, IsReadFromOperatorsTransposesAndMarks) {
  EXPECT_EQ(input_of(kConvolution, Layout::channels_last), "float[N,8,6,3] NHWC");
  EXPECT_EQ(input_of(kTransposed, Layout::channels_first), "float[N,3,8,6] NCHW");
  EXPECT_EQ(input_of(kMarked, Layout::channels_first), "float[N,3,8,6] NCHW");
}

TEST_F(InputLayout, ThatIsAsAskedForStays) {
  EXPECT_EQ(input_of(kMarked, Layout::channels_last), "float[N,8,6,3] NHWC");
  EXPECT_EQ(input_of(kTransposed, Layout::channels_last), "float[N,8,6,3] NHWC");
  EXPECT_THAT(asked(kMarked, Layout::channels_last).notes, Contains("layout: input 'x' is NHWC already"));
}

TEST_F(InputLayout, GoesWithTheName) {
  Model model = onnx::parse_text(kMarked);
  rename(model, {.values = {{"x", "image"}}, .dims = {}, .prefix = {}});
  EXPECT_EQ(note_of(model.metadata, "ingot.layout.image"), "NHWC");
  EXPECT_EQ(note_of(model.metadata, "ingot.layout.x"), "");
}

TEST_F(InputLayout, ThatCannotBeKnownIsRefused) {
  EXPECT_REFUSED(Code::bad_usage, asked(kSilent, Layout::channels_last));
  EXPECT_REFUSED(Code::bad_usage, asked(kSilent, Layout::channels_first));
  EXPECT_REFUSED(Code::bad_usage, asked(kSilent, Layout::channels_last, "out.tflite"));
}

TEST_F(InputLayout, ReachesTfliteTheSameWay) {
  const auto written = [&](const char* text, Layout layout) {
    asked(text, layout, "out.tflite");
    return load(directory_ / "out.tflite").model.graph->inputs()[0]->type.shape->at(3).str();
  };
  EXPECT_EQ(written(kConvolution, Layout::channels_last), "3");
  EXPECT_EQ(written(kMarked, Layout::channels_last), "3") << "it is so already";
  EXPECT_EQ(written(kMarked, Layout::channels_first), "6");
}

TEST_F(InputLayout, IsTheSourcesWhereShapesAreGiven) {
  SaveOptions last;
  last.layout.inputs_as = Layout::channels_last;
  save(onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[1,3,8,6] x) => (float[1,2,8,6] y)
         <float[2,3,1,1] w = {1, 2, 3, 4, 5, 6}> { y = Conv(x, w) })"),
       directory_ / "m.tflite", last);
  ConvertRequest request{.input = directory_ / "m.tflite", .output = directory_ / "out.onnx", .requires_valid = true};
  request.layout.inputs_as = Layout::channels_first;
  request.input_shapes = {{"x", Shape{4, 8, 6, 3}}};
  EXPECT_EQ(convert(request).model.graph->inputs()[0]->type.str(), "float[4,3,8,6]");
  request.input_shapes = {{"x", Shape{4, 3, 8, 6}}};
  try {
    convert(request);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("input 'x' is float[1,8,6,3] in the source, which float[4,3,8,6] does not fit"));
    EXPECT_THAT(error.hint_text(), HasSubstr("the source's layout"));
  }
}

}  // namespace
}  // namespace ingot::driver
