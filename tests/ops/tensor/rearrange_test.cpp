// Operators that pick, place, pad and rearrange elements.
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

using Ints = std::vector<std::int64_t>;

TEST(Transpose, ReordersDimensions) {
  OpCase c;
  EXPECT_EQ(c.op("Transpose", {c.in("float[N,2,3]")})->type.str(), "float[3,2,N]");
  EXPECT_EQ(c.op("Transpose", {c.in("float[N,2,3]")}, {{"perm", {1, 2, 0}}})->type.str(), "float[2,3,N]");
  EXPECT_EQ(c.op("Transpose", {c.in("float[...]")}, {{"perm", {1, 0}}})->type.str(), "float[?,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Transpose", {c.in("float[2,3]")}, {{"perm", {0}}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Transpose", {c.in("float[2,3]")}, {{"perm", {0, 0}}}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Transpose", {c.in("float[2,3]")}, {{"perm", {0, 2}}}));
}

TEST(Flatten, SplitsAtTheAxis) {
  OpCase c;
  Value* x = c.in("float[N,2,3]");
  EXPECT_EQ(c.op("Flatten", {x})->type.str(), "float[N,6]");
  EXPECT_EQ(c.op("Flatten", {x}, {{"axis", 0}})->type.str(), "float[1,6*N]");
  EXPECT_EQ(c.op("Flatten", {x}, {{"axis", 3}})->type.str(), "float[6*N,1]");
  EXPECT_EQ(c.op("Flatten", {x}, {{"axis", -1}})->type.str(), "float[2*N,3]");
  EXPECT_EQ(c.op("Flatten", {c.in("float[...]")})->type.str(), "float[?,?]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Flatten", {x}, {{"axis", 4}}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Flatten", {x}, {{"axis", -4}}));
}

TEST(GatherND, LeavesWhatTuplesDoNotName) {
  OpCase c;
  EXPECT_EQ(c.op("GatherND", {c.in("float[4,5,6]"), c.in("int64[N,2]")})->type.str(), "float[N,6]");
  EXPECT_EQ(c.op("GatherND", {c.in("float[B,5,6]"), c.in("int64[B,N,1]")}, {{"batch_dims", 1}})->type.str(),
            "float[B,N,6]");
  EXPECT_EQ(c.op("GatherND", {c.in("float[4,5]"), c.in("int64[N,?]")})->type.str(), "float[...]");
  EXPECT_REFUSED(Code::inference_failed, c.op("GatherND", {c.in("float[4]"), c.in("int64[N,2]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("GatherND", {c.in("float[4]"), c.in("int64")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("GatherND", {c.in("float[4]"), c.in("int64[1]")}, {{"batch_dims", -1}}));
}

TEST(GatherElements, HasTheShapeOfItsIndices) {
  OpCase c;
  EXPECT_EQ(c.op("GatherElements", {c.in("float[4,5]"), c.in("int64[N,2]")}, {{"axis", 1}})->type.str(), "float[N,2]");
  EXPECT_REFUSED(Code::inference_failed, c.op("GatherElements", {c.in("float[4,5]"), c.in("int64[2]")}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("GatherElements", {c.in("float[4]"), c.in("int64[2]")}, {{"axis", 1}}));
}

TEST(ScatterElements, HasTheShapeOfItsData) {
  OpCase c;
  EXPECT_EQ(c.op("ScatterElements", {c.in("float[N,5]"), c.in("int64[2,2]"), c.in("float[2,2]")})->type.str(),
            "float[N,5]");
  EXPECT_REFUSED(Code::inference_failed,
                 c.op("ScatterElements", {c.in("float[3]"), c.in("int64[2]"), c.in("float[3]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ScatterElements", {c.in("float[3]"), c.in("int64[2]"), c.in("float[2]")},
                                              {{"reduction", "avg"}}));
}

TEST(ScatterND, ChecksTheRankOfUpdates) {
  OpCase c;
  EXPECT_EQ(c.op("ScatterND", {c.in("float[N,5]"), c.in("int64[3,1]"), c.in("float[3,5]")})->type.str(), "float[N,5]");
  EXPECT_REFUSED(Code::inference_failed, c.op("ScatterND", {c.in("float[4,5]"), c.in("int64[3,1]"), c.in("float[3]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ScatterND", {c.in("float[4,5]"), c.in("int64[3,3]"), c.in("float[3]")}));
}

TEST(ScatterElements, TakesTheMaximumInALoopBeforeOpset18) {
  OpCase c(18);
  c.op("ScatterElements", {c.in("float[3]"), c.in("int64[2]"), c.in("float[2]")}, {{"reduction", "max"}});
  c.convert(17);
  EXPECT_THAT(c.nodes(), testing::HasSubstr("Loop"));
  EXPECT_THAT(c.nodes(), testing::Not(testing::HasSubstr("Scatter")));
  OpCase open(18);
  open.op("ScatterElements", {open.in("float[...]"), open.in("int64[...]"), open.in("float[...]")},
          {{"reduction", "max"}});
  EXPECT_THAT(refusal([&] { open.convert(17); }), testing::HasSubstr("reduction 'max' exists since opset 18"));
}

TEST(Scatter, BecomesScatterElements) {
  OpCase c(9);
  c.op("Scatter", {c.in("float[3,3]"), c.in("int64[1,3]"), c.in("float[1,3]")}, {{"axis", 1}});
  c.convert(18);
  EXPECT_EQ(c.nodes(), "ScatterElements");
  EXPECT_EQ(c.node("ScatterElements").attributes.int_or("axis", 0), 1);
}

TEST(Pad, AddsToBothSides) {
  OpCase c;
  Value* x = c.in("float[N,4]");
  EXPECT_EQ(c.op("Pad", {x, c.ints({1, 0, 2, -1})})->type.str(), "float[N + 3,3]");
  EXPECT_EQ(c.op("Pad", {x, c.ints({1, 1}), nullptr, c.ints({-1})})->type.str(), "float[N,6]");
  EXPECT_EQ(own_names(c.op("Pad", {x, c.in("int64[4]")})), "float[dim0,dim1]");
  EXPECT_EQ(c.op("Pad", {c.in("float[...]"), c.ints({1, 0, 2, 1})})->type.str(), "float[?,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Pad", {x, c.ints({1, 1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Pad", {x, c.ints({0, -3, 0, -3})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Pad", {x, c.ints({0, 0, 0, 0})}, {{"mode", "mirror"}}));
}

TEST(Pad, NamesAllAxesBeforeOpset18) {
  OpCase fixed(18);
  fixed.op("Pad", {fixed.in("float[2,3,4]"), fixed.ints({1, 2}), nullptr, fixed.ints({-1})});
  fixed.convert(13);
  EXPECT_EQ(fixed.node("Pad").input(1)->initializer->to_ints(), (Ints{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(fixed.node("Pad").input_count(), 2u);
  OpCase open(18);
  open.op("Pad", {open.in("float[2,3,4]"), open.in("int64[2]"), nullptr, open.in("int64[1]")});
  open.convert(13);
  EXPECT_EQ(open.nodes(), "Mod Add Concat ScatterElements Pad");
  OpCase unranked(18);
  unranked.op("Pad", {unranked.in("float[...]"), unranked.ints({1, 2}), nullptr, unranked.ints({-1})});
  EXPECT_THAT(refusal([&] { unranked.convert(13); }), testing::HasSubstr("rank"));
}

TEST(Pad, WrapsByIndicesBeforeOpset19) {
  OpCase c(19);
  c.op("Pad", {c.in("float[2,N]"), c.ints({0, 1, 0, 2})}, {{"mode", "wrap"}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Shape Gather Add Range Mod Gather");
  OpCase open(19);
  open.op("Pad", {open.in("float[2,N]"), open.in("int64[4]")}, {{"mode", "wrap"}});
  open.convert(13);
  EXPECT_THAT(open.nodes(), testing::Not(testing::HasSubstr("Pad")));
  OpCase unranked(19);
  unranked.op("Pad", {unranked.in("float[...]"), unranked.in("int64[4]")}, {{"mode", "wrap"}});
  EXPECT_THAT(refusal([&] { unranked.convert(13); }), testing::HasSubstr("mode 'wrap' exists since opset 19"));
}

TEST(Pad, HasPadsAsAnAttributeBeforeOpset11) {
  OpCase c(1);
  c.op("Pad", {c.in("float[2,3]")}, {{"paddings", {0, 1, 0, 1}}, {"value", 2.0}});
  c.convert(13);
  EXPECT_EQ(c.node("Pad").input(1)->initializer->to_ints(), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(c.node("Pad").input(2)->initializer->to_doubles(), std::vector<double>{2.0});
  c.convert(10);
  EXPECT_EQ(c.node("Pad").attributes.ints_or("pads", {}), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(c.node("Pad").attributes.float_or("value", 0), 2.0f);
}

TEST(OneHot, InsertsTheDepth) {
  OpCase c;
  Value* values = c.in("float[2]");
  EXPECT_EQ(c.op("OneHot", {c.in("int64[N]"), c.ints({10}), values})->type.str(), "float[N,10]");
  EXPECT_EQ(c.op("OneHot", {c.in("int64[N,M]"), c.known("D"), values}, {{"axis", 0}})->type.str(), "float[D,N,M]");
  EXPECT_EQ(c.op("OneHot", {c.in("int64[N]"), c.constant(Tensor::scalar(4.0f)), values})->type.str(), "float[N,4]");
  EXPECT_EQ(own_names(c.op("OneHot", {c.in("int64[N]"), c.in("int64"), values})), "float[N,dim1]");
  EXPECT_REFUSED(Code::inference_failed, c.op("OneHot", {c.in("int64[N]"), c.ints({-1}), values}));
  EXPECT_REFUSED(Code::inference_failed, c.op("OneHot", {c.in("int64[N]"), c.ints({1, 2}), values}));
  EXPECT_REFUSED(Code::inference_failed, c.op("OneHot", {c.in("int64[N]"), c.ints({3}), c.in("float[3]")}));
}

TEST(OneHot, KeepsNegativeIndicesOffWhenUpgraded) {
  OpCase c(9);
  c.op("OneHot", {c.in("int64[3]"), c.ints({4}), c.in("float[2]")});
  c.convert(11);
  EXPECT_EQ(c.nodes(), "Cast Reshape Less Where OneHot");
  OpCase plain(9);
  plain.op("OneHot", {plain.ints({0, 1}), plain.ints({4}), plain.in("float[2]")});
  plain.convert(11);
  EXPECT_EQ(plain.nodes(), "OneHot");
}

TEST(Compress, GivesASizeOfItsOwn) {
  OpCase c;
  Value* kept = c.op("Compress", {c.in("float[3,4]"), c.in("bool[3]")}, {{"axis", 0}});
  EXPECT_EQ(kept->type.str(), "float[" + kept->name() + ".dim0,4]");
  EXPECT_EQ(c.op("Compress", {c.in("float[...]"), c.in("bool[3]")})->type.shape->size(), 1u);
  EXPECT_EQ(
      c.op("Compress", {c.in("float[3,4]"), c.constant(Tensor::of<bool>({3}, {true, false, true}))}, {{"axis", -2}})
          ->type.str(),
      "float[2,4]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Compress", {c.in("float[3]"), c.in("bool[3]")}, {{"axis", 1}}));
}

TEST(NonZero, HasARowPerDimension) {
  OpCase c;
  Value* found = c.op("NonZero", {c.in("float[N,M]")});
  EXPECT_EQ(found->type.str(), "int64[2," + found->name() + ".dim1]");
}

TEST(Unique, SharesOneSize) {
  OpCase c;
  const Values all = c.ops("Unique", {c.in("float[N,M]")}, {}, 4);
  const std::string size = all[0]->name() + ".dim0";
  EXPECT_EQ(all[0]->type.str(), "float[" + size + "]");
  EXPECT_EQ(all[1]->type.str(), "int64[" + size + "]");
  EXPECT_EQ(all[2]->type.str(), "int64[M*N]");
  EXPECT_EQ(all[3]->type.str(), "int64[" + size + "]");
  EXPECT_EQ(c.ops("Unique", {c.in("float[N,M]")}, {{"axis", 1}}, 3)[2]->type.str(), "int64[M]");
}

TEST(DepthToSpace, AndSpaceToDepthMoveBlocks) {
  OpCase c;
  EXPECT_EQ(c.op("DepthToSpace", {c.in("float[N,8,H,3]")}, {{"blocksize", 2}})->type.str(), "float[N,2,2*H,6]");
  EXPECT_EQ(c.op("SpaceToDepth", {c.in("float[N,2,H,6]")}, {{"blocksize", 2}})->type.str(), "float[N,8,floor(H/2),3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("DepthToSpace", {c.in("float[N,7,2,3]")}, {{"blocksize", 2}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DepthToSpace", {c.in("float[N,8,2,3]")}, {{"blocksize", 0}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("DepthToSpace", {c.in("float[N,8,2]")}, {{"blocksize", 2}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("SpaceToDepth", {c.in("float[N,8,2,2]")}));
}

TEST(ReverseSequence, NeedsTimeAndBatch) {
  OpCase c;
  EXPECT_EQ(c.op("ReverseSequence", {c.in("float[T,N,3]"), c.in("int64[N]")})->type.str(), "float[T,N,3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("ReverseSequence", {c.in("float[4]"), c.in("int64[4]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ReverseSequence", {c.in("float[4,5]"), c.in("int64[4]")}));
  EXPECT_REFUSED(Code::inference_failed,
                 c.op("ReverseSequence", {c.in("float[4,5]"), c.in("int64[5]")}, {{"time_axis", 1}}));
}

TEST(Tile, RepeatedOneAxisInOpset1) {
  OpCase c(1);
  c.op("Tile", {c.in("float[2,3]"), c.constant(Tensor::scalar(3.0f)), c.constant(Tensor::scalar(1.0f))});
  c.convert(13);
  EXPECT_EQ(c.node("Tile").input(1)->initializer->to_ints(), (Ints{1, 3}));
}

TEST(TensorScatter, IsAScatterBeforeOpset24) {
  OpCase c(24);
  c.op("TensorScatter", {c.in("float[B,H,8,D]"), c.in("float[B,H,2,D]"), c.in("int64[B]")}, {{"mode", "circular"}});
  c.convert(18);
  EXPECT_EQ(c.nodes(), "Shape Gather Range Reshape Reshape Add Shape Gather Mod Expand ScatterElements");
  EXPECT_EQ(c.type(), "float[B,H,8,D]");
  EXPECT_TRUE(is_refused(Code::inference_failed, [&] {
    OpCase d;
    d.op("TensorScatter", {d.in("float[2,8,4]"), d.in("float[2,1,4]")}, {{"axis", 0}});
  }));
}

TEST(CenterCropPad, HasTheSizeAskedFor) {
  OpCase c;
  EXPECT_EQ(c.op("CenterCropPad", {c.in("float[N,5,6]"), c.ints({3, 9})}, {{"axes", {-2, -1}}})->type.str(),
            "float[N,3,9]");
  EXPECT_REFUSED(Code::inference_failed, c.op("CenterCropPad", {c.in("float[5,6]"), c.ints({3})}));
  ASSERT_TRUE(c.model.graph->last());
  OpCase d;
  d.op("CenterCropPad", {d.in("float[N,5,6]"), d.ints({3, 9})}, {{"axes", {-2, -1}}});
  ASSERT_TRUE(d.decompose());
  EXPECT_EQ(d.nodes(), "Shape Gather Max Sub Div Sub Concat Pad Sub Div Add Slice");
  EXPECT_EQ(d.type(), "float[N,3,9]");
}

}  // namespace
}  // namespace ingot::test
