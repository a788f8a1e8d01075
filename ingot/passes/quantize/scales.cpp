// From ranges to scales and zero points.
#include "ingot/passes/quantize/scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"

namespace ingot::passes::quantize_parts {
namespace {

struct Extent {
  double least = 0, most = 0;
};

/// Which scale an element has.
class Cells {
 public:
  Cells(const Dims& dims, const WeightGrid& grid) : grid_(grid) {
    const auto axis_of = [&](std::int64_t a) { return static_cast<std::size_t>(a); };
    if (grid.axis >= 0) {
      channels_ = dims[axis_of(grid.axis)];
      inner_ = product(dims, axis_of(grid.axis) + 1);
    }
    if (grid.block > 0) {
      length_ = dims[axis_of(grid.block_axis)];
      block_inner_ = product(dims, axis_of(grid.block_axis) + 1);
      blocks_ = (length_ + grid.block - 1) / grid.block;
    }
  }

  std::int64_t count() const { return channels_ * blocks_; }
  std::int64_t channel(std::int64_t i) const { return grid_.axis < 0 ? 0 : i / inner_ % channels_; }
  std::int64_t cell(std::int64_t i) const {
    if (grid_.block <= 0) return channel(i);
    const std::int64_t b = i / block_inner_ % length_ / grid_.block;
    // In the order of the weight's own axes.
    return grid_.block_axis < grid_.axis ? b * channels_ + channel(i) : channel(i) * blocks_ + b;
  }
  std::int64_t channel_of_cell(std::int64_t c) const {
    return grid_.block > 0 && grid_.block_axis < grid_.axis ? c % channels_ : c / blocks_;
  }

