// Features computed from others: splines, sketches, groups, and gaps filled by neighbours.
#include <cmath>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

using Polynomial = std::vector<double>;  // coefficients of 1, u, u^2, ...

/// p (a + b u)
Polynomial times(const Polynomial& p, double a, double b) {
  Polynomial made(p.size() + 1);
  for (std::size_t i = 0; i < p.size(); ++i) {
    made[i] += a * p[i];
    made[i + 1] += b * p[i];
  }
  return made;
}

void add_to(Polynomial& sum, const Polynomial& p) {
  if (sum.size() < p.size()) sum.resize(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) sum[i] += p[i];
}

/// The basis functions that are not zero between knots j and j + 1, j - degree to j, in u = x - t[j]: Cox and de Boor.
std::vector<Polynomial> basis_between(const std::vector<double>& t, std::size_t j, std::size_t degree) {
  std::vector<Polynomial> basis = {{1.0}};
  for (std::size_t p = 1; p <= degree; ++p) {
    std::vector<Polynomial> next(p + 1);
    for (std::size_t i = 0; i < p; ++i) {  // basis[i] is the function number j - p + 1 + i of degree p - 1
      const std::size_t first = j + 1 + i - p;
      const double width = t[first + p] - t[first];
      if (!(width > 0)) continue;
      add_to(next[i], times(basis[i], (t[first + p] - t[j]) / width, -1 / width));
      add_to(next[i + 1], times(basis[i], (t[j] - t[first]) / width, 1 / width));
    }
    basis = std::move(next);
  }
  return basis;
}

/// A spline of several values between its first and its last knot: for each piece the coefficients of each value.
struct Pieces {
  std::vector<double> starts;
  double end = 0;
  std::int64_t values = 0;
  std::vector<Matrix> coefficients;  // by power: [pieces, values]
};

Pieces pieces_of(const Estimator& spline) {
  const auto t = spline.vector("t");
  const Matrix c = spline.matrix("c");
  const auto degree = static_cast<std::size_t>(spline.integer("k"));
  if (degree > 50 || t.size() < 2 * degree + 2 || std::cmp_not_equal(c.rows, t.size() - degree - 1))
    throw Error(Code::bad_source_graph, "a spline is damaged");
  Pieces made;
  made.values = c.columns;
  made.end = t[t.size() - degree - 1];
  std::vector<std::vector<double>> rows(degree + 1);
  for (std::size_t j = degree; j + degree + 1 < t.size(); ++j) {
    if (!(t[j + 1] > t[j])) continue;
    made.starts.push_back(t[j]);
    const auto basis = basis_between(t, j, degree);
    for (std::size_t power = 0; power <= degree; ++power)
      for (std::int64_t v = 0; v < c.columns; ++v) {
        double sum = 0;
        for (std::size_t i = 0; i <= degree; ++i)
          if (power < basis[i].size()) sum += basis[i][power] * c.at(static_cast<std::int64_t>(j - degree + i), v);
        rows[power].push_back(sum);
      }
  }
  if (made.starts.empty()) throw Error(Code::bad_source_graph, "a spline has no knots");
  for (auto& row : rows) made.coefficients.push_back({std::ssize(made.starts), c.columns, std::move(row)});
  return made;
}

/// The values [N, values] of a spline at x [N, 1], or their slopes.
Value* at(Context& c, const Pieces& p, Value* x, bool is_slope = false) {
  const auto last = std::ssize(p.starts) - 1;
  Value* below = c.g.cast(c.g.op("GreaterOrEqual", {x, c.row(p.starts)}), DType::i64);
  Value* count = c.g.op("ReduceSum", {below, c.g.ints({1})}, {{"keepdims", 0}});
  Value* piece = c.g.op("Clip", {c.g.sub(count, c.g.index(1)), c.g.index(0), c.g.index(last)});
  Value* start = c.g.unsqueeze(c.g.op("Gather", {c.g.squeeze(c.row(p.starts), {0}), piece}, {{"axis", 0}}), {1});
  Value* u = c.g.sub(x, start);
  Value* sum = nullptr;  // Horner
  for (std::size_t power = p.coefficients.size(); power-- > (is_slope ? 1U : 0U);) {
    Value* coefficient = c.g.op("Gather", {c.matrix(p.coefficients[power]), piece}, {{"axis", 0}});
    if (is_slope) coefficient = c.g.mul(coefficient, static_cast<double>(power));
    sum = sum ? c.g.add(c.g.mul(sum, u), coefficient) : coefficient;
  }
  if (!sum) refuse("splines of degree 0 have no slope");
  return sum;
}

