// Rows that rounding puts in another order.
#include "ingot/verify/ties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/elements.h"

namespace ingot::verify {
namespace {

constexpr std::int64_t kMostRows = 10000;
constexpr std::size_t kMostColumns = 1000;  // of rows with a score; in a picture some numbers fall by chance
constexpr std::size_t kMostTied = 100;

using Order = std::vector<std::int64_t>;

std::int64_t width_of(const Array& array) { return array.size() / rows_of(array); }

/// One number of each row.
Array column_of(const Array& array, std::int64_t column) {
  const std::int64_t rows = rows_of(array), width = width_of(array);
  std::vector<float> values;
  dispatch(array.dtype(), JoinTypes<Floats, SmallFloats>{}, [&]<class T>() {
    const auto all = array.data<T>();
    for (std::int64_t i = 0; i < rows; ++i)
      values.push_back(static_cast<float>(all[static_cast<std::size_t>(i * width + column)]));
  });
  return Array::of<float>({rows}, values);
}

bool falls(const std::vector<double>& values, std::size_t width, std::size_t column) {
  for (std::size_t i = column + width; i < values.size(); i += width)
    if (!(values[i] <= values[i - width])) return false;
  return values[column] > values[values.size() - width + column];
}

Array in_order(const Array& array, const Order& order) {
  Array result(array.dtype(), array.dims());
  const auto width = static_cast<std::size_t>(width_of(array));
  dispatch(array.dtype(), Any{}, [&]<class T>() {
    const auto from = array.data<T>();
    const auto to = result.mutable_data<T>();
    for (std::size_t i = 0; i < order.size(); ++i)
      std::copy_n(from.begin() + order[i] * static_cast<std::int64_t>(width), width,
                  to.begin() + static_cast<std::int64_t>(i * width));
  });
  return result;
}

/// How unlike two rows are: the sum over the outputs of the largest difference, each by its output's scale.
class Unlikeness {
 public:
  Unlikeness(const std::vector<Array>& a, const std::vector<Array>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].dtype() == DType::string || b[i].dtype() == DType::string) continue;
      Table table{a[i].to_doubles(), b[i].to_doubles(), static_cast<std::size_t>(width_of(a[i]))};
      for (const double v : table.a)
        if (std::isfinite(v)) table.scale = std::max(table.scale, std::abs(v));
      tables_.push_back(std::move(table));
    }
  }

  double operator()(std::size_t a_row, std::size_t b_row) const {
    double sum = 0;
    for (const Table& t : tables_) {
      double largest = 0;
      for (std::size_t k = 0; k < t.width; ++k) {
        const double apart = std::abs(t.a[a_row * t.width + k] - t.b[b_row * t.width + k]);
        largest = std::max(largest, std::isfinite(apart) ? apart / std::max(t.scale, 1e-30) : 1);
      }
      sum += largest;
    }
    return sum;
  }

 private:
  struct Table {
    std::vector<double> a, b;
    std::size_t width;
    double scale = 0;
  };
  std::vector<Table> tables_;
};

/// For each row of a, the row of b that is most like it among those that are tied with it.
Order order_of(const std::vector<Array>& a, const std::vector<Array>& b, const Array& scores, double tolerance) {
  const auto values = scores.data<float>();
  const Unlikeness unlikeness(a, b);
  Order order(values.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    for (end = begin + 1; end < values.size(); ++end)
      if (!(static_cast<double>(values[end - 1]) - static_cast<double>(values[end]) <= tolerance)) break;
    if (end - begin < 2 || end - begin > kMostTied) continue;
    std::vector<std::size_t> left(end - begin);
    std::iota(left.begin(), left.end(), begin);
    for (std::size_t row = begin; row < end; ++row) {
      const auto nearest =
          std::ranges::min_element(left, {}, [&](std::size_t other) { return unlikeness(row, other); });
      order[row] = static_cast<std::int64_t>(*nearest);
      left.erase(nearest);
    }
  }
  return order;
}

std::vector<Array> run_of(const std::vector<RowsOfBoth>& outputs, const RoundedValues& runs, std::size_t run) {
  std::vector<Array> values;
  for (const RowsOfBoth& output : outputs) {
    const auto it = runs.find(output.name);
    if (it == runs.end() || run >= it->second.size()) return {};
    const Array* array = it->second[run].array();
    if (!array || array->dims() != output.b.dims()) return {};
    values.push_back(*array);
  }
  return values;
}

