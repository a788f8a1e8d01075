// Support vector machines and neighbours, neural networks.
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/frontends/boosting/prediction.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

boosting::KernelMachine machine_of(const Estimator& e, bool has_classes) {
  boosting::KernelMachine m;
  m.kernel = e.text("kernel", "");
  if (m.kernel.empty()) refuse("its kernel is a function of Python's", "use a kernel that has a name");
  const bool is_precomputed = m.kernel == "precomputed";
  const Matrix vectors = is_precomputed ? Matrix{} : e.matrix("support_vectors_");
  if (is_precomputed)
    for (const double place : e.vector("support_")) m.chosen.push_back(static_cast<std::int64_t>(place));
  m.gamma = e.has("_gamma") ? e.number("_gamma") : e.number("gamma", 0);
  m.coef0 = e.number("coef0", 0);
  m.degree = e.integer("degree", 3);
  m.features = vectors.columns;
  m.vectors = vectors.values;
  // In libsvm's own signs; of older files those of two classes are turned.
  m.dual = e.matrix(e.has("_dual_coef_") ? "_dual_coef_" : "dual_coef_").values;
  m.intercepts = e.vector(e.has("_intercept_") ? "_intercept_" : "intercept_");
  if (!has_classes) return m;
  for (const double n : e.doubles(e.get_any({"_n_support", "n_support_"})))
    m.support_counts.push_back(static_cast<std::int64_t>(n));
  if (e.has("_probA") || e.has("probA_")) {
    m.prob_a = e.doubles(e.get_any({"_probA", "probA_"}));
    m.prob_b = e.doubles(e.get_any({"_probB", "probB_"}));
  }
  return m;
}

/// One against the rest from one against one: votes, and between votes the sums of decisions.
Value* one_against_rest(Context& c, Value* decisions, Value* votes, std::int64_t classes) {
  const std::int64_t pairs = classes * (classes - 1) / 2;
  Matrix signs{pairs, classes, std::vector<double>(static_cast<std::size_t>(pairs * classes))};
  std::int64_t pair = 0;
  for (std::int64_t i = 0; i < classes; ++i)
    for (std::int64_t j = i + 1; j < classes; ++j, ++pair) {
      signs.values[static_cast<std::size_t>(pair * classes + i)] = 1;
      signs.values[static_cast<std::size_t>(pair * classes + j)] = -1;
    }
  Value* sums = c.g.op("MatMul", {decisions, c.matrix(signs)});
  return c.g.add(votes, c.g.div(sums, c.g.mul(c.g.add(c.g.op("Abs", {sums}), 1.0), 3.0)));
}

}  // namespace

Result support_classifier(Context& c, const Estimator& e, const Columns& x) {
  const boosting::KernelMachine m = machine_of(e, true);
  Labels classes = e.labels("classes_");
  const auto count = static_cast<std::int64_t>(classes.size());
  if (count != std::ssize(m.support_counts))
    throw Error(Code::bad_source_graph, "its vectors do not belong to its classes");
  Value* numbers = c.numbers(x);
  Value* decisions = boosting::pair_decisions(c.g, numbers, m);
  Result result;
  result.classes = std::move(classes);
  Value* votes = boosting::pair_votes(c.g, decisions, count);
  result.place = c.arg_max(votes);
  if (count == 2)
    result.scores = c.g.neg(decisions);
  else
    result.scores =
        e.text("decision_function_shape", "ovr") == "ovo" ? decisions : one_against_rest(c, decisions, votes, count);
  if (e.flag("break_ties") && count > 2) result.place = c.arg_max(result.scores);
  if (!m.prob_a.empty()) result.probabilities = boosting::coupled_probabilities(c.g, decisions, m, count);
  return result;
}

Result support_regressor(Context& c, const Estimator& e, const Columns& x) {
  return {.values = boosting::pair_decisions(c.g, c.numbers(x), machine_of(e, false))};
}

Result one_class_machine(Context& c, const Estimator& e, const Columns& x) {
  Value* decision = boosting::pair_decisions(c.g, c.numbers(x), machine_of(e, false));
  Result result;
  result.scores = decision;
  Value* is_inlier = c.g.op("Greater", {decision, c.number(0)});
  result.label = c.g.squeeze(c.g.where(is_inlier, c.g.index(1), c.g.index(-1)), {1});
  return result;
}

