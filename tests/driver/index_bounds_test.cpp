// Random integers that a model can use: places within tables, axes within ranks.
#include "ingot/driver/index_bounds.h"

#include <gtest/gtest.h>

#include "ingot/ir/model.h"
#include "ingot/onnx/text.h"

namespace ingot {
namespace {

/// "least..most" of the input `i`, or nothing.
std::string bounds_of(const std::string& graph) {
  const Model model = onnx::parse_text(
      "<ir_version: 13, opset_import: [\"\" : 26, \"ai.onnx.ml\" : 5, \"com.microsoft\" : 1]>\n" + graph);
  const auto all = driver::index_bounds(model);
  const auto i = all.find("i");
  return i == all.end() ? "" : std::to_string(i->second.least) + ".." + std::to_string(i->second.most);
}

TEST(IndexBounds, PlacesAreWithinTheTable) {
  EXPECT_EQ(bounds_of("g (float[7, 2] x, int64[3] i) => (float[3, 2] y) { y = Gather(x, i) }"), "0..6");
  EXPECT_EQ(bounds_of("g (float[2, 5] x, int64[2] i) => (float l) { l = SoftmaxCrossEntropyLoss(x, i) }"), "0..4");
  EXPECT_EQ(
      bounds_of("g (float[2, 9] x, int64[1, 3] i) => (float[2, 3] y) { y = ai.onnx.ml.ArrayFeatureExtractor(x, i) }"),
      "0..8");
  EXPECT_EQ(
      bounds_of(R"(g (int32[1, 4] i, float[11, 8] w, float[6, 8] p, float[8] s, float[8] b) => (float[1, 4, 8] y) {
                      y, m = com.microsoft.EmbedLayerNormalization(i, , w, p, , s, b) })"),
      "0..10");
}

TEST(IndexBounds, AxesAreWithinTheRank) {
  EXPECT_EQ(bounds_of("g (float[2, 3] x, int32 i) => (float[2, 3] y) { y = CumSum(x, i) }"), "0..1");
  EXPECT_EQ(bounds_of("g (float[5] x, int32 i) => (float[5] y) { y = CumProd(x, i) }"), "0..0");
}

TEST(IndexBounds, AsManyAreTakenAsThereAre) {
  EXPECT_EQ(bounds_of("g (float[2, 6] x, int64[1] i) => (float[2, k] y, int64[2, k] z) { y, z = TopK(x, i) }"), "1..6");
}

TEST(IndexBounds, RotaryEmbeddingsOfBothDomains) {
  EXPECT_EQ(
      bounds_of(R"(g (float[1, 2, 3, 4] x, float[50, 2] c, float[50, 2] s, int64[1, 3] i) => (float[1, 2, 3, 4] y) {
                      y = RotaryEmbedding(x, c, s, i) })"),
      "0..49");
  EXPECT_EQ(bounds_of(R"(g (float[1, 3, 8] x, int64[1, 3] i, float[40, 4] c, float[40, 4] s) => (float[1, 3, 8] y) {
                      y = com.microsoft.RotaryEmbedding(x, i, c, s) })"),
            "0..39");
}

TEST(IndexBounds, NumbersThatAreNoPlacesAreFree) {
  EXPECT_EQ(bounds_of("g (int64[3] i) => (int64[3] y) { y = Add(i, i) }"), "");
}

}  // namespace
}  // namespace ingot
