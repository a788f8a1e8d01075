// Trilu: the upper or lower triangle of matrices, zeros elsewhere.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/walk.h"

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

void run(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() < 2) c.fail("the input is not a matrix");
  const bool upper = c.attr("upper", std::int64_t{1}) != 0;
  const std::int64_t k = c.has(1) ? single_int(c, 1) : 0;
  Array& y = c.make(0, x.dtype(), x.dims());
  if (y.size() == 0) return;
  const std::int64_t rows = x.dims()[x.dims().size() - 2], columns = x.dims().back();
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x);
    T* out = cells<T>(y);
    WorkMeter meter(c.host().budget());
    for (std::int64_t row = 0; row < x.size() / columns; ++row) {
      const std::int64_t i = row % rows;
      for (std::int64_t j = 0; j < columns; ++j, ++in) *out++ = (upper ? j - i >= k : j - i <= k) ? *in : T{};
      meter.did(columns);
    }
  });
}

}  // namespace

constinit const OpDef defs::Trilu = {
    .name = "Trilu",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_trilu,
};

}  // namespace ingot::ops
