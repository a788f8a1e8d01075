// MatMul and Gemm: products of matrices.
#include "ingot/ops/tensor/matmul.h"

#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void check_inner(const InferContext& c, const Dim& a, const Dim& b) {
  if (!may_equal(a, b)) c.fail("the inner dimensions are " + a.str() + " and " + b.str());
}

void infer_gemm(InferContext& c) {
  const bool trans_a = c.attr("transA", std::int64_t{0}) != 0, trans_b = c.attr("transB", std::int64_t{0}) != 0;
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto rank = c.rank(i); rank && *rank != 2) c.fail("operand " + std::to_string(i) + " is not a matrix");
  check_inner(c, c.dim(0, trans_a ? 0 : 1), c.dim(1, trans_b ? 1 : 0));
  Shape y = {c.dim(0, trans_a ? 1 : 0), c.dim(1, trans_b ? 0 : 1)};
  if (const Shape* bias = c.shape(2)) {
    if (bias->size() > 2) c.fail("the third operand has rank " + std::to_string(bias->size()) + ", more than 2");
    broadcast(c, y, *bias);
  }
  c.out_shape(0, std::move(y));
}

// Until 6, C had the shape of the result or was broadcast where an attribute said so: by its last dimensions.
void down_to_broadcast_attribute(StepContext& c) {
  const Type& type = c.type(2);
  if (!type.shape) c.need_rank(2);
  const Shape& bias = *type.shape;
  if (bias.size() == 2 && !may_equal(bias[1], 1)) {
    c.node.attributes.set({"broadcast", same(bias[0], Dim(1)) ? 1 : 0});
  } else if (bias.size() <= 1) {
    c.node.attributes.set({"broadcast", 1});
  } else {
    c.cannot("a column cannot be broadcast before opset 7");
  }
}

// Until 10, C was required: 0 has no effect.
void down_to_required_bias(StepContext& c) {
  if (c.node.input(2)) return;
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the element type of the operands is not known");
  c.node.set_input(2, c.g.scalar(0, elem));
}

constexpr Step kGemmSteps[] = {
    {.since = 7,
     .up = [](StepContext& c) { c.node.attributes.erase("broadcast"); },
     .down = down_to_broadcast_attribute},
    {.since = 11, .down = down_to_required_bias},
};

void infer(InferContext& c) { infer_matmul(c, 0, 1); }

}  // namespace

void infer_matmul(InferContext& c, std::size_t left, std::size_t right) {
  const Shape *a = c.shape(left), *b = c.shape(right);
  for (const Shape* s : {a, b}) c.require(!s || !s->empty(), "an operand is a scalar");
  if (!a || !b) return;
  check_inner(c, a->back(), b->size() > 1 ? (*b)[b->size() - 2] : b->back());
  const Shape batch_a(a->begin(), a->end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(a->size())));
  const Shape batch_b(b->begin(), b->end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(b->size())));
  Shape y = broadcast(c, batch_a, batch_b);
  if (a->size() > 1) y.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) y.push_back(b->back());
  c.out_shape(0, std::move(y));
}

constinit const OpDef defs::MatMul = {
    .name = "MatMul",
    .infer = infer,
};
constinit const OpDef defs::Gemm = {
    .name = "Gemm",
    .infer = infer_gemm,
    .steps = kGemmSteps,
};

}  // namespace ingot::ops
