// Windows over planes of known sizes, for the kernels of convolutions and pools.
#include "ingot/ops/nn/sliding.h"

#include <algorithm>

#include "ingot/ops/kernel.h"

namespace ingot::ops {
namespace {

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }

std::int64_t number(const KernelContext& c, const Dim& size) {
  if (!size.is_known()) c.fail("the sizes of the window overflow");
  return size.value();
}

}  // namespace

Dims spatial_dims(const KernelContext& c, const Dims& dims) {
  if (dims.size() < 3) c.fail("an input of rank " + std::to_string(dims.size()) + " has no spatial axes");
  return Dims(dims.begin() + 2, dims.end());
}

Sliding Sliding::over(const KernelContext& c, const Dims& x, const Dims* weights) {
  Dims plane = spatial_dims(c, x), windows, before, after;
  const Shape kernel = weights ? Shape(weights->begin(), weights->end()) : Shape();
  const Window window = Window::read(c.node.attributes, plane.size(), weights ? &kernel : nullptr);
  for (std::size_t i = 0; i < plane.size(); ++i) {
    windows.push_back(number(c, window.output_size(i, plane[i])));
    const auto [begin, end] = window.padding(i, plane[i]);
    before.push_back(number(c, begin));
    after.push_back(number(c, end));
  }
  return of(c, window, std::move(plane), std::move(windows), std::move(before), std::move(after));
}

Sliding Sliding::of(const KernelContext& c, const Window& window, Dims plane, Dims windows, Dims before, Dims after) {
  Sliding s;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    s.kernel.push_back(number(c, window.kernel[i]));
    // The largest number that positions of taps are computed with.
    number(c, Dim(windows[i]) * window.strides[i] + window.extent(i) + plane[i] + before[i] + after[i]);
  }
  s.strides = window.strides;
  s.dilations = window.dilations;
  s.plane_size = tensor_size(plane);
  s.window_count = tensor_size(windows);
  s.tap_count = tensor_size(s.kernel);
  s.plane = std::move(plane);
  s.windows = std::move(windows);
  s.before = std::move(before);
  s.after = std::move(after);
  return s;
}

Taps::Taps(KernelContext& c, const Sliding& sliding) : sliding_(sliding) {
  Dims rows = sliding.windows;
  rows.back() = 2;
  rows_ = scratch(c, DType::i64, std::move(rows));
}

bool Taps::next() {
  if (++index_ == 0)
    tap_.assign(sliding_.rank(), 0);
  else
    for (std::size_t axis = tap_.size(); axis-- > 0 && ++tap_[axis] == sliding_.kernel[axis];) tap_[axis] = 0;
  if (index_ >= sliding_.tap_count) return false;
  find_rows();
  return true;
}

void Taps::find_rows() {
  const Sliding& s = sliding_;
  const Dims window_strides = strides_of(s.windows), plane_strides = strides_of(s.plane);
  Dims counts(s.rank()), steps(s.rank(), 0), index(s.rank(), 0);
  std::int64_t window = 0, element = 0;
  row_count_ = 0;
  for (std::size_t i = 0; i < s.rank(); ++i) {
    const std::int64_t shift = tap_[i] * s.dilations[i] - s.before[i];
    const std::int64_t first = shift < 0 ? ceil_quotient(-shift, s.strides[i]) : 0;
    const std::int64_t room = s.plane[i] - shift;
    const std::int64_t end = std::min(s.windows[i], room > 0 ? ceil_quotient(room, s.strides[i]) : 0);
    if (end <= first) return;
    counts[i] = end - first;
    if (counts[i] > 1) steps[i] = s.strides[i] * plane_strides[i];
    window += first * window_strides[i];
    element += (first * s.strides[i] + shift) * plane_strides[i];
  }
  length_ = counts.back();
  std::int64_t* row = rows_.mutable_data<std::int64_t>().data();
  while (true) {
    row[2 * row_count_] = window;
    row[2 * row_count_ + 1] = element;
    ++row_count_;
    std::size_t axis = s.rank() - 1;
    while (axis-- > 0) {
      window += window_strides[axis];
      element += steps[axis];
      if (++index[axis] < counts[axis]) break;
      window -= window_strides[axis] * counts[axis];
      element -= steps[axis] * counts[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

Positions::Positions(const Sliding& sliding)
    : sliding_(sliding),
      position_(sliding.rank(), 0),
      plane_strides_(strides_of(sliding.plane)),
      parts_(sliding.rank()) {
  box_.counts.resize(sliding.rank());
  for (std::size_t i = 0; i < sliding.rank(); ++i)
    box_.steps.push_back(sliding.dilations[i] < sliding.plane[i] ? sliding.dilations[i] * plane_strides_[i] : 0);
}

bool Positions::next() {
  if (!is_started_) {
    is_started_ = true;
    if (sliding_.window_count == 0) return false;
    for (std::size_t i = 0; i < position_.size(); ++i) place(i);
  } else {
    std::size_t axis = position_.size();
    while (axis-- > 0) {
      const bool is_within = ++position_[axis] < sliding_.windows[axis];
      if (!is_within) position_[axis] = 0;
      place(axis);
      if (is_within) break;
    }
    if (axis == static_cast<std::size_t>(-1)) return false;
  }
  box_.first = 0;
  box_.size = box_.with_padding = 1;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    box_.first += parts_[i].first * plane_strides_[i];
    box_.counts[i] = parts_[i].count;
    box_.size *= parts_[i].count;
    box_.with_padding *= parts_[i].with_padding;
  }
  return true;
}

void Positions::place(std::size_t i) {
  const Sliding& s = sliding_;
  const std::int64_t start = position_[i] * s.strides[i] - s.before[i];
  // How many taps lie before this place.
  const auto taps_before = [&](std::int64_t end) {
    return end <= start ? 0 : std::min(s.kernel[i], ceil_quotient(end - start, s.dilations[i]));
  };
  const std::int64_t outside = taps_before(0);
  parts_[i].count = taps_before(s.plane[i]) - outside;
  parts_[i].first = parts_[i].count > 0 ? start + outside * s.dilations[i] : 0;
  parts_[i].with_padding = taps_before(s.plane[i] + s.after[i]);
}

}  // namespace ingot::ops
