// Conv, ConvTranspose, DeformConv, CausalConvWithState, Col2Im and the geometry they share.
#include <gmock/gmock.h>

#include <limits>

#include "ingot/ops/nn/window.h"
#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;

TEST(Conv, FollowsSymbolicSizes) {
  OpCase c;
  Value* y =
      c.op("Conv", {c.in("float[N,3,H,W]"), c.in("float[8,3,3,3]")}, {{"strides", {2, 1}}, {"pads", {1, 0, 1, 0}}});
  EXPECT_EQ(y->type.str(), "float[N,8,floor((H + 1)/2),W - 2]");
}

TEST(Conv, KeepsWhatIsKnownWithoutTheInputsRank) {
  OpCase c;
  EXPECT_EQ(c.op("Conv", {c.in("float[...]"), c.in("float[8,3,3,3]")})->type.str(), "float[?,8,?,?]");
  EXPECT_EQ(c.op("Conv", {c.in("float[N,3,H]"), c.in("float[...]")})->type.str(), "float[N,?,?]");
  EXPECT_EQ(c.op("Conv", {c.in("float[...]"), c.in("float[...]")})->type.str(), "float[...]");
}

TEST(Conv, PadsToTheSameSize) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OpCase c;
    Value* y =
        c.op("Conv", {c.in("float[1,1,7,N]"), c.in("float[1,1,4,4]")}, {{"auto_pad", mode}, {"strides", {2, 2}}});
    EXPECT_EQ(y->type.str(), "float[1,1,4,floor((N + 1)/2)]");
  }
}

TEST(Conv, RefusesWhatCannotBe) {
  OpCase c;
  const auto conv = [&](const char* x, const char* w, const Attrs& attrs) {
    return refusal([&] { c.op("Conv", {c.in(x), c.in(w)}, attrs); });
  };
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,4,3,3]", {}), HasSubstr("channels"));
  EXPECT_THAT(conv("float[1,4,5,5]", "float[8,2,3,3]", {{"group", 0}}), HasSubstr("group"));
  EXPECT_THAT(conv("float[1,6,5,5]", "float[8,2,3,3]", {{"group", 3}}), HasSubstr("3 groups"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"strides", {0, 1}}}), HasSubstr("strides"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"strides", {1}}}), HasSubstr("1 elements"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"dilations", {-1, 1}}}), HasSubstr("dilations"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"pads", {-1, 0, 0, 0}}}), HasSubstr("pads"));
  EXPECT_THAT(conv("float[1,3,2,5]", "float[8,3,3,3]", {}), HasSubstr("does not fit"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"kernel_shape", {3, 2}}}), HasSubstr("kernel_shape"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3]", {}), HasSubstr("spatial axes"));
  EXPECT_THAT(conv("float[1,3]", "float[8,3]", {}), HasSubstr("no spatial axes"));
  EXPECT_THAT(conv("float[1,3,5,5]", "float[8,3,3,3]", {{"auto_pad", "SOME"}}), HasSubstr("SOME"));
}

TEST(Conv, SurvivesHugeNumbers) {
  OpCase c;
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Value* y =
      c.op("Conv", {c.in("float[1,1,9]"), c.in("float[1,1,1]")}, {{"pads", {kHuge, kHuge}}, {"dilations", {kHuge}}});
  EXPECT_EQ(y->type.str(), "float[1,1,?]");
}

TEST(Conv, IsComputedInFloatWhereBfloat16IsNotKnown) {
  OpCase c;
  c.op("Conv", {c.in("bfloat16[1,1,5]"), c.in("bfloat16[1,1,3]")});
  c.convert(21);
  EXPECT_EQ(c.nodes(), "Cast Cast Conv Cast");
  EXPECT_EQ(c.type(), "bfloat16[1,1,3]");
}

