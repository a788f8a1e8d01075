#pragma once
#include "ingot/base/budget.h"
#include "ingot/ops/kernel.h"

// What kernels that move slices of arrays share.

namespace ingot::ops {

/// An array seen from one axis: `outer` blocks of `size` slices of `inner` neighbouring elements.
struct Blocks {
  std::int64_t outer, size, inner;
};
Blocks blocks_along(const Dims& dims, std::int64_t axis);

/// Copies elements of x, from one position on, to a position of y, which has the same element type.
void copy_elements(const Array& x, std::int64_t from, Array& y, std::int64_t to, std::int64_t count);

/// An index that may count from the back; refuses those out of range.
std::int64_t index_within(const KernelContext& c, std::int64_t index, std::int64_t size);

/// Axes counted from the front; refuses those out of range or named twice.
std::vector<std::size_t> distinct_axes(const KernelContext& c, const std::vector<std::int64_t>& axes,
                                       std::int64_t rank);

/// The axes an input or attribute names; all of them in order without it.
std::vector<std::size_t> axes_of_input(const KernelContext& c, std::size_t input, std::int64_t rank);
std::vector<std::size_t> axes_of_attribute(const KernelContext& c, std::string_view name, std::int64_t rank);

/// The elements of an input that is a list of integers.
std::vector<std::int64_t> list_of_ints(const KernelContext& c, std::size_t input);

/// The only element of an input.
std::int64_t single_int(const KernelContext& c, std::size_t input);

/// Arrays of one type one after the other along an axis.
Array joined(KernelContext& c, const std::vector<Array>& parts, std::int64_t axis);

/// Arrays of one type and shape side by side along a new axis.
Array stacked(KernelContext& c, std::vector<Array> parts, std::int64_t axis);

/// The part of x from `first` on along an axis.
Array part_of(KernelContext& c, const Array& x, std::int64_t axis, std::int64_t first, std::int64_t size);

/// Polls a budget each time about 2^16 elements of work were done.
class WorkMeter {
 public:
  explicit WorkMeter(const Budget& budget) : budget_(budget) {}
  void did(std::int64_t elements) {
    left_ -= elements + 1;
    if (left_ > 0) return;
    budget_.poll();
    left_ = kInterval;
  }

 private:
  static constexpr std::int64_t kInterval = 1 << 16;
  const Budget& budget_;
  std::int64_t left_ = kInterval;
};

}  // namespace ingot::ops