 private:
  static std::int64_t product(const Dims& dims, std::size_t from) {
    std::int64_t n = 1;
    for (std::size_t i = from; i < dims.size(); ++i) n *= dims[i];
    return n;
  }
  const WeightGrid& grid_;
  std::int64_t channels_ = 1, inner_ = 1, length_ = 1, block_inner_ = 1, blocks_ = 1;
};

Scale scale_of_weights(const Extent& e, const WeightGrid& grid, double least_scale) {
  const Whole whole = integers_of(grid.dtype, grid.is_narrow);
  if (!grid.is_symmetric) return scale_of({e.least, e.most}, grid.dtype, false);
  const double largest = std::max(-e.least, e.most);
  const bool is_signed = whole.least < 0;
  const std::int64_t middle = is_signed ? 0 : (whole.least + whole.most + 1) / 2;
  double scale = std::max(largest / static_cast<double>(whole.most - middle), least_scale);
  if (!(scale > 0)) scale = 1;
  return {static_cast<float>(scale), middle};
}

double decibels(double signal, double noise) {
  constexpr double kMost = 200;
  return noise > 0 && signal > 0 ? std::min(kMost, 10 * std::log10(signal / noise)) : kMost;
}

}  // namespace

Whole integers_of(DType dtype, bool is_narrow) {
  switch (dtype) {
    case DType::i8:
      return is_narrow ? Whole{-64, 63} : Whole{-128, 127};
    case DType::u8:
      return is_narrow ? Whole{64, 191} : Whole{0, 255};
    case DType::i4:
      return {-8, 7};
    case DType::u4:
      return {0, 15};
    case DType::i16:
      return {-32768, 32767};
    case DType::u16:
      return {0, 65535};
    default:
      throw Error(Code::bad_usage, std::string(name_of(dtype)) + " is no type to quantise to");
  }
}

Scale scale_of(ValueRange range, DType dtype, bool is_symmetric) {
  const Whole whole = integers_of(dtype);
  const double least = std::min(range.least, 0.0), most = std::max(range.most, 0.0);
  const double steps = static_cast<double>(whole.most - whole.least);
  if (!(most - least > 0) || !std::isfinite(most - least))
    return {1, whole.least < 0 ? 0 : is_symmetric ? (whole.most + 1) / 2 : 0};
  if (is_symmetric) {
    const std::int64_t middle = whole.least < 0 ? 0 : (whole.most + 1) / 2;
    return {static_cast<float>(std::max(-least, most) / static_cast<double>(whole.most - middle)), middle};
  }
  const double scale = (most - least) / steps;
  const double zero = std::nearbyint(static_cast<double>(whole.least) - least / scale);
  const auto clamped = std::clamp(zero, static_cast<double>(whole.least), static_cast<double>(whole.most));
  return {std::max(static_cast<float>(scale), 1e-30f), static_cast<std::int64_t>(clamped)};
}

Tensor packed(DType dtype, Dims dims, const std::vector<std::int64_t>& values) {
  const bool is_half_byte = dtype == DType::i4 || dtype == DType::u4;
  const bool is_wide = dtype == DType::i16 || dtype == DType::u16;
  std::vector<std::uint8_t> bytes(is_half_byte ? (values.size() + 1) / 2 : values.size() * (is_wide ? 2 : 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<std::uint64_t>(values[i]);
    if (is_half_byte) {
      bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | (bits & 15) << (i % 2 * 4));
    } else if (is_wide) {
      bytes[2 * i] = static_cast<std::uint8_t>(bits & 255);
      bytes[2 * i + 1] = static_cast<std::uint8_t>(bits >> 8 & 255);
    } else {
      bytes[i] = static_cast<std::uint8_t>(bits & 255);
    }
  }
  return Tensor(dtype, std::move(dims), Bytes::copy(std::as_bytes(std::span(bytes))));
}

namespace {

double rounded_to(double v, const Scale& scale, const Whole& whole) {
  const double steps = std::isnan(v) ? 0 : std::nearbyint(v / static_cast<double>(scale.scale));
  return std::clamp(steps + static_cast<double>(scale.zero_point), static_cast<double>(whole.least),
                    static_cast<double>(whole.most));
}

/// Of few steps it is better to cut off the largest numbers than to round all others coarsely: for each cell, the part
/// of its range with the least squared error.
std::vector<Scale> narrowed(const std::vector<float>& values, const Cells& cells, const std::vector<Extent>& extents,
                            const WeightGrid& grid) {
  const Whole whole = integers_of(grid.dtype);
  std::vector<Scale> best(extents.size());
  std::vector<double> least(extents.size(), std::numeric_limits<double>::infinity());
  for (double part = 1; part > 0.6; part -= 0.05) {
    std::vector<Scale> scales;
    for (const Extent& e : extents) scales.push_back(scale_of_weights({e.least * part, e.most * part}, grid, 0));
    std::vector<double> errors(extents.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto c = static_cast<std::size_t>(cells.cell(static_cast<std::int64_t>(i)));
      const double v = static_cast<double>(values[i]), q = rounded_to(v, scales[c], whole);
      const double back = (q - static_cast<double>(scales[c].zero_point)) * static_cast<double>(scales[c].scale);
      if (std::isfinite(v)) errors[c] += (v - back) * (v - back);
    }
    for (std::size_t c = 0; c < errors.size(); ++c)
      if (errors[c] < least[c]) {
        least[c] = errors[c];
        best[c] = scales[c];
      }
  }
  return best;
}

}  // namespace

QuantizedTensor quantized(const Tensor& weight, const WeightGrid& grid) {
  const std::vector<float> values = weight.to_vector<float>();
  const Cells cells(weight.dims(), grid);
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<Extent> extents(at(cells.count()));
  for (std::int64_t i = 0; i < weight.size(); ++i) {
    Extent& e = extents[at(cells.cell(i))];
    const double v = static_cast<double>(values[at(i)]);
    if (!std::isfinite(v)) continue;
    e.least = std::min(e.least, v);
    e.most = std::max(e.most, v);
  }
  QuantizedTensor made;
  std::vector<Scale> chosen;
  if (grid.dtype == DType::i4 || grid.dtype == DType::u4) chosen = narrowed(values, cells, extents, grid);
  for (std::int64_t c = 0; c < cells.count(); ++c) {
    const auto channel = at(cells.channel_of_cell(c));
    const double least = channel < grid.least_scales.size() ? static_cast<double>(grid.least_scales[channel]) : 0;
    const Scale scale = chosen.empty() ? scale_of_weights(extents[at(c)], grid, least) : chosen[at(c)];
    made.scales.push_back(scale.scale);
    made.zero_points.push_back(scale.zero_point);
  }
  const Whole whole = integers_of(grid.dtype, grid.is_narrow && grid.is_symmetric);
  std::vector<std::int64_t> integers(values.size());
  double signal = 0, noise = 0;
  for (std::int64_t i = 0; i < weight.size(); ++i) {
    const auto c = at(cells.cell(i));
    const double v = static_cast<double>(values[at(i)]), scale = static_cast<double>(made.scales[c]);
    const double q = rounded_to(v, {made.scales[c], made.zero_points[c]}, whole);
    integers[at(i)] = static_cast<std::int64_t>(q);
    const double back = (q - static_cast<double>(made.zero_points[c])) * scale;
    signal += v * v;
    noise += (v - back) * (v - back);
  }
  made.noise = decibels(signal, noise);
  made.values = packed(grid.dtype, weight.dims(), integers);
  return made;
}

}  // namespace ingot::passes::quantize_parts
