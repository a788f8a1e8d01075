// Gather, fast and by the reference kernel.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"
#include "tests/support/refusal.h"

namespace ingot::engine {
namespace {

TEST(Gather, TakesSlicesOfAConstant) {
  for (const std::int64_t axis : {0, 1, -1}) {
    Random random(5);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1}));
    GraphBuilder g(*model.graph);
    Value* table = g.constant(random.floats({7, 9, 11}));
    Value* picked =
        g.op("Gather", {table, g.constant(Tensor::of<std::int64_t>({2, 3}, {0, -1, 4, -7, 6, 1}))}, {{"axis", axis}});
    Value* by_input = g.op("Cast", {x}, {{"to", DType::i64}});
    Value* other = g.op("Gather", {table, by_input}, {{"axis", axis}});
    model.graph->add_output(g.concat({g.reshape(picked, {-1}), g.reshape(other, {-1})}, 0));
    expect_same(model, Array::of<float>({1}, {-2}), 0);
    EXPECT_REFUSED(Code::execution_failed, run(model, Array::of<float>({1}, {100}), true, 1));
  }
}

}  // namespace
}  // namespace ingot::engine