Value* spline_values(Context& c, const Pieces& p, Value* x, const std::string& outside) {
  if (outside == "continue" || outside == "error") return at(c, p, x);
  if (outside == "periodic") {
    const double first = p.starts.front(), period = p.end - first;
    Value* turns = c.g.op("Floor", {c.g.div(c.g.sub(x, first), period)});
    return at(c, p, c.g.sub(x, c.g.mul(turns, period)));
  }
  Value* inside = c.g.op("Clip", {x, c.number(p.starts.front()), c.number(p.end)});
  Value* values = at(c, p, inside);
  if (outside == "constant") return values;
  if (outside == "linear") return c.g.add(values, c.g.mul(at(c, p, inside, true), c.g.sub(x, inside)));
  refuse("the extrapolation '" + outside + "' is not known");
}

}  // namespace

Columns spline_transformer(Context& c, const Estimator& e, const Columns& x) {
  const auto splines = e.list("bsplines_");
  if (std::cmp_not_equal(splines.size(), width_of(x)))
    throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const std::string outside = e.text("extrapolation", "constant");
  if (outside == "error") c.notes.add("splines go on outside of their knots, where scikit-learn refuses");
  Value* numbers = c.numbers(x);
  Values parts;
  for (std::size_t i = 0; i < splines.size(); ++i) {
    const Pieces pieces = pieces_of(splines[i]);
    Value* values = spline_values(c, pieces, c.column(numbers, static_cast<std::int64_t>(i)), outside);
    if (!e.flag("include_bias", true))
      values = c.g.op("Slice", {values, c.g.ints({0}), c.g.ints({pieces.values - 1}), c.g.ints({1})});
    parts.push_back(values);
  }
  return c.columns_of(c.g.concat(parts, 1));
}

Columns chi2_features(Context& c, const Estimator& e, const Columns& x) {
  const std::int64_t steps = e.integer("sample_steps", 2);
  double interval = steps == 1 ? 0.8 : steps == 2 ? 0.5 : 0.4;
  for (const char* name : {"sample_interval", "sample_interval_", "_sample_interval"})
    interval = e.number(name, interval);
  if (steps < 1 || steps > 1000) refuse("its number of steps is out of range");
  Value* numbers = c.numbers(x);
  Value* is_zero = c.g.op("Equal", {numbers, c.number(0)});
  Value* safe = c.g.where(is_zero, c.number(1), numbers);
  const auto kept = [&](Value* v) { return c.g.where(is_zero, c.number(0), v); };
  Values parts = {kept(c.g.op("Sqrt", {c.g.mul(safe, interval)}))};
  Value* log_step = c.g.mul(c.g.op("Log", {safe}), interval);
  Value* step = c.g.mul(safe, 2 * interval);
  for (std::int64_t j = 1; j < steps; ++j) {
    const auto number = static_cast<double>(j);
    Value* factor = c.g.op("Sqrt", {c.g.div(step, std::cosh(std::numbers::pi * number * interval))});
    for (const bool is_sine : {false, true}) {
      Value* angle = c.g.mul(log_step, number);
      parts.push_back(kept(c.g.mul(factor, is_sine ? c.g.op("Sin", {angle}) : c.g.op("Cos", {angle}))));
    }
  }
  return c.columns_of(parts.size() == 1 ? parts[0] : c.g.concat(parts, 1));
}

