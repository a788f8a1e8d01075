// Softmax and its kin, CumSum, CumProd, TopK.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(Softmax, RefusesAnAxisOutOfRange) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    OpCase c;
    EXPECT_EQ(c.op(op, {c.in("float[N,3]")}, {{"axis", -2}})->type.str(), "float[N,3]");
    EXPECT_EQ(refusal([&] { c.op(op, {c.in("float[N,3]")}, {{"axis", 2}}); }), "axis 2 is out of range for rank 2");
    EXPECT_REFUSED(Code::axis_out_of_range, c.op(op, {c.in("float")}));
  }
}

TEST(Softmax, OfOpset12RunsOverAMatrix) {
  OpCase c(12);
  c.op("Softmax", {c.in("float[2,3,4]")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Flatten Softmax Shape Reshape");
  OpCase last(12);
  last.op("LogSoftmax", {last.in("float[2,3,4]")}, {{"axis", 2}});
  last.convert(13);
  EXPECT_EQ(last.nodes(), "LogSoftmax");
}

TEST(Softmax, OfOpset12RunsOverNothing) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"})
    for (const std::int64_t axis : {0, 1, -2}) {
      OpCase c(11);
      c.op(op, {c.in("float[N,3]")}, {{"axis", axis}});
      EXPECT_EQ(c.run({Array::of<float>({0, 3}, {})})[0].array()->dims(), (Dims{0, 3})) << op << " " << axis;
    }
  OpCase known(11);  // a 0 behind the matrix's two sizes would be one to copy
  known.op("Hardmax", {known.in("float[5,6,1,0]")});
  EXPECT_EQ(known.run({Array::of<float>({5, 6, 1, 0}, {})})[0].array()->dims(), (Dims{5, 6, 1, 0}));
  OpCase hard(11);
  hard.op("Hardmax", {hard.in("float[N,2]")}, {{"axis", 0}});
  const Array y = *hard.run({Array::of<float>({2, 2}, {1, 2, 5, 3})})[0].array();
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{0, 0, 1, 0}));
}

TEST(Softmax, MovesItsAxisToTheEndForOpset12) {
  OpCase c(13), wrong(13);
  c.op("Softmax", {c.in("float[2,3,4]")}, {{"axis", 0}});
  c.convert(12);
  EXPECT_EQ(c.nodes(), "Transpose Softmax Transpose");
  wrong.op("Softmax", {wrong.in("float[2,3,4]")}, {{"axis", 100}});
  EXPECT_THAT(refusal([&] { wrong.convert(12); }), testing::HasSubstr("axis 100 is out of range"));
}

TEST(Softmax, CountsItsAxisFromTheFrontBeforeOpset11) {
  OpCase c(13);
  c.op("Softmax", {c.in("float[2,3,4]")});
  c.convert(10);
  EXPECT_EQ(c.nodes(), "Softmax");
  EXPECT_EQ(c.node("Softmax").attributes.int_or("axis", -9), 2);
}

TEST(Softmax, Decomposes) {
  OpCase softmax, log, hard;
  softmax.op("Softmax", {softmax.in("float[...]")}, {{"axis", 1}});
  log.op("LogSoftmax", {log.in("bfloat16[N,3]")});
  hard.op("Hardmax", {hard.in("float16[N,3]")});
  ASSERT_TRUE(softmax.decompose() && log.decompose() && hard.decompose());
  EXPECT_EQ(softmax.nodes(), "ReduceMax Sub Exp ReduceSum Div");
  EXPECT_EQ(log.nodes(), "ReduceMax Sub Exp ReduceSum Log Sub");
  EXPECT_EQ(log.type(), "bfloat16[N,3]");
  EXPECT_EQ(hard.nodes(), "ArgMax Shape Gather Cast OneHot");
  EXPECT_EQ(hard.type(), "float16[N,3]");
}

