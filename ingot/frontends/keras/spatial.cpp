// Layers over spatial axes: windows, layouts, and kernels of older versions.
#include "ingot/frontends/keras/spatial.h"

#include <cstring>

#include "ingot/frontends/channels_last.h"

namespace ingot::frontends::keras {

Spatial::Spatial(Call& call, std::size_t axes) : call_(call), axes_(axes), is_first_(call.is_channels_first()) {
  call.require(call.rank() == static_cast<std::int64_t>(axes) + 2,
               "the input does not have the rank that the layer needs");
}

Window Spatial::window(std::string_view size_key) const {
  Ints sizes;
  if (call_.at(size_key).is_null()) {  // Keras 1
    for (const char* key : {"nb_row", "nb_col", "kernel_dim1", "kernel_dim2", "kernel_dim3"})
      if (!call_.at(key).is_null()) sizes.push_back(call_.integer(key));
  } else {
    sizes = call_.ints(size_key, axes_, 1);
  }
  return window(std::move(sizes), size_key == "pool_size");
}

Window Spatial::window(Ints sizes, bool is_pool) const {
  Window window;
  window.kernel = std::move(sizes);
  call_.require(window.kernel.size() == axes_, "the size of its window is missing");
  window.strides = is_pool && call_.at("strides").is_null() ? window.kernel : call_.ints("strides", axes_, 1);
  if (!is_pool) window.dilations = call_.ints("dilation_rate", axes_, 1);
  const std::string padding = call_.text("padding", "valid");
  window.is_same = padding == "same";
  if (padding != "same" && padding != "valid" && padding != "causal")
    call_.refuse("padding '" + padding + "' is not known");
  for (std::size_t i = 0; i < axes_; ++i)
    call_.require(window.kernel[i] > 0 && window.strides[i] > 0 && window.kernel[i] < (1 << 20) &&
                      window.strides[i] < (1 << 20) &&
                      (window.dilations.empty() || (window.dilations[i] > 0 && window.dilations[i] < (1 << 20))),
                  "a size of its window is impossible");
  return window;
}

IrValue* Spatial::input(IrValue* x) const { return is_first_ ? x : channels_first(call_.b, x, axes_ + 2); }
IrValue* Spatial::output(IrValue* y) const { return is_first_ ? y : channels_last(call_.b, y, axes_ + 2); }

Tensor transposed(const Tensor& tensor, const Ints& order) {
  const std::size_t rank = order.size();
  Dims dims(rank);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = tensor.dims()[static_cast<std::size_t>(order[i])];
  std::vector<std::int64_t> steps(rank, 1);
  for (std::size_t i = rank - 1; i-- > 0;) steps[i] = steps[i + 1] * tensor.dims()[i + 1];
  const std::size_t width = tensor.size() ? tensor.bytes().size() / static_cast<std::size_t>(tensor.size()) : 1;
  std::vector<std::byte> out(tensor.bytes().size());
  for (std::int64_t n = 0; n < tensor.size(); ++n) {
    std::int64_t rest = n, from = 0;
    for (std::size_t i = rank; i-- > 0; rest /= dims[i])
      from += rest % dims[i] * steps[static_cast<std::size_t>(order[i])];
    std::memcpy(out.data() + static_cast<std::size_t>(n) * width,
                tensor.bytes().data() + static_cast<std::size_t>(from) * width, width);
  }
  return Tensor(tensor.dtype(), dims, Bytes::own(std::move(out)));
}

Tensor turned(const Tensor& kernel, std::size_t axes) {
  std::int64_t window = 1, rest = 1;
  for (std::size_t i = 0; i < kernel.dims().size(); ++i) (i < axes ? window : rest) *= kernel.dims()[i];
  if (kernel.size() == 0) return kernel;
  const auto run = kernel.bytes().size() / static_cast<std::size_t>(window);
  std::vector<std::byte> out(kernel.bytes().size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(window); ++i)
    std::memcpy(out.data() + i * run, kernel.bytes().data() + (static_cast<std::size_t>(window) - 1 - i) * run, run);
  return Tensor(kernel.dtype(), kernel.dims(), Bytes::own(std::move(out)));
}

Tensor kernel_of_keras_1(const Call& call, const Tensor& kernel, std::size_t axes, bool is_transposed) {
  const Dims& dims = kernel.dims();
  const bool is_first = call.is_channels_first();
  if (axes == 1 && dims.size() == 4) {
    // [length, 1, in, out], or before that [out, in, length, 1].
    const std::int64_t length = call.integer("kernel_size"), filters = call.integer("filters");
    const bool is_newer = dims[0] == length && dims[1] == 1 && dims[3] == filters;
    const Tensor now = is_newer ? kernel : transposed(kernel, {2, 3, 1, 0});
    return now.reshaped({now.dims()[0], now.dims()[2], now.dims()[3]});
  }
  if (axes == 2 && is_transposed) return transposed(kernel, is_first ? Ints{2, 3, 0, 1} : Ints{0, 1, 3, 2});
  if (axes == 2 && is_first) return transposed(kernel, {2, 3, 1, 0});
  if (axes == 3 && is_first) return transposed(kernel, {2, 3, 4, 1, 0});
  return kernel;
}

}  // namespace ingot::frontends::keras
