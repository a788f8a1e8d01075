// Images in other sizes: Resize, Upsample, GridSample, AffineGrid.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

/// The type, with the sizes that only data decides as "dim0", "dim1" ...
std::string own_names(const Value* value) {
  std::string text = value->type.str();
  const std::string prefix = value->name() + ".";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

Value* floats(OpCase& c, const std::vector<float>& values) {
  return c.constant(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
}

std::string text(const Node& node, const char* attribute) { return node.attributes.string_or(attribute, ""); }

TEST(Resize, FollowsScalesAndSizes) {
  OpCase c;
  Value* x = c.in("float[N,3,10,W]");
  EXPECT_EQ(c.op("Resize", {x, nullptr, floats(c, {1, 1, 0.7f, 2})})->type.str(), "float[N,3,7,2*W]");
  EXPECT_EQ(c.op("Resize", {x, nullptr, floats(c, {0.5f, 1.5f})}, {{"axes", {3, -2}}})->type.str(),
            "float[N,3,15,floor(W/2)]");
  EXPECT_EQ(c.op("Resize", {x, nullptr, nullptr, c.known("N,3,H,8")})->type.str(), "float[N,3,H,8]");
  EXPECT_EQ(own_names(c.op("Resize", {x, nullptr, c.in("float[4]")})), "float[dim0,dim1,dim2,dim3]");
  EXPECT_EQ(c.op("Resize", {c.in("float[1,1,10,20]"), nullptr, nullptr, c.ints({30, 30})},
                 {{"axes", {2, 3}}, {"keep_aspect_ratio_policy", "not_larger"}})
                ->type.str(),
            "float[1,1,15,30]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Resize", {x, nullptr, floats(c, {1, 1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Resize", {x, nullptr, floats(c, {1, 1, 0, 1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Resize", {x, nullptr, nullptr, c.ints({1, 1, -2, 1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Resize", {x, nullptr, floats(c, {1, 1})}, {{"axes", {2, -2}}}));
}

TEST(Resize, WasAsymmetricInOpset10) {
  OpCase larger(10);
  larger.op("Resize", {larger.in("float[1,1,2,2]"), floats(larger, {1, 1, 2, 2})});
  larger.convert(13);
  EXPECT_EQ(larger.nodes(), "Resize");
  EXPECT_EQ(text(larger.node("Resize"), "coordinate_transformation_mode"), "asymmetric");
  EXPECT_EQ(text(larger.node("Resize"), "nearest_mode"), "floor");
  EXPECT_EQ(larger.node("Resize").input(1), nullptr);
  OpCase smaller(10);
  smaller.op("Resize", {smaller.in("float[1,1,4,4]"), floats(smaller, {1, 1, 0.6f, 0.6f})});
  smaller.convert(11);
  EXPECT_EQ(text(smaller.node("Resize"), "nearest_mode"), "ceil");
  EXPECT_EQ(smaller.node("Resize").input_count(), 3u);
  OpCase unknown(10);
  unknown.op("Resize", {unknown.in("float[1,1,4,4]"), unknown.in("float[4]")});
  unknown.convert(11);
  EXPECT_EQ(unknown.nodes(), "Min Resize Max Resize");
}

TEST(Resize, GetsEmptyInputsBeforeOpset13) {
  OpCase c(13);
  c.op("Resize", {c.in("float[1,1,4,4]"), nullptr, nullptr, c.ints({1, 1, 8, 8})});
  c.convert(11);
  EXPECT_EQ(c.node("Resize").input(2)->initializer->size(), 0);
  c.convert(13);
  EXPECT_EQ(c.node("Resize").input(1), nullptr);
  EXPECT_EQ(c.node("Resize").input(2), nullptr);
}

TEST(Resize, NamesAllAxesBeforeOpset18) {
  OpCase c(18);
  c.op("Resize", {c.in("float[N,3,4,4]"), nullptr, floats(c, {2, 3})}, {{"axes", {2, -1}}});
  c.convert(13);
  EXPECT_EQ(c.node("Resize").input(2)->initializer->to_doubles(), (std::vector<double>{1, 1, 2, 3}));
  EXPECT_FALSE(c.node("Resize").attributes.has("axes"));
  OpCase sizes(18);
  sizes.op("Resize", {sizes.in("float[N,3,4,4]"), nullptr, nullptr, sizes.in("int64[2]")}, {{"axes", {2, 3}}});
  sizes.convert(13);
  EXPECT_EQ(sizes.nodes(), "Shape ScatterElements Resize");
}

TEST(Resize, KeepsTheAspectRatioBeforeOpset18ByScalesWhereTheyLeadToTheSizes) {
  OpCase c(18);
  c.op("Resize", {c.in("float[1,1,10,20]"), nullptr, nullptr, c.ints({30, 30})},
       {{"axes", {2, 3}}, {"keep_aspect_ratio_policy", "not_larger"}});
  c.convert(13);
  EXPECT_EQ(c.node("Resize").input(2)->initializer->to_doubles(), (std::vector<double>{1, 1, 1.5, 1.5}));
  OpCase rounded(18);
  rounded.op("Resize", {rounded.in("float[1,1,7,20]"), nullptr, nullptr, rounded.ints({30, 30})},
             {{"axes", {2, 3}}, {"keep_aspect_ratio_policy", "not_larger"}});
  rounded.convert(13);
  EXPECT_THAT(rounded.nodes(), testing::Not(testing::HasSubstr("Resize")));
}

TEST(Resize, IsSymmetricBeforeOpset19OnItsOwnOnlyInWholePixels) {
  OpCase c(19);
  c.op("Resize", {c.in("float[1,1,4,4]"), nullptr, nullptr, c.ints({1, 1, 6, 6})},
       {{"coordinate_transformation_mode", "half_pixel_symmetric"}});
  c.convert(18);
  EXPECT_EQ(text(c.node("Resize"), "coordinate_transformation_mode"), "half_pixel");
  OpCase scaled(19);
  scaled.op("Resize", {scaled.in("float[1,1,4,4]"), nullptr, floats(scaled, {1, 1, 0.6f, 0.6f})},
            {{"coordinate_transformation_mode", "half_pixel_symmetric"}});
  scaled.convert(18);
  EXPECT_THAT(scaled.nodes(), testing::Not(testing::HasSubstr("Resize")));
  OpCase unranked(19);
  unranked.op("Resize", {unranked.in("float[...]"), nullptr, floats(unranked, {1, 1, 0.6f, 0.6f})},
              {{"coordinate_transformation_mode", "half_pixel_symmetric"}});
  EXPECT_THAT(refusal([&] { unranked.convert(18); }), testing::HasSubstr("half_pixel_symmetric"));
}

TEST(Upsample, BecomesResize) {
  OpCase first(1);
  first.op("Upsample", {first.in("float[1,1,2,2]")},
           {{"height_scale", 2.0}, {"width_scale", 3.0}, {"mode", "bilinear"}});
  first.convert(11);
  EXPECT_EQ(first.nodes(), "Resize");
  EXPECT_EQ(text(first.node("Resize"), "mode"), "linear");
  EXPECT_EQ(first.node("Resize").input(2)->initializer->to_doubles(), (std::vector<double>{1, 1, 2, 3}));
  OpCase c(7);
  c.op("Upsample", {c.in("float[N,1,2,2]")}, {{"scales", std::vector<float>{1, 1, 2, 2}}});
  c.convert(21);
  EXPECT_EQ(c.nodes(), "Resize");
  EXPECT_EQ(text(c.node("Resize"), "nearest_mode"), "floor");
}

TEST(GridSample, HasTheGridsSize) {
  OpCase c;
  EXPECT_EQ(c.op("GridSample", {c.in("float[N,C,4,5]"), c.in("float[N,H,W,2]")})->type.str(), "float[N,C,H,W]");
  EXPECT_EQ(c.op("GridSample", {c.in("float[...]"), c.in("float[N,D,H,W,3]")})->type.str(), "float[N,?,D,H,W]");
  EXPECT_REFUSED(Code::inference_failed, c.op("GridSample", {c.in("float[1,1,4,5]"), c.in("float[1,2,2,3]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("GridSample", {c.in("float[1,1,4,5]"), c.in("float[1,2,2,2,2]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("GridSample", {c.in("float[1,1]"), c.in("float[1,0]")}));
}

TEST(GridSample, RenamesItsModesAtOpset20) {
  OpCase c(16);
  c.op("GridSample", {c.in("float[1,1,4,5]"), c.in("float[1,2,2,2]")}, {{"mode", "bicubic"}});
  c.convert(20);
  EXPECT_EQ(text(c.node("GridSample"), "mode"), "cubic");
  OpCase plain(20);
  plain.op("GridSample", {plain.in("float[1,1,4,5]"), plain.in("float[1,2,2,2]")});
  plain.convert(16);
  EXPECT_EQ(text(plain.node("GridSample"), "mode"), "bilinear");
}

TEST(GridSample, OfAVolumeIsExpandedBeforeOpset20) {
  OpCase volume(20);
  volume.op("GridSample", {volume.in("float[1,1,4,5,6]"), volume.in("float[1,2,2,2,3]")});
  volume.convert(16);
  EXPECT_THAT(volume.nodes(), testing::HasSubstr("GatherND"));
  EXPECT_EQ(volume.type(), "float[1,1,2,2,2]");
}

TEST(GridSample, DecomposesInAllModes) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      OpCase c;
      c.op("GridSample", {c.in("float16[N,C,4,5]"), c.in("float[N,H,W,2]")},
           {{"mode", mode}, {"padding_mode", padding}});
      ASSERT_TRUE(c.decompose()) << mode << padding;
      EXPECT_EQ(c.type(), "float16[N,C,H,W]") << mode << padding;
    }
  }
  OpCase down(16);
  down.op("GridSample", {down.in("float[1,2,4,5]"), down.in("float[1,6,7,2]")});
  down.convert(13);
  EXPECT_EQ(down.type(), "float[1,2,6,7]");
}

TEST(AffineGrid, ReadsItsSize) {
  OpCase c;
  EXPECT_EQ(c.op("AffineGrid", {c.in("float[N,2,3]"), c.known("N,3,H,W")})->type.str(), "float[N,H,W,2]");
  EXPECT_EQ(own_names(c.op("AffineGrid", {c.in("float[N,3,4]"), c.in("int64[5]")})), "float[N,dim1,dim2,dim3,3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("AffineGrid", {c.in("float[N,2,3]"), c.in("int64[5]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("AffineGrid", {c.in("float[N,2,3]"), c.in("int64[3]")}));
  for (const int aligns : {0, 1}) {
    OpCase d;
    d.op("AffineGrid", {d.in("float[N,3,4]"), d.known("N,3,D,H,W")}, {{"align_corners", aligns}});
    ASSERT_TRUE(d.decompose());
    EXPECT_EQ(d.type(), "float[N,D,H,W,3]");
  }
}

}  // namespace
}  // namespace ingot::test
