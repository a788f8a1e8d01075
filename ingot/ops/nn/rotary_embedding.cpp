// RotaryEmbedding: rotates pairs of features by an angle that grows with the position.
#include <algorithm>
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/heads.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.require(c.attr("rotary_embedding_dim", std::int64_t{0}) >= 0, "attribute 'rotary_embedding_dim' is negative");
  require_rank(c, 3, 2, "position_ids");
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    require_rank(c, i, c.has(3) ? 2 : 3, i == 1 ? "cos_cache" : "sin_cache");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() == 3 || x->size() == 4, "the input must have rank 3 or 4");
  if (x->size() == 3) {
    const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
    c.require(heads >= 1, "an input of rank 3 needs a positive attribute 'num_heads'");
    divide_heads(c, (*x)[2], heads, "the input");
  }
  c.out_shape(0, *x);
}

/// All of x from `first` on along its last axis, or every second element of it.
Value* tail(GraphBuilder& g, Value* x, Value* first, std::int64_t step = 1) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return g.op("Slice", {x, first, g.ints({kEnd}), g.ints({-1}), g.ints({step})});
}

Value* head(GraphBuilder& g, Value* x, Value* end) { return g.op("Slice", {x, g.ints({0}), end, g.ints({-1})}); }

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const std::int64_t heads = c.attr("num_heads", std::int64_t{0});
  if (!c.in(0) || !c.in(1) || !c.in(2) || (rank != 3 && rank != 4) || (rank == 3 && heads < 1)) return {};
  // [B, S, H, D]
  Value* x = rank == 3 ? g.reshape(c.in(0), {0, 0, heads, -1}) : g.transpose(c.in(0), {0, 2, 1, 3});
  Dim size = stated_size(c.in(0), -1);
  if (rank == 3) size = exact_div(size, heads);
  const std::int64_t partial = c.attr("rotary_embedding_dim", std::int64_t{0});
  const bool is_partial = partial > 0 && !same(size, partial);
  Value* rotated_size = partial > 0       ? g.ints({partial})
                        : size.is_known() ? g.ints({size.value()})
                                          : size_along(g, x, 3);
  const Dim known_size = partial > 0 ? Dim(partial) : size;
  Value* half = known_size.is_known() ? g.ints({known_size.value() / 2}) : g.div(rotated_size, g.ints({2}));
  Value* rotated = is_partial ? head(g, x, rotated_size) : x;

  const auto angles = [&](Value* cache) {
    if (c.has(3)) cache = g.op("Gather", {cache, c.in(3)}, {{"axis", 0}});
    return g.unsqueeze(head(g, cache, half), {2});  // [B, S, 1, half]
  };
  Value *cos = angles(c.in(1)), *sin = angles(c.in(2));
  const bool interleaved = c.attr("interleaved", std::int64_t{0}) != 0;
  Value* a = interleaved ? tail(g, rotated, g.ints({0}), 2) : head(g, rotated, half);
  Value* b = interleaved ? tail(g, rotated, g.ints({1}), 2) : tail(g, rotated, half);
  Value* real = g.sub(g.mul(cos, a), g.mul(sin, b));
  Value* imaginary = g.add(g.mul(sin, a), g.mul(cos, b));
  Value* y = nullptr;
  if (interleaved) {
    y = g.concat({g.unsqueeze(real, {4}), g.unsqueeze(imaginary, {4})}, -1);  // [B, S, H, half, 2]
    y = g.reshape(y, {0, 0, 0, -1});
  } else {
    y = g.concat({real, imaginary}, -1);
  }
  if (is_partial) y = g.concat({y, tail(g, x, rotated_size)}, -1);
  return {rank == 3 ? g.reshape(y, {0, 0, -1}) : g.transpose(y, {0, 2, 1, 3})};
}

void run(KernelContext& c) {
  const auto wide = [&](std::size_t i) { return converted(c.in(i), DType::f64, c.host()); };
  const Array x = wide(0), cos = wide(1), sin = wide(2);
  const bool is_packed = x.rank() == 3;  // [B, S, H*D], else [B, H, S, D]
  if (x.rank() != 3 && x.rank() != 4) c.fail("the input must have rank 3 or 4");
  const std::int64_t heads = is_packed ? c.attr("num_heads", std::int64_t{0}) : x.dims()[1];
  if (is_packed && (heads < 1 || x.dims()[2] % heads)) c.fail("the input cannot be split into num_heads heads");
  const std::int64_t batch = x.dims()[0], length = x.dims()[is_packed ? 1 : 2];
  const std::int64_t size = is_packed ? x.dims()[2] / heads : x.dims()[3];
  const std::int64_t partial = c.attr("rotary_embedding_dim", std::int64_t{0}), rotated = partial ? partial : size;
  if (rotated < 0 || rotated > size || rotated % 2) c.fail("the number of features to rotate is odd or out of range");
  const std::int64_t half = rotated / 2;
  const bool interleaved = c.attr("interleaved", std::int64_t{0}) != 0;

  const bool is_looked_up = c.has(3);  // the caches hold all positions, else those of the input
  if (sin.dims() != cos.dims() || cos.rank() != (is_looked_up ? 2 : 3) || cos.dims().back() < half)
    c.fail("cos_cache and sin_cache do not fit the input");
  if (is_looked_up ? c.in(3).dims() != Dims{batch, length} : cos.dims()[0] != batch || cos.dims()[1] != length)
    c.fail("positions or caches are not given for each step of the input");
  const auto position = [&](std::int64_t step) {
    if (!is_looked_up) return step;
    const std::int64_t p = c.in(3).data<std::int64_t>()[static_cast<std::size_t>(step)];
    if (p < 0 || p >= cos.dims()[0]) c.fail("position " + std::to_string(p) + " is out of range of the caches");
    return p;
  };
  Array y = scratch(c, DType::f64, x.dims());
  const double *in = x.data<double>().data(), *cosines = cos.data<double>().data(), *sines = sin.data<double>().data();
  double* out = y.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; x.size() > 0 && k < batch * length * heads; ++k) {
    const std::int64_t head = k % heads, step = k / heads;
    const std::int64_t row = is_packed ? k : (step / length * heads + head) * length + step % length;
    const std::int64_t angle = position(step) * cos.dims().back();
    const double* from = in + row * size;
    double* to = out + row * size;
    std::copy_n(from + rotated, size - rotated, to + rotated);
    for (std::int64_t i = 0; i < half; ++i) {
      const std::int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + half;
      to[first] = cosines[angle + i] * from[first] - sines[angle + i] * from[second];
      to[second] = sines[angle + i] * from[first] + cosines[angle + i] * from[second];
    }
    pace.step(size);
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::RotaryEmbedding = {
    .name = "RotaryEmbedding",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
