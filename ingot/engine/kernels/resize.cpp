// Pad and Resize: elements moved by maps of their axes, or floats weighted along one axis after the other.
#include <algorithm>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/index_maps.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/pad.h"
#include "ingot/ops/tensor/resize/kernel.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

class Pad final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
    const ops::Padding padding = ops::read_padding(c);
    Array y = make_raw(c, 0, x.dtype(), padding.dims);
    move_by_maps(x, padding.maps, padding.fill, y, pool, c.host().budget());
  }
};

/// For each position along an axis the pixels that it is made of.
struct Weights {
  std::size_t taps = 0;
  std::vector<std::int64_t> places;  // by position and tap
  std::vector<float> weights;

  Weights(const ops::ResizedAxis& axis, const ops::ResizeMode& mode) {
    for (std::int64_t k = 0; k < axis.to; ++k) {
      const ops::Taps around = ops::taps_around(mode, axis, axis.source(mode, k));
      taps = around.weights.size();
      for (std::size_t t = 0; t < taps; ++t) {
        places.push_back(std::clamp<std::int64_t>(around.first + static_cast<std::int64_t>(t), 0, axis.from - 1));
        weights.push_back(static_cast<float>(around.weights[t]));
      }
    }
  }
};

class Resize final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    const ops::ResizeMode mode(c);
    const bool is_nearest = mode.filter == ops::ResizeMode::Filter::nearest;
    if (x.dtype() == DType::string || (!is_nearest && (x.dtype() != DType::f32 || mode.crops())))
      return ops::run_resize(c);
    const std::vector<ops::ResizedAxis> axes = ops::resized_axes(c, x, mode);
    Dims dims;
    for (const ops::ResizedAxis& axis : axes) dims.push_back(axis.to);
    if (tensor_size(dims) == 0) {
      make_raw(c, 0, x.dtype(), dims);
    } else if (is_nearest) {
      Array y = make_raw(c, 0, x.dtype(), dims);
      std::vector<Array> maps;
      for (const ops::ResizedAxis& axis : axes) {
        maps.push_back(c.host().allocate(DType::i64, {axis.to}));
        ops::set_nearest(axis, mode, maps.back().mutable_data<std::int64_t>());
      }
      move_by_maps(x, maps, ops::extrapolation_value(c), y, pool, c.host().budget());
    } else {
      c.set(0, interpolated(c, x, axes, mode, pool));
    }
  }

 private:
  static Array interpolated(ops::KernelContext& c, Array x, const std::vector<ops::ResizedAxis>& axes,
                            const ops::ResizeMode& mode, ThreadPool& pool) {
    FastHost& host = static_cast<FastHost&>(c.host());
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (axes[i].is_same()) continue;
      Dims dims = x.dims();
      dims[i] = axes[i].to;
      Array y = host.allocate_raw(DType::f32, dims);
      along(x, i, axes[i], mode, y, pool, host.budget());
      x = y;
    }
    return x;
  }

  static void along(const Array& x, std::size_t which, const ops::ResizedAxis& axis, const ops::ResizeMode& mode,
                    Array& y, ThreadPool& pool, const Budget& budget) {
    const ops::Blocks b = ops::blocks_along(x.dims(), static_cast<std::int64_t>(which));
    const Weights w(axis, mode);
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    if (b.inner == 1 || b.inner == kBlock)
      return pool.parallel_for(b.outer, std::max<std::int64_t>(1, kGrain / (axis.to * b.inner)),
                               [&](std::int64_t begin, std::int64_t end) {
                                 budget.poll();
                                 const auto make = b.inner == 1 ? row : row_of_blocks;
                                 for (std::int64_t i = begin; i < end; ++i)
                                   make(in + i * axis.from * b.inner, w, out + i * axis.to * b.inner, axis.to);
                               });
    pool.parallel_for(b.outer * axis.to, std::max<std::int64_t>(1, kGrain / b.inner),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        for (std::int64_t i = begin; i < end; ++i)
                          mix(in + i / axis.to * axis.from * b.inner, w, i % axis.to, out + i * b.inner, b.inner);
                      });
  }

  static void row(const float* in, const Weights& w, float* out, std::int64_t n) {
    const std::int64_t* place = w.places.data();
    const float* weight = w.weights.data();
    for (std::int64_t k = 0; k < n; ++k, place += w.taps, weight += w.taps) {
      float sum = 0;
      // What has no weight may be infinite.
      for (std::size_t t = 0; t < w.taps; ++t) sum += weight[t] != 0 ? weight[t] * in[place[t]] : 0.0f;
      out[k] = sum;
    }
  }

  /// The same where each position is a block of channels.
  static void row_of_blocks(const float* in, const Weights& w, float* out, std::int64_t n) {
    mix_blocks(in, {w.places.data(), w.weights.data(), static_cast<std::int64_t>(w.taps)}, out, n);
  }

  /// A row of the result out of rows of the source.
  static void mix(const float* in, const Weights& w, std::int64_t k, float* out, std::int64_t n) {
    const std::size_t begin = static_cast<std::size_t>(k) * w.taps;
    const auto source = [&](std::size_t t) { return in + w.places[t] * n; };
    std::size_t used = 0, first = begin;
    for (std::size_t t = begin; t < begin + w.taps; ++t) {
      if (w.weights[t] == 0) continue;
      if (used == 0) first = t;
      if (used == 1) blend(source(first), w.weights[first], source(t), w.weights[t], out, n);
      if (used > 1) blend(source(t), w.weights[t], out, 1, out, n);
      ++used;
    }
    if (used == 0) std::fill_n(out, n, 0.0f);
    if (used == 1) line_of_channel({0, w.weights[first], 0, -HUGE_VALF, HUGE_VALF}, source(first), nullptr, out, n);
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_pad(PrepareContext& c) {
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Pad>();
}

std::unique_ptr<PreparedNode> prepare_resize(PrepareContext& c) {
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Resize>();
}

}  // namespace ingot::engine
