// Windows and their padding in ONNX's attributes.
#include "ingot/frontends/window.h"

#include <algorithm>

#include "ingot/ops/known.h"

namespace ingot::frontends {
namespace {

bool any_but(const std::vector<std::int64_t>& values, std::int64_t usual) {
  return std::ranges::any_of(values, [&](std::int64_t v) { return v != usual; });
}

}  // namespace

Attrs Window::attrs(bool with_kernel) const {
  Attrs attrs;
  if (with_kernel) attrs.emplace_back("kernel_shape", kernel);
  if (any_but(strides, 1)) attrs.emplace_back("strides", strides);
  if (any_but(dilations, 1)) attrs.emplace_back("dilations", dilations);
  return attrs;
}

std::optional<std::vector<std::int64_t>> Window::same_pads(const Value* x) const {
  std::vector<std::int64_t> pads(2 * rank());
  const bool fits = rank_of(x) == static_cast<std::int64_t>(rank()) + 2;
  for (std::size_t i = 0; i < rank(); ++i) {
    const auto size = fits ? dim_of(x, static_cast<std::int64_t>(i) + 2) : std::nullopt;
    if (!size && extent(i) > 1) return std::nullopt;
    const ops::Padding padding = same(i, size.value_or(1));
    pads[i] = padding.before;
    pads[rank() + i] = padding.after;
  }
  return pads;
}

void Window::pad(Attrs& attrs, const Value* x) const {
  if (!is_same) return;
  const auto pads = same_pads(x);
  if (!pads) {
    attrs.emplace_back("auto_pad", "SAME_UPPER");
  } else if (any_but(*pads, 0)) {
    attrs.emplace_back("pads", *pads);
  }
}

}  // namespace ingot::frontends