TEST(Cumulative, RefusesAnAxisOutOfRange) {
  OpCase c;
  Value* two = c.constant(Tensor::scalar<std::int64_t>(2));
  EXPECT_EQ(c.op("CumSum", {c.in("float[N,3]"), c.in("int64")})->type.str(), "float[N,3]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("CumSum", {c.in("float[N,3]"), two}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("CumProd", {c.in("float[N,3]"), two}));
  EXPECT_EQ(refusal([&] { c.op("CumProd", {c.in("float[N,3]"), c.ints({0, 1})}); }), "axis is not one number");
}

TEST(CumProd, IsAScanInOlderOpsets) {
  OpCase c;
  c.op("CumProd", {c.in("float[N,3]"), c.constant(Tensor::scalar<std::int64_t>(-1))}, {{"reverse", 1}});
  c.convert(13);
  EXPECT_EQ(c.node("Scan").attributes.ints_or("scan_input_directions", {}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(c.node("Scan").attributes.ints_or("scan_output_axes", {}), (std::vector<std::int64_t>{-1}));
  const auto* body = c.node("Scan").attributes.get<GraphPtr>("body");
  ASSERT_TRUE(body && *body);
  EXPECT_EQ((*body)->first()->op, "Mul");
  EXPECT_EQ((*body)->outputs().size(), 2u);
  EXPECT_EQ(c.type(), "float[N,3]");
}

TEST(CumProd, ThatExcludesPutsOutWhatCameBefore) {
  OpCase c;
  c.op("CumProd", {c.in("int32[4]"), c.constant(Tensor::scalar<std::int64_t>(0))}, {{"exclusive", 1}});
  ASSERT_TRUE(c.decompose());
  const Graph& body = **c.node("Scan").attributes.get<GraphPtr>("body");
  EXPECT_EQ(body.outputs()[1]->producer()->input(0), body.inputs()[0]);
}

TEST(CumProd, AlongAComputedAxisIsAScanOfThreeAxes) {
  OpCase c;
  c.op("CumProd", {c.in("float[N,3]"), c.in("int32")});
  c.convert(13);
  EXPECT_EQ(c.node("Scan").attributes.ints_or("scan_input_axes", {}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(c.type(), "float[N,3]");
}

TEST(TopK, GivesBothOutputsOneShape) {
  OpCase c;
  const Values two = c.ops("TopK", {c.in("float[N,7]"), c.ints({3})}, {}, 2);
  EXPECT_EQ(two[0]->type.str(), "float[N,3]");
  EXPECT_EQ(two[1]->type.str(), "int64[N,3]");
  const Values open = c.ops("TopK", {c.in("float[N,7]"), c.in("int64[1]")}, {{"axis", 0}}, 2);
  EXPECT_TRUE(same(open[0]->type.shape->front(), open[1]->type.shape->front()));
  EXPECT_EQ(c.ops("TopK", {c.in("float[...]"), c.ints({3})}, {}, 2)[1]->type.str(), "int64[...]");
}

TEST(TopK, RefusesMoreThanThereAre) {
  OpCase c;
  EXPECT_EQ(refusal([&] { c.ops("TopK", {c.in("float[7]"), c.ints({8})}, {}, 2); }), "k is 8, but there are only 7");
  EXPECT_EQ(refusal([&] { c.ops("TopK", {c.in("float[7]"), c.ints({-1})}, {}, 2); }), "k is negative");
}

TEST(TopK, HasKAsAnAttributeInOpset1) {
  OpCase c(1);
  c.ops("TopK", {c.in("float[7]")}, {{"k", 2}}, 2);
  c.convert(11);
  EXPECT_EQ(c.node("TopK").input(1)->initializer->to_ints(), (std::vector<std::int64_t>{2}));
  c.convert(9);
  EXPECT_EQ(c.node("TopK").attributes.int_or("k", 0), 2);
  EXPECT_EQ(c.node("TopK").input_count(), 1u);
}

}  // namespace
}  // namespace ingot::test
