// Preprocessing of numbers.
#include <cmath>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/frontends/numeric/erf.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {

Columns standard_scaler(Context& c, const Estimator& e, const Columns& x) {
  Value* v = c.numbers(x);
  const char* shift = e.has("mean_") ? "mean_" : "center_";
  const bool shifts = e.name() == "RobustScaler" ? e.flag("with_centering", true) : e.flag("with_mean", true);
  const bool scales = e.name() == "RobustScaler" ? e.flag("with_scaling", true) : e.flag("with_std", true);
  if (shifts && e.has(shift)) v = c.g.sub(v, c.row(e.vector(shift)));
  if (scales && e.has("scale_")) v = c.g.div(v, c.row(e.vector("scale_")));
  return c.columns_of(v);
}

Columns min_max_scaler(Context& c, const Estimator& e, const Columns& x) {
  Value* v = c.g.add(c.g.mul(c.numbers(x), c.row(e.vector("scale_"))), c.row(e.vector("min_")));
  if (e.flag("clip")) {
    const auto range = e.vector("feature_range");
    v = c.g.op("Clip", {v, c.number(range.at(0)), c.number(range.at(1))});
  }
  return c.columns_of(v);
}

Columns max_abs_scaler(Context& c, const Estimator& e, const Columns& x) {
  Value* v = c.g.div(c.numbers(x), c.row(e.vector("scale_")));
  if (e.flag("clip")) v = c.g.op("Clip", {v, c.number(-1), c.number(1)});
  return c.columns_of(v);
}

Columns normalizer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(row_normalised(c, c.numbers(x), e.text("norm", "l2")));
}

Value* row_normalised(Context& c, Value* v, const std::string& norm) {
  Value* size = nullptr;
  if (norm == "l1")
    size = c.sum_rows(c.g.op("Abs", {v}));
  else if (norm == "l2")
    size = c.g.op("Sqrt", {c.sum_rows(c.g.mul(v, v))});
  else if (norm == "max")
    size = c.g.op("ReduceMax", {c.g.op("Abs", {v}), c.g.ints({1})}, {{"keepdims", 1}});
  else
    refuse("the norm '" + norm + "' is not known");
  return c.g.div(v, c.g.where(c.g.op("Equal", {size, c.number(0)}), c.number(1), size));
}

Columns binarizer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(c.g.cast(c.g.op("Greater", {c.numbers(x), c.number(e.number("threshold", 0))}), c.elem));
}

namespace {

Value* box_cox(Context& c, Value* x, double lambda) {
  if (lambda == 0) return c.g.op("Log", {x});
  return c.g.div(c.g.sub(c.g.op("Pow", {x, c.number(lambda)}), 1.0), lambda);
}

/// Both sides are computed where they are defined.
Value* yeo_johnson(Context& c, Value* x, double lambda) {
  Value* is_positive = c.g.op("GreaterOrEqual", {x, c.number(0)});
  Value* up = c.g.add(c.g.where(is_positive, x, c.number(0)), 1.0);
  Value* down = c.g.sub(1.0, c.g.where(is_positive, c.number(0), x));
  constexpr double kTiny = 2.2204460492503131e-16;
  Value* positive = std::abs(lambda) < kTiny ? c.g.op("Log", {up})
                                             : c.g.div(c.g.sub(c.g.op("Pow", {up, c.number(lambda)}), 1.0), lambda);
  Value* negative = std::abs(lambda - 2) < kTiny
                        ? c.g.neg(c.g.op("Log", {down}))
                        : c.g.div(c.g.sub(c.g.op("Pow", {down, c.number(2 - lambda)}), 1.0), lambda - 2);
  return c.g.where(c.is_nan(x), x, c.g.where(is_positive, positive, negative));
}

}  // namespace

Columns power_transformer(Context& c, const Estimator& e, const Columns& x) {
  const bool is_box_cox = e.text("method", "yeo-johnson") == "box-cox";
  Value* numbers = c.numbers(x);
  const auto lambdas = e.vector("lambdas_");
  Values columns;
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    Value* column = c.column(numbers, static_cast<std::int64_t>(i));
    if (std::isnan(lambdas[i]))
      columns.push_back(column);
    else
      columns.push_back(is_box_cox ? box_cox(c, column, lambdas[i]) : yeo_johnson(c, column, lambdas[i]));
  }
  const Columns made = c.columns_of(c.g.concat(columns, 1));
  return e.flag("standardize", true) ? standard_scaler(c, e.child("_scaler"), made) : made;
}

