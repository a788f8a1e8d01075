// Products and convolutions of 8-bit integers: fast kernels against reference kernels, exactly, on random geometry.
#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

DType any_type(Random& random) { return random.below(2) ? DType::u8 : DType::i8; }
Tensor scales(Random& random, Dims dims) { return random.floats(std::move(dims), 0.001f, 0.05f); }

/// A model with one node whose operands are inputs or constants.
class Case {
 public:
  explicit Case(unsigned seed) : random(seed) {}
  GraphBuilder builder() { return GraphBuilder(*model_.graph); }

  Value* operand(Tensor tensor, bool is_constant) {
    if (is_constant) return builder().constant(std::move(tensor));
    const std::string name = "x" + std::to_string(inputs_.size());
    Value* input = model_.graph->add_input(name, Array::from(tensor).type());
    inputs_.push_back({name, Array::from(tensor)});
    return input;
  }

  void expect_same(Value* y, unsigned seed, std::string_view kernel = "integer gemm") {
    model_.graph->add_output(y);
    const auto run = [&](bool is_fast, int threads) {
      SessionOptions options;
      options.is_fast = is_fast;
      options.threads = threads;
      const Session session(model_, options);
      if (is_fast) {
        const auto kernels = session.kernels();
        EXPECT_TRUE(std::ranges::any_of(kernels, [&](const KernelChoice& c) { return c.kernel == kernel; }));
        session.run(inputs_);  // what is packed is used by the next
      }
      return *session.run(inputs_).front().value.array();
    };
    const Array expected = run(false, 1);
    for (const int threads : {1, 3}) {
      const Array got = run(true, threads);
      ASSERT_EQ(got.dims(), expected.dims()) << "seed " << seed;
      ASSERT_EQ(got.to_ints(), expected.to_ints()) << "seed " << seed;
    }
  }

  Random random;

 private:
  Model model_ = empty_model();
  std::vector<NamedDatum> inputs_;
};

class IntegerProducts : public testing::TestWithParam<unsigned> {};

TEST_P(IntegerProducts, MatMulAgreesWithAnyZeroPoints) {
  Case test(GetParam());
  Random& random = test.random;
  const bool is_quantized = random.below(2) != 0;
  const std::int64_t rows = 1 + random.below(20), depth = 1 + random.below(70), columns = 1 + random.below(60);
  Dims a = {rows, depth}, b = {depth, columns};
  if (random.below(2)) a.insert(a.begin(), 1 + random.below(3));
  if (random.below(3) == 0) b.insert(b.begin(), a.size() == 3 ? a[0] : 2);
  const DType left = any_type(random), right = any_type(random), result = any_type(random);
  const bool is_constant = random.below(2) != 0;
  Value* x = test.operand(random.bytes(left, a), false);
  Value* w = test.operand(random.bytes(right, b), is_constant);
  const auto zero_dims = [&](std::int64_t count) {
    return random.below(2) ? Dims{count} : random.below(2) ? Dims{1} : Dims{};
  };
  Value* x_zero = test.operand(random.bytes(left, zero_dims(rows)), false);
  Value* w_zero = test.operand(random.bytes(right, zero_dims(columns)), is_constant);
  GraphBuilder g = test.builder();
  if (!is_quantized) {
    const bool has_zeros = random.below(4) != 0;
    Value* y = has_zeros ? g.op("MatMulInteger", {x, w, x_zero, w_zero}) : g.op("MatMulInteger", {x, w});
    return test.expect_same(y, GetParam());
  }
  Value* x_scale = test.operand(scales(random, zero_dims(rows)), false);
  Value* w_scale = test.operand(scales(random, zero_dims(columns)), true);
  Value* y_scale = test.operand(scales(random, {}), true);
  Value* y_zero = test.operand(random.bytes(result, {}), true);
  test.expect_same(g.op("QLinearMatMul", {x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero}), GetParam());
}

