// DFT: the discrete Fourier transform along one axis. The last axis holds real and imaginary part.
#include <cmath>
#include <numbers>
#include <numeric>

#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/signal/fourier.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const bool onesided = c.attr("onesided", std::int64_t{0}) != 0;
  const bool inverse = c.attr("inverse", std::int64_t{0}) != 0;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (c.rank(i) && !may_equal(product(*c.shape(i)), 1)) c.fail("dft_length and axis must be scalars");
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  c.require(rank >= 2, "the input has no signal axis");
  const Dim& parts = x->back();
  if (!may_equal(parts, 1) && !may_equal(parts, 2)) c.fail("the last axis must have size 1 or 2");
  if (onesided && !may_equal(parts, inverse ? 2 : 1))
    c.fail(inverse ? "a one-sided inverse needs complex input" : "a one-sided transform needs real input");
  Shape y = *x;
  y.back() = onesided && inverse ? 1 : 2;
  const auto axis = c.has(2) ? c.const_int(2) : std::optional<std::int64_t>(-2);
  if (!axis) {
    // Which axis changes its size is not known.
    if (onesided || c.has(1)) std::fill(y.begin(), y.end() - 1, Dim());
    c.out_shape(0, std::move(y));
    return;
  }
  const auto along = static_cast<std::size_t>(c.axis(*axis, rank));
  c.require(along + 1 < x->size(), "the last axis holds real and imaginary parts, it cannot be transformed");
  Dim length = y[along];
  if (c.has(1)) {
    const auto stated = c.ints(1);
    length = stated && stated->size() == 1 ? stated->front() : Dim();
    if (length.is_known() && length.value() < 1) c.fail("dft_length must be positive");
  } else if (onesided && inverse) {
    length = (length - 1) * 2;
  }
  y[along] = onesided && !inverse ? floor_div(length, 2) + 1 : length;
  c.out_shape(0, std::move(y));
}

/// A product with the matrix of roots of unity, where length and axis are known.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const bool onesided = c.attr("onesided", std::int64_t{0}) != 0;
  const bool inverse = c.attr("inverse", std::int64_t{0}) != 0;
  const auto rank = c.rank(0);
  const DType elem = c.elem(0);
  const Tensor *stated_length = c.constant(1), *stated_axis = c.constant(2);
  if (!rank || *rank < 2 || elem == DType::undefined || (c.has(1) && !stated_length) || (c.has(2) && !stated_axis))
    return {};
  std::int64_t axis = stated_axis ? stated_axis->to_ints().at(0) : -2;
  if (axis < 0) axis += *rank;
  const auto parts = stated_size(c.in(0), -1).as_int();
  const auto size = stated_size(c.in(0), axis).as_int();
  if (axis < 0 || axis + 1 >= *rank || !parts || !size) return {};
  std::int64_t length = stated_length ? stated_length->to_ints().at(0) : onesided && inverse ? (*size - 1) * 2 : *size;
  // A one-sided spectrum stands for all of it: the conjugates have the missing indices.
  const std::int64_t spectrum = onesided && inverse ? length / 2 + 1 : length;
  const std::int64_t used = std::min(*size, spectrum), results = onesided && !inverse ? length / 2 + 1 : length;
  if (length < 1 || used < 1 || used > kMostFourierElements / results) return {};

  // The signal's axis last, after which [.., used] x [used, results] sums over it.
  std::vector<std::int64_t> order(static_cast<std::size_t>(*rank) - 1);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  const auto part = [&](std::int64_t i) {
    Value* x = g.op("Gather", {c.in(0), g.index(i)}, {{"axis", *rank - 1}});
    if (used < *size) x = g.op("Slice", {x, g.ints({0}), g.ints({used}), g.ints({axis})});
    return g.transpose(x, order);
  };
  const FourierMatrices m = fourier_matrices(used, results, length, inverse, onesided && inverse);
  const DType precise = elem == DType::f64 ? DType::f64 : DType::f32;
  Value* cos = g.cast(g.constant(m.cos), precise);
  Value* sin = g.cast(g.constant(m.sin), precise);
  const auto times = [&](Value* x, Value* matrix) { return g.op("MatMul", {g.cast(x, precise), matrix}); };
  // (a + ib)(cos + i sin) with sin carrying the sign of the exponent.
  Value* a = part(0);
  Value *real = times(a, cos), *imaginary = onesided && inverse ? nullptr : times(a, sin);
  if (*parts == 2) {
    Value* b = part(1);
    real = g.sub(real, times(b, sin));
    if (imaginary) imaginary = g.add(imaginary, times(b, cos));
  }
  const auto finished = [&](Value* x) { return g.unsqueeze(g.transpose(g.cast(x, elem), order), {*rank - 1}); };
  if (!imaginary) return {finished(real)};
  return {g.concat({finished(real), finished(imaginary)}, *rank - 1)};
}

/// Until 19, the axis was an attribute, counted from the front by default.
constexpr Step kSteps[] = {{
    .since = 20,
    .up =
        [](StepContext& c) {
          const std::int64_t axis = c.node.attributes.int_or("axis", 1);
          c.node.attributes.erase("axis");
          c.node.set_input(2, c.g.index(axis));
        },
    .down =
        [](StepContext& c) {
          std::int64_t axis = -2;
          if (c.node.input(2)) {
            const auto values = c.need_ints(2, "the axis");
            if (values.size() != 1) c.cannot("the axis must be a scalar");
            axis = values.front();
          }
          if (axis < 0 && c.rank(0)) axis += *c.rank(0);
          c.node.attributes.set(Attribute("axis", AttrValue(axis)));
          c.node.resize_inputs(c.node.input(1) ? 2 : 1);
        },
}};

}  // namespace

constinit const OpDef defs::DFT = {.name = "DFT", .infer = infer, .steps = kSteps, .decompose = decompose};

}  // namespace ingot::ops
