// Pools, regions of interest, and what picks boxes.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;

TEST(MaxPool, LeavesOutWindowsThatBeginInThePadding) {
  OpCase c;
  const Attrs ceil = {{"kernel_shape", {1}}, {"strides", {2}}, {"ceil_mode", 1}, {"pads", {0, 0}}};
  EXPECT_EQ(c.op("MaxPool", {c.in("float[1,1,2]")}, ceil)->type.str(), "float[1,1,1]");
  EXPECT_EQ(c.op("MaxPool", {c.in("float[1,1,3]")}, ceil)->type.str(), "float[1,1,2]");
  const Attrs whole = {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"ceil_mode", 1}};
  EXPECT_EQ(c.op("MaxPool", {c.in("float[N,C,4,H]")}, whole)->type.str(), "float[N,C,2,floor(H/2)]");
}

TEST(MaxPool, GivesIndicesOfTheSameShape) {
  OpCase c;
  c.ops("MaxPool", {c.in("int8[N,C,7]")}, {{"kernel_shape", {2}}}, 2);
  EXPECT_EQ(c.type(0), "int8[N,C,6]");
  EXPECT_EQ(c.type(1), "int64[N,C,6]");
}

TEST(MaxPool, HasARankEvenWhereItsInputHasNone) {
  OpCase c;
  c.ops("MaxPool", {c.in("float[...]")}, {{"kernel_shape", {2, 2}}}, 2);
  EXPECT_EQ(c.type(0), "float[?,?,?,?]");
  EXPECT_EQ(c.type(1), "int64[?,?,?,?]");
  EXPECT_EQ(c.op("AveragePool", {c.in("float[...]")}, {{"kernel_shape", {2}}})->type.str(), "float[?,?,?]");
  EXPECT_EQ(c.op("LpPool", {c.in("float[...]")}, {{"kernel_shape", {2}}})->type.str(), "float[?,?,?]");
  const Attrs window = {{"kernel_shape", {2, 2}}};
  EXPECT_EQ(c.op("MaxUnpool", {c.in("float[...]"), c.in("int64[...]")}, window)->type.str(), "float[?,?,?,?]");
  EXPECT_EQ(c.op("Conv", {c.in("float[...]"), c.in("float[8,3,3,3]")})->type.str(), "float[?,8,?,?]");
  EXPECT_EQ(c.op("Resize", {c.in("float[...]"), nullptr, c.in("float[4]")})->type.str(), "float[?,?,?,?]");
}

TEST(MaxPool, RefusesWhatCannotBe) {
  OpCase c;
  EXPECT_THAT(refusal([&] { c.op("MaxPool", {c.in("float[1,1,4]")}); }), HasSubstr("kernel_shape"));
  EXPECT_THAT(refusal([&] { c.op("MaxPool", {c.in("float[1,1,4]")}, {{"kernel_shape", {0}}}); }), HasSubstr("0"));
  EXPECT_THAT(refusal([&] { c.op("MaxPool", {c.in("float[1,4]")}, {{"kernel_shape", {2}}}); }), HasSubstr("spatial"));
  EXPECT_THAT(refusal([&] { c.op("MaxPool", {c.in("float[1,1,4]")}, {{"kernel_shape", {5}}}); }), HasSubstr("fit"));
}

TEST(AveragePool, LosesDilationsOfOneOnTheWayDown) {
  OpCase c;
  c.op("AveragePool", {c.in("float[1,1,8]")}, {{"kernel_shape", {2}}, {"dilations", {1}}});
  c.convert(18);
  EXPECT_EQ(c.nodes(), "AveragePool");
  EXPECT_FALSE(c.node("AveragePool").attributes.has("dilations"));
}

TEST(AveragePool, WithDilationsBecomesAConvolution) {
  OpCase c;
  c.op("AveragePool", {c.in("float[N,C,8,9]")},
       {{"kernel_shape", {2, 2}}, {"dilations", {2, 2}}, {"pads", {1, 1, 1, 1}}});
  EXPECT_EQ(c.type(), "float[N,C,8,9]");
  c.convert(13);
  EXPECT_THAT(c.nodes(), HasSubstr("Conv"));
  EXPECT_THAT(c.nodes(), testing::Not(HasSubstr("AveragePool")));
}

TEST(AveragePool, CountsWhatItsLastWindowsHold) {
  for (const int include : {0, 1}) {
    OpCase c;
    c.op("AveragePool", {c.in("float[N,C,8]")},
         {{"kernel_shape", {2}},
          {"dilations", {2}},
          {"strides", {3}},
          {"pads", {1, 1}},
          {"ceil_mode", 1},
          {"count_include_pad", include}});
    const std::string type = c.type();
    c.convert(13);
    EXPECT_EQ(c.type(), type);
    EXPECT_THAT(c.nodes(), HasSubstr("Conv"));
  }
}

