// GridSample in any number of dimensions: per place, the pixels around it along each axis, and all their products.
#include "ingot/ops/tensor/grid_sample/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

enum class Padding { zeros, border, reflection };
enum class Filter { nearest, linear, cubic };

/// The rows of pixels next to a place along one axis; -1: none, which counts as 0.
struct Taps {
  int count = 0;
  std::array<std::int64_t, 4> index{};
  std::array<double, 4> weight{};
};

class Sampler {
 public:
  explicit Sampler(const KernelContext& c) : aligns_(c.attr("align_corners", std::int64_t{0}) != 0) {
    const std::string mode = c.attr("mode", "linear"), padding = c.attr("padding_mode", "zeros");
    if (mode != "nearest" && mode != "linear" && mode != "cubic") c.fail("mode '" + mode + "' is not known");
    if (padding != "zeros" && padding != "border" && padding != "reflection")
      c.fail("padding mode '" + padding + "' is not known");
    filter_ = mode == "nearest" ? Filter::nearest : mode == "linear" ? Filter::linear : Filter::cubic;
    padding_ = padding == "zeros" ? Padding::zeros : padding == "border" ? Padding::border : Padding::reflection;
  }

  bool is_nearest() const { return filter_ == Filter::nearest; }

  /// Around a coordinate, from -1 to 1 over the axis.
  Taps taps(double coordinate, std::int64_t size) const {
    const auto length = static_cast<double>(size);
    double x = aligns_ ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
    if (filter_ == Filter::nearest) x = std::nearbyint(x);
    if (x < low() || x > high(size)) {
      if (padding_ == Padding::border) x = std::clamp(x, 0.0, length - 1);
      if (padding_ == Padding::reflection) x = reflected(x, size);
    }
    const double below = std::floor(x), ratio = x - below;
    const auto first = saturate_cast<std::int64_t>(std::clamp(below, -9e15, 9e15));
    Taps taps;
    const auto add = [&](std::int64_t offset, double weight) {
      const auto at = static_cast<std::size_t>(taps.count++);
      taps.index[at] = pixel(first + offset, size);
      taps.weight[at] = weight;
    };
    if (filter_ == Filter::nearest) {
      add(0, 1);
    } else if (filter_ == Filter::linear) {
      add(0, 1 - ratio);
      add(1, ratio);
    } else {
      for (std::int64_t k = -1; k <= 2; ++k) add(k, cubic(static_cast<double>(k) - ratio));
    }
    return taps;
  }

 private:
  double low() const { return aligns_ ? 0 : -0.5; }
  double high(std::int64_t size) const { return static_cast<double>(size) - (aligns_ ? 1 : 0.5); }

  double reflected(double x, std::int64_t size) const {
    const double least = low(), range = high(size) - least;
    if (range == 0) return least;
    double phase = std::fmod(x - least, 2 * range);
    if (phase < 0) phase += 2 * range;
    return least + (phase <= range ? phase : 2 * range - phase);
  }

  std::int64_t pixel(std::int64_t i, std::int64_t size) const {
    if (i >= 0 && i < size) return i;
    if (padding_ == Padding::zeros) return -1;
    if (padding_ == Padding::reflection)
      i = saturate_cast<std::int64_t>(std::nearbyint(reflected(static_cast<double>(i), size)));
    return std::clamp<std::int64_t>(i, 0, size - 1);
  }

  /// Keys' cubic convolution with a = -0.75.
  static double cubic(double x) {
    constexpr double a = -0.75;
    x = std::abs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }

  Filter filter_;
  Padding padding_;
  bool aligns_;
};

/// One of the pixels that make a sample: its place within a channel.
struct Pixel {
  std::int64_t place;
  double weight;
};

