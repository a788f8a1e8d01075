// GridSample in any number of dimensions: per place, the pixels around it along each axis, and all their products.
#include "ingot/ops/tensor/grid_sample/kernel.h"

#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/grid_sample/taps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

/// One of the pixels that make a sample: its place within a channel.
struct Pixel {
  std::int64_t place;
  double weight;
};

/// The products of the taps of all axes.
void collect_pixels(const std::vector<GridTaps>& taps, const Dims& dense, std::vector<Pixel>& pixels) {
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
  std::vector<GridTaps> taps(image.size());
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
  const Dims dims = sampled_dims(c, x.dims(), grid.dims()), image(x.dims().begin() + 2, x.dims().end());
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
