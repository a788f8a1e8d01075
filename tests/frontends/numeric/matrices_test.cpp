// Systems and factors of matrices as graphs: what they make is put together again.
#include "ingot/frontends/numeric/matrices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ingot/engine/session.h"
#include "ingot/frontends/numeric/elimination.h"
#include "ingot/frontends/numeric/factors.h"
#include "ingot/frontends/numeric/rotations.h"
#include "ingot/ir/model.h"
#include "ingot/ops/schema.h"

namespace ingot::frontends::numeric {
namespace {

using Reals = std::vector<double>;

class Matrices : public testing::Test {
 protected:
  Value* matrix(std::int64_t rows, std::int64_t columns, const Reals& values) {
    return g.constant(Tensor::of<double>({1, rows, columns}, values));
  }
  Value* product(Value* a, Value* b) { return g.op("MatMul", {a, b}); }
  Reals computed(Value* value) {
    model_.opsets.set("", ops::newest_opset(""));
    model_.graph->add_output(g.op("Identity", {value}));
    return engine::Session(model_).run({}).back().value.array()->to_doubles();
  }
  void expect_equal(Value* value, const Reals& wanted) {
    const Reals got = computed(value);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-9) << i;
  }

  Model model_;
  GraphBuilder g{*model_.graph};
  const Reals general_{0, 2, 1, 4, 1, -1, 2, 3, 5}, symmetric_{4, 1, 2, 1, 3, 0, 2, 0, 5};
};

TEST_F(Matrices, SolvesWithPivots) {
  Value* a = matrix(3, 3, general_);
  const Reals right{1, 2, 3};
  expect_equal(product(a, solve(g, a, matrix(3, 1, right))), right);
}

TEST_F(Matrices, DeterminantHasASign) {
  const LogDeterminant made = log_determinant(g, matrix(3, 3, general_));
  // 0 (5 + 3) - 2 (20 + 2) + 1 (12 - 2) = -34
  expect_equal(g.mul(made.sign, g.op("Exp", {made.log})), {-34});
}

TEST_F(Matrices, CholeskysFactorGivesTheMatrix) {
  Value* l = cholesky(g, matrix(3, 3, symmetric_));
  expect_equal(product(l, transposed_matrix(g, l)), symmetric_);
}

TEST_F(Matrices, QrGivesTheMatrix) {
  const QrFactors f = qr_factors(g, matrix(3, 2, {1, 2, 3, 4, 5, 7}));
  expect_equal(product(f.q, f.r), {1, 2, 3, 4, 5, 7});
}

TEST_F(Matrices, EigenvectorsAreStretchedByTheirValues) {
  Value* a = matrix(3, 3, symmetric_);
  const Eigen made = eigen(g, a);
  Value* vectors = ordered_columns(g, made.vectors, made.order);
  Value* stretched = g.mul(vectors, g.unsqueeze(made.values, {-2}));
  expect_equal(g.sub(product(a, vectors), stretched), Reals(9, 0));
}

TEST_F(Matrices, SingularValuesAndVectorsGiveTheMatrix) {
  const Reals values{1, 2, 3, 4, 5, 7};
  const SingularValues s = singular_values(g, matrix(3, 2, values));
  const SingularVectors made = singular_vectors(g, s, false);
  Value* scaled = g.mul(made.u, g.unsqueeze(s.values, {-2}));
  expect_equal(product(scaled, transposed_matrix(g, made.v)), values);
}

}  // namespace
}  // namespace ingot::frontends::numeric
