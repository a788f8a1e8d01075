// Transpose, fast and by the reference kernel.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(Transpose, MovesEveryElementOfLargePlanes) {
  Random random(4);
  for (const Dims& dims : {Dims{3, 130, 70}, Dims{1, 257, 65}, Dims{2, 64, 4}, Dims{5, 3, 200}})
    for (const DType type : {DType::f32, DType::f64, DType::u8, DType::f16}) {
      Model model = empty_model();
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
      GraphBuilder g(*model.graph);
      Value* moved = g.transpose(g.op("Cast", {x}, {{"to", type}}), {0, 2, 1});
      model.graph->add_output(g.op("Cast", {moved}, {{"to", DType::f32}}));
      expect_same(model, Array::from(random.floats(dims, 0, 200)), 0);
    }
}

TEST(Transpose, MovesEveryElement) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    Model model = empty_model();
    std::vector<std::int64_t> perm = {0, 1, 2, 3};
    for (std::size_t k = 4; k-- > 1;)
      std::swap(perm[k], perm[static_cast<std::size_t>(random.below(std::ssize(perm)))]);
    const Dims dims = {1 + random.below(4), 1 + random.below(20), 1 + random.below(4), 1 + random.below(40)};
    model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
    GraphBuilder g(*model.graph);
    model.graph->add_output(g.transpose(model.graph->inputs()[0], perm));
    expect_same(model, Array::from(random.floats(dims)), 0);
  }
}

}  // namespace
}  // namespace ingot::engine
