// Convolutions of all kinds.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/channels_last.h"
#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/spatial.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Kernels as Keras 2 keeps them, [spatial..., in, out]: Keras 1 has others, and Theano's are turned.
Tensor kernel_of(const Call& call, std::size_t axes, bool is_transposed) {
  Tensor kernel = call.stored(0);
  call.require(kernel.rank() == static_cast<std::int64_t>(axes) + 2 ||
                   (call.import.version == 1 && axes == 1 && kernel.rank() == 4),
               "its kernel does not have the rank that the layer needs");
  if (call.import.version == 1) kernel = kernel_of_keras_1(call, kernel, axes, is_transposed);
  if (call.import.source.backend == "theano") kernel = turned(kernel, axes);
  return kernel;
}

IrValue* kernel_weight(Call& call, const Window& window, bool is_transposed) {
  const std::size_t axes = window.kernel.size();
  Dims sizes = window.kernel;
  sizes.insert(sizes.end(), {-1, -1});
  sizes[is_transposed ? axes : axes + 1] = call.integer("filters");
  if (call.import.version > 1 && call.import.source.backend != "theano") return call.weight("kernel", sizes);
  if (!call.layer.parameters.contains("kernel")) {
    const Tensor kernel = kernel_of(call, axes, is_transposed);
    call.require_sizes("kernel", kernel.dims(), sizes);
    call.parameter("kernel", kernel);
  }
  return call.weight("kernel");
}

/// Kernels of one multiplier for each channel.
IrValue* deep_weight(Call& call, const char* name, const Window& window) {
  Dims sizes = window.kernel;
  sizes.insert(sizes.end(), {-1, call.integer("depth_multiplier", 1)});
  return call.weight(name, sizes);
}

IrValue* bias_of(Call& call) {
  return call.flag("use_bias", true) ? call.weight("bias", Dims{call.integer("filters")}) : nullptr;
}

IrValue* with_bias(Call& call, IrValue* y, std::size_t axes, bool is_first) {
  if (!call.flag("use_bias", true)) return y;
  IrValue* bias = call.weight("bias");
  if (is_first) {
    Ints at;
    for (std::size_t i = 0; i < axes; ++i) at.push_back(static_cast<std::int64_t>(i) + 1);
    bias = call.b.unsqueeze(bias, at);
  }
  return call.b.add(y, bias);
}

IrValue* convolve(Call& call, IrValue* x, IrValue* w, IrValue* bias, const Window& window, std::int64_t group) {
  Attrs attrs = window.attrs(true);
  if (group != 1) attrs.emplace_back("group", group);
  window.pad(attrs, x);
  return call.b.op("Conv", {x, w, bias}, attrs);
}

/// Weights [spatial..., in, multiplier] as [in * multiplier, 1, spatial...].
IrValue* depthwise_filter(Call& call, IrValue* w, std::size_t axes, const Window& window) {
  const auto count = static_cast<std::int64_t>(axes);
  Ints order{count, count + 1};
  for (std::int64_t i = 0; i < count; ++i) order.push_back(i);
  Ints sizes{-1, 1};
  sizes.insert(sizes.end(), window.kernel.begin(), window.kernel.end());
  return call.b.reshape(call.b.transpose(w, order), sizes);
}

void conv(Call& call, std::size_t axes) {
  Spatial spatial(call, axes);
  const Window window = spatial.window("kernel_size");
  IrValue* kernel = kernel_weight(call, window, false);
  IrValue* bias = bias_of(call);
  IrValue* x = spatial.input(call.real());
  if (call.text("padding") == "causal") {
    Ints pads(6, 0);
    pads[2] = window.extent(0) - 1;
    x = call.b.op("Pad", {x, call.b.ints(pads)});
  }
  IrValue* w = filter_channels_first(call.b, kernel, axes);
  IrValue* y = convolve(call, x, w, bias, window, call.integer("groups", 1));
  call.set(activated(call, call.at("activation"), spatial.output(y)));
}