/// Groups of features become their means, or what is largest or least of them.
Columns agglomeration(Context& c, const Estimator& e, const Columns& x) {
  const pickle::Ref function = e.find("pooling_func");
  const bool is_numpy = function && function->is(pickle::Kind::global) && function->symbol->module.starts_with("numpy");
  const std::string pool = !function ? "mean" : is_numpy ? function->symbol->name : "";
  const bool is_most = pool == "max" || pool == "amax", is_least = pool == "min" || pool == "amin";
  if (pool != "mean" && !is_most && !is_least)
    throw Error(Code::code_refused, "its pooling function is not executed")
        .hint("np.mean, np.max and np.min are known");
  const auto labels = e.vector("labels_");
  std::vector<double> sizes;
  for (const double label : labels) {
    if (!(label >= 0) || label >= static_cast<double>(labels.size()))
      throw Error(Code::bad_source_graph, "a feature has no group");
    sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(label) + 1));
    ++sizes[static_cast<std::size_t>(label)];
  }
  if (is_most || is_least) {
    Value* numbers = c.numbers(x);
    Values columns;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
      std::vector<std::int64_t> places;
      for (std::size_t i = 0; i < labels.size(); ++i)
        if (static_cast<std::size_t>(labels[i]) == group) places.push_back(static_cast<std::int64_t>(i));
      if (places.empty()) throw Error(Code::bad_source_graph, "a group has no features");
      Value* own = c.g.op("Gather", {numbers, c.g.ints(places)}, {{"axis", 1}});
      columns.push_back(is_most ? c.g.op("ReduceMax", {own, c.g.ints({1})})
                                : c.g.op("ReduceMin", {own, c.g.ints({1})}));
    }
    return c.columns_of(c.g.concat(columns, 1));
  }
  Matrix groups{std::ssize(labels), std::ssize(sizes), std::vector<double>(labels.size() * sizes.size())};
  for (std::size_t i = 0; i < labels.size(); ++i)
    groups.values[i * sizes.size() + static_cast<std::size_t>(labels[i])] = 1;
  return c.columns_of(c.g.div(c.g.op("MatMul", {c.numbers(x), c.matrix(groups)}), c.row(sizes)));
}

/// Sketches of each factor multiplied in the frequencies, which are sums with cosines and sines here.
Columns count_sketch(Context& c, const Estimator& e, const Columns& x) {
  const Matrix places = e.matrix("indexHash_"), signs = e.matrix("bitHash_");
  const std::int64_t size = e.integer("n_components"), features = places.columns;
  const double shift = e.number("coef0", 0);
  if (size < 1 || size > 10'000) refuse("it has no components, or more than 10,000");
  if (signs.rows != places.rows || signs.columns != features || features != width_of(x) + (shift != 0 ? 1 : 0))
    throw Error(Code::bad_source_graph, "its hashes do not fit its features");
  Value* numbers = c.g.mul(c.numbers(x), std::sqrt(e.number("gamma", 1)));
  if (shift != 0) {
    Value* ones = c.g.add(c.g.mul(c.column(numbers, 0), 0.0), std::sqrt(shift));
    numbers = c.g.concat({numbers, ones}, 1);
  }
  const auto n = static_cast<std::size_t>(size);
  Matrix cosines{size, size, std::vector<double>(n * n)}, sines = cosines;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
      cosines.values[i * n + k] = std::cos(angle);
      sines.values[i * n + k] = std::sin(angle);
    }
  Value* real = nullptr;
  Value* imaginary = nullptr;
  for (std::int64_t d = 0; d < places.rows; ++d) {
    Matrix sketch{features, size, std::vector<double>(static_cast<std::size_t>(features) * n)};
    for (std::int64_t f = 0; f < features; ++f) {
      const double place = places.at(d, f);
      if (!(place >= 0) || place >= static_cast<double>(size))
        throw Error(Code::bad_source_graph, "a hash is too large");
      sketch.values[static_cast<std::size_t>(f) * n + static_cast<std::size_t>(place)] = signs.at(d, f);
    }
    Value* counts = c.g.op("MatMul", {numbers, c.matrix(sketch)});
    Value* a = c.g.op("MatMul", {counts, c.matrix(cosines)});
    Value* b = c.g.neg(c.g.op("MatMul", {counts, c.matrix(sines)}));
    if (!real) {
      real = a, imaginary = b;
      continue;
    }
    Value* product = c.g.sub(c.g.mul(real, a), c.g.mul(imaginary, b));
    imaginary = c.g.add(c.g.mul(real, b), c.g.mul(imaginary, a));
    real = product;
  }
  if (!real) throw Error(Code::bad_source_graph, "it has no hashes");
  Value* back = c.g.sub(c.g.op("MatMul", {real, c.matrix(cosines)}), c.g.op("MatMul", {imaginary, c.matrix(sines)}));
  return c.columns_of(c.g.div(back, static_cast<double>(size)));
}

