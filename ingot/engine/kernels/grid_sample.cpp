// GridSample: which pixels make a sample is found once for all channels.
#include <algorithm>
#include <array>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/tensor/grid_sample/taps.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kPoints = 256;  // whose pixels are found together
constexpr std::size_t kMostPixels = 16, kMostAxes = 4;

/// The pixels of some samples, all of one sample together: their places in a plane, -1 for none, and their weights.
struct Pixels {
  std::array<std::int32_t, kPoints * kMostPixels> places;
  std::array<float, kPoints * kMostPixels> weights;
  bool are_all_inside = true;
};

/// The products of the taps of all axes.
void collect(const ops::GridTaps* taps, const Dims& dense, std::int32_t* places, float* weights, bool& are_all_inside) {
  std::array<std::int64_t, kMostPixels> at;
  std::array<double, kMostPixels> weight;
  at[0] = 0;
  weight[0] = 1;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < dense.size(); ++axis) {
    const auto along = static_cast<std::size_t>(taps[axis].count);
    // From the last to the first, so that what is read is not yet written over.
    for (std::size_t i = count; i-- > 0;)
      for (std::size_t k = along; k-- > 0;) {
        const std::int64_t index = taps[axis].index[k];
        at[i * along + k] = at[i] < 0 || index < 0 ? -1 : at[i] + index * dense[axis];
        weight[i * along + k] = weight[i] * taps[axis].weight[k];
      }
    count *= along;
  }
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = static_cast<std::int32_t>(at[i]);
    weights[i] = static_cast<float>(weight[i]);
    are_all_inside &= at[i] >= 0;
  }
}

/// n samples of a plane, each of kCount pixels.
template <std::size_t kCount> void sample(const float* plane, const Pixels& pixels, std::size_t n, float* y) {
  const std::int32_t* place = pixels.places.data();
  const float* weight = pixels.weights.data();
  const auto each = [&](auto value_at) {
    for (std::size_t i = 0; i < n; ++i, place += kCount, weight += kCount) {
      float sum = 0;
      for (std::size_t k = 0; k < kCount; ++k) sum += weight[k] * value_at(place[k]);
      y[i] = sum;
    }
  };
  if (pixels.are_all_inside)
    each([&](std::int32_t at) { return plane[at]; });
  else
    each([&](std::int32_t at) { return at < 0 ? 0.0f : plane[at]; });
}

using Sample = void (*)(const float* plane, const Pixels& pixels, std::size_t n, float* y);

Sample sample_of(std::size_t pixels) {
  switch (pixels) {
    case 1:
      return sample<1>;
    case 2:
      return sample<2>;
    case 4:
      return sample<4>;
    case 8:
      return sample<8>;
    case 16:
      return sample<16>;
    default:
      return nullptr;
  }
}

class GridSample final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &grid = c.in(1);
    const ops::Sampler sampler(c);
    const Dims dims = ops::sampled_dims(c, x.dims(), grid.dims()), image(x.dims().begin() + 2, x.dims().end());
    std::size_t count = 1;
    for (std::size_t i = 0; i < image.size() && count <= kMostPixels; ++i)
      count *= static_cast<std::size_t>(sampler.taps_per_axis());
    const Sample loop = sample_of(count);
    const std::int64_t size = tensor_size(image);
    if (!loop || image.size() > kMostAxes || x.dtype() != DType::f32 || grid.dtype() != DType::f32 ||
        tensor_size(dims) == 0 || size == 0 || size > std::numeric_limits<std::int32_t>::max())
      return ops::find(c.node)->kernel(c);
    Array y = make_raw(c, 0, DType::f32, dims);
    const std::int64_t axes = std::ssize(image), channels = dims[1], points = y.size() / (dims[0] * channels);
    const Dims dense = ops::strides_of(image);
    const float *in = x.data<float>().data(), *where = grid.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    const auto some = static_cast<std::int64_t>(kPoints), parts = (points + some - 1) / some;
    pool.parallel_for(dims[0] * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      Pixels pixels;
      std::array<ops::GridTaps, kMostAxes> taps;
      for (std::int64_t part = begin; part < end; ++part) {
        budget.poll();
        const std::int64_t batch = part / parts, first = part % parts * some, n = std::min(some, points - first);
        const float* next = where + (batch * points + first) * axes;
        pixels.are_all_inside = true;
        for (std::int64_t i = 0; i < n; ++i) {
          // The first coordinate goes along the last dimension.
          for (std::size_t axis = image.size(); axis-- > 0;)
            taps[axis] = sampler.taps(static_cast<double>(*next++), image[axis]);
          const std::size_t at = static_cast<std::size_t>(i) * count;
          collect(taps.data(), dense, pixels.places.data() + at, pixels.weights.data() + at, pixels.are_all_inside);
        }
        for (std::int64_t k = batch * channels; k < (batch + 1) * channels; ++k)
          loop(in + k * size, pixels, static_cast<std::size_t>(n), out + k * points + first);
      }
    });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_grid_sample(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("image and grid are not known to be of type float");
  if (const Shape* x = c.shape(0); x && x->size() > kMostAxes + 2) return c.refuse("the image has more than four axes");
  return std::make_unique<GridSample>();
}

}  // namespace ingot::engine
