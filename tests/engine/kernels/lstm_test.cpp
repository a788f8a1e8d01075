// LSTM, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

class Lstm : public testing::TestWithParam<std::int64_t> {};  // with so many units

TEST_P(Lstm, AgreesInEveryDirection) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    Random random(7);
    Model model = empty_model();
    const std::int64_t count = std::string_view(direction) == "bidirectional" ? 2 : 1, hidden = GetParam(), inputs = 5;
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{6, 3, inputs}));
    GraphBuilder g(*model.graph);
    Value* w = g.constant(random.floats({count, 4 * hidden, inputs}));
    const float most = 2 / std::sqrt(static_cast<float>(hidden));
    Value* r = g.constant(random.floats({count, 4 * hidden, hidden}, -most, most));
    Value* b = g.constant(random.floats({count, 8 * hidden}));
    Value* h = g.constant(random.floats({count, 3, hidden}));
    Value* c = g.constant(random.floats({count, 3, hidden}));
    const Values y = g.op("LSTM", {x, w, r, b, nullptr, h, c}, {{"hidden_size", hidden}, {"direction", direction}}, 3);
    Value* all = g.concat({g.reshape(y[0], {-1}), g.reshape(y[1], {-1}), g.reshape(y[2], {-1})}, 0);
    model.graph->add_output(all);
    expect_same(model, Array::from(random.floats({6, 3, inputs})), 1e-5f);
  }
}

// Fewer than a vector, not whole panels, one part, several parts of which the last is shorter.
INSTANTIATE_TEST_SUITE_P(Units, Lstm, testing::Values(3, 19, 64, 144, 208));

}  // namespace
}  // namespace ingot::engine
