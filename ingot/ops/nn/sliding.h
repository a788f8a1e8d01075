#pragma once
#include "ingot/ops/nn/window.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {

/// A window that slides over a plane (the spatial axes of one channel), all sizes known and checked: no position of
/// any of its taps overflows.
struct Sliding {
  Dims plane, windows, kernel;  // elements, positions of the window, taps along each axis
  Dims strides, dilations;
  Dims before, after;  // padding
  std::int64_t plane_size = 0, window_count = 0, tap_count = 0;

  /// Over planes x[2:] of an input [N, C, ...]. `weights`: the kernel's sizes, where it is an input.
  static Sliding over(const KernelContext& c, const Dims& x, const Dims* weights = nullptr);
  /// The same where the sizes were computed otherwise.
  static Sliding of(const KernelContext& c, const Window& window, Dims plane, Dims windows, Dims before, Dims after);

  std::size_t rank() const { return plane.size(); }
};

/// The sizes after batch and channels; refuses arrays that have none.
Dims spatial_dims(const KernelContext& c, const Dims& dims);

/// Goes through the taps of a kernel and tells which element of the plane each meets at each position of the window.
class Taps {
 public:
  Taps(KernelContext& c, const Sliding& sliding);

  /// To the next tap, at first to tap 0; false after the last.
  bool next();
  std::int64_t index() const { return index_; }
  /// Calls f(window, element, n, step): positions window, window + 1, ... of the window meet elements element,
  /// element + step, ... of the plane, n of them.
  template <class F> void each_row(F f) const {
    const std::int64_t* row = rows_.data<std::int64_t>().data();
    for (std::int64_t i = 0; i < row_count_; ++i) f(row[2 * i], row[2 * i + 1], length_, sliding_.strides.back());
  }

 private:
  void find_rows();

  const Sliding& sliding_;
  Dims tap_;
  std::int64_t index_ = -1;
  Array rows_;  // [rows, (window, element)]
  std::int64_t row_count_ = 0, length_ = 0;
};

/// The taps of the window at one position that lie on the plane.
struct Box {
  std::int64_t first = 0;         // element of the plane
  Dims counts, steps;             // along each axis; steps in elements of the plane
  std::int64_t size = 0;          // taps that lie on the plane
  std::int64_t with_padding = 0;  // or on its padding

  /// Calls f(element) for each, in the order of the plane.
  template <class F> void each(F f) const {
    if (size == 0) return;
    const std::size_t last = counts.size() - 1;
    std::int64_t row = first;
    index_.assign(counts.size(), 0);
    while (true) {
      for (std::int64_t i = 0; i < counts[last]; ++i) f(row + i * steps[last]);
      std::size_t axis = last;
      while (axis-- > 0) {
        row += steps[axis];
        if (++index_[axis] < counts[axis]) break;
        row -= steps[axis] * counts[axis];
        index_[axis] = 0;
      }
      if (axis == static_cast<std::size_t>(-1)) return;
    }
  }

 private:
  mutable Dims index_;
};

/// The window's positions on one plane, one after the other in the order of the output.
class Positions {
 public:
  explicit Positions(const Sliding& sliding);
  /// To the next position, at first to the first; false after the last.
  bool next();
  const Box& box() const { return box_; }

 private:
  void place(std::size_t axis);

  struct Part {
    std::int64_t first = 0, count = 0, with_padding = 0;
  };
  const Sliding& sliding_;
  Dims position_, plane_strides_;
  std::vector<Part> parts_;
  bool is_started_ = false;
  Box box_;
};

}  // namespace ingot::ops