TEST(LpPool, HadAFloatForItsOrder) {
  OpCase c(1);
  c.op("LpPool", {c.in("float[1,1,8]")}, {{"kernel_shape", {2}}, {"p", 3.0}});
  c.convert(13);
  EXPECT_EQ(c.node("LpPool").attributes.int_or("p", 0), 3);
  OpCase half(1);
  half.op("LpPool", {half.in("float[1,1,8]")}, {{"kernel_shape", {2}}, {"p", 2.5}});
  EXPECT_THAT(refusal([&] { half.convert(13); }), HasSubstr("integer"));
}

TEST(GlobalPools, LeaveOneElementPerChannel) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    OpCase c;
    EXPECT_EQ(c.op(op, {c.in("float[N,C,H,7]")})->type.str(), "float[N,C,1,1]");
    EXPECT_EQ(c.op(op, {c.in("float[...]")})->type.str(), "float[...]");
    EXPECT_REFUSED(Code::inference_failed, c.op(op, {c.in("float[3]")}));
  }
}

TEST(MaxUnpool, TakesTheStatedShapeOrTheWindows) {
  OpCase c;
  Value *x = c.in("float[1,1,2,W]"), *at = c.in("int64[1,1,2,W]");
  const Attrs attrs = {{"kernel_shape", {2, 2}}, {"strides", {2, 2}}};
  EXPECT_EQ(c.op("MaxUnpool", {x, at}, attrs)->type.str(), "float[1,1,4,2*W]");
  EXPECT_EQ(c.op("MaxUnpool", {x, at, c.ints({1, 1, 5, 5})}, attrs)->type.str(), "float[1,1,5,5]");
  EXPECT_EQ(c.op("MaxUnpool", {x, at, c.in("int64[4]")}, attrs)->type.str(), "float[?,?,?,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("MaxUnpool", {x, at, c.ints({1, 5, 5})}, attrs));
}

TEST(RoiAlign, KeepsItsMeaningAcrossOpset16) {
  OpCase c(10);
  c.op("RoiAlign", {c.in("float[N,3,8,8]"), c.in("float[R,4]"), c.in("int64[R]")}, {{"output_height", 5}});
  c.convert(16);
  EXPECT_EQ(c.node("RoiAlign").attributes.string_or("coordinate_transformation_mode", ""), "output_half_pixel");
  c.convert(13);
  EXPECT_FALSE(c.node("RoiAlign").attributes.has("coordinate_transformation_mode"));
  OpCase half;
  half.op("RoiAlign", {half.in("float[N,3,8,8]"), half.in("float[R,4]"), half.in("int64[R]")}, {{"output_height", 5}});
  EXPECT_EQ(half.type(), "float[R,3,5,1]");
  half.convert(13);
  EXPECT_THAT(half.nodes(), testing::Not(HasSubstr("RoiAlign")));
  EXPECT_EQ(half.type(), "float[R,3,5,1]");
  OpCase most;
  most.op("RoiAlign", {most.in("float[N,3,8,8]"), most.in("float[R,4]"), most.in("int64[R]")}, {{"mode", "max"}});
  most.convert(13);
  EXPECT_THAT(most.nodes(), testing::Not(HasSubstr("RoiAlign")));
  EXPECT_EQ(most.type(), "float[R,3,1,1]");
}

TEST(NonMaxSuppression, LetsTheDataDecideHowMany) {
  OpCase c;
  Value* y = c.op("NonMaxSuppression", {c.in("float[1,B,4]"), c.in("float[1,2,B]")});
  ASSERT_EQ(y->type.shape->size(), 2u);
  EXPECT_TRUE((*y->type.shape)[0].is_symbolic());
  EXPECT_EQ((*y->type.shape)[1].as_int(), 3);
  EXPECT_REFUSED(Code::inference_failed, c.op("NonMaxSuppression", {c.in("float[1,6,5]"), c.in("float[1,2,6]")}));
}

TEST(ImageDecoder, GivesThreeChannelsUnlessGray) {
  OpCase c;
  EXPECT_EQ((*c.op("ImageDecoder", {c.in("uint8[N]")})->type.shape)[2].as_int(), 3);
  EXPECT_EQ((*c.op("ImageDecoder", {c.in("uint8[N]")}, {{"pixel_format", "Grayscale"}})->type.shape)[2].as_int(), 1);
  EXPECT_REFUSED(Code::inference_failed, c.op("ImageDecoder", {c.in("uint8[N]")}, {{"pixel_format", "CMYK"}}));
}

}  // namespace
}  // namespace ingot::test