TEST(ConvTranspose, IsTheOppositeOfConv) {
  OpCase c;
  Value *x = c.in("float[N,8,H,5]"), *w = c.in("float[8,2,3,3]");
  EXPECT_EQ(c.op("ConvTranspose", {x, w}, {{"strides", {2, 2}}, {"group", 2}})->type.str(), "float[N,4,2*H + 1,11]");
  EXPECT_EQ(c.op("ConvTranspose", {x, w}, {{"strides", {2, 2}}, {"output_padding", {1, 0}}})->type.str(),
            "float[N,2,2*H + 2,11]");
  EXPECT_EQ(c.op("ConvTranspose", {x, w}, {{"strides", {3, 3}}, {"output_shape", {10, 16}}})->type.str(),
            "float[N,2,10,16]");
  EXPECT_EQ(c.op("ConvTranspose", {x, w}, {{"strides", {3, 3}}, {"auto_pad", "SAME_UPPER"}})->type.str(),
            "float[N,2,3*H,15]");
  EXPECT_REFUSED(Code::inference_failed, c.op("ConvTranspose", {x, w}, {{"output_shape", {1, 2, 3}}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ConvTranspose", {x, w}, {{"pads", {0, 9, 0, 9}}}));
}

TEST(DeformConv, ChecksOffsetsAndMask) {
  OpCase c;
  Value *x = c.in("float[1,1,H,4]"), *w = c.in("float[1,1,2,2]");
  EXPECT_EQ(c.op("DeformConv", {x, w, c.in("float[1,8,3,3]")})->type.str(), "float[1,1,3,3]");
  EXPECT_THAT(refusal([&] { c.op("DeformConv", {x, w, c.in("float[1,9,3,3]")}); }), HasSubstr("offset"));
  EXPECT_THAT(refusal([&] {
                c.op("DeformConv", {x, w, c.in("float[1,8,3,3]"), nullptr, c.in("float[1,8,3,3]")});
              }),
              HasSubstr("mask"));
}

TEST(DeformConv, SamplesAndConvolves) {
  OpCase c;
  c.op("DeformConv",
       {c.in("float[N,4,H,W]"), c.in("float[6,2,2,3]"), c.in("float[N,24,5,7]"), c.in("float[6]"),
        c.in("float[N,12,5,7]")},
       {{"group", 2}, {"offset_group", 2}});
  EXPECT_EQ(c.type(), "float[N,6,5,7]");
  ASSERT_TRUE(c.decompose());
  EXPECT_THAT(c.nodes(), HasSubstr("GridSample"));
  EXPECT_EQ(c.type(), "float[N,6,5,7]");
}

TEST(CausalConvWithState, IsConcatConvAndSlice) {
  OpCase c;
  c.ops("CausalConvWithState", {c.in("float[B,4,L]"), c.in("float[4,1,3]"), nullptr, c.in("float[B,4,2]")},
        {{"activation", "silu"}}, 2);
  EXPECT_EQ(c.type(0), "float[B,4,L]");
  EXPECT_EQ(c.type(1), "float[B,4,2]");
  c.convert(13);
  EXPECT_THAT(c.nodes(), HasSubstr("Concat Conv Sigmoid Mul"));
  EXPECT_EQ(c.type(1), "float[B,4,2]");
}

TEST(Col2Im, TakesTheImagesShape) {
  OpCase c;
  c.op("Col2Im", {c.in("float[N,10,9]"), c.ints({3, 3}), c.ints({1, 1})});
  EXPECT_EQ(c.type(), "float[N,10,3,3]");
  EXPECT_EQ(c.op("Col2Im", {c.in("float[N,C,L]"), c.known("H,W"), c.ints({2, 5})})->type.str(), "float[N,?,H,W]");
  EXPECT_EQ(c.op("Col2Im", {c.in("float[...]"), c.in("int64[2]"), c.in("int64[?]")})->type.str(), "float[?,?,?,?]");
  EXPECT_THAT(refusal([&] {
                c.op("Col2Im", {c.in("float[1,9,4]"), c.ints({3, 3}), c.ints({2, 2})});
              }),
              HasSubstr("blocks of 4"));
  EXPECT_REFUSED(Code::inference_failed, c.op("Col2Im", {c.in("float[1,9,4]"), c.ints({3, 3}), c.ints({0, 2})}));
}

TEST(Col2Im, IsATransposedConvolution) {
  OpCase c;
  c.op("Col2Im", {c.in("float[N,8,4]"), c.ints({5, 5}), c.ints({2, 2})}, {{"strides", {2, 2}}});
  c.convert(17);
  EXPECT_THAT(c.nodes(), HasSubstr("ConvTranspose"));
  EXPECT_EQ(c.type(), "float[N,2,5,5]");
}

TEST(Window, SplitsOddPaddingBySide) {
  Attributes attributes;
  attributes.set({"kernel_shape", {4}});
  attributes.set({"auto_pad", "SAME_UPPER"});
  auto padding = ops::Window::read(attributes, 1).padding(0, 10);
  EXPECT_EQ(padding, std::pair(Dim(1), Dim(2)));
  attributes.set({"auto_pad", "SAME_LOWER"});
  padding = ops::Window::read(attributes, 1).padding(0, 10);
  EXPECT_EQ(padding, std::pair(Dim(2), Dim(1)));
}

}  // namespace
}  // namespace ingot::test
