// Attention as exporters write it, fast and by reference kernels.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// softmax(q * k' * scale + mask) * v over heads, as exporters write it.
Value* attention(GraphBuilder& g, Random& random, Value* x, const Dims& dims, std::int64_t count) {
  const std::int64_t batch = dims[0], time = dims[1], size = dims[2] / count;
  const auto project = [&] { return g.op("MatMul", {x, g.constant(random.floats({dims[2], dims[2]}))}); };
  // Heads first, by a Transpose that the kernel can take in or by what it must leave alone.
  const auto heads = [&](std::vector<std::int64_t> perm) {
    if (random.below(2)) return g.transpose(g.reshape(project(), {batch, time, count, size}), std::move(perm));
    Value* split = g.transpose(g.reshape(project(), {batch, time, 1, count, size}), {2, 0, 3, 1, 4});
    Value* first = g.squeeze(split, {0});
    return perm == std::vector<std::int64_t>{0, 2, 1, 3} ? first : g.transpose(first, {0, 1, 3, 2});
  };
  Value* q = heads({0, 2, 1, 3});
  Value* k = heads({0, 2, 3, 1});
  Value* v = heads({0, 2, 1, 3});
  Value* scores = g.op("MatMul", {q, k});
  if (random.below(3)) scores = random.below(2) ? g.div(scores, 4.0) : g.mul(scores, 0.3);
  constexpr int kMasks = 4;
  const std::int64_t mask = random.below(kMasks);
  if (mask == 1) scores = g.add(scores, g.constant(random.floats({batch, 1, 1, time}, -3, 0)));
  if (mask == 2) scores = g.add(scores, g.constant(random.floats({time, time}, -3, 0)));
  if (mask == 3) scores = g.add(g.constant(random.floats({1, count, time, 1}, -3, 0)), scores);
  Value* mixed = g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", random.below(2) ? -1 : 3}}), v});
  if (random.below(2)) return g.reshape(g.transpose(mixed, {0, 2, 1, 3}), dims);
  return g.op("Relu", {mixed});
}

TEST(Attention, AgreesWithAnyMask) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const std::int64_t count = 1 + random.below(4);
    // Some with more rows than are done at a time.
    const Dims dims = {1 + random.below(3), 1 + random.below(seed % 3 ? 40 : 250), count * (1 + random.below(20))};
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
    GraphBuilder g(*model.graph);
    model.graph->add_output(attention(g, random, x, dims, count));
    expect_same(model, Array::from(random.floats(dims)), 2e-4f);
    const auto kernels = Session(model, {.threads = 1}).kernels();
    EXPECT_TRUE(std::ranges::any_of(kernels, [](const KernelChoice& c) { return c.kernel == "heads"; })) << seed;
  }
}

}  // namespace
}  // namespace ingot::engine
