// Reductions: shapes, shape arithmetic, and axes between attribute and input.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

const std::vector<const char*> kReductions = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                              "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                              "ReduceSum", "ReduceSumSquare"};

TEST(Reduce, DropsOrKeepsTheAxes) {
  for (const char* op : kReductions) {
    OpCase c;
    Value* x = c.in("float[N,3,4]");
    EXPECT_EQ(c.op(op, {x, c.ints({1, -1})})->type.str(), "float[N,1,1]") << op;
    EXPECT_EQ(c.op(op, {x, c.ints({0})}, {{"keepdims", 0}})->type.str(), "float[3,4]") << op;
    EXPECT_EQ(c.op(op, {x})->type.str(), "float[1,1,1]") << op;
    EXPECT_EQ(c.op(op, {x}, {{"keepdims", 0}})->type.str(), "float") << op;
    EXPECT_EQ(c.op(op, {x, c.ints({})}, {{"noop_with_empty_axes", 1}})->type.str(), "float[N,3,4]") << op;
  }
}

TEST(Reduce, SaysWhatItCanOfUnknownAxes) {
  OpCase c;
  Value* x = c.in("float[N,3,4]");
  EXPECT_EQ(c.op("ReduceSum", {x, c.in("int64[K]")})->type.str(), "float[?,?,?]");
  EXPECT_EQ(c.op("ReduceSum", {x, c.in("int64[2]")}, {{"keepdims", 0}})->type.str(), "float[?]");
  EXPECT_EQ(c.op("ReduceSum", {x, c.in("int64[K]")}, {{"keepdims", 0}})->type.str(), "float[...]");
  EXPECT_EQ(c.op("ReduceSum", {c.in("float[...]"), c.ints({0})})->type.str(), "float[...]");
}