Result sgd_one_class(Context& c, const Estimator& e, const Columns& x) {
  Value* sum = c.linear(c.numbers(x), e.matrix("coef_"), {});
  return outlier_result(c, c.g.sub(sum, c.row(e.vector("offset_"))));
}

namespace {

/// Distances [N, rows] by the metric that the estimator settled on.
Value* distances(Context& c, const Estimator& e, Value* x, const Matrix& points) {
  std::string metric = e.text("effective_metric_", e.text("metric", "minkowski"));
  double p = e.number("p", 2);
  if (const pickle::Ref params = e.find("effective_metric_params_"))
    if (const pickle::Ref own = pickle::find(*params, "p")) p = e.number_in(own).value_or(p);
  if (metric == "minkowski")
    metric = p == 1 ? "manhattan" : p == 2 ? "euclidean" : std::isinf(p) ? "chebyshev" : metric;
  if (metric == "euclidean" || metric == "l2") return c.g.op("Sqrt", {c.square_distances(x, points)});
  if (metric == "sqeuclidean") return c.square_distances(x, points);
  Value* all = c.g.unsqueeze(c.matrix(points), {0});
  Value* size = c.g.op("Abs", {c.g.sub(c.g.unsqueeze(x, {1}), all)});
  const auto summed = [&](Value* v) { return c.g.op("ReduceSum", {v, c.g.ints({2})}, {{"keepdims", 0}}); };
  if (metric == "manhattan" || metric == "cityblock" || metric == "l1") return summed(size);
  if (metric == "chebyshev" || metric == "infinity")
    return c.g.op("ReduceMax", {size, c.g.ints({2})}, {{"keepdims", 0}});
  if (metric == "minkowski") return c.g.op("Pow", {summed(c.g.op("Pow", {size, c.number(p)})), c.number(1 / p)});
  if (metric == "hamming")
    return c.g.div(summed(c.g.cast(c.g.op("Greater", {size, c.number(0)}), c.elem)),
                   static_cast<double>(points.columns));
  if (metric == "cosine") {
    Matrix unit = points;
    for (std::int64_t r = 0; r < unit.rows; ++r) {
      double norm = 0;
      for (std::int64_t k = 0; k < unit.columns; ++k) norm += unit.at(r, k) * unit.at(r, k);
      for (std::int64_t k = 0; k < unit.columns && norm > 0; ++k)
        unit.values[static_cast<std::size_t>(r * unit.columns + k)] /= std::sqrt(norm);
    }
    Value* norm = c.g.op("Sqrt", {c.sum_rows(c.g.mul(x, x))});
    norm = c.g.where(c.g.op("Equal", {norm, c.number(0)}), c.number(1), norm);
    return c.g.sub(1.0, c.linear(c.g.div(x, norm), unit, {}));
  }
  refuse("the metric '" + metric + "' is not translated",
         "euclidean, manhattan, minkowski, chebyshev, hamming and cosine are");
}

struct Nearest {
  Value *distances, *places;  // [N, k]
};
Nearest nearest(Context& c, Value* all, std::int64_t k) {
  const Values both = c.g.op("TopK", {all, c.g.ints({k})}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2);
  return {both[0], both[1]};
}

}  // namespace

Value* neighbour_weights(Context& c, const Estimator& e, Value* distance) {
  const std::string mode = e.text("weights", e.has("weights") ? "" : "uniform");
  if (mode == "uniform") return nullptr;
  if (mode != "distance") refuse("its weights are a function of Python's", "uniform and distance are translated");
  Value* is_match = c.g.cast(c.g.op("Equal", {distance, c.number(0)}), c.elem);
  Value* has_match = c.g.op("Greater", {c.sum_rows(is_match), c.number(0)});
  Value* safe = c.g.where(c.g.op("Equal", {distance, c.number(0)}), c.number(1), distance);
  return c.g.where(has_match, is_match, c.g.div(1.0, safe));
}

