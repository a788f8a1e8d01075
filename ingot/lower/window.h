#pragma once
#include "ingot/lower/lowering.h"
#include "ingot/ops/nn/window.h"

// What operators with a sliding kernel share.

namespace ingot::lower {

/// A window with sizes of the run.
struct Sliding {
  std::vector<std::int64_t> strides, dilations;
  Exprs kernel, in, out, before, after;  // spatial sizes and paddings

  std::size_t rank() const { return kernel.size(); }
  /// Where element `inner` of the window at `at` lies along axis i.
  Expr place(std::size_t i, const Expr& at, const Expr& inner) const {
    return at * strides[i] - before[i] + inner * dilations[i];
  }
  /// How many elements of a window at `at` lie between `low` and `high` along axis i.
  Expr count(std::size_t i, const Expr& at, const Expr& low, const Expr& high) const {
    const Expr start = at * strides[i] - before[i];
    const Expr last = min(kernel[i], ceil_div(high - start, dilations[i]));
    return max(0, last - max(0, ceil_div(low - start, dilations[i])));
  }
};

/// `kernel`: its sizes, where the window itself does not know them.
Sliding sliding_of(Lowering& l, const View& x, const ops::Window& w, const Exprs& kernel = {});
/// The spatial sizes of weights, as far as they are known.
Shape kernel_shape(const View& w);
/// What is read at a place: the element, or `outside` beyond the edges.
Expr guarded(const Sliding& s, const View& x, const Expr& n, const Expr& c, const Exprs& at, const Exprs& inner,
             const Expr& outside);
Exprs tail(const Exprs& at, std::size_t from);

}  // namespace ingot::lower