namespace {

/// Distances [N, rows] over what both have, scaled up for what they lack; infinite where they share nothing.
Value* gap_distances(Context& c, Value* x, Value* has, const Matrix& points) {
  Matrix filled = points, present = points;
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    present.values[i] = std::isnan(points.values[i]) ? 0 : 1;
    if (std::isnan(points.values[i])) filled.values[i] = 0;
  }
  Value* both = c.g.mul(c.g.unsqueeze(has, {1}), c.g.unsqueeze(c.matrix(present), {0}));
  Value* apart = c.g.sub(c.g.unsqueeze(x, {1}), c.g.unsqueeze(c.matrix(filled), {0}));
  const auto summed = [&](Value* v) { return c.g.op("ReduceSum", {v, c.g.ints({2})}, {{"keepdims", 0}}); };
  Value* squares = summed(c.g.mul(c.g.mul(apart, apart), both));
  Value* count = summed(both);
  Value* is_none = c.g.op("Equal", {count, c.number(0)});
  Value* scale = c.g.div(static_cast<double>(points.columns), c.g.where(is_none, c.number(1), count));
  return c.g.where(is_none, c.number(HUGE_VAL), c.g.op("Sqrt", {c.g.mul(squares, scale)}));
}

/// What the nearest donors of one feature have on average, [N, 1].
Value* from_donors(Context& c, const Estimator& e, Value* all, const Matrix& points, std::int64_t feature) {
  std::vector<std::int64_t> donors;
  std::vector<double> values;
  double mean = 0;
  for (std::int64_t r = 0; r < points.rows; ++r)
    if (const double v = points.at(r, feature); !std::isnan(v)) {
      donors.push_back(r);
      values.push_back(v);
      mean += v;
    }
  mean /= static_cast<double>(values.size());
  const auto k = std::min<std::int64_t>(e.integer("n_neighbors", 5), std::ssize(donors));
  Value* own = c.g.op("Gather", {all, c.g.ints(donors)}, {{"axis", 1}});
  const Values near = c.g.op("TopK", {own, c.g.ints({k})}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2);
  Value* given = c.g.op("Gather", {c.g.squeeze(c.row(values), {0}), near[1]}, {{"axis", 0}});
  Value* weights = neighbour_weights(c, e, near[0]);
  Value* sum = c.sum_rows(weights ? c.g.mul(given, weights) : given);
  Value* filled = weights ? c.g.div(sum, c.sum_rows(weights)) : c.g.div(sum, static_cast<double>(k));
  Value* is_alone = c.g.op("IsInf", {c.column(near[0], 0)});
  return c.g.where(is_alone, c.number(mean), filled);
}

}  // namespace

Columns neighbour_imputer(Context& c, const Estimator& e, const Columns& x) {
  const Matrix points = e.matrix("_fit_X");
  if (points.columns != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  if (e.text("metric", "nan_euclidean") != "nan_euclidean") refuse("its metric is not nan_euclidean");
  if (const auto marker = e.number_in(e.get("missing_values")); marker && !std::isnan(*marker))
    refuse("it takes a number for missing", "use NaN for what is missing");
  Value* numbers = c.numbers(x);
  Value* gaps = c.is_nan(numbers);
  Value* has = c.g.cast(c.g.op("Not", {gaps}), c.elem);
  Value* all = gap_distances(c, c.g.where(gaps, c.number(0), numbers), has, points);
  const bool keeps_empty = e.flag("keep_empty_features");
  Values columns;
  for (std::int64_t f = 0; f < points.columns; ++f) {
    bool is_empty = true;
    for (std::int64_t r = 0; r < points.rows; ++r) is_empty &= std::isnan(points.at(r, f));
    if (is_empty && !keeps_empty) continue;
    Value* filled = is_empty ? c.number(0) : from_donors(c, e, all, points, f);
    columns.push_back(c.g.where(c.column(gaps, f), filled, c.column(numbers, f)));
  }
  Columns made = c.columns_of(c.g.concat(columns, 1));
  if (e.flag("add_indicator") && e.has("indicator_")) {
    const Columns flags = missing_indicator(c, e.child("indicator_"), x);
    made.insert(made.end(), flags.begin(), flags.end());
  }
  return made;
}

}  // namespace ingot::frontends::sklearn