/// The products of the taps of all axes.
void collect_pixels(const std::vector<Taps>& taps, const Dims& dense, std::vector<Pixel>& pixels) {
  pixels.assign(1, {0, 1});
  std::vector<Pixel> longer;
  for (std::size_t axis = 0; axis < taps.size(); ++axis) {
    longer.clear();
    for (const Pixel& pixel : pixels)
      for (std::size_t k = 0; k < static_cast<std::size_t>(taps[axis].count); ++k)
        if (taps[axis].index[k] >= 0)
          longer.push_back({pixel.place + taps[axis].index[k] * dense[axis], pixel.weight * taps[axis].weight[k]});
    pixels.swap(longer);
  }
}

/// Calls f(batch, point, pixels) for each place of the grid.
template <class F> void for_each_place(KernelContext& c, const Array& grid, const Dims& image, F f) {
  const Sampler sampler(c);
  const Array places = converted(grid, DType::f64, c.host());
  const double* next = places.data<double>().data();
  const std::int64_t batches = grid.dims().front(), points = grid.size() / grid.dims().back() / batches;
  const Dims dense = strides_of(image);
  std::vector<Taps> taps(image.size());
  std::vector<Pixel> pixels;
  WorkMeter meter(c.host().budget());
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t point = 0; point < points; ++point) {
      // The first coordinate goes along the last dimension.
      for (std::size_t axis = image.size(); axis-- > 0;) taps[axis] = sampler.taps(*next++, image[axis]);
      collect_pixels(taps, dense, pixels);
      f(batch, point, pixels);
      meter.did(static_cast<std::int64_t>(pixels.size()));
    }
}

}  // namespace

void run_grid_sample(KernelContext& c) {
  const Array &x = c.in(0), &grid = c.in(1);
  if (x.rank() < 3 || grid.rank() != x.rank()) c.fail("image and grid do not have the same rank of at least 3");
  constexpr std::int64_t kMostAxes = 8;
  if (x.rank() - 2 > kMostAxes) c.fail("more than " + std::to_string(kMostAxes) + " axes cannot be sampled");
  if (grid.dims().back() != x.rank() - 2 || grid.dims().front() != x.dims().front())
    c.fail("image and grid do not fit each other");
  const Dims image(x.dims().begin() + 2, x.dims().end());
  Dims dims = {x.dims()[0], x.dims()[1]};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  const std::int64_t size = tensor_size(image), channels = dims[1];
  if (tensor_size(dims) == 0) {
    c.make(0, x.dtype(), dims);
    return;
  }
  if (size == 0) c.fail("the image is empty");
  const std::int64_t points = tensor_size({dims.begin() + 2, dims.end()});
  if (Sampler(c).is_nearest()) {
    Array& y = c.make(0, x.dtype(), dims);
    dispatch_cell(x.dtype(), [&]<class T>() {
      for_each_place(c, grid, image, [&](std::int64_t batch, std::int64_t point, const std::vector<Pixel>& pixels) {
        for (std::int64_t k = batch * channels; k < (batch + 1) * channels; ++k)
          cells<T>(y)[k * points + point] = pixels.empty() ? T{} : cells<T>(x)[k * size + pixels.front().place];
      });
    });
    return;
  }
  if (x.dtype() == DType::string) c.fail("between strings there is nothing");
  const DType work = is_complex(x.dtype()) ? x.dtype() : DType::f64;
  const Array in = converted(x, work, c.host());
  Array y = scratch(c, work, dims);
  dispatch(work, JoinTypes<Types<double>, Complexes>{}, [&]<class T>() {
    using Weight = std::conditional_t<std::is_same_v<T, std::complex<float>>, float, double>;
    const T* from = in.data<T>().data();
    T* to = y.mutable_data<T>().data();
    for_each_place(c, grid, image, [&](std::int64_t batch, std::int64_t point, const std::vector<Pixel>& pixels) {
      for (std::int64_t k = batch * channels; k < (batch + 1) * channels; ++k) {
        T sum = 0;
        for (const Pixel& pixel : pixels) sum += static_cast<Weight>(pixel.weight) * from[k * size + pixel.place];
        to[k * points + point] = sum;
      }
    });
  });
  put(c, 0, y, x.dtype());
}

}  // namespace ingot::ops
