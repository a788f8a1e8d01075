// Products with weights of 4 or 8 bits, as small as they are stored and as the reference kernels compute them.
#include "ingot/engine/rewrites/keep_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

std::int64_t size_of(const Dims& dims) { return tensor_size(dims); }

Tensor random_integers(Random& random, DType type, const Dims& dims) {
  if (type == DType::u8 || type == DType::i8) return random.bytes(type, dims);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>((size_of(dims) + 1) / 2));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
  if (size_of(dims) % 2) bytes.back() &= 15;
  return Tensor(type, dims, Bytes::copy(std::as_bytes(std::span(bytes))));
}

/// A product of rows with a matrix of integers, in one of the ways in which it is written.
struct Product {
  Model model = empty_model();
  Array x;

  explicit Product(unsigned seed) {
    Random random(seed);
    const DType types[] = {DType::u4, DType::i4, DType::u8, DType::i8};
    const DType type = types[seed % 4];
    const bool is_turned = random.below(2) != 0, is_gemm = random.below(3) == 0, has_zeros = random.below(2) != 0;
    const std::int64_t depths[] = {2, 16, 40, 130, 384, 600}, block = 16 << random.below(2);
    const std::int64_t depth = depths[random.below(6)], columns = 1 + random.below(100);
    const std::int64_t rows = seed % 3 == 0 ? 1 : 1 + random.below(200);
    const std::int64_t form = random.below(3);  // blocks, columns, one scale
    const std::int64_t blocks = (depth + block - 1) / block;
    const auto turned = [&](std::int64_t a, std::int64_t b) { return is_turned ? Dims{b, a} : Dims{a, b}; };
    const Dims scales = form == 0 ? turned(blocks, columns) : form == 1 ? Dims{columns} : Dims{};
    x = Array::from(random.floats({rows, depth}));
    Value* in = model.graph->add_input("x", x.type());
    GraphBuilder g(*model.graph);
    Values parts = {g.constant(random_integers(random, type, turned(depth, columns))),
                    g.constant(random.floats(scales, 0.001f, 0.01f))};
    if (has_zeros) parts.push_back(g.constant(random_integers(random, type, scales)));
    Attrs attrs = {{"axis", form == 0 ? (is_turned ? 1 : 0) : (is_turned ? 0 : 1)}};
    if (form == 0) attrs.emplace_back("block_size", block);
    Value* w = g.op("DequantizeLinear", parts, attrs);
    Value* y = nullptr;
    if (is_gemm) {
      Values inputs = {in, w};
      if (random.below(2)) inputs.push_back(g.constant(random.floats({columns})));
      y = g.op("Gemm", inputs, {{"transB", is_turned}});
    } else {
      y = g.op("MatMul", {in, is_turned ? g.transpose(w, {1, 0}) : w});
      if (random.below(2)) y = g.add(y, g.constant(random.floats({columns})));
    }
    if (random.below(3) == 0) y = g.op("Relu", {y});
    if (random.below(3) == 0) y = g.op("Tanh", {y});
    model.graph->add_output(y);
  }
};

TEST(KeepBits, AgreesWithTheFloatsThatTheIntegersStandFor) {
  for (unsigned seed = 0; seed < 160; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Product product(seed);
    expect_same(product.model, product.x, 2e-4f);
    const auto kernels = Session(product.model, {.threads = 1}).kernels();
    EXPECT_TRUE(std::ranges::none_of(kernels, [](const auto& k) { return k.op == "DequantizeLinear"; }));
    EXPECT_TRUE(std::ranges::any_of(kernels, [](const auto& k) { return k.op == "ingot.engine.Linear"; }));
  }
}

TEST(KeepBits, HasTheSameBitsForAnyNumberOfThreads) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    const Product product(seed);
    const Array one = run(product.model, product.x, true, 1), three = run(product.model, product.x, true, 3);
    EXPECT_TRUE(std::ranges::equal(one.data<float>(), three.data<float>())) << seed;
  }
}

TEST(KeepBits, ScalesMayBeComputedOfConstants) {
  Random random(3);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{3, 32}));
  GraphBuilder g(*model.graph);
  Value* scales = g.reshape(g.constant(random.floats({16}, 0.001f, 0.01f)), {8, 2});
  Value* w = g.op("DequantizeLinear", {g.constant(random_integers(random, DType::u4, {8, 32})), scales},
                  {{"axis", 1}, {"block_size", 16}});
  model.graph->add_output(g.op("MatMul", {x, g.transpose(w, {1, 0})}));
  expect_same(model, Array::from(random.floats({3, 32})), 1e-5f);
  for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
    EXPECT_EQ(choice.op, "ingot.engine.Linear");
}

/// What several nodes read, or what is spread in another way, becomes floats.
TEST(KeepBits, LeavesWhatIsNoMatrixOfBlocks) {
  Random random(5);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{3, 4}));
  GraphBuilder g(*model.graph);
  // A scale for each row of the operand.
  Value* w =
      g.op("DequantizeLinear",
           {g.constant(random.bytes(DType::i8, {4, 6})), g.constant(random.floats({4}, 0.001f, 0.01f))}, {{"axis", 0}});
  // An odd number of rows of 4 bits.
  Value* odd = g.op("DequantizeLinear",
                    {g.constant(random_integers(random, DType::i4, {5, 6})), g.constant(Tensor::scalar(0.01f))});
  Value* wide = g.concat({x, g.constant(random.floats({3, 1}))}, 1);
  model.graph->add_output(g.add(g.op("MatMul", {x, w}), g.op("MatMul", {wide, odd})));
  expect_same(model, Array::from(random.floats({3, 4})), 1e-5f);
}

}  // namespace
}  // namespace ingot::engine
