// DFT: the discrete Fourier transform along one axis. The last axis holds real and imaginary part.
#include <algorithm>
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

/// A vector of one element: a constant where it is known, else what `make` builds.
template <class F> Value* size(GraphBuilder& g, const Dim& known, F make) {
  return known.is_known() ? g.ints({known.value()}) : make();
}

/// A product with the matrix of roots of unity. All axes before and after the signal's are joined into one each.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const bool onesided = c.attr("onesided", std::int64_t{0}) != 0;
  const bool inverse = c.attr("inverse", std::int64_t{0}) != 0, to_real = onesided && inverse;
  // Sums of many terms that nearly cancel: float would leave noise where there is nothing.
  const DType elem = c.elem(0), precise = DType::f64;
  const auto parts = stated_size(c.in(0), -1).as_int();
  const auto rank = c.rank(0);
  if (!c.in(0) || elem == DType::undefined || !parts || !rank || *rank < 2) return {};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (const Tensor* t = c.constant(i); t && t->size() != 1) return {};

  Dim axis = -2;
  if (c.has(2)) axis = c.constant(2) ? Dim(c.constant(2)->to_ints().front()) : Dim();
  if (axis.is_known() && axis.value() < 0) axis = axis + *rank;
  if (axis.is_known() && (axis.value() < 0 || axis.value() + 1 >= *rank)) return {};
  Value* shape = g.shape(c.in(0));
  Value* at = size(g, axis, [&] {
    Value* stated = g.reshape(c.in(2), {1});
    return g.where(g.op("Less", {stated, g.ints({0})}), g.add(stated, g.ints({*rank})), stated);
  });
  Value* next = size(g, axis + 1, [&] { return g.add(at, g.ints({1})); });
  const auto part_of_shape = [&](Value* first, Value* end) { return g.op("Slice", {shape, first, end}); };
  Value *before = part_of_shape(g.ints({0}), at), *after = part_of_shape(next, g.ints({*rank - 1}));

  const Dim given = axis.is_known() ? stated_size(c.in(0), axis.value()) : Dim();
  Value* signal = size(g, given, [&] { return part_of_shape(at, next); });
  Dim known_length = to_real ? (given - 1) * 2 : given;
  if (c.has(1)) known_length = c.constant(1) ? Dim(c.constant(1)->to_ints().front()) : Dim();
  Value* length = size(g, known_length, [&] {
    if (c.has(1)) return g.reshape(g.cast(c.in(1), DType::i64), {1});
    return to_real ? g.mul(g.sub(signal, g.ints({1})), g.ints({2})) : signal;
  });
  const Dim known_half = floor_div(known_length, 2) + 1;
  const auto half = [&] { return size(g, known_half, [&] { return g.add(g.div(length, g.ints({2})), g.ints({1})); }); };
  // A one-sided spectrum stands for all of it. What the signal lacks counts as 0, what it has beyond is cut.
  Value* spectrum = to_real ? half() : length;
  const Dim known_used = min(given, to_real ? known_half : known_length);
  Value* used = size(g, known_used, [&] { return g.op("Min", {signal, spectrum}); });
  Value* results = onesided && !inverse ? half() : length;

  const FourierFactors f = fourier_factors(g, used, results, length, inverse, to_real, precise);
  Value* joined = g.op("ReduceProd", {g.concat({g.ints({1}), after}, 0)}, {{"keepdims", 1}});
  Value* x = g.op("Reshape", {c.in(0), g.concat({g.ints({-1}), signal, joined, g.ints({*parts})}, 0)});
  x = g.op("Slice", {g.cast(x, precise), g.ints({0}), used, g.ints({1})});
  const auto part = [&](std::int64_t i) {  // [before, after, signal]
    return g.transpose(g.op("Gather", {x, g.index(i)}, {{"axis", 3}}), {0, 2, 1});
  };
  const auto times = [&](Value* v, Value* matrix) { return g.op("MatMul", {v, matrix}); };
  // (a + ib)(cos + i sin), with sin carrying the sign of the exponent.
  Value* a = part(0);
  Value *real = times(a, f.cos), *imaginary = to_real ? nullptr : times(a, f.sin);
  if (*parts == 2) {
    Value* b = part(1);
    real = g.sub(real, times(b, f.sin));
    if (imaginary) imaginary = g.add(imaginary, times(b, f.cos));
  }
  const auto finished = [&](Value* v) { return g.unsqueeze(g.transpose(g.cast(v, elem), {0, 2, 1}), {3}); };
  Value* y = imaginary ? g.concat({finished(real), finished(imaginary)}, 3) : finished(real);
  return {g.op("Reshape", {y, g.concat({before, results, after, g.ints({imaginary ? 2 : 1})}, 0)})};
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
          if (c.node.input(2) && !c.constant(2)) {
            DecomposeContext expansion(c.g, c.node);
            const Values made = decompose(expansion);
            if (made.empty()) c.cannot("the axis must be constant, or the rank be known");
            return c.replace(made);
          }
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

