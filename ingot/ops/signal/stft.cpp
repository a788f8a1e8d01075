// STFT: Fourier transforms of overlapping frames of a signal [batch, length, 1 or 2].
#include <optional>

#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/signal/fft.h"
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

/// Frames by Gather, then a product with the matrix of roots of unity.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const bool onesided = c.attr("onesided", std::int64_t{1}) != 0;
  // Sums of many terms that nearly cancel: float would leave noise where there is nothing.
  const DType elem = c.elem(0), precise = DType::f64;
  const auto parts = c.rank(0) == 2 ? std::optional<std::int64_t>(1) : stated_size(c.in(0), 2).as_int();
  if (elem == DType::undefined || !parts || !c.in(1) || (!c.in(2) && !c.in(3))) return {};
  Value* step = g.reshape(g.cast(c.in(1), DType::i64), {1});
  const Tensor* stated = c.constant(3);
  Value* frame = c.in(2)                         ? size_along(g, c.in(2), 0)
                 : stated && stated->size() == 1 ? g.ints(stated->to_ints())
                                                 : g.reshape(g.cast(c.in(3), DType::i64), {1});
  Value* results = frame;
  if (const Tensor* known = constant_of(frame); known && onesided)
    results = g.ints({known->to_ints().front() / 2 + 1});
  else if (onesided)
    results = g.add(g.div(frame, g.ints({2})), g.ints({1}));
  Value *zero = g.index(0), *one = g.index(1);
  const auto counted = [&](Value* end) { return g.op("Range", {zero, g.squeeze(end, {0}), one}); };
  Value* frames = g.add(g.div(g.sub(size_along(g, c.in(0), 1), frame), step), g.ints({1}));
  Value* positions = g.add(g.unsqueeze(g.mul(counted(frames), step), {1}), counted(frame));  // [frames, frame]

  const FourierFactors f = fourier_factors(g, frame, results, frame, false, false, precise);
  const auto part = [&](std::int64_t i) {
    Value* x = c.rank(0) == 2 ? c.in(0) : g.op("Gather", {c.in(0), g.index(i)}, {{"axis", 2}});
    x = g.op("Gather", {x, positions}, {{"axis", 1}});  // [batch, frames, frame]
    if (c.has(2)) x = g.mul(x, c.in(2));
    return g.cast(x, precise);
  };
  Value* a = part(0);
  Value *real = g.op("MatMul", {a, f.cos}), *imaginary = g.op("MatMul", {a, f.sin});
  if (*parts == 2) {
    Value* b = part(1);
    real = g.sub(real, g.op("MatMul", {b, f.sin}));
    imaginary = g.add(imaginary, g.op("MatMul", {b, f.cos}));
  }
  const auto finished = [&](Value* x) { return g.unsqueeze(g.cast(x, elem), {3}); };
  return {g.concat({finished(real), finished(imaginary)}, 3)};
}

void run(KernelContext& c) {
  const bool onesided = c.attr("onesided", std::int64_t{1}) != 0;
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() != 2 && x.rank() != 3) c.fail("the signal must have rank 3");
  const std::int64_t batch = x.dims()[0], length = x.dims()[1], parts = x.rank() == 3 ? x.dims()[2] : 1;
  if (parts != 1 && parts != 2) c.fail("the last axis must have size 1 or 2");
  if (onesided && parts == 2) c.fail("a one-sided transform needs a real signal");
  Array window;
  if (c.has(2)) window = converted(c.in(2), DType::f64, c.host());
  if (window && window.rank() != 1) c.fail("the window must have rank 1");
  if (!window && !c.has(3)) c.fail("window or frame_length must be given");
  const std::int64_t step = only_int(c, 1, 0), frame = only_int(c, 3, window ? window.size() : 0);
  if (step < 1 || frame < 1) c.fail("frame_step and frame_length must be positive");
  if (window && window.size() != frame) c.fail("the window does not have the length of a frame");
  if (frame > length)
    c.fail("a frame of " + std::to_string(frame) + " is longer than the signal of " + std::to_string(length));
  const std::int64_t frames = (length - frame) / step + 1, made = onesided ? frame / 2 + 1 : frame;
  Array y = scratch(c, DType::f64, {batch, frames, made, 2});
  std::optional<Fft> transform;
  std::optional<RealFft> of_reals;
  if (parts == 1)
    of_reals.emplace(c, frame);
  else
    transform.emplace(c, frame, false);
  Array buffer = scratch(c, DType::c128, {frame});
  const std::span<std::complex<double>> signal = buffer.mutable_data<std::complex<double>>();
  const double* in = x.data<double>().data();
  double* out = y.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; y.size() > 0 && k < batch * frames; ++k) {
    const double* from = in + (k / frames * length + k % frames * step) * parts;
    for (std::size_t i = 0; i < signal.size(); ++i) {
      signal[i] = {from[i * static_cast<std::size_t>(parts)], parts == 2 ? from[2 * i + 1] : 0};
      if (window) signal[i] *= window.data<double>()[i];
    }
    if (of_reals)
      (*of_reals)(signal);
    else
      (*transform)(signal);
    for (std::size_t i = 0; i < static_cast<std::size_t>(made); ++i) {
      *out++ = signal[i].real();
      *out++ = signal[i].imag();
    }
    pace.step(frame * 16);
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::STFT = {
    .name = "STFT",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
