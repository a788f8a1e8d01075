// Convolutions of bytes, which are summed up in int32.
#include "ingot/lower/rows.h"
#include "ingot/lower/window.h"

namespace ingot::lower {
namespace {

/// Bytes with their zero point taken off, when they are read.
struct Bytes {
  View values, zero;
  bool has_zero;

  /// `filter`: which of the zero points, where there is one for each.
  Expr centred(const Expr& byte, const Expr& filter) const {
    const Expr number = cast(byte, DType::i32);
    if (!has_zero) return number;
    return Expr::make(Op::sub, DType::i32, {number, cast(zero_of(filter), DType::i32)});
  }
  Expr zero_of(const Expr& filter) const {
    if (!has_zero) return Expr::integer(0, values.type);
    return zero.at(zero.rank() && zero.dims[0].as_int() != 1 ? Exprs{filter} : Exprs(zero.rank(), 0));
  }
};

Bytes bytes_in(Lowering& l, std::size_t input, std::size_t zero_point) {
  const bool has_zero = l.has(zero_point);
  return {l.stored(l.in(input)), has_zero ? l.in(zero_point) : View{}, has_zero};
}

/// A convolution row by row of the result: what its windows see is copied to where sums can run along neighbours.
class Rows {
 public:
  Rows(Lowering& l, const Bytes& x, const Bytes& w, const Sliding& s, std::int64_t group)
      : l_(l), x_(x), w_(w), s_(s), group_(group), dims_{x.values.dims[0], w.values.dims[0]} {
    dims_.insert(dims_.end(), s.out.begin(), s.out.end());
    features_ = dims_[1];
    width_ = s.out.back();
    y_ = l.fresh(DType::i32, dims_);
    sums_ = l.fresh(DType::i32, {features_, width_});
  }

  /// Of all channels of a group: the windows of a row one after the other.
  View of_groups() {
    Exprs seen = {group_, width_, w_.values.dims[1]};
    seen.insert(seen.end(), s_.kernel.begin(), s_.kernel.end());
    const Expr each = product(tail(seen, 2));
    const View windows = l_.fresh(x_.values.type, seen);
    View taps = windows, weights = w_.values;
    taps.dims = {group_, width_, each};
    weights.dims = {features_, each};
    return all([&](const Exprs& row) {
      fill(windows, [&](const Exprs& at) {
        return guarded(s_, x_.values, row[0], at[0] * seen[2] + at[2], place(row, at[1]), tail(at, 3), x_.zero_of(0));
      });
      l_.reduce_into(sums_, {each}, Combine::sum, [&](const Exprs& at, const Exprs& k) {
        const Expr of = floor_div(at[0], floor_div(features_, group_));
        return product_of(taps.at({of, at[1], k[0]}), weights.at({at[0], k[0]}), at[0]);
      });
    });
  }

  /// Of each channel alone: the rows that a row of the result sees, with what lies beyond their ends.
  View of_channels() {
    const std::size_t last = s_.rank() - 1;
    const Exprs lines(s_.kernel.begin(), s_.kernel.end() - 1);
    Exprs seen = {group_}, over = lines;
    seen.insert(seen.end(), lines.begin(), lines.end());
    seen.push_back((width_ - 1) * s_.strides[last] + (s_.kernel[last] - 1) * s_.dilations[last] + 1);
    over.push_back(s_.kernel[last]);
    const View strips = l_.fresh(x_.values.type, seen);
    Sliding one = s_;  // element by element along the strip
    one.strides[last] = one.dilations[last] = 1;
    one.out[last] = seen.back();
    one.kernel[last] = 1;
    return all([&](const Exprs& row) {
      fill(strips, [&](const Exprs& at) {
        Exprs inner(at.begin() + 1, at.end() - 1);
        inner.push_back(0);
        return guarded(one, x_.values, row[0], at[0], place(row, at.back()), inner, x_.zero_of(0));
      });
      l_.reduce_into(sums_, over, Combine::sum, [&](const Exprs& at, const Exprs& inner) {
        Exprs tap = {floor_div(at[0], floor_div(features_, group_))}, weight = {at[0], 0};
        tap.insert(tap.end(), inner.begin(), inner.end() - 1);
        tap.push_back(at[1] * s_.strides[last] + inner.back() * s_.dilations[last]);
        weight.insert(weight.end(), inner.begin(), inner.end());
        return product_of(strips.at(tap), w_.values.at(weight), at[0]);
      });
    });
  }

 private:
  static Exprs place(const Exprs& row, const Expr& column) {
    Exprs at = tail(row, 1);
    at.push_back(column);
    return at;
  }
  Expr product_of(const Expr& byte, const Expr& weight, const Expr& filter) const {
    return Expr::make(Op::mul, DType::i32, {x_.centred(byte, 0), w_.centred(weight, filter)});
  }
  void fill(const View& to, const std::function<Expr(const Exprs&)>& value) {
    l_.map(
        to, to.dims, [](const Exprs& at) { return at; }, value);
  }
  View all(const std::function<void(const Exprs& row)>& sum_up) {
    Exprs rows = {dims_[0]};
    rows.insert(rows.end(), s_.out.begin(), s_.out.end() - 1);
    l_.loops(rows, [&](const Exprs& row) {
      sum_up(row);
      const auto to = [&](const Exprs& at) {
        Exprs whole = {row[0], at[0]};
        const Exprs inside = place(row, at[1]);
        whole.insert(whole.end(), inside.begin(), inside.end());
        return whole;
      };
      l_.map(y_, sums_.dims, to, [&](const Exprs& at) { return sums_.at(at); });
    });
    return y_;
  }

  Lowering& l_;
  const Bytes &x_, &w_;
  const Sliding& s_;
  std::int64_t group_;
  Exprs dims_;
  Expr features_, width_;
  View y_, sums_;
};

}  // namespace

void lower_conv_integer(Lowering& l) {
  const Bytes x = bytes_in(l, 0, 2), w = bytes_in(l, 1, 3);
  const std::size_t rank = x.values.rank();
  if (rank < 3) l.refuse("there is no axis to slide along");
  const Shape kernel = kernel_shape(w.values);
  const ops::Window window = ops::Window::read(l.node().attributes, rank - 2, &kernel);
  const Sliding s = sliding_of(l, x.values, window, tail(w.values.dims, 2));
  const std::int64_t group = l.attr("group", 1);
  l.require_same(x.values.dims[1], w.values.dims[1] * group);
  const bool is_each_alone = w.values.dims[1].as_int() == 1;
  Rows rows(l, x, w, s, group);
  l.out(0, is_each_alone ? rows.of_channels() : rows.of_groups());
}

}  // namespace ingot::lower
