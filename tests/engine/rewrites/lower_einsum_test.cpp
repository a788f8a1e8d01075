// Einsum by products of matrices.
#include <gtest/gtest.h>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

TEST(LowerEinsum, ComputesTheSameWithFastKernels) {
  struct Case {
    const char* equation;
    Dims x, w;
  };
  const Case cases[] = {{"bij,bjk->bik", {2, 5, 7}, {2, 7, 3}},          {"bshd,hde->bse", {2, 6, 4, 3}, {4, 3, 8}},
                        {"bqhd,bkhd->bhqk", {1, 5, 2, 8}, {1, 6, 2, 8}}, {"ij,j->i", {4, 9}, {9}},
                        {"...ij,jk->...ik", {2, 3, 4, 5}, {5, 6}},       {"ij,kl->ijkl", {2, 3}, {4, 5}}};
  for (const Case& c : cases)
    for (const bool is_constant : {true, false}) {
      Random random(7);
      Model model = empty_model();
      Shape shape(c.x.begin(), c.x.end());
      Value* x = model.graph->add_input("x", Type::tensor(DType::f32, shape));
      GraphBuilder g(*model.graph);
      Value* w = g.constant(random.floats(c.w));
      if (!is_constant) w = g.add(w, g.op("ReduceSum", {x}, {{"keepdims", 0}}));
      model.graph->add_output(g.op("Einsum", {x, w}, {{"equation", c.equation}}));
      expect_same(model, Array::from(random.floats(c.x)), 1e-3f);
      for (const KernelChoice& kernel : Session(model, {.threads = 1}).kernels())
        EXPECT_NE(kernel.op, "Einsum") << c.equation;
    }
}

}  // namespace
}  // namespace ingot::engine