/// Piecewise linear, flat outside: numpy.interp over ascending knots.
Value* interpolated(Context& c, Value* x, const std::vector<double>& knots, const std::vector<double>& values) {
  if (knots.empty() || knots.size() != values.size())
    throw Error(Code::bad_source_graph, "knots and values differ in number");
  const auto last = static_cast<std::int64_t>(knots.size()) - 1;
  if (last == 0) return c.g.add(c.g.mul(x, 0.0), values[0]);
  // The segment: how many knots are <= x, at least 1 and at most all but the last.
  Value* below = c.g.cast(c.g.op("GreaterOrEqual", {x, c.row(knots)}), DType::i64);  // [N, knots]
  Value* count = c.g.op("ReduceSum", {below, c.g.ints({1})}, {{"keepdims", 1}});
  Value* segment = c.g.op("Clip", {c.g.sub(count, c.g.index(1)), c.g.index(0), c.g.index(last - 1)});
  const auto pick = [&](const std::vector<double>& all, Value* at) {
    return c.g.op("Gather", {c.g.squeeze(c.row(all), {0}), at}, {{"axis", 0}});
  };
  std::vector<double> slopes(knots.size());
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const double step = knots[i + 1] - knots[i];
    slopes[i] = step > 0 ? (values[i + 1] - values[i]) / step : 0;
  }
  Value* inside = c.g.add(c.g.mul(pick(slopes, segment), c.g.sub(x, pick(knots, segment))), pick(values, segment));
  Value* capped = c.g.where(c.g.op("GreaterOrEqual", {x, c.number(knots.back())}), c.number(values.back()), inside);
  return c.g.where(c.g.op("Less", {x, c.number(knots.front())}), c.number(values.front()), capped);
}

Columns quantile_transformer(Context& c, const Estimator& e, const Columns& x) {
  const Matrix quantiles = e.matrix("quantiles_").turned();
  const auto references = e.vector("references_");
  const bool is_normal = e.text("output_distribution", "uniform") == "normal";
  Value* numbers = c.numbers(x);
  Values columns;
  for (std::int64_t f = 0; f < quantiles.rows; ++f) {
    const std::vector<double> up = quantiles.rows_of(f, 1).values;
    std::vector<double> down, turned;
    for (std::size_t i = up.size(); i-- > 0;) {
      down.push_back(-up[i]);
      turned.push_back(-references[i]);
    }
    Value* column = c.column(numbers, f);
    Value* y =
        c.g.mul(c.g.sub(interpolated(c, column, up, references), interpolated(c, c.g.neg(column), down, turned)), 0.5);
    // scikit-learn takes the ends from the extremes themselves.
    y = c.g.where(c.g.op("Equal", {column, c.number(up.back())}), c.number(1), y);
    y = c.g.where(c.g.op("Equal", {column, c.number(up.front())}), c.number(0), y);
    if (is_normal) {
      // What lies beyond the edges has their quantiles, of which the upper one is that of a rounded number.
      constexpr double kLow = -5.199337582605575, kHigh = 5.19933758270342, kClip = 1e-7 - 2.2204460492503131e-16;
      Value* inner = c.g.cast(c.g.op("Clip", {y, c.number(kClip), c.number(1 - kClip)}), DType::f64);
      Value* z = c.g.cast(numeric::normal_quantile(c.g, inner), c.elem);
      z = c.g.where(c.g.op("LessOrEqual", {y, c.number(kClip)}), c.number(kLow), z);
      y = c.g.where(c.g.op("GreaterOrEqual", {y, c.number(1 - kClip)}), c.number(kHigh), z);
    }
    columns.push_back(c.g.where(c.is_nan(column), column, y));
  }
  return c.columns_of(c.g.concat(columns, 1));
}