TEST(Reduce, RefusesAxesOutOfRange) {
  OpCase c;
  EXPECT_EQ(refusal([&] {
              c.op("ReduceMax", {c.in("float[2,3]"), c.ints({2})});
            }),
            "axes 2 is out of range for rank 2");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("ReduceMax", {c.in("float"), c.ints({0})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ReduceMax", {c.in("float[2]"), c.in("int64[1,1]")}));
}

TEST(Reduce, FollowsKnownIntegers) {
  OpCase c;
  Value* x = c.known("N,2,3");
  EXPECT_EQ(elements(c.op("ReduceProd", {x}, {{"keepdims", 0}})), "[6*N]");
  EXPECT_EQ(elements(c.op("ReduceSum", {x})), "[N + 5]");
  EXPECT_EQ(elements(c.op("ReduceMax", {c.ints({4, 9, 2})})), "[9]");
  EXPECT_EQ(elements(c.op("ReduceMin", {c.ints({4, 9, 2}), c.ints({0})})), "[2]");
  EXPECT_EQ(elements(c.op("ReduceMean", {c.ints({4, 9, 2})})), "unknown");
}

TEST(Reduce, HasItsAxesAsAnAttributeBeforeOpset18) {
  for (const char* op : kReductions) {
    OpCase c(11);
    c.op(op, {c.in("float[2,3]")}, {{"axes", {-1}}});
    c.convert(18);
    EXPECT_EQ(c.nodes(), op);
    EXPECT_FALSE(c.node(op).attributes.has("axes")) << op;
    EXPECT_EQ(c.node(op).input(1)->initializer->to_ints(), (std::vector<std::int64_t>{-1})) << op;
    c.convert(12);
    EXPECT_EQ(c.node(op).attributes.ints_or("axes", {}), (std::vector<std::int64_t>{-1})) << op;
    EXPECT_EQ(c.node(op).input_count(), 1u) << op;
    c.convert(1);
    EXPECT_EQ(c.node(op).attributes.ints_or("axes", {}), (std::vector<std::int64_t>{1})) << op;
  }
}

TEST(Reduce, OverNoAxesLeavesTheRestOfTheOperator) {
  const std::pair<const char*, const char*> cases[] = {{"ReduceSum", "Identity"},  {"ReduceMean", "Identity"},
                                                       {"ReduceL1", "Abs"},        {"ReduceL2", "Abs"},
                                                       {"ReduceLogSum", "Log"},    {"ReduceLogSumExp", "Identity"},
                                                       {"ReduceProd", "Identity"}, {"ReduceSumSquare", "Mul"}};
  for (const auto& [op, rest] : cases) {
    OpCase c(18);
    c.op(op, {c.in("float[2,3]")}, {{"noop_with_empty_axes", 1}});
    c.convert(12);
    EXPECT_EQ(c.nodes(), rest) << op;
  }
}

TEST(Reduce, MovesComputedAxesIntoAttributesOneByOne) {
  OpCase c(18);
  c.op("ReduceMax", {c.in("float[2,3]"), c.in("int64[1]")});
  c.convert(17);
  EXPECT_THAT(c.nodes(), testing::HasSubstr("ReduceMax Concat Slice Slice"));
  EXPECT_EQ(c.node("ReduceMax").input_count(), 1u);
  OpCase open(18);
  open.op("ReduceMax", {open.in("float[...]"), open.in("int64[1]")});
  EXPECT_THAT(refusal([&] { open.convert(17); }), testing::HasSubstr("axes must be constant"));
}

TEST(Reduce, WithComputedAxesBecomesASumWhereThereIsOne) {
  const std::pair<const char*, const char*> cases[] = {
      {"ReduceL1", "Abs ReduceSum"},
      {"ReduceL2", "Cast Mul ReduceSum Sqrt Cast"},
      {"ReduceLogSum", "Cast ReduceSum Log Cast"},
      {"ReduceLogSumExp", "Cast Exp ReduceSum Log Cast"},
      {"ReduceMean", "Shape ConstantOfShape ReduceSum Cast ReduceSum Div"},
      {"ReduceSumSquare", "Mul ReduceSum"}};
  for (const auto& [op, sum] : cases) {
    OpCase c(18);
    c.op(op, {c.in("float16[2,3]"), c.in("int64[1]")}, {{"keepdims", 0}});
    c.convert(13);
    EXPECT_EQ(c.nodes(), sum) << op;
    EXPECT_EQ(c.node("ReduceSum").attributes.int_or("keepdims", 1), 0) << op;
  }
}

TEST(Reduce, DecomposesIntoASum) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    OpCase c;
    c.op(op, {c.in("int32[N,3]"), c.ints({1})}, {{"keepdims", 0}});
    ASSERT_TRUE(c.decompose()) << op;
    EXPECT_EQ(c.type(), "int32[N]") << op;
    EXPECT_EQ(c.node("ReduceSum").attributes.int_or("keepdims", 1), 0) << op;
  }
}

TEST(Reduce, OfTruthValuesIsDoneInBytesBeforeOpset20) {
  OpCase c;
  c.op("ReduceMax", {c.in("bool[N]")});
  c.convert(19);
  EXPECT_EQ(c.nodes(), "Cast ReduceMax Cast");
  EXPECT_EQ(c.type(), "bool[1]");
}

TEST(ArgMax, GivesPlaces) {
  OpCase c;
  EXPECT_EQ(c.op("ArgMax", {c.in("float[N,3]")})->type.str(), "int64[1,3]");
  EXPECT_EQ(c.op("ArgMin", {c.in("float[N,3]")}, {{"axis", -1}, {"keepdims", 0}})->type.str(), "int64[N]");
  EXPECT_EQ(c.op("ArgMin", {c.in("float[...]")})->type.str(), "int64[...]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("ArgMax", {c.in("float[N,3]")}, {{"axis", 2}}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("ArgMax", {c.in("float")}));
}

}  // namespace
}  // namespace ingot::test
