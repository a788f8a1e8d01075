// STFT: Fourier transforms of overlapping frames of a signal [batch, length, 1 or 2].
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/signal/fourier.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

Dim stated_int(const InferContext& c, std::size_t i) {
  const auto values = c.ints(i);
  return values && values->size() == 1 ? values->front() : Dim();
}

void infer(InferContext& c) {
  const bool onesided = c.attr("onesided", std::int64_t{1}) != 0;
  c.require(c.has(2) || c.has(3) || !c.has(0), "window or frame_length must be given");
  const Dim step = stated_int(c, 1);
  if (step.is_known() && step.value() < 1) c.fail("frame_step must be positive");
  Dim frame = c.has(3) ? stated_int(c, 3) : Dim();
  frame = require_vector(c, 2, frame, "the window");
  if (frame.is_known() && frame.value() < 1) c.fail("frame_length must be positive");
  const auto rank = c.rank(0);
  // Real signals may come without the axis of parts.
  c.require(!rank || *rank == 2 || *rank == 3, "the signal must have rank 3");
  const Dim length = c.dim(0, 1);
  if (length.is_known() && frame.is_known() && frame.value() > length.value())
    c.fail("a frame of " + frame.str() + " is longer than the signal of " + length.str());
  if (rank == 3 && onesided && !may_equal(c.dim(0, 2), 1)) c.fail("a one-sided transform needs a real signal");
  const Dim frames = floor_div(length - frame, step) + 1;
  c.out_shape(0, {c.dim(0, 0), frames, onesided ? floor_div(frame, 2) + 1 : frame, 2});
}

/// Frames by Gather, then a product with the matrix of roots of unity, where the sizes are known.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const bool onesided = c.attr("onesided", std::int64_t{1}) != 0;
  const DType elem = c.elem(0);
  const Tensor *step_tensor = c.constant(1), *frame_tensor = c.constant(3);
  const auto length = stated_size(c.in(0), 1).as_int();
  const auto parts = c.rank(0) == 2 ? std::optional<std::int64_t>(1) : stated_size(c.in(0), 2).as_int();
  if (elem == DType::undefined || !step_tensor || step_tensor->size() != 1 || !length || !parts) return {};
  auto frame = stated_size(c.in(2), 0).as_int();
  if (frame_tensor && frame_tensor->size() == 1) frame = frame_tensor->to_ints()[0];
  const std::int64_t step = step_tensor->to_ints()[0];
  if (!frame || *frame < 1 || *frame > *length || step < 1) return {};
  const std::int64_t frames = (*length - *frame) / step + 1, results = onesided ? *frame / 2 + 1 : *frame;
  if (*frame > kMostFourierElements / std::max(frames, results)) return {};

  std::vector<std::int64_t> positions;
  for (std::int64_t f = 0; f < frames; ++f)
    for (std::int64_t n = 0; n < *frame; ++n) positions.push_back(f * step + n);
  Value* where = g.constant(Tensor::of<std::int64_t>({frames, *frame}, positions));
  const DType precise = elem == DType::f64 ? DType::f64 : DType::f32;
  const FourierMatrices m = fourier_matrices(*frame, results, *frame, false, false);
  Value* cos = g.cast(g.constant(m.cos), precise);
  Value* sin = g.cast(g.constant(m.sin), precise);
  const auto part = [&](std::int64_t i) {
    Value* x = c.rank(0) == 2 ? c.in(0) : g.op("Gather", {c.in(0), g.index(i)}, {{"axis", 2}});
    x = g.op("Gather", {x, where}, {{"axis", 1}});  // [batch, frames, frame]
    if (c.has(2)) x = g.mul(x, c.in(2));
    return g.cast(x, precise);
  };
  Value* a = part(0);
  Value *real = g.op("MatMul", {a, cos}), *imaginary = g.op("MatMul", {a, sin});
  if (*parts == 2) {
    Value* b = part(1);
    real = g.sub(real, g.op("MatMul", {b, sin}));
    imaginary = g.add(imaginary, g.op("MatMul", {b, cos}));
  }
  const auto finished = [&](Value* x) { return g.unsqueeze(g.cast(x, elem), {3}); };
  return {g.concat({finished(real), finished(imaginary)}, 3)};
}

}  // namespace

constinit const OpDef defs::STFT = {.name = "STFT", .infer = infer, .decompose = decompose};

}  // namespace ingot::ops
