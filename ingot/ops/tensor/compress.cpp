// Compress, NonZero: what is left is decided by the data.
#include <algorithm>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

constexpr Step kCompressSteps[] = {{.since = 11, .down = down_to_axis_from_front}};

void infer_compress(InferContext& c) {
  if (const auto rank = c.rank(1); rank && *rank != 1) c.fail("the condition is not a list");
  const auto* axis = c.node().attributes.get<std::int64_t>("axis");
  Dim count = c.data_dim(0, 0);
  if (const auto condition = c.const_ints(1))
    count = static_cast<std::int64_t>(std::ranges::count_if(*condition, [](std::int64_t b) { return b != 0; }));
  if (!axis && !c.node().attributes.has("axis")) return c.out_shape(0, {count});
  const Shape* x = c.shape(0);
  if (!x || !axis) return;
  Shape y = *x;
  y[static_cast<std::size_t>(c.axis(*axis, static_cast<std::int64_t>(y.size())))] = count;
  c.out_shape(0, std::move(y));
}

void infer_non_zero(InferContext& c) {
  const auto rank = c.rank(0);
  // Of a scalar there is no agreed answer: no row, or one.
  c.out_shape(0, {rank && *rank > 0 ? Dim(*rank) : Dim(), c.data_dim(0, 1)});
}

Values gradient_compress(GradContext& c) {
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    return c.g.op("Compress", {places, c.x(1)}, c.same_attrs({"axis"}));
  })};
}

Values decompose_compress(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (c.rank(1) != 1 || c.elem(0) == DType::undefined) return {};
  const bool has_axis = c.node.attributes.has("axis");
  Value* x = has_axis ? c.in(0) : g.reshape(c.in(0), {-1});
  Value* kept = g.squeeze(g.op("NonZero", {c.in(1)}), {0});
  return {g.op("Gather", {x, kept}, {{"axis", has_axis ? c.attr("axis", std::int64_t{0}) : 0}})};
}

/// Whether each element differs from 0; a string, whether it is not empty.
Array truths(KernelContext& c, const Array& x) {
  if (x.dtype() != DType::string && !is_complex(x.dtype())) return converted(x, DType::boolean, c.host());
  Array y = scratch(c, DType::boolean, x.dims());
  dispatch(x.dtype(), JoinTypes<Complexes, Types<std::string>>{}, [&]<class T>() {
    std::ranges::transform(x.data<T>(), y.mutable_data<bool>().begin(), [](const T& v) { return v != T{}; });
  });
  return y;
}

/// The places of those that are true, without a branch that nobody could foretell.
std::vector<std::int64_t> places_of(std::span<const bool> truths) {
  std::vector<std::int64_t> places(truths.size() + 1);
  std::size_t count = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    places[count] = static_cast<std::int64_t>(i);
    count += truths[i] ? 1 : 0;
  }
  places.resize(count);
  return places;
}

void run_compress(KernelContext& c) {
  const Array& condition = c.in(1);
  if (condition.rank() != 1) c.fail("the condition is not a list");
  Array x = c.in(0);
  std::int64_t axis = 0;
  if (c.node.attributes.has("axis"))
    axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  else
    x = x.reshaped({x.size()});
  const Blocks from = blocks_along(x.dims(), axis);
  const std::vector<std::int64_t> kept = places_of(condition.data<bool>());
  if (!kept.empty()) index_within(c, kept.back(), from.size);
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(kept.size());
  Array& y = c.make(0, x.dtype(), std::move(dims));
  if (y.size() == 0) return;
  WorkMeter meter(c.host().budget());
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x);
    T* out = cells<T>(y);
    for (std::int64_t block = 0; block < from.outer; ++block, in += from.size * from.inner) {
      if (from.inner == 1)
        for (const std::int64_t row : kept) *out++ = in[row];
      else
        for (const std::int64_t row : kept) out = std::copy_n(in + row * from.inner, from.inner, out);
      meter.did(std::ssize(kept) * from.inner);
    }
  });
}

// Of a scalar there are no coordinates: 0 rows.
void run_non_zero(KernelContext& c) {
  const Array& x = c.in(0);
  const Array truth = truths(c, x);
  const auto count = std::ranges::count(truth.data<bool>(), true);
  Array& y = c.make(0, DType::i64, {x.rank(), count});
  if (y.size() == 0) return;
  const auto axes = static_cast<std::size_t>(x.rank()), row = static_cast<std::size_t>(x.dims().back());
  std::int64_t* out = y.mutable_data<std::int64_t>().data();
  Dims index(axes, 0);  // of the row
  WorkMeter meter(c.host().budget());
  for (std::span<const bool> rest = truth.data<bool>(); !rest.empty(); rest = rest.subspan(row)) {
    const std::vector<std::int64_t> places = places_of(rest.first(row));
    for (std::size_t axis = 0; axis + 1 < axes; ++axis)
      std::fill_n(out + static_cast<std::int64_t>(axis) * count, places.size(), index[axis]);
    std::ranges::copy(places, out + (x.rank() - 1) * count);
    out += places.size();
    meter.did(x.dims().back());
    for (std::size_t axis = axes - 1; axis-- > 0;) {
      if (++index[axis] < x.dims()[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

constinit const OpDef defs::Compress = {
    .name = "Compress",
    .infer = infer_compress,
    .steps = kCompressSteps,
    .decompose = decompose_compress,
    .kernel = run_compress,
    .gradient = gradient_compress,
};
constinit const OpDef defs::NonZero = {
    .name = "NonZero",
    .infer = infer_non_zero,
    .kernel = run_non_zero,
};

}  // namespace ingot::ops
