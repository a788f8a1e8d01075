// The geometry of convolutions and pools.
#include "ingot/ops/nn/window.h"

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;

[[noreturn]] void refuse(std::string message) { throw Error(Code::inference_failed, std::move(message)); }

Ints read_ints(const Attributes& attributes, std::string_view name, std::size_t size, std::int64_t fallback,
               std::int64_t least) {
  const Ints* values = attributes.get<Ints>(name);
  if (!values) return Ints(size, fallback);
  if (values->size() != size)
    refuse("attribute '" + std::string(name) + "' has " + std::to_string(values->size()) + " elements where " +
           std::to_string(size) + " are needed");
  for (const std::int64_t v : *values)
    if (v < least) refuse("attribute '" + std::string(name) + "' holds " + std::to_string(v));
  return *values;
}

Window::AutoPad read_auto_pad(const Attributes& attributes) {
  const std::string text = attributes.string_or("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Window::AutoPad::notset;
  if (text == "VALID") return Window::AutoPad::valid;
  if (text == "SAME_UPPER") return Window::AutoPad::same_upper;
  if (text == "SAME_LOWER") return Window::AutoPad::same_lower;
  refuse("attribute 'auto_pad' is '" + text + "'");
}

}  // namespace

Window Window::read(const Attributes& attributes, std::size_t rank, const Shape* weights) {
  Window w;
  w.auto_pad = read_auto_pad(attributes);
  w.ceil_mode = attributes.int_or("ceil_mode", 0) != 0;
  w.strides = read_ints(attributes, "strides", rank, 1, 1);
  w.dilations = read_ints(attributes, "dilations", rank, 1, 1);
  w.pads = read_ints(attributes, "pads", 2 * rank, 0, 0);
  if (weights) {
    if (weights->size() != rank)
      refuse("the kernel has " + std::to_string(weights->size()) + " spatial axes, the input " + std::to_string(rank));
    w.kernel = *weights;
  }
  if (attributes.get<Ints>("kernel_shape")) {
    const Ints sizes = read_ints(attributes, "kernel_shape", rank, 1, 1);
    for (std::size_t i = 0; i < rank && weights; ++i)
      if (!may_equal(sizes[i], w.kernel[i]))
        refuse("attribute 'kernel_shape' says " + std::to_string(sizes[i]) + " where the kernel has " +
               w.kernel[i].str());
    w.kernel.assign(sizes.begin(), sizes.end());
  } else if (!weights) {
    refuse("attribute 'kernel_shape' is missing");
  }
  for (const Dim& size : w.kernel)
    if (size.is_known() && size.value() < 1) refuse("a kernel of size " + size.str());
  return w;
}

bool Window::is_open(const Attributes& attributes) {
  for (const Attribute& a : attributes)
    if (a.is_reference()) return true;
  return false;
}

Dim Window::output_size(std::size_t i, const Dim& input) const {
  const Dim stride = strides[i];
  if (is_same()) return ceil_div(input, stride);
  const bool padded = auto_pad == AutoPad::notset;
  const Dim before = padded ? pads[i] : 0, after = padded ? pads[i + rank()] : 0;
  const Dim room = input + before + after - extent(i);
  if (room.is_known() && room.value() < 0)
    refuse("a kernel that reaches over " + extent(i).str() + " does not fit a padded input of " +
           (input + before + after).str());
  if (!ceil_mode || !padded) return floor_div(room, stride) + 1;
  // A last window that would begin in the padding at the end is left out.
  const Dim windows = ceil_div(room, stride) + 1;
  const Dim spare = after - extent(i) + stride;
  return spare.is_known() && spare.value() <= 0 ? windows : min(windows, ceil_div(input + before, stride));
}

std::pair<Dim, Dim> Window::padding(std::size_t i, const Dim& input) const {
  if (auto_pad == AutoPad::valid) return {0, 0};
  if (auto_pad == AutoPad::notset) return {pads[i], pads[i + rank()]};
  const Dim total = max(0, (output_size(i, input) - 1) * strides[i] + extent(i) - input);
  const Dim half = floor_div(total, 2);
  return auto_pad == AutoPad::same_upper ? std::pair(half, total - half) : std::pair(total - half, half);
}

Dim Window::transposed_size(std::size_t i, const Dim& input) const {
  const Dim reach = (input - 1) * strides[i] + extent(i);
  return auto_pad == AutoPad::notset ? reach - pads[i] - pads[i + rank()] : reach;
}

}  // namespace ingot::ops
