// Fast kernels against reference kernels.
#include "tests/engine/both_ways.h"

#include <gtest/gtest.h>

#include "ingot/ops/schema.h"

namespace ingot::engine {

Model empty_model() {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", ops::newest_opset(""));
  return model;
}

Array run(const Model& model, const Array& x, bool is_fast, int threads) {
  SessionOptions options;
  options.is_fast = is_fast;
  options.threads = threads;
  return *Session(model, options).run({{"x", x}}).front().value.array();
}

void expect_same(const Model& model, const Array& x, float tolerance) {
  const Array reference = run(model, x, false, 1);
  for (const int threads : {1, 2}) {
    const Array fast = run(model, x, true, threads);
    ASSERT_EQ(fast.dims(), reference.dims());
    for (std::size_t i = 0; i < static_cast<std::size_t>(fast.size()); ++i)
      ASSERT_NEAR(fast.data<float>()[i], reference.data<float>()[i], tolerance) << i;
  }
}

}  // namespace ingot::engine
