#include <gtest/gtest.h>

#include <cmath>

#include "ingot/ingot.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

Model doubled() {
  return parse_model(R"(<ir_version: 8, opset_import: ["": 17]>
    g (float[N, 3] x) => (float[N, 3] y) {
      a = Identity(x)
      y = Relu(a)
    })");
}

TEST(Optimize, SaysWhatItDid) {
  Model model = doubled();
  const OptimizeSummary summary = optimize(model);
  EXPECT_EQ(summary.nodes_before, 2u);
  EXPECT_EQ(summary.nodes_after, 1u);
  EXPECT_FALSE(summary.rules.empty());
  EXPECT_EQ(nodes_of(model).front().op, "Relu");
  EXPECT_EQ(model.opsets.version(""), 17);
  EXPECT_REFUSED(Code::bad_usage, optimize(model, {.level = "much"}));
}

TEST(Adjust, RefusesTwoTargets) {
  Model model = doubled();
  EXPECT_REFUSED(Code::bad_usage, adjust(model, {.opset = 13, .target = "ort-1.15"}));
}

TEST(Merge, IsFoundWithoutItsNamespaceToo) {
  using namespace ingot;
  MergeReport report;
  const Model twice =
      merge(doubled(), doubled(), {.connections = {{"y", "x"}}, .prefix_a = "a/", .prefix_b = "b/"}, report);
  EXPECT_EQ(nodes_of(twice).size(), 4u);
}

TEST(SaveMemory, IsWhatLoadMemoryReads) {
  const std::string bytes = save_memory(doubled());
  const Model again = load_memory(Bytes::own(bytes)).model;
  EXPECT_EQ(save_memory(again), bytes);
  EXPECT_EQ(nodes_of(again).size(), 2u);
}

TEST(SetSamples, HoldsBackAPartAndNotAll) {
  const Model model = doubled();
  for (const double share : {-0.5, 1.0, 2.0, std::nan("")}) {
    QuantizeRequest request = quantize_request({});
    EXPECT_REFUSED(Code::bad_usage,
                   set_samples(request, model, dataset_of({{"x", Array::of<float>({4, 3}, std::vector<float>(12))}}),
                               share, 1, 4));
  }
}

TEST(ValuesOf, HaveTheTypesThatInferenceFinds) {
  Model model = doubled();
  AdjustOptions options;
  options.infer_types = true;
  adjust(model, options);
  const std::vector<PortView> values = values_of(model);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].name, "a");
  EXPECT_EQ(values[0].type.str(), "float[N,3]");
}

}  // namespace
}  // namespace ingot
