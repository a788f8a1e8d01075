// What an import leaves of what stands beside a convolution.
#include <gtest/gtest.h>

#include <map>

#include "ingot/driver/load.h"
#include "ingot/ir/model.h"
#include "tests/support/files.h"

namespace ingot::driver {
namespace {

std::string floats(const std::string& name, const std::string& dims, const std::string& values) {
  return "node { name: \"" + name +
         "\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: "
         "\"value\" value { tensor { dtype: DT_FLOAT tensor_shape { " +
         dims + " } " + values + " } } } }\n";
}

const std::string kType = " attr { key: \"T\" value { type: DT_FLOAT } }";

/// An image, padded, convolved with weights of half the size, with a bias and a normalisation.
std::string network() {
  std::string text =
      "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" "
      "value { shape { dim { size: 1 } dim { size: 5 } dim { size: 5 } dim { size: 2 } } } } }\n"
      "node { name: \"half\" op: \"Const\" attr { key: \"dtype\" value { type: DT_HALF } } attr { key: \"value\" value "
      "{ "
      "tensor { dtype: DT_HALF tensor_shape { dim { size: 3 } dim { size: 3 } dim { size: 2 } dim { size: 2 } } "
      "half_val: 15360 } } } }\n"
      "node { name: \"w\" op: \"Cast\" input: \"half\" attr { key: \"SrcT\" value { type: DT_HALF } } attr { key: "
      "\"DstT\" value { type: DT_FLOAT } } }\n"
      "node { name: \"amounts\" op: \"Const\" attr { key: \"dtype\" value { type: DT_INT32 } } attr { key: \"value\" "
      "value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } dim { size: 2 } } int_val: 0 int_val: 0 "
      "int_val: "
      "0 int_val: 1 int_val: 0 int_val: 1 int_val: 0 int_val: 0 } } } }\n";
  text += floats("bias", "dim { size: 2 }", "float_val: 1 float_val: 2");
  text += floats("scale", "dim { size: 2 }", "float_val: 3 float_val: 4");
  text += floats("mean", "dim { size: 2 }", "float_val: 0.5 float_val: 0.25");
  text += floats("variance", "dim { size: 2 }", "float_val: 1 float_val: 4");
  text += "node { name: \"padded\" op: \"Pad\" input: \"x\" input: \"amounts\"" + kType + " }\n";
  text += "node { name: \"conv\" op: \"Conv2D\" input: \"padded\" input: \"w\"" + kType +
          " attr { key: \"strides\" value { list { i: 1 i: 2 i: 2 i: 1 } } } attr { key: \"padding\" value { s: "
          "\"VALID\" } } }\n";
  text += "node { name: \"sum\" op: \"BiasAdd\" input: \"conv\" input: \"bias\"" + kType + " }\n";
  text +=
      "node { name: \"norm\" op: \"FusedBatchNormV3\" input: \"sum\" input: \"scale\" input: \"bias\" input: \"mean\" "
      "input: \"variance\"" +
      kType + " attr { key: \"is_training\" value { b: false } } }\n";
  text += "node { name: \"y\" op: \"Relu\" input: \"norm\"" + kType + " }\n";
  return text;
}

std::map<std::string, int> operators_of(const LoadOptions& options) {
  const test::TempDir directory;
  test::write_text(directory / "m.pbtxt", network());
  const Loaded loaded = load(directory / "m.pbtxt", options);
  std::map<std::string, int> count;
  for (const Node& node : loaded.model.graph->nodes()) ++count[node.op];
  return count;
}

TEST(FinishImport, AConvolutionTakesInWhatIsBesideIt) {
  auto count = operators_of({});
  EXPECT_EQ(count["Conv"], 1);
  for (const char* gone : {"Cast", "Pad", "Add", "BatchNormalization"}) EXPECT_EQ(count[gone], 0) << gone;
}

TEST(FinishImport, WhatIsToBeTrainedStaysApart) {
  LoadOptions options;
  options.import.mode = Mode::training;
  auto count = operators_of(options);
  for (const char* kept : {"Conv", "Pad", "Add", "BatchNormalization"}) EXPECT_EQ(count[kept], 1) << kept;
}

}  // namespace
}  // namespace ingot::driver