Columns polynomial_features(Context& c, const Estimator& e, const Columns& x) {
  const std::int64_t features = e.feature_count().value_or(e.integer("n_input_features_", width_of(x)));
  std::int64_t least = e.integer("_min_degree", 0), most = e.integer("_max_degree", e.integer("degree", 2));
  const bool is_interaction = e.flag("interaction_only"), has_bias = e.flag("include_bias", true);
  Value* numbers = c.numbers(x);
  Values columns;
  if (has_bias)
    columns.push_back(
        c.g.add(c.g.mul(c.g.where(c.is_nan(c.column(numbers, 0)), c.number(0), c.column(numbers, 0)), 0.0), 1.0));
  struct Term {
    Value* product;
    std::int64_t last;
  };
  std::vector<Term> terms = {{nullptr, 0}};
  for (std::int64_t degree = 1; degree <= most; ++degree) {
    std::vector<Term> longer;
    for (const Term& term : terms)
      for (std::int64_t f = term.last; f < features; ++f) {
        if (longer.size() > 100'000) refuse("it makes more than 100,000 columns");
        Value* column = c.column(numbers, f);
        longer.push_back({term.product ? c.g.mul(term.product, column) : column, is_interaction ? f + 1 : f});
      }
    terms = std::move(longer);
    if (degree < least) continue;
    for (const Term& term : terms) columns.push_back(term.product);
  }
  return c.columns_of(c.g.concat(columns, 1));
}

Columns bins_discretizer(Context& c, const Estimator& e, const Columns& x) {
  const auto edges = e.list("bin_edges_");
  Value* numbers = c.numbers(x);
  Values columns;
  for (std::size_t f = 0; f < edges.size(); ++f) {
    auto all = e.doubles(edges[f].value());
    Value* column = c.column(numbers, static_cast<std::int64_t>(f));
    if (e.version() != 0 && e.version() < 101) {  // values close to an edge count as behind it
      for (double& edge : all) edge -= 1e-8 + 1e-5 * std::abs(edge);
    }
    const std::vector<double> inner(all.begin() + 1, all.end() - 1);
    if (inner.empty()) {
      columns.push_back(c.g.mul(column, 0.0));
      continue;
    }
    columns.push_back(c.sum_rows(c.g.cast(c.g.op("GreaterOrEqual", {column, c.row(inner)}), c.elem)));
  }
  const Columns bins = c.columns_of(c.g.concat(columns, 1));
  return e.text("encode", "onehot") == "ordinal" ? bins : one_hot_columns(c, e.child("_encoder"), bins);
}

Columns function_transformer(Context& c, const Estimator& e, const Columns& x) {
  const pickle::Ref f = e.find("func");
  if (!f || f->is_none()) return x;
  if (!f->is(pickle::Kind::global) || (e.has("kw_args") && !pickle::entries_of(*e.find("kw_args")).empty()))
    throw Error(Code::code_refused, "its function is program code, which would have to be executed")
        .hint("functions of NumPy without arguments are translated");
  const std::string name = e.numpy_function(f);
  Value* v = c.numbers(x);
  const auto made = [&]() -> Value* {
    if (name == "log1p") return c.g.op("Log", {c.g.add(v, 1.0)});
    if (name == "log") return c.g.op("Log", {v});
    if (name == "log2") return c.g.div(c.g.op("Log", {v}), std::numbers::ln2);
    if (name == "log10") return c.g.div(c.g.op("Log", {v}), std::numbers::ln10);
    if (name == "exp") return c.g.op("Exp", {v});
    if (name == "expm1") return c.g.sub(c.g.op("Exp", {v}), 1.0);
    if (name == "sqrt") return c.g.op("Sqrt", {v});
    if (name == "square") return c.g.mul(v, v);
    if (name == "abs" || name == "absolute" || name == "fabs") return c.g.op("Abs", {v});
    if (name == "negative") return c.g.neg(v);
    if (name == "reciprocal") return c.g.div(1.0, v);
    if (name == "sin") return c.g.op("Sin", {v});
    if (name == "cos") return c.g.op("Cos", {v});
    if (name == "tan") return c.g.op("Tan", {v});
    if (name == "tanh") return c.g.op("Tanh", {v});
    if (name == "sign") return c.g.op("Sign", {v});
    if (name == "floor") return c.g.op("Floor", {v});
    if (name == "ceil") return c.g.op("Ceil", {v});
    if (name == "rint") return c.g.op("Round", {v});
    if (name == "cbrt") return c.g.mul(c.g.op("Sign", {v}), c.g.op("Pow", {c.g.op("Abs", {v}), c.number(1.0 / 3)}));
    throw Error(Code::code_refused, "the function " + f->symbol->full_name() + " is not known, and is not executed")
        .hint("functions of NumPy such as log1p, exp and sqrt are translated");
  };
  return c.columns_of(made());
}

Columns kernel_centerer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(centred_kernel(c, e, c.numbers(x)));
}

Value* centred_kernel(Context& c, const Estimator& e, Value* k) {
  const auto rows = e.vector("K_fit_rows_");
  Value* mean = c.g.div(c.sum_rows(k), static_cast<double>(rows.size()));
  return c.g.add(c.g.sub(c.g.sub(k, c.row(rows)), mean), e.number("K_fit_all_"));
}

}  // namespace ingot::frontends::sklearn
