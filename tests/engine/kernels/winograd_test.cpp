// 3 x 3 convolutions, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(Winograd, AgreesWithinItsRounding) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const std::int64_t in = 32 + 8 * random.below(8), out = 32 + 8 * random.below(12), batch = 1 + random.below(2);
    const std::int64_t height = 12 + random.below(50), width = 12 + random.below(50);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{batch, in, height, width}));
    GraphBuilder g(*model.graph);
    Value* before = g.op("Conv", {x, g.constant(random.floats({in, in, 1, 1}, -0.2f, 0.2f))});
    Value* other = g.op("Conv", {before, g.constant(random.floats({out, in, 1, 1}))});
    Value* weight = g.constant(random.floats({out, in, 3, 3}));
    Values inputs = {before, weight};
    if (random.below(2)) inputs.push_back(g.constant(random.floats({out})));
    Value* y = g.op("Conv", inputs, {{"pads", {1, 1, 1, 1}}});
    if (random.below(2)) y = g.add(y, other);
    if (random.below(2)) y = g.op("Relu", {y});
    model.graph->add_output(y);
    const Array input = Array::from(random.floats({batch, in, height, width}));
    const Array reference = run(model, input, false, 1), fast = run(model, input, true, 1);
    ASSERT_EQ(fast.dims(), reference.dims());
    float scale = 0;
    for (const float v : reference.data<float>()) scale = std::max(scale, std::abs(v));
    for (std::size_t i = 0; i < static_cast<std::size_t>(fast.size()); ++i)
      ASSERT_NEAR(fast.data<float>()[i], reference.data<float>()[i], 2e-5f * scale) << i << " of seed " << seed;
    EXPECT_TRUE(std::ranges::equal(run(model, input, true, 3).data<float>(), fast.data<float>()));
  }
}

}  // namespace
}  // namespace ingot::engine
