// Optimizers and Gradient of ai.onnx.preview.training.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

constexpr const char* kDomain = "ai.onnx.preview.training";

TEST(Adam, UpdatesEveryWeightAndState) {
  OpCase c(0, kDomain);
  Values inputs = {c.in("float"), c.in("int64")};
  for (int kind = 0; kind < 4; ++kind)
    for (const char* type : {"float[2]", "double[N,3]"}) inputs.push_back(c.in(type));
  c.ops("Adam", inputs, {{"norm_coefficient", 0.1}, {"norm_coefficient_post", 0.1}}, 6);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}, std::size_t{4}}) EXPECT_EQ(c.type(i), "float[2]");
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) EXPECT_EQ(c.type(i), "double[N,3]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.type(0), "float[2]");
  EXPECT_EQ(c.type(5), "double[N,3]");
}

TEST(Momentum, ChecksModeAndNumberOfInputs) {
  OpCase c(0, kDomain);
  const Values inputs = {c.in("float"), c.in("int64"), c.in("float[2]"), c.in("float[2]"), c.in("float[2]")};
  const Attrs attrs = {{"mode", "nesterov"}, {"alpha", 0.9}, {"beta", 1.0}, {"norm_coefficient", 0.0}};
  c.ops("Momentum", inputs, attrs, 2);
  EXPECT_EQ(c.type(1), "float[2]");
  ASSERT_TRUE(c.decompose());
  EXPECT_REFUSED(Code::inference_failed, c.ops("Momentum", inputs, {{"mode", "slow"}}, 2));
  EXPECT_REFUSED(Code::inference_failed, c.ops("Momentum", {inputs[0], inputs[1], inputs[2]}, attrs, 1));
  EXPECT_REFUSED(Code::inference_failed, c.ops("Momentum", inputs, attrs, 3));
}

TEST(Adagrad, IsDecomposed) {
  OpCase c(0, kDomain);
  c.ops("Adagrad", {c.in("float"), c.in("int64"), c.in("float[2]"), c.in("float[2]"), c.in("float[2]")}, {}, 2);
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.type(1), "float[2]");
}

TEST(Gradient, HasTheTypesOfItsVariables) {
  OpCase c(0, kDomain);
  const Attrs attrs = {{"xs", std::vector<std::string>{"a", "b"}}, {"y", "c"}};
  c.ops("Gradient", {c.in("float[N]"), c.in("double[2,3]")}, attrs, 2);
  EXPECT_EQ(c.type(0), "float[N]");
  EXPECT_EQ(c.type(1), "double[2,3]");
  EXPECT_REFUSED(Code::inference_failed, c.ops("Gradient", {c.in("float[N]")}, attrs, 1));
}

}  // namespace
}  // namespace ingot::test
