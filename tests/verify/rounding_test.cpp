// Twins of a model that differ from it by rounding.
#include "ingot/verify/rounding.h"

#include <gtest/gtest.h>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"

namespace ingot {
namespace {

Model parsed(std::string_view graph) {
  std::string text = "<ir_version: 10, opset_import: [\"\" : 21]>\n";
  text += graph;
  return onnx::parse_text(text);
}

std::vector<engine::NamedDatum> run(const Model& model, const std::vector<float>& x) {
  const Array input = Array::of<float>({static_cast<std::int64_t>(x.size())}, x);
  return engine::Session(model).run({{"x", input}});
}

TEST(InDouble, KeepsWhatFloatLoses) {
  const Model model = parsed(R"(g (float[N] x) => (float[N] y)
    { big = Constant<value_float = 100000000.0>()
      a = Add(x, big)
      y = Sub(a, big) })");
  EXPECT_EQ(run(model, {1})[0].value.array()->to_doubles(), std::vector<double>{0});
  const auto twin = run(verify::in_double(model), {1});
  EXPECT_EQ(twin[0].name, "y");
  EXPECT_EQ(twin[0].value.array()->dtype(), DType::f64);
  EXPECT_EQ(twin[0].value.array()->to_doubles(), std::vector<double>{1});
}

TEST(InDouble, ReachesConstantsCastsAndBranches) {
  const Model model = parsed(R"(g (float[N] x) => (float[N] y, int64[N] n)
    <float big = {100000000}>
    { shape = Shape(x)
      ones = ConstantOfShape<value = float[1] {1}>(shape)
      n = Cast<to = 7>(ones)
      again = Cast<to = 1>(n)
      yes = Constant<value = bool {1}>()
      a = If<then_branch = t () => (float[N] p) { p = Add(x, big) },
             else_branch = e () => (float[N] q) { q = Identity(x) }>(yes)
      b = Sub(a, big)
      y = Mul(b, again) })");
  const auto twin = run(verify::in_double(model), {1, 3});
  EXPECT_EQ(twin[0].value.array()->to_doubles(), (std::vector<double>{1, 3}));
  EXPECT_EQ(twin[1].value.array()->to_ints(), (std::vector<std::int64_t>{1, 1}));
}

TEST(InDouble, LeavesOperatorsWithoutDoubleInFloat) {
  const Model model = parsed(R"(g (float[N] x) => (float[N] y)
    <float s = {0.5}, int8 z = {0}>
    { q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      y = Add(d, x) })");
  const auto twin = run(verify::in_double(model), {1.2f, -0.3f});
  ASSERT_EQ(twin[0].value.array()->dtype(), DType::f64);
  EXPECT_NEAR(twin[0].value.array()->to_doubles()[0], 1.0 + 1.2f, 1e-12);
}

TEST(ShakenSteps, MoveQuantisedValuesByAStepAtMost) {
  const Model model = parsed(R"(g (float[N] x) => (int8[N] q)
    <float s = {0.01}, int8 z = {0}>
    { q = QuantizeLinear(x, s, z) })");
  std::vector<float> x;
  for (int i = 0; i < 200; ++i) x.push_back(static_cast<float>(i) / 200);
  const auto twin = verify::with_shaken_steps(model, 1);
  ASSERT_TRUE(twin);
  const auto plain = run(model, x)[0].value.array()->to_ints(), shaken = run(*twin, x)[0].value.array()->to_ints();
  int moved = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_LE(std::abs(plain[i] - shaken[i]), 1);
    moved += plain[i] != shaken[i];
  }
  EXPECT_GT(moved, 20);
}

TEST(ShakenSteps, ReachTheFloatsThatMultiplyWeightsOfFewBits) {
  // Runtimes round such floats to 8 bits while running.
  for (const char* type : {"int8", "int4"}) {
    const std::string t(type);
    const Model model =
        parsed("g (float[1,N] x) => (float[1,2] y) <" + t + "[2,2] w = {1, 2, 3, 4}, float s = {0.5}, " + t +
               " z = {0}> { d = DequantizeLinear(w, s, z) y = MatMul(x, d) }");
    EXPECT_TRUE(verify::with_shaken_steps(model, 1)) << type;
  }
}

TEST(ShakenSteps, AreNoneInAModelOfFloats) {
  const Model model = parsed("g (float[N] x) => (float[N] y) { y = Exp(x) }");
  EXPECT_FALSE(verify::with_shaken_steps(model, 1));
}

TEST(Rounding, IsTheDistanceBetweenFloatAndDouble) {
  const Model model = parsed(R"(g (float[N] x) => (float[N] y)
    <float big = {100000000}>
    { a = Add(x, big)
      y = Sub(a, big) })");
  verify::Rounding rounding(model, nullptr);
  const auto values = rounding.values({{"x", Array::of<float>({1}, {1})}}, {"a"});
  EXPECT_EQ(rounding.why_not(), "");
  ASSERT_TRUE(verify::noise_of(values, "y"));
  EXPECT_EQ(verify::noise_of(values, "y")->value, 1);
  EXPECT_EQ(verify::noise_of(values, "a")->value, 1);
  EXPECT_FALSE(verify::noise_of(values, "nobody"));
  EXPECT_EQ(rounding.values({{"x", Array::of<float>({1}, {1})}}, {"y"}).at("y").size(), 2u);
}

}  // namespace
}  // namespace ingot
