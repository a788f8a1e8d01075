// Products with what follows them, fast and by reference kernels.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(MatMul, TakesInWhatFollowsIt) {
  constexpr ops::Name kFunctions[] = {"Relu", "Gelu", "Sigmoid", "Tanh", "HardSwish"};
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Model model = empty_model();
    const std::int64_t rows = 1 + random.below(100), depth = 1 + random.below(600), columns = 1 + random.below(200);
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{rows, depth}));
    GraphBuilder g(*model.graph);
    Value* y = nullptr;
    if (random.below(2)) {
      Value* weight = g.constant(random.floats({columns, depth}));
      y = g.op("Gemm", {x, weight, g.constant(random.floats({columns}))}, {{"transB", 1}});
    } else {
      y = g.op("MatMul", {x, g.constant(random.floats({depth, columns}))});
      if (random.below(2)) y = g.add(y, g.constant(random.floats({columns})));
    }
    if (depth == columns || random.below(2)) {
      Value* other = g.op("MatMul", {x, g.constant(random.floats({depth, columns}))});
      y = g.add(y, other);
    }
    y = g.op(kFunctions[random.below(5)], {y});
    model.graph->add_output(y);
    expect_same(model, Array::from(random.floats({rows, depth})), 2e-4f);
  }
}

}  // namespace
}  // namespace ingot::engine