void keep_larger(std::optional<Distance>& largest, const std::optional<Distance>& d) {
  if (d && (!largest || d->value > largest->value)) largest = d;
}

/// The outputs by the order of one column of one of them, which falls in both.
std::optional<TiedRows> settled_by(std::size_t key, std::int64_t column, const std::vector<RowsOfBoth>& outputs,
                                   const std::vector<std::vector<Array>>& runs) {
  const Array a_scores = column_of(outputs[key].a, column), b_scores = column_of(outputs[key].b, column);
  std::optional<Distance> noise;
  for (std::size_t run = 1; run < runs.size(); ++run)
    keep_larger(noise, distance(column_of(runs[0][key], column), column_of(runs[run][key], column)));
  const auto apart = distance(a_scores, b_scores);
  const Threshold tolerance = threshold_for(*apart, {.own = noise});
  if (!is_within(*apart, tolerance)) return std::nullopt;
  // Two scores that each may be moved by the tolerance.
  const double tied = 2 * tolerance.value;
  std::vector<Array> a, b;
  for (const RowsOfBoth& output : outputs) {
    a.push_back(output.a);
    b.push_back(output.b);
  }
  const Order order = order_of(a, b, a_scores, tied);
  TiedRows result;
  std::int64_t moved = 0, first = -1;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i) && moved++ == 0) first = static_cast<std::int64_t>(i);
  if (!moved) return std::nullopt;
  std::vector<Order> twin_orders;
  for (std::size_t run = 1; run < runs.size(); ++run)
    twin_orders.push_back(order_of(runs[0], runs[run], column_of(runs[0][key], column), tied));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TiedRows::Output output{in_order(b[i], order), {}, {}};
    for (std::size_t run = 1; run < runs.size(); ++run)
      keep_larger(output.noise, distance(runs[0][i], in_order(runs[run][i], twin_orders[run - 1])));
    const auto d = distance(a[i], output.b);
    if (!d || !is_within(*d, threshold_for(*d, {.own = output.noise}))) return std::nullopt;
    output.distance = *d;
    result.outputs.push_back(std::move(output));
  }
  const auto at = static_cast<std::size_t>(first);
  const auto scores = a_scores.data<float>();
  result.note = fmt::format(
      "{} of {} rows change places, the first of them row {}: they are sorted by '{}'{}, where it and row {} have "
      "{:.9g} and {:.9g}, which is less than rounding can tell apart ({:.2g})",
      moved, order.size(), first, outputs[key].name,
      width_of(outputs[key].a) > 1 ? fmt::format(" (number {} of each row)", column) : "", order[at], scores[at],
      scores[static_cast<std::size_t>(order[at])], tied);
  return result;
}

}  // namespace

std::int64_t rows_of(const Array& array) {
  for (const std::int64_t n : array.dims())
    if (n != 1) return n > 1 ? n : 0;
  return 0;
}

std::optional<TiedRows> settle_ties(const std::vector<RowsOfBoth>& outputs, const RoundedValues& runs) {
  if (outputs.empty() || rows_of(outputs[0].a) > kMostRows) return std::nullopt;
  std::vector<std::vector<Array>> twins;
  for (std::size_t run = 0;; ++run) {
    std::vector<Array> values = run_of(outputs, runs, run);
    if (values.empty()) break;
    twins.push_back(std::move(values));
  }
  for (std::size_t key = 0; key < outputs.size(); ++key) {
    if (!is_float(outputs[key].a.dtype()) || !is_float(outputs[key].b.dtype())) continue;
    const auto width = static_cast<std::size_t>(width_of(outputs[key].a));
    if (width > kMostColumns) continue;
    const std::vector<double> a = outputs[key].a.to_doubles(), b = outputs[key].b.to_doubles();
    for (std::size_t column = 0; column < width; ++column)
      if (falls(a, width, column) && falls(b, width, column))
        if (auto settled = settled_by(key, static_cast<std::int64_t>(column), outputs, twins)) return settled;
  }
  return std::nullopt;
}

}  // namespace ingot::verify
