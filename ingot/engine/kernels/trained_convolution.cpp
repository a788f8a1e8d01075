// Convolutions with changing weights, and the gradient by the weights.
#include "ingot/engine/dnnl/trained_convolution.h"

#include "ingot/base/budget.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/image_product.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/window.h"

namespace ingot::engine {
namespace {

void run_reference(ops::KernelContext& c) { ops::find(c.node)->kernel(c); }

TrainedConvolution::Host host_of(ops::KernelContext& c, ThreadPool& pool) {
  return {pool, c.host().budget(),
          [&c](std::int64_t floats) { return static_cast<FastHost&>(c.host()).allocate_raw(DType::f32, {floats}); }};
}

bool is_usual(const Array& a) { return a.dtype() == DType::f32 && a.rank() >= 3 && a.rank() <= 5 && a.size() > 0; }

/// Whether window and padding are what the library takes.
bool is_usual(const ConvolutionShape& s) {
  if (!has_usual_window(s.w)) return false;
  for (std::size_t i = 0; i < s.strides.size(); ++i)
    if (s.pads_begin[i] < 0 || s.pads_end[i] + s.strides[i] <= 0) return false;
  return true;
}

/// The window of a convolution with kernel w, without padding.
ConvolutionShape shape_of(ops::KernelContext& c, const Dims& w, ops::Window& window) {
  const Shape kernel(w.begin() + 2, w.end());
  window = ops::Window::read(c.node.attributes, kernel.size(), &kernel);
  ConvolutionShape shape;
  shape.w = w;
  shape.strides = window.strides;
  shape.dilations = window.dilations;
  shape.groups = c.attr("group", std::int64_t{1});
  return shape;
}

/// Adds a number to each channel of [N, C, ...].
void add_bias(Array& y, const Array& bias) {
  const std::int64_t channels = y.dims()[1], plane = y.size() / (y.dims()[0] * channels);
  float* at = y.mutable_data<float>().data();
  for (std::int64_t n = 0; n < y.dims()[0]; ++n)
    for (const float b : bias.data<float>())
      for (std::int64_t i = 0; i < plane; ++i) *at++ += b;
}

class PlainConvolution final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &w = c.in(1);
    if (!is_usual(x) || !is_usual(w) || x.rank() != w.rank()) return run_reference(c);
    ops::Window window;
    ConvolutionShape shape = shape_of(c, w.dims(), window);
    shape.x = x.dims();
    shape.y = {x.dims()[0], w.dims()[0]};
    const std::int64_t groups = shape.groups;
    if (groups < 1 || w.dims()[0] % groups || x.dims()[1] != w.dims()[1] * groups) return run_reference(c);
    for (std::size_t i = 0; i < window.rank(); ++i) {
      const auto [before, after] = window.padding(i, x.dims()[i + 2]);
      const Dim size = window.output_size(i, x.dims()[i + 2]);
      if (!before.is_known() || !after.is_known() || !size.is_known() || size.value() < 1) return run_reference(c);
      shape.pads_begin.push_back(before.value());
      shape.pads_end.push_back(after.value());
      shape.y.push_back(size.value());
    }
    const bool has_bias = c.has(2);
    if (!is_usual(shape) || (has_bias && (c.in(2).dtype() != DType::f32 || c.in(2).dims() != Dims{w.dims()[0]})))
      return run_reference(c);
    Array y = make_raw(c, 0, DType::f32, shape.y);
    const float* bias = has_bias ? c.in(2).data<float>().data() : nullptr;
    const float *from = x.data<float>().data(), *weights = w.data<float>().data();
    float* to = y.mutable_data<float>().data();
    if (ImageProduct::is_for(shape, ImageProduct::Pass::forward))
      ImageProduct::forward(shape, from, weights, bias, to, host_of(c, pool));
    else
      convolution_.forward(shape, from, weights, bias, to, host_of(c, pool));
  }

 private:
  TrainedConvolution convolution_;
};

