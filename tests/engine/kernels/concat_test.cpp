// Concat, fast and by the reference kernel.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(Concat, JoinsPartsOfAnySizeAlongAnyAxis) {
  for (const std::int64_t axis : {0, 1, 2, -1})
    for (const DType type : {DType::f32, DType::i64, DType::u8}) {
      Random random(6);
      Model model = empty_model();
      const Dims dims = {3, 40, 50};
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
      GraphBuilder g(*model.graph);
      Value* whole = g.op("Cast", {g.op("Abs", {x})}, {{"to", type}});
      Values parts = {whole};
      for (const std::int64_t size : {0, 1, 2}) {
        Value* axes = g.ints({axis});
        Value* start = g.ints({0});
        parts.push_back(g.op("Slice", {whole, start, g.ints({size}), axes}));
      }
      parts.push_back(whole);
      model.graph->add_output(g.op("Cast", {g.concat(parts, axis)}, {{"to", DType::f32}}));
      expect_same(model, Array::from(random.floats(dims, 0, 200)), 0);
    }
}

}  // namespace
}  // namespace ingot::engine