void depthwise(Call& call, std::size_t axes) {
  Spatial spatial(call, axes);
  const Window window = spatial.window("kernel_size");
  IrValue* kernel = deep_weight(call, "kernel", window);
  IrValue* bias = call.flag("use_bias", true) ? call.weight("bias", Dims{-1}) : nullptr;
  IrValue* x = spatial.input(call.real());
  const auto channels = dim_of(x, 1);
  call.require(channels.has_value(), "the number of channels is not known");
  IrValue* y = convolve(call, x, depthwise_filter(call, kernel, axes, window), bias, window, *channels);
  call.set(activated(call, call.at("activation"), spatial.output(y)));
}

void separable(Call& call, std::size_t axes) {
  Spatial spatial(call, axes);
  const Window window = spatial.window("kernel_size");
  IrValue* deep = deep_weight(call, "depthwise_kernel", window);
  Dims sizes(axes, 1);
  sizes.insert(sizes.end(), {-1, call.integer("filters")});
  IrValue* point = call.weight("pointwise_kernel", sizes);
  IrValue* bias = bias_of(call);
  IrValue* x = spatial.input(call.real());
  if (call.text("padding") == "causal") {
    Ints pads(6, 0);
    pads[2] = window.extent(0) - 1;
    x = call.b.op("Pad", {x, call.b.ints(pads)});
  }
  const auto channels = dim_of(x, 1);
  call.require(channels.has_value(), "the number of channels is not known");
  IrValue* y = convolve(call, x, depthwise_filter(call, deep, axes, window), nullptr, window, *channels);
  Window one;
  one.kernel.assign(axes, 1);
  one.strides.assign(axes, 1);
  y = convolve(call, y, filter_channels_first(call.b, point, axes), bias, one, 1);
  call.set(activated(call, call.at("activation"), spatial.output(y)));
}

/// What is cut before each axis and how long the result is; `extra`: Keras's output_padding, if it is stated.
IrValue* convolve_transposed(Call& call, IrValue* x, IrValue* kernel, IrValue* bias, const Window& window) {
  const std::size_t axes = window.kernel.size();
  const bool has_extra = !call.at("output_padding").is_null();
  const Ints extra = call.ints("output_padding", axes, 0);
  Ints pads(2 * axes, 0), added(axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t k = window.extent(i), s = window.strides[i];
    // Beside (in - 1) * s: the length of the result, and of what ConvTranspose gives without cutting (k).
    std::int64_t length = 0, left = k - 1;
    if (window.is_same) {
      length = has_extra ? k % 2 + extra[i] : s;
      const std::int64_t sum = has_extra ? k + k % 2 - 2 + extra[i] : s + k - 2;
      left = std::min((sum + 1) / 2, k - 1);
    } else {
      length = k + (has_extra ? extra[i] : std::max(k, s) - k);
    }
    pads[i] = k - 1 - left;
    const std::int64_t behind = k - pads[i] - length;
    pads[axes + i] = std::max<std::int64_t>(behind, 0);
    added[i] = std::max<std::int64_t>(-behind, 0);
  }
  const auto count = static_cast<std::int64_t>(axes);
  Ints order{count + 1, count};  // [spatial..., out, in] -> [in, out, spatial...]
  for (std::int64_t i = 0; i < count; ++i) order.push_back(i);
  IrValue* w = call.b.transpose(kernel, order);
  Attrs attrs = window.attrs(true);
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; })) attrs.emplace_back("pads", pads);
  // ONNX wants less than a stride of added elements; more are zeros and the bias anyway.
  const bool is_small = std::ranges::all_of(added, [&](const std::int64_t& a) {
    return a < std::max(window.strides[static_cast<std::size_t>(&a - added.data())], std::int64_t{1});
  });
  const bool is_longer = std::ranges::any_of(added, [](std::int64_t a) { return a != 0; });
  if (is_longer && is_small) attrs.emplace_back("output_padding", added);
  IrValue* y = call.b.op("ConvTranspose", {x, w, is_longer && !is_small ? nullptr : bias}, attrs);
  if (is_longer && !is_small) {
    Ints more(2 * (axes + 2), 0);
    for (std::size_t i = 0; i < axes; ++i) more[axes + 4 + i] = added[i];
    y = call.b.op("Pad", {y, call.b.ints(more)});
    if (bias) y = with_bias(call, y, axes, true);
  }
  return y;
}

