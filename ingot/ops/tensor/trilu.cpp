// Trilu: the upper or lower triangle of matrices, zeros elsewhere.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  if (const auto rank = c.rank(0)) c.require(*rank >= 2, "the input is not a matrix");
  c.out_shape_like(0, 0);
}

// y[i, j] = column j - row i >= k ? x : 0 (upper), and <= k for the lower triangle
Values decompose(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (elem == DType::undefined || elem == DType::string || is_complex(elem)) return {};
  GraphBuilder& g = c.g;
  Value *shape = g.shape(c.in(0)), *zero = g.index(0), *one = g.index(1);
  const auto positions = [&](std::int64_t axis, std::int64_t to) {
    Value* size = g.op("Gather", {shape, g.index(axis)});
    return g.unsqueeze(g.op("Range", {zero, size, one}), {to});
  };
  Value* rows = positions(-2, 1);
  Value* columns = positions(-1, 0);
  if (c.has(1)) rows = g.add(rows, g.reshape(c.in(1), {}));
  const bool upper = c.attr("upper", std::int64_t{1}) != 0;
  Value* keep = upper ? g.op("GreaterOrEqual", {columns, rows}) : g.op("LessOrEqual", {columns, rows});
  return {g.where(keep, c.in(0), g.scalar(0, elem))};
}

Values gradient_trilu(GradContext& c) { return {c.g.op("Trilu", {c.dy(), c.x(1)}, c.same_attrs({"upper"}))}; }

}  // namespace

constinit const OpDef defs::Trilu = {
    .name = "Trilu",
    .infer = infer,
    .decompose = decompose,
    .gradient = gradient_trilu,
};

}  // namespace ingot::ops
