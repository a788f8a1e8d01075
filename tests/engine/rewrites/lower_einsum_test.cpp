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

TEST(LowerEinsum, TakesSizesThatAreOpen) {
  struct Case {
    const char* equation;
    Shape open, w_shape;
    Dims x, w;
  };
  const Dim b = Dim::symbol("b"), t = Dim::symbol("t");
  const Case cases[] = {{"bij,bjk->bik", {b, t, 7}, {b, 7, 3}, {2, 5, 7}, {2, 7, 3}},
                        {"btc,hcd->bthd", {b, t, 6}, {4, 6, 3}, {2, 5, 6}, {4, 6, 3}},
                        {"bshd,hde->bse", {b, t, 4, 3}, {4, 3, 8}, {2, 6, 4, 3}, {4, 3, 8}},
                        {"bqhd,bkhd->bhqk", {b, t, 2, 8}, {b, t, 2, 8}, {1, 5, 2, 8}, {1, 5, 2, 8}},
                        {"btc,c->bt", {b, t, 6}, {6}, {2, 5, 6}, {6}},
                        {"c,bc->b", {b}, {t, b}, {4}, {3, 4}}};
  for (const Case& c : cases) {
    Random random(7);
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, c.open));
    Value* w = model.graph->add_input("w", Type::tensor(DType::f32, c.w_shape));
    GraphBuilder g(*model.graph);
    model.graph->add_output(g.op("Einsum", {x, w}, {{"equation", c.equation}}));
    const std::vector<NamedDatum> inputs = {{"x", Array::from(random.floats(c.x))},
                                            {"w", Array::from(random.floats(c.w))}};
    const Session fast(model, {.threads = 1}), plain(model, {.threads = 1, .is_fast = false});
    for (const KernelChoice& kernel : fast.kernels()) EXPECT_NE(kernel.op, "Einsum") << c.equation;
    const auto got = fast.run(inputs), wanted = plain.run(inputs);
    ASSERT_EQ(got[0].value.array()->dims(), wanted[0].value.array()->dims()) << c.equation;
    const auto p = got[0].value.array()->to_doubles(), q = wanted[0].value.array()->to_doubles();
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], q[i], 1e-4) << c.equation;
  }
}

}  // namespace
}  // namespace ingot::engine
