// Products of matrices and what belongs to matrices: MatMul, Gemm, Einsum, Det, Trilu.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(MatMul, BroadcastsBatchesAndTreatsVectorsAsRowAndColumn) {
  OpCase c;
  const auto product = [&](const char* a, const char* b) { return c.op("MatMul", {c.in(a), c.in(b)})->type.str(); };
  EXPECT_EQ(product("float[M,K]", "float[K,N]"), "float[M,N]");
  EXPECT_EQ(product("float[B,1,2,3]", "float[5,3,4]"), "float[B,5,2,4]");
  EXPECT_EQ(product("float[3]", "float[3]"), "float");
  EXPECT_EQ(product("float[3]", "float[B,3,4]"), "float[B,4]");
  EXPECT_EQ(product("float[B,2,3]", "float[3]"), "float[B,2]");
  EXPECT_EQ(product("float[...]", "float[3]"), "float[...]");
  EXPECT_REFUSED(Code::inference_failed, product("float[2,3]", "float[4,5]"));
  EXPECT_REFUSED(Code::inference_failed, product("float", "float[4,5]"));
}

TEST(Gemm, TransposesItsOperands) {
  OpCase c;
  EXPECT_EQ(c.op("Gemm", {c.in("float[K,M]"), c.in("float[N,K]"), c.in("float[N]")}, {{"transA", 1}, {"transB", 1}})
                ->type.str(),
            "float[M,N]");
  EXPECT_EQ(c.op("Gemm", {c.in("float[...]"), c.in("float[3,4]")})->type.str(), "float[?,4]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Gemm", {c.in("float[2,3]"), c.in("float[4,5]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Gemm", {c.in("float[2,3,1]"), c.in("float[3,5]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Gemm", {c.in("float[2,3]"), c.in("float[3,5]"), c.in("float[4]")}));
}

TEST(Gemm, GetsAZeroBeforeOpset11) {
  OpCase c(11);
  c.op("Gemm", {c.in("float[2,3]"), c.in("float[3,4]")});
  c.convert(9);
  EXPECT_EQ(c.node("Gemm").input_count(), 3u);
}

TEST(Gemm, DropsBroadcastAtOpset7) {
  OpCase c(6);
  c.op("Gemm", {c.in("float[2,3]"), c.in("float[3,4]"), c.in("float[4]")}, {{"broadcast", 1}});
  c.convert(21);
  EXPECT_FALSE(c.node("Gemm").attributes.has("broadcast"));
}

TEST(Einsum, FollowsLabels) {
  OpCase c;
  const auto sum = [&](const char* equation, std::vector<const char*> types) {
    Values inputs;
    for (const char* t : types) inputs.push_back(c.in(t));
    return c.op("Einsum", inputs, {{"equation", equation}})->type.str();
  };
  EXPECT_EQ(sum("ij,jk->ik", {"float[M,K]", "float[K,N]"}), "float[M,N]");
  EXPECT_EQ(sum("ij,jk", {"float[M,K]", "float[K,N]"}), "float[M,N]");
  EXPECT_EQ(sum("...ii->...i", {"float[B,3,3]"}), "float[B,3]");
  EXPECT_EQ(sum("b...d, b...e -> b...", {"float[2,1,5,4]", "float[2,3,5,7]"}), "float[2,3,5]");
  EXPECT_EQ(sum("ij->", {"float[2,3]"}), "float");
  EXPECT_EQ(sum("ba", {"float[2,3]"}), "float[3,2]");
  EXPECT_EQ(sum("ij,jk->ik", {"float[...]", "float[K,N]"}), "float[?,N]");
  EXPECT_EQ(sum("...j,jk->...k", {"float[...]", "float[K,N]"}), "float[...]");
}

TEST(Einsum, RefusesEquationsThatDoNotFit) {
  OpCase c;
  Value* x = c.in("float[2,3]");
  for (const char* equation :
       {"ijk->i", "ij,jk->ik", "ij->iz", "ij->ii", "i$->i", "i....j->i", ".ij->i", "-", "i->j->k"})
    EXPECT_REFUSED(Code::inference_failed, c.op("Einsum", {x}, {{"equation", equation}})) << equation;
  EXPECT_REFUSED(Code::inference_failed, c.op("Einsum", {x, c.in("float[4,5]")}, {{"equation", "ij,jk->ik"}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Einsum", {x}));
}

TEST(Det, NeedsSquareMatrices) {
  OpCase c;
  EXPECT_EQ(c.op("Det", {c.in("float[B,3,3]")})->type.str(), "float[B]");
  EXPECT_EQ(c.op("Det", {c.in("float[3,3]")})->type.str(), "float");
  EXPECT_REFUSED(Code::inference_failed, c.op("Det", {c.in("float[3,4]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Det", {c.in("float[3]")}));
}

TEST(Trilu, IsASelectionBeforeOpset14) {
  OpCase c(14);
  c.op("Trilu", {c.in("float[B,3,N]"), c.in("int64")}, {{"upper", 0}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Shape Gather Range Unsqueeze Gather Range Unsqueeze Reshape Add LessOrEqual Where");
  EXPECT_EQ(c.type(), "float[B,3,N]");
  EXPECT_TRUE(is_refused(Code::inference_failed, [&] {
    OpCase d;
    d.op("Trilu", {d.in("float[3]")});
  }));
}

}  // namespace
}  // namespace ingot::test