/// A transposed convolution is the gradient, by its input, of the convolution that goes the other way.
class PlainTransposed final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &w = c.in(1);
    const bool has_bias = c.has(2);
    if (!is_usual(x) || !is_usual(w) || x.rank() != w.rank() || c.node.attributes.has("output_shape"))
      return run_reference(c);
    ops::Window window;
    ConvolutionShape shape = shape_of(c, w.dims(), window);
    const auto extra = c.attr_ints("output_padding");
    const std::int64_t groups = shape.groups;
    if (window.auto_pad != ops::Window::AutoPad::notset || groups < 1 || w.dims()[0] % groups ||
        w.dims()[0] != x.dims()[1] || (!extra.empty() && extra.size() != window.rank()))
      return run_reference(c);
    shape.y = x.dims();
    shape.x = {x.dims()[0], w.dims()[1] * groups};
    for (std::size_t i = 0; i < window.rank(); ++i) {
      const Dim size = window.transposed_size(i, x.dims()[i + 2]) + (extra.empty() ? 0 : extra[i]);
      const Dim reach = Dim(x.dims()[i + 2] - 1) * window.strides[i] + window.extent(i);
      if (!size.is_known() || !reach.is_known() || size.value() < 1) return run_reference(c);
      shape.x.push_back(size.value());
      shape.pads_begin.push_back(window.pads[i]);
      shape.pads_end.push_back(reach.value() - size.value() - window.pads[i]);
    }
    if (!is_usual(shape) || (has_bias && (c.in(2).dtype() != DType::f32 || c.in(2).dims() != Dims{shape.x[1]})))
      return run_reference(c);
    Array y = make_raw(c, 0, DType::f32, shape.x);
    const float *from = x.data<float>().data(), *weights = w.data<float>().data();
    float* to = y.mutable_data<float>().data();
    if (ImageProduct::is_for(shape, ImageProduct::Pass::to_input))
      ImageProduct::to_input(shape, from, weights, to, host_of(c, pool));
    else
      convolution_.to_input(shape, from, weights, to, host_of(c, pool));
    if (has_bias) add_bias(y, c.in(2));
  }

 private:
  TrainedConvolution convolution_;
};

/// d loss / d weights of a convolution, from its input and d loss / d output: the engine's ConvWeights.
class WeightGradient final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &dy = c.in(1);
    ConvolutionShape shape;
    shape.x = x.dims();
    shape.y = dy.dims();
    shape.strides = c.attr_ints("strides");
    shape.dilations = c.attr_ints("dilations");
    const Dims pads = c.attr_ints("pads"), kernel = c.attr_ints("kernel_shape");
    const std::size_t rank = kernel.size();
    if (x.dtype() != DType::f32 || dy.dtype() != DType::f32 || x.dims().size() != rank + 2 ||
        dy.dims().size() != rank + 2 || x.dims()[0] != dy.dims()[0])
      c.fail("the inputs are not of the types that were inferred");
    shape.w = {dy.dims()[1], x.dims()[1]};
    shape.w.insert(shape.w.end(), kernel.begin(), kernel.end());
    for (std::size_t i = 0; i < rank; ++i) {
      shape.pads_begin.push_back(pads[i]);
      shape.pads_end.push_back((dy.dims()[i + 2] - 1) * shape.strides[i] + (kernel[i] - 1) * shape.dilations[i] + 1 -
                               x.dims()[i + 2] - pads[i]);
    }
    if (x.size() == 0 || dy.size() == 0) {
      c.make(0, DType::f32, shape.w);  // zeros
      return;
    }
    Array dw = make_raw(c, 0, DType::f32, shape.w);
    const float *from = x.data<float>().data(), *arriving = dy.data<float>().data();
    float* to = dw.mutable_data<float>().data();
    if (ImageProduct::is_for(shape, ImageProduct::Pass::to_weights))
      ImageProduct::to_weights(shape, from, arriving, to, host_of(c, pool));
    else
      convolution_.to_weights(shape, from, arriving, to, host_of(c, pool));
  }

 private:
  TrainedConvolution convolution_;
};

bool are_floats(const PrepareContext& c) { return c.elem(0) == DType::f32 && c.elem(1) == DType::f32; }

}  // namespace

std::unique_ptr<PreparedNode> prepare_plain_convolution(PrepareContext& c) {
  if (!are_floats(c)) return c.refuse("the input is not float");
  return std::make_unique<PlainConvolution>();
}

std::unique_ptr<PreparedNode> prepare_plain_transposed(PrepareContext& c) {
  if (!are_floats(c)) return c.refuse("the input is not float");
  return std::make_unique<PlainTransposed>();
}

std::unique_ptr<PreparedNode> prepare_weight_gradient(PrepareContext&) { return std::make_unique<WeightGradient>(); }

}  // namespace ingot::engine