namespace {

Matrix targets_of(const Estimator& e) {
  Matrix y = e.matrix("_y");
  const std::int64_t points = e.matrix("_fit_X").rows;
  if (y.rows == 1 && y.columns == points) y = y.turned();
  if (y.rows != points) throw Error(Code::bad_source_graph, "it does not have a target for each point");
  return y;
}

/// A digit for each class that a column of the targets names.
Matrix one_hot_targets(const Matrix& y, std::int64_t column, std::size_t classes) {
  Matrix made{y.rows, static_cast<std::int64_t>(classes),
              std::vector<double>(static_cast<std::size_t>(y.rows) * classes)};
  for (std::int64_t r = 0; r < y.rows; ++r) {
    const double k = y.at(r, column);
    if (!(k >= 0) || k >= static_cast<double>(classes)) throw Error(Code::bad_source_graph, "a point has no class");
    made.values[static_cast<std::size_t>(r) * classes + static_cast<std::size_t>(k)] = 1;
  }
  return made;
}

/// What neighbours vote for; `sums` adds up their rows in a table. Of several outputs each is voted on by itself.
template <typename Sums> Result voted(Context& c, const Estimator& e, const Sums& sums) {
  const Matrix y = targets_of(e);
  const auto classes = classes_by_output(e, static_cast<std::size_t>(y.columns));
  Result result;
  Values labels;
  for (std::int64_t o = 0; o < y.columns; ++o) {
    const Labels& own = classes[static_cast<std::size_t>(o)];
    Value* votes = sums(one_hot_targets(y, o, own.size()));
    Result one = from_probabilities(c, c.normalised(votes), own);
    one.place = c.arg_max(votes);
    if (y.columns == 1) return one;
    labels.push_back(c.g.unsqueeze(c.label_of(one), {1}));
    if (o == 0)
      result.probabilities = one.probabilities;
    else
      result.more_probabilities.push_back(one.probabilities);
  }
  if (labels.empty()) throw Error(Code::bad_source_graph, "it has no target");
  result.label = c.g.concat(labels, 1);
  return result;
}

/// Sums over the neighbours of their rows in `table`, [N, columns], weighted.
Value* neighbour_sums(Context& c, const Nearest& near, Value* weights, const Matrix& table) {
  Value* rows = c.g.op("Gather", {c.matrix(table), near.places}, {{"axis", 0}});  // [N, k, columns]
  if (weights) rows = c.g.mul(rows, c.g.unsqueeze(weights, {2}));
  return c.g.op("ReduceSum", {rows, c.g.ints({1})}, {{"keepdims", 0}});
}

}  // namespace

Result nearest_classifier(Context& c, const Estimator& e, const Columns& x) {
  const Nearest near = nearest(c, distances(c, e, c.numbers(x), e.matrix("_fit_X")), e.integer("n_neighbors"));
  Value* weights = neighbour_weights(c, e, near.distances);
  return voted(c, e, [&](const Matrix& table) { return neighbour_sums(c, near, weights, table); });
}

Result nearest_regressor(Context& c, const Estimator& e, const Columns& x) {
  const std::int64_t k = e.integer("n_neighbors");
  const Nearest near = nearest(c, distances(c, e, c.numbers(x), e.matrix("_fit_X")), k);
  Value* weights = neighbour_weights(c, e, near.distances);
  Value* sum = neighbour_sums(c, near, weights, targets_of(e));
  return {.values = weights ? c.g.div(sum, c.sum_rows(weights)) : c.g.div(sum, static_cast<double>(k))};
}

Result radius_classifier(Context& c, const Estimator& e, const Columns& x) {
  Value* all = distances(c, e, c.numbers(x), e.matrix("_fit_X"));
  Value* inside = c.g.cast(c.g.op("LessOrEqual", {all, c.number(e.number("radius"))}), c.elem);
  if (Value* weights = neighbour_weights(c, e, all)) inside = c.g.mul(inside, weights);
  if (e.has("outlier_label")) c.notes.add("rows without a neighbour get the first class, not the outlier label");
  return voted(c, e, [&](const Matrix& table) { return c.g.op("MatMul", {inside, c.matrix(table)}); });
}

Result radius_regressor(Context& c, const Estimator& e, const Columns& x) {
  Value* all = distances(c, e, c.numbers(x), e.matrix("_fit_X"));
  Value* inside = c.g.cast(c.g.op("LessOrEqual", {all, c.number(e.number("radius"))}), c.elem);
  if (Value* weights = neighbour_weights(c, e, all)) inside = c.g.mul(inside, weights);
  return {.values = c.g.div(c.g.op("MatMul", {inside, c.matrix(targets_of(e))}), c.sum_rows(inside))};
}

Result nearest_centroid(Context& c, const Estimator& e, const Columns& x) {
  Value* all = distances(c, e, c.numbers(x), e.matrix("centroids_"));
  Result result;
  result.classes = e.labels("classes_");
  result.place = c.arg_max(c.g.neg(all));
  return result;
}

