// Which of scales and sizes are given, and the sizes that scales lead to.
#include "ingot/ops/tensor/resize/shape.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {

bool is_given(const Node& node, std::size_t input) {
  return node.input(input) && !same(stated_size(node.input(input), 0), 0);
}

bool is_given(const KernelContext& c, std::size_t input) { return c.has(input) && c.in(input).size() > 0; }

Dim scaled_size(const Dim& size, double scale) {
  if (!(scale > 0) || scale > 1e9) return {};
  if (size.is_known()) {
    const float scaled = std::floor(static_cast<float>(size.value()) * static_cast<float>(scale));
    return scaled >= 0 && scaled < 9e18f ? Dim(static_cast<std::int64_t>(scaled)) : Dim();
  }
  constexpr std::int64_t kFinest = 1024;
  const double numerator = scale * static_cast<double>(kFinest);
  if (numerator != std::floor(numerator)) return {};
  return floor_div(size * static_cast<std::int64_t>(numerator), kFinest);
}

std::optional<double> common_scale(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& dims,
                                   bool not_larger) {
  std::optional<double> scale;
  for (std::size_t i = 0; i < sizes.size() && i < dims.size(); ++i) {
    if (dims[i] <= 0) return std::nullopt;
    const double one = static_cast<double>(sizes[i]) / static_cast<double>(dims[i]);
    scale = !scale ? one : not_larger ? std::min(*scale, one) : std::max(*scale, one);
  }
  return scale;
}

std::int64_t rounded_size(std::int64_t dim, double scale) {
  return saturate_cast<std::int64_t>(static_cast<double>(dim) * scale + 0.5);
}

}  // namespace ingot::ops