TEST_P(IntegerProducts, ConvolutionAgreesForAnyGeometry) {
  Case test(GetParam() + 1000);
  Random& random = test.random;
  const std::size_t rank = 1 + static_cast<std::size_t>(random.below(3));
  const std::int64_t groups = 1 + random.below(3), depth = 1 + random.below(5), per_group = 1 + random.below(9);
  Dims x_dims = {1 + random.below(2), groups * depth}, w_dims = {groups * per_group, depth}, strides, dilations, pads;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t kernel = 1 + random.below(3), dilation = 1 + random.below(2);
    w_dims.push_back(kernel);
    x_dims.push_back(kernel * dilation + random.below(rank == 1 ? 300 : 9));
    strides.push_back(1 + random.below(2));
    dilations.push_back(dilation);
  }
  for (std::size_t i = 0; i < 2 * rank; ++i) pads.push_back(random.below(3));
  const Attrs attributes = {{"group", groups}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
  const DType left = any_type(random), right = any_type(random), result = any_type(random);
  const bool is_constant = random.below(4) != 0, is_quantized = random.below(2) != 0;
  Value* x = test.operand(random.bytes(left, x_dims), false);
  Value* w = test.operand(random.bytes(right, w_dims), is_constant);
  Value* x_zero = test.operand(random.bytes(left, {}), false);
  const Dims list = random.below(2) ? Dims{w_dims[0]} : Dims{};
  Value* w_zero = test.operand(random.bytes(right, list), is_constant);
  GraphBuilder g = test.builder();
  if (!is_quantized) {
    const bool has_zeros = random.below(4) != 0;
    Value* y =
        has_zeros ? g.op("ConvInteger", {x, w, x_zero, w_zero}, attributes) : g.op("ConvInteger", {x, w}, attributes);
    return test.expect_same(y, GetParam());
  }
  Value* x_scale = test.operand(scales(random, {}), true);
  Value* w_scale = test.operand(scales(random, list), true);
  Value* y_scale = test.operand(scales(random, {}), true);
  Value* y_zero = test.operand(random.bytes(result, {}), true);
  Values inputs = {x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero};
  if (random.below(2)) {
    std::vector<std::int32_t> bias;
    for (std::int64_t i = 0; i < w_dims[0]; ++i)
      bias.push_back(static_cast<std::int32_t>(random.below(20'000)) - 10'000);
    inputs.push_back(g.constant(Tensor::of<std::int32_t>({w_dims[0]}, bias)));
  }
  test.expect_same(g.op("QLinearConv", inputs, attributes), GetParam());
}

TEST_P(IntegerProducts, QuantisingAgreesThereAndBack) {
  Case test(GetParam() + 2000);
  Random& random = test.random;
  const bool is_wide = random.below(2) != 0;
  const DType type = any_type(random);
  const auto zeros = [&](const Dims& list) {
    if (!is_wide) return random.bytes(type, list);
    std::vector<std::uint16_t> unsigned_zeros;
    std::vector<std::int16_t> signed_zeros;
    for (std::int64_t i = 0; i < tensor_size(list); ++i) {
      unsigned_zeros.push_back(static_cast<std::uint16_t>(random.below(65536)));
      signed_zeros.push_back(static_cast<std::int16_t>(random.below(65536) - 32768));
    }
    return type == DType::u8 ? Tensor::of<std::uint16_t>(list, unsigned_zeros)
                             : Tensor::of<std::int16_t>(list, signed_zeros);
  };
  const Dims dims = {1 + random.below(3), 1 + random.below(20), 1 + random.below(30)};
  // More than the type holds, halves between two steps, and what is no number.
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < tensor_size(dims); ++i)
    numbers.push_back(static_cast<float>(random.below(800) - 400) / 2 * (is_wide ? 250.0f : 1.0f));
  if (random.below(2)) {
    numbers.front() = std::numeric_limits<float>::quiet_NaN();
    numbers.back() = std::numeric_limits<float>::infinity();
  }
  Value* x = test.operand(Tensor::of<float>(dims, numbers), false);
  GraphBuilder g = test.builder();
  if (random.below(3) == 0) {
    const Values y = g.op("DynamicQuantizeLinear", {x}, {}, 3);
    return test.expect_same(y[0], GetParam(), "bytes");
  }
  const std::int64_t axis = random.below(3);
  const Dims list = random.below(2) ? Dims{dims[static_cast<std::size_t>(axis)]} : Dims{};
  std::vector<float> scales(static_cast<std::size_t>(tensor_size(list)));
  for (float& scale : scales) scale = random.below(2) ? 1.0f : 0.37f;
  Value* scale = g.constant(Tensor::of<float>(list, scales));
  Values inputs = {x, scale, g.constant(zeros(list))};
  Value* y = g.op("QuantizeLinear", inputs, {{"axis", axis}});
  if (random.below(2)) return test.expect_same(y, GetParam(), "bytes");
  inputs[0] = y;
  Value* back = g.op("DequantizeLinear", inputs, {{"axis", axis}});
  // Multiplied: what is compared are integers.
  const char* kernel = tensor_size(list) == 1 ? "tiles" : "bytes";
  test.expect_same(g.op("Cast", {g.mul(back, 1000.0)}, {{"to", DType::i64}}), GetParam(), kernel);
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntegerProducts, testing::Range(0u, 120u));

}  // namespace
}  // namespace ingot::engine
