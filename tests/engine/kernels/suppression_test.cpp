// NonMaxSuppression, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// Boxes of several sizes, some turned over, empty, equal to another or without an end.
std::vector<float> odd_boxes(Random& random, std::int64_t count, bool is_centred) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> boxes;
  const auto somewhere = [&] { return static_cast<float>(random.below(400)) / 8; };
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0 && random.below(6) == 0) {
      const auto at = static_cast<std::size_t>(4 * random.below(i));
      for (std::size_t k = 0; k < 4; ++k) boxes.push_back(boxes[at + k]);
      continue;
    }
    const float y = somewhere(), x = somewhere(), height = somewhere() / 4, width = somewhere() / 4;
    if (is_centred || random.below(8) == 0)
      boxes.insert(boxes.end(), {y, x, height, width});
    else
      boxes.insert(boxes.end(), {y, x, y + height, x + width});
    if (random.below(40) == 0) boxes[boxes.size() - 1 - static_cast<std::size_t>(random.below(4))] = kInfinity;
    if (random.below(40) == 0) boxes[boxes.size() - 1 - static_cast<std::size_t>(random.below(4))] = kNan;
  }
  return boxes;
}

TEST(Suppression, KeepsTheBoxesOfTheReferenceKernel) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::int64_t batch = 1 + random.below(2), classes = 1 + random.below(4);
    const std::int64_t count = seed % 10 == 0 ? 2500 : random.below(90);
    const bool is_centred = seed % 4 == 3;
    std::vector<float> boxes;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto some = odd_boxes(random, count, is_centred);
      boxes.insert(boxes.end(), some.begin(), some.end());
    }
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{batch, classes, count}));
    GraphBuilder g(*model.graph);
    Values inputs = {g.constant(Tensor::of<float>({batch, count, 4}, boxes)), x};
    if (seed % 7) {
      const float overlaps[] = {0, 0.3f, 0.5f, 1};
      inputs.push_back(g.constant(Tensor::of<std::int64_t>({1}, {seed % 3 == 0 ? 5 : random.below(2 * count + 1)})));
      inputs.push_back(g.constant(Tensor::of<float>({1}, {overlaps[random.below(4)]})));
      if (seed % 2) inputs.push_back(g.constant(Tensor::of<float>({}, {0.1f})));
    }
    model.graph->add_output(g.op("NonMaxSuppression", inputs, {{"center_point_box", is_centred}}));
    // Few different scores, so that many are equal.
    Array scores(DType::f32, {batch, classes, count});
    for (float& score : scores.mutable_data<float>()) {
      score = static_cast<float>(random.below(30) - 10) / 16;
      if (random.below(50) == 0) score = std::numeric_limits<float>::quiet_NaN();
      if (random.below(50) == 0) score = -0.0f;
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Array reference = run(model, scores, false, 1);
    for (const int threads : {1, 2}) {
      const Array fast = run(model, scores, true, threads);
      ASSERT_EQ(fast.dims(), reference.dims());
      EXPECT_TRUE(std::ranges::equal(fast.data<std::int64_t>(), reference.data<std::int64_t>()));
    }
  }
}

}  // namespace
}  // namespace ingot::engine
