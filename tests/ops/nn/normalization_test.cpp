// Normalisations and losses.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Values batch_normalization_inputs(OpCase& c) {
  return {c.in("float[N,3,H]"), c.in("float[3]"), c.in("float[3]"), c.in("float[3]"), c.in("float[3]")};
}

TEST(BatchNormalization, KeepsTheShapeAndChecksTheChannels) {
  OpCase c;
  c.ops("BatchNormalization", batch_normalization_inputs(c), {{"training_mode", 1}}, 3);
  EXPECT_EQ(c.type(0), "float[N,3,H]");
  EXPECT_EQ(c.type(2), "float[3]");
  Values inputs = batch_normalization_inputs(c);
  inputs[3] = c.in("float[4]");
  EXPECT_THAT(refusal([&] { c.op("BatchNormalization", inputs); }), HasSubstr("parameters"));
}

TEST(BatchNormalization, DropsIsTestAndSpatial) {
  OpCase c(6);
  c.op("BatchNormalization", batch_normalization_inputs(c), {{"is_test", 1}, {"spatial", 1}});
  c.convert(15);
  EXPECT_EQ(c.nodes(), "BatchNormalization");
  EXPECT_TRUE(c.node("BatchNormalization").attributes.empty());
}

TEST(BatchNormalization, PerPositionIsPlainArithmetic) {
  OpCase c(7);
  c.op("BatchNormalization",
       {c.in("float[N,3,H]"), c.in("float[3,H]"), c.in("float[3,H]"), c.in("float[3,H]"), c.in("float[3,H]")},
       {{"spatial", 0}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Sub Add Sqrt Div Mul Add");
}

TEST(BatchNormalization, TellsTrainingByItsOutputsBeforeOpset14) {
  OpCase c(9);
  c.ops("BatchNormalization", batch_normalization_inputs(c), {}, 5);
  c.model.graph->resize_outputs(3);  // the saved statistics are not used
  c.convert(15);
  EXPECT_EQ(c.node("BatchNormalization").output_count(), 3u);
  EXPECT_EQ(c.node("BatchNormalization").attributes.int_or("training_mode", 0), 1);
  c.convert(13);
  EXPECT_EQ(c.node("BatchNormalization").output_count(), 5u);
  EXPECT_FALSE(c.node("BatchNormalization").attributes.has("training_mode"));
}

TEST(BatchNormalization, ComputesMixedTypesInTheWidest) {
  OpCase c;
  c.op("BatchNormalization",
       {c.in("float16[N,3,H]"), c.in("float[3]"), c.in("float[3]"), c.in("float[3]"), c.in("float[3]")});
  c.convert(14);
  EXPECT_THAT(c.nodes(), HasSubstr("Cast BatchNormalization Cast"));
}

TEST(GroupNormalization, RepeatsTheScalesOfOpset18) {
  OpCase c(18);
  c.op("GroupNormalization", {c.in("float16[N,4,H]"), c.in("float16[2]"), c.in("float16[2]")}, {{"num_groups", 2}});
  c.convert(21);
  EXPECT_EQ(c.node("GroupNormalization").attributes.int_or("stash_type", 0), 10);
  EXPECT_THAT(c.nodes(), HasSubstr("Expand Reshape"));
}

TEST(GroupNormalization, IsExpandedForOlderOpsets) {
  for (const int opset : {20, 13}) {
    OpCase c;
    c.op("GroupNormalization", {c.in("float[N,C,H,W]"), c.in("float[C]"), c.in("float[C]")}, {{"num_groups", 2}});
    c.convert(opset);
    EXPECT_THAT(c.nodes(), Not(HasSubstr("GroupNormalization"))) << opset;
    EXPECT_EQ(c.type(), "float[N,C,H,W]");
  }
}

TEST(GroupNormalization, RefusesGroupsThatDoNotDivideTheChannels) {
  OpCase c;
  EXPECT_REFUSED(
      Code::inference_failed,
      c.op("GroupNormalization", {c.in("float[1,5]"), c.in("float[5]"), c.in("float[5]")}, {{"num_groups", 2}}));
}

TEST(LayerNormalization, GivesStatisticsInTheStashType) {
  OpCase c;
  c.ops("LayerNormalization", {c.in("float16[N,3,4]"), c.in("float16[3,4]")}, {{"axis", 1}}, 3);
  EXPECT_EQ(c.type(0), "float16[N,3,4]");
  EXPECT_EQ(c.type(1), "float[N,1,1]");
  EXPECT_EQ(c.type(2), "float[N,1,1]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.type(0), "float16[N,3,4]");
  EXPECT_EQ(c.type(2), "float[N,1,1]");
}

TEST(LayerNormalization, NeedsNoRankForNegativeAxes) {
  OpCase c;
  c.op("LayerNormalization", {c.in("float[...]"), c.in("float[4]"), c.in("float[4]")}, {{"axis", -1}});
  c.convert(13);
  EXPECT_THAT(c.nodes(), HasSubstr("ReduceMean"));
  EXPECT_THAT(c.nodes(), Not(HasSubstr("Range")));
}

TEST(LayerNormalization, ComputesTheAxesWhereTheRankIsNotKnown) {
  OpCase c;
  c.op("LayerNormalization", {c.in("float[...]"), c.in("float[4]")}, {{"axis", 1}});
  ASSERT_TRUE(c.decompose());
  EXPECT_THAT(c.nodes(), HasSubstr("Shape Size Range"));
}

TEST(LayerNormalization, RefusesAnAxisOutOfRange) {
  OpCase c;
  EXPECT_REFUSED(Code::axis_out_of_range,
                 c.op("LayerNormalization", {c.in("float[2]"), c.in("float[2]")}, {{"axis", 1}}));
}

TEST(RMSNormalization, HasTheTypeOfItsScale) {
  OpCase c;
  c.op("RMSNormalization", {c.in("float16[N,4]"), c.in("float[4]")});
  EXPECT_EQ(c.type(), "float[N,4]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.type(), "float[N,4]");
}

TEST(MeanVarianceNormalization, IsDecomposed) {
  OpCase c;
  c.op("MeanVarianceNormalization", {c.in("float[N,C,H,W]")});
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "ReduceMean Sub Mul ReduceMean Sqrt Add Div");
  EXPECT_EQ(c.type(), "float[N,C,H,W]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("MeanVarianceNormalization", {c.in("float[2,2]")}));
}

TEST(NegativeLogLikelihoodLoss, IsAScalarUnlessNotReduced) {
  OpCase c;
  EXPECT_EQ(c.op("NegativeLogLikelihoodLoss", {c.in("float[N,C,d]"), c.in("int64[N,d]")})->type.str(), "float");
  EXPECT_EQ(c.op("NegativeLogLikelihoodLoss", {c.in("float[N,C,d]"), c.in("int64[...]")}, {{"reduction", "none"}})
                ->type.str(),
            "float[N,d]");
  EXPECT_EQ(
      c.op("NegativeLogLikelihoodLoss", {c.in("float[...]"), c.in("int64[N]")}, {{"reduction", "none"}})->type.str(),
      "float[N]");
  EXPECT_REFUSED(Code::inference_failed, c.op("NegativeLogLikelihoodLoss", {c.in("float[3,C]"), c.in("int64[4]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("NegativeLogLikelihoodLoss", {c.in("float[3]"), c.in("int64[]")}));
}

TEST(SoftmaxCrossEntropyLoss, SharesTheLossOfLogSoftmax) {
  OpCase c;
  c.ops("SoftmaxCrossEntropyLoss", {c.in("float[N,C]"), c.in("int32[N]"), c.in("float[C]")}, {{"ignore_index", -1}}, 2);
  EXPECT_EQ(c.type(1), "float[N,C]");
  ASSERT_TRUE(c.decompose());
  EXPECT_THAT(c.nodes(), HasSubstr("LogSoftmax Equal Where"));
  EXPECT_EQ(c.type(0), "float");
  EXPECT_EQ(c.type(1), "float[N,C]");
}

}  // namespace
}  // namespace ingot::test