void conv_transpose(Call& call, std::size_t axes) {
  Spatial spatial(call, axes);
  const Window window = spatial.window("kernel_size");
  IrValue* kernel = kernel_weight(call, window, true);
  IrValue* bias = bias_of(call);
  IrValue* y = convolve_transposed(call, spatial.input(call.real()), kernel, bias, window);
  call.set(activated(call, call.at("activation"), spatial.output(y)));
}

/// keras.ops's convolutions: kernels are arguments.
struct Kernel {
  IrValue* weights;
  Ints sizes;
};
Kernel kernel_argument(Call& call, std::size_t place, const char* name, std::size_t axes) {
  IrValue* weights = operand_named(call, place, {name}, call.in()->type.elem);
  call.require(rank_of(weights) == static_cast<std::int64_t>(axes) + 2,
               "its kernel does not have the rank that it needs");
  Ints sizes;
  for (std::size_t i = 0; i < axes; ++i) sizes.push_back(dim_of(weights, static_cast<std::int64_t>(i)).value_or(0));
  return {call.b.cast(weights, real(call.b, call.in())->type.elem), sizes};
}

/// A window's weights are its own: each place of the output is a dot product with them.
void locally_connected(Call& call, std::size_t axes) {
  GraphBuilder& b = call.b;
  Spatial spatial(call, axes);
  const Window window = spatial.window("kernel_size");
  call.require(call.integer("implementation", 1) == 1, "only implementation 1 of its weights is known");
  IrValue* kernel = call.weight("kernel", Dims{-1, -1, call.integer("filters")});  // [places, window * in, filters]
  IrValue* x = spatial.input(call.in());
  const auto dims = static_dims(std::optional<Shape>(Shape(x->type.shape->begin() + 1, x->type.shape->end())));
  call.require(dims.has_value(), "its sizes are not known");
  Ints places;
  std::int64_t all = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    places.push_back(((*dims)[i + 1] - window.extent(i)) / window.strides[i] + 1);
    all *= places.back();
  }
  // Each element of a window is a slice of the input with the stride: [N, C, places...] each.
  Values pieces;
  std::int64_t window_size = 1;
  for (const std::int64_t k : window.kernel) window_size *= k;
  call.require(window_size > 0 && window_size < 4096 && all > 0, "its window is too large");
  for (std::int64_t n = 0; n < window_size; ++n) {
    Ints starts, ends, at, steps;
    std::int64_t rest = n;
    for (std::size_t i = axes; i-- > 0; rest /= window.kernel[i]) {
      const std::int64_t start = rest % window.kernel[i];
      starts.insert(starts.begin(), start);
      ends.insert(ends.begin(), start + (places[i] - 1) * window.strides[i] + 1);
      at.insert(at.begin(), static_cast<std::int64_t>(i) + 2);
      steps.insert(steps.begin(), window.strides[i]);
    }
    IrValue* piece = b.op("Slice", {x, b.ints(starts), b.ints(ends), b.ints(at), b.ints(steps)});
    pieces.push_back(b.reshape(piece, {0, 0, all, 1}));
  }
  // Of each place the elements in the order of the weights: window, then channels; with channels first the reverse.
  IrValue* windows = b.concat(pieces, 3);  // [N, C, places, window]
  windows = b.transpose(windows, spatial.is_first() ? Ints{2, 0, 1, 3} : Ints{2, 0, 3, 1});
  windows = b.reshape(windows, {0, 0, -1});
  IrValue* y = b.transpose(b.op("MatMul", {windows, kernel}), {1, 2, 0});  // [N, filters, places]
  Ints sizes{0, 0};
  sizes.insert(sizes.end(), places.begin(), places.end());
  y = spatial.output(b.reshape(y, sizes));
  if (call.flag("use_bias", true)) {
    Dims whole = places;
    whole.push_back(call.integer("filters"));
    IrValue* bias = call.weight("bias", whole);
    if (spatial.is_first()) {
      // Keras does not transpose it then: the numbers are read anew as [filters, places...].
      Ints turned{call.integer("filters")};
      turned.insert(turned.end(), places.begin(), places.end());
      bias = b.reshape(bias, turned);
    }
    y = b.add(y, bias);
  }
  call.set(activated(call, call.at("activation"), y));
}

}  // namespace

