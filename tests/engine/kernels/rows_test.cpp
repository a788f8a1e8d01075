// Softmax and normalisation, fast and by reference kernels.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(Rows, SoftmaxAndNormalisationAgreeForAnyLength) {
  for (const std::int64_t n : {1, 3, 8, 17, 100}) {
    Random random(static_cast<unsigned>(n));
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{4, n}));
    GraphBuilder g(*model.graph);
    Value* softmax = g.op("Softmax", {x}, {{"axis", 1}});
    Value* scale = g.constant(random.floats({n}));
    Value* normal = g.op("LayerNormalization", {x, scale, g.constant(random.floats({n}))}, {{"axis", -1}});
    model.graph->add_output(g.concat({softmax, normal}, 0));
    expect_same(model, Array::from(random.floats({4, n}, -5, 5)), 2e-5f);
  }
}

TEST(Rows, NormalisationThatWasWrittenOutIsOneNode) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    Random random(seed);
    const std::int64_t n = 1 + random.below(40);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 3, n}));
    GraphBuilder g(*model.graph);
    Value* axes = g.ints({random.below(2) ? -1 : 2});
    Value* centred = g.sub(x, g.op("ReduceMean", {x, axes}));
    Value* square = random.below(2) ? g.mul(centred, centred) : g.op("Pow", {centred, g.scalar(2, DType::f32)});
    Value* variance = g.op("ReduceMean", {square, axes});
    Value* epsilon = g.scalar(1e-5, DType::f32);
    Value* sum = random.below(2) ? g.add(variance, epsilon) : g.add(epsilon, variance);
    Value* quotient = g.div(centred, g.op("Sqrt", {sum}));
    const Dims row = random.below(2) ? Dims{n} : Dims{1, 1, n};
    Value* y = g.mul(quotient, g.constant(random.floats(row)));
    if (random.below(3)) y = g.add(g.constant(random.floats(row)), y);
    model.graph->add_output(y);
    expect_same(model, Array::from(random.floats({2, 3, n}, -4, 4)), 2e-5f);
    const auto kernels = Session(model, {.threads = 1}).kernels();
    ASSERT_EQ(kernels.size(), 1u) << seed;
    EXPECT_EQ(kernels[0].op, "LayerNormalization");
  }
}

}  // namespace
}  // namespace ingot::engine