void run(KernelContext& c) {
  const bool onesided = c.attr("onesided", std::int64_t{0}) != 0, inverse = c.attr("inverse", std::int64_t{0}) != 0;
  const bool from_half = onesided && inverse;
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2) c.fail("the input has no signal axis");
  const std::int64_t parts = x.dims().back();
  if (parts != 1 && parts != 2) c.fail("the last axis must have size 1 or 2");
  if (onesided && parts != (inverse ? 2 : 1))
    c.fail(inverse ? "a one-sided inverse needs complex input" : "a one-sided transform needs real input");
  const auto axis = static_cast<std::size_t>(c.axis(only_int(c, 2, -2), x.rank()));
  if (axis + 1 == x.dims().size()) c.fail("the last axis holds real and imaginary parts, it cannot be transformed");
  const std::int64_t given = x.dims()[axis];
  const std::int64_t length = only_int(c, 1, from_half ? (given - 1) * 2 : given);
  if (length < 1) c.fail("dft_length must be positive");
  Dims dims = x.dims();
  dims[axis] = onesided && !inverse ? length / 2 + 1 : length;
  dims.back() = from_half ? 1 : 2;
  Array y = scratch(c, DType::f64, dims);
  if (y.size() == 0) return put(c, 0, y, c.in(0).dtype());

  std::optional<Fft> transform;
  std::optional<RealFft> of_reals;
  if (parts == 1 && !inverse)
    of_reals.emplace(c, length);
  else
    transform.emplace(c, length, inverse);
  Array buffer = scratch(c, DType::c128, {length});
  const std::span<std::complex<double>> signal = buffer.mutable_data<std::complex<double>>();
  const std::int64_t taken = std::min(given, from_half ? length / 2 + 1 : length), made = dims[axis];
  std::int64_t inner = 1;  // signals that stand beside each other
  for (std::size_t i = axis + 1; i + 1 < dims.size(); ++i) inner *= dims[i];
  const std::int64_t signals = y.size() / (made * dims.back());
  const double* in = x.data<double>().data();
  double* out = y.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; k < signals; ++k) {
    std::fill(signal.begin(), signal.end(), std::complex<double>());
    for (std::int64_t i = 0; i < taken; ++i) {
      const double* v = in + ((k / inner * given + i) * inner + k % inner) * parts;
      signal[static_cast<std::size_t>(i)] = {v[0], parts == 2 ? v[1] : 0};
    }
    if (from_half) {
      // The other half are conjugates; those that are their own are real.
      signal[0] = signal[0].real();
      for (std::size_t i = signal.size() / 2 + 1; i < signal.size(); ++i)
        signal[i] = std::conj(signal[signal.size() - i]);
      if (length % 2 == 0) signal[signal.size() / 2] = signal[signal.size() / 2].real();
    }
    if (of_reals)
      (*of_reals)(signal);
    else
      (*transform)(signal);
    for (std::int64_t i = 0; i < made; ++i) {
      double* v = out + ((k / inner * made + i) * inner + k % inner) * dims.back();
      v[0] = signal[static_cast<std::size_t>(i)].real();
      if (!from_half) v[1] = signal[static_cast<std::size_t>(i)].imag();
    }
    pace.step(length * 16);
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::DFT = {
    .name = "DFT",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