/// "Conv", "DepthwiseConv", "SeparableConv" and "ConvTranspose", over as many axes as the input has.
void op_conv(Call& call) {
  GraphBuilder& b = call.b;
  const std::string& name = call.layer.class_name;
  const std::int64_t rank = call.rank();
  call.require(rank >= 3 && rank <= 5, "the input does not have the rank that the operation needs");
  const auto axes = static_cast<std::size_t>(rank - 2);
  Spatial spatial(call, axes);
  const Kernel kernel = kernel_argument(call, 1, name == "SeparableConv" ? "depthwise_kernel" : "kernel", axes);
  const Window window = spatial.window(kernel.sizes, false);
  IrValue* x = spatial.input(real(b, call.in()));
  if (name == "ConvTranspose")
    return call.set(spatial.output(convolve_transposed(call, x, kernel.weights, nullptr, window)));
  const std::int64_t channels = dim_of(x, 1).value_or(0);
  call.require(channels > 0, "the number of channels is not known");
  if (call.text("padding") == "causal") {
    Ints pads(6, 0);
    pads[2] = window.extent(0) - 1;
    x = b.op("Pad", {x, b.ints(pads)});
  }
  if (name == "Conv") {
    const std::int64_t taken = dim_of(kernel.weights, -2).value_or(0);
    call.require(taken > 0 && channels % taken == 0, "its kernel does not fit the channels");
    IrValue* w = filter_channels_first(b, kernel.weights, axes);
    return call.set(spatial.output(convolve(call, x, w, nullptr, window, channels / taken)));
  }
  IrValue* y = convolve(call, x, depthwise_filter(call, kernel.weights, axes, window), nullptr, window, channels);
  if (name == "SeparableConv") {
    Window one;
    one.kernel.assign(axes, 1);
    one.strides.assign(axes, 1);
    const Kernel point = kernel_argument(call, 2, "pointwise_kernel", axes);
    y = convolve(call, y, filter_channels_first(b, point.weights, axes), nullptr, one, 1);
  }
  call.set(spatial.output(y));
}

void conv_1d(Call& call) { conv(call, 1); }
void conv_2d(Call& call) { conv(call, 2); }
void conv_3d(Call& call) { conv(call, 3); }
void depthwise_conv_1d(Call& call) { depthwise(call, 1); }
void depthwise_conv_2d(Call& call) { depthwise(call, 2); }
void separable_conv_1d(Call& call) { separable(call, 1); }
void separable_conv_2d(Call& call) { separable(call, 2); }
void conv_1d_transpose(Call& call) { conv_transpose(call, 1); }
void conv_2d_transpose(Call& call) { conv_transpose(call, 2); }
void conv_3d_transpose(Call& call) { conv_transpose(call, 3); }

void locally_connected_1d(Call& call) { locally_connected(call, 1); }
void locally_connected_2d(Call& call) { locally_connected(call, 2); }

}  // namespace ingot::frontends::keras
