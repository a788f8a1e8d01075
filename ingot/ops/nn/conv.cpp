// Conv: convolution, and what the other convolutions infer alike.
#include "ingot/ops/nn/conv.h"

#include <algorithm>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv_gradient.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/pace.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) { infer_conv(c, 0, 1, 2); }

void run(KernelContext& c) {
  const Array x = computable(c, 0), w = computable(c, 1);
  const ConvSizes sizes(c, x.dims(), w.dims());
  const Sliding& s = sizes.sliding;
  const std::int64_t batch = sizes.batch, channels = sizes.channels, filters = sizes.filters, depth = sizes.depth;
  Array y = scratch(c, DType::f64, sizes.result);
  double* sums = y.mutable_data<double>().data();
  fill_with_bias(c, y, 2);
  if (x.size() == 0 || y.size() == 0) return put(c, 0, y, c.in(0).dtype());
  Pace pace(c.host().budget());
  dispatch(x.dtype(), ComputeFloats{}, [&]<class T>() {
    const T *in = x.data<T>().data(), *weights = w.data<T>().data();
    for (Taps taps(c, s); taps.next();) {
      for (std::int64_t plane = 0; plane < batch * filters; ++plane) {
        const std::int64_t n = plane / filters, m = plane % filters;
        const std::int64_t first = n * channels + m / (filters / sizes.group) * depth;
        double* to = sums + plane * s.window_count;
        for (std::int64_t k = 0; k < depth; ++k) {
          const double weight = weights[(m * depth + k) * s.tap_count + taps.index()];
          const T* from = in + (first + k) * s.plane_size;
          taps.each_row([&](std::int64_t window, std::int64_t element, std::int64_t count, std::int64_t step) {
            for (std::int64_t i = 0; i < count; ++i) to[window + i] += weight * from[element + i * step];
          });
          pace.step(s.window_count);
        }
      }
    }
  });
  put(c, 0, y, c.in(0).dtype());
}

Values gradient_conv(GradContext& c) {
  const ConvGeometry conv = ConvGeometry::read(c, c.x(0), c.y(), c.x(1));
  Value *dx = nullptr, *dw = nullptr, *db = nullptr;
  if (c.wants(0)) dx = conv_input_gradient(c, conv, c.dy(), c.x(1), c.x(0));
  if (c.wants(1)) dw = conv_kernel_gradient(c, conv, c.dy(), c.x(0), c.x(1));
  if (c.wants(2)) {
    std::vector<std::int64_t> axes = {0};
    for (std::int64_t i = 2; i < c.rank(); ++i) axes.push_back(i);
    db = c.g.reduce_sum(c.dy(), axes, false);
  }
  return {dx, dw, db};
}

}  // namespace

ConvSizes::ConvSizes(const KernelContext& c, const Dims& x, const Dims& w) {
  const Dims kernel = spatial_dims(c, w);
  sliding = Sliding::over(c, x, &kernel);
  batch = x[0], channels = x[1], filters = w[0], depth = w[1], group = c.attr("group", std::int64_t{1});
  if (group < 1 || channels % group || channels / group != depth || filters % group)
    c.fail("the channels of input and kernel do not fit " + std::to_string(group) + " groups");
  result = {batch, filters};
  result.insert(result.end(), sliding.windows.begin(), sliding.windows.end());
}

Shape spatial(const InferContext& c, const Shape& shape, std::string_view what) {
  if (shape.size() < 3) c.fail(std::string(what) + " has no spatial axes");
  return Shape(shape.begin() + 2, shape.end());
}

void fill_with_bias(KernelContext& c, Array& y, std::size_t input) {
  if (!c.has(input)) return;
  const Array bias = converted(c.in(input), DType::f64, c.host());
  const std::int64_t channels = y.dims()[1];
  if (bias.dims() != Dims{channels}) c.fail("the bias does not have one element per output channel");
  if (y.size() == 0) return;
  const std::int64_t planes = y.dims()[0] * channels;
  double* out = y.mutable_data<double>().data();
  const double* values = bias.data<double>().data();
  const std::int64_t size = y.size() / planes;
  for (std::int64_t plane = 0; plane < planes; ++plane) std::fill_n(out + plane * size, size, values[plane % channels]);
}

void infer_conv(InferContext& c, std::size_t x, std::size_t w, std::size_t bias) {
  const std::int64_t group = c.attr("group", std::int64_t{1});
  c.require(group >= 1, "attribute 'group' is less than 1");
  const Shape *input = c.shape(x), *weights = c.shape(w);
  const Dim channels = require_vector(c, bias, c.dim(w, 0), "the bias");
  if (channels.is_known() && channels.value() % group)
    c.fail(channels.str() + " output channels cannot be split into " + std::to_string(group) + " groups");
  if (weights) spatial(c, *weights, "the kernel");
  if (input) spatial(c, *input, "the input");
  const bool is_open = Window::is_open(c.node().attributes);
  if (input && !is_open && !may_equal(c.dim(x, 1), c.dim(w, 1) * group))
    c.fail("the input has " + c.dim(x, 1).str() + " channels, the kernel " + c.dim(w, 1).str() + " in " +
           std::to_string(group) + " groups");
  if (!input && !weights) return;
  Shape y((input ? input : weights)->size());
  y[0] = c.dim(x, 0);
  y[1] = channels;
  if (input && !is_open) {
    const Shape sizes = spatial(c, *input, "the input");
    const Shape kernel = weights ? spatial(c, *weights, "the kernel") : Shape(sizes.size());
    const Window window = Window::read(c.node().attributes, sizes.size(), &kernel);
    for (std::size_t i = 0; i < sizes.size(); ++i) y[i + 2] = window.output_size(i, sizes[i]);
  }
  c.out_shape(0, std::move(y));
}

constinit const OpDef defs::Conv = {
    .name = "Conv",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .kernel = run,
    .gradient = gradient_conv,
};

}  // namespace ingot::ops