/// Labels spread along the kernel from the points of the fit.
Result label_propagation(Context& c, const Estimator& e, const Columns& x) {
  const Matrix points = e.matrix("X_"), labels = e.matrix("label_distributions_");
  Value* votes = nullptr;
  if (e.text("kernel") == "knn") {
    const Nearest near = nearest(c, c.square_distances(c.numbers(x), points), e.integer("n_neighbors", 7));
    votes = neighbour_sums(c, near, nullptr, labels);
  } else if (e.text("kernel") == "rbf") {
    Value* kernel = c.g.op("Exp", {c.g.mul(c.square_distances(c.numbers(x), points), -e.number("gamma", 20))});
    votes = c.g.op("MatMul", {kernel, c.matrix(labels)});
  } else {
    refuse("its kernel is a function of Python's", "rbf and knn are translated");
  }
  return from_probabilities(c, c.g.div(votes, c.sum_rows(votes)), e.labels("classes_"));
}

/// How much less dense a point lies than its neighbours.
Result local_outlier(Context& c, const Estimator& e, const Columns& x) {
  if (!e.flag("novelty")) refuse("it was fitted to find outliers among its own samples", "fit it with novelty=True");
  const std::int64_t k = e.integer("n_neighbors_");
  const Nearest near = nearest(c, distances(c, e, c.numbers(x), e.matrix("_fit_X")), k);
  const Matrix own = e.matrix("_distances_fit_X_");
  std::vector<double> farthest;
  for (std::int64_t r = 0; r < own.rows; ++r) farthest.push_back(own.at(r, std::min(k, own.columns) - 1));
  const auto pick = [&](const std::vector<double>& values) {
    return c.g.op("Gather", {c.g.squeeze(c.row(values), {0}), near.places}, {{"axis", 0}});
  };
  Value* reach = c.g.op("Max", {near.distances, pick(farthest)});
  const auto mean = [&](Value* v) { return c.g.op("ReduceMean", {v, c.g.ints({1})}, {{"keepdims", 1}}); };
  Value* density = c.g.div(1.0, c.g.add(mean(reach), 1e-10));
  Value* ratio = mean(c.g.div(pick(e.vector("_lrd")), density));
  return outlier_result(c, c.g.sub(c.g.neg(ratio), e.number("offset_")));
}

Value* network(Context& c, const Estimator& e, const Columns& x, const std::string& last) {
  const auto weights = e.list("coefs_"), shifts = e.list("intercepts_");
  if (weights.size() != shifts.size() || weights.empty())
    throw Error(Code::bad_source_graph, "its layers are not complete");
  const auto activated = [&](Value* v, const std::string& name) {
    if (name == "relu") return c.g.op("Relu", {v});
    if (name == "tanh") return c.g.op("Tanh", {v});
    if (name == "logistic") return c.sigmoid(v);
    if (name == "softmax") return c.softmax(v);
    if (name == "identity") return v;
    refuse("the activation '" + name + "' is not translated");
  };
  Value* v = c.numbers(x);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    v = c.g.op("MatMul", {v, c.matrix(e.to_matrix(weights[i].value()))});
    v = c.g.add(v, c.row(e.doubles(shifts[i].value())));
    v = activated(v, i + 1 < weights.size() ? e.text("activation", "relu") : last);
  }
  return v;
}

Result network_classifier(Context& c, const Estimator& e, const Columns& x) {
  const std::string last = e.text("out_activation_");
  Value* out = network(c, e, x, last);
  Labels classes = classes_of(e);
  if (last == "softmax") return from_probabilities(c, out, std::move(classes));
  if (e.integer("n_outputs_", 1) > 1) {  // several labels at once
    Result result;
    result.probabilities = out;
    result.label = c.g.cast(c.g.op("Greater", {out, c.number(0.5)}), DType::i64);
    return result;
  }
  Result result = from_probabilities(c, two_columns(c, out), std::move(classes));
  result.place = c.g.squeeze(c.g.cast(c.g.op("Greater", {out, c.number(0.5)}), DType::i64), {1});
  return result;
}

Result network_regressor(Context& c, const Estimator& e, const Columns& x) {
  return {.values = network(c, e, x, e.text("out_activation_", "identity"))};
}

}  // namespace ingot::frontends::sklearn
