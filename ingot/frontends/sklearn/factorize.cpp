// Factorizations that solve a problem for each row: NMF and its kin, and latent Dirichlet allocation.
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr double kSmall = std::numeric_limits<float>::epsilon();  // what scikit-learn puts in place of zeros
constexpr double kTiny = std::numeric_limits<double>::epsilon();
constexpr std::int64_t kCheckEvery = 10;  // rounds of multiplicative updates between two looks at the error

/// The penalties on what is solved for: sums of sizes, and of squares.
struct Penalty {
  double l1 = 0;
  double l2 = 0;
};

Penalty penalty_of(const Estimator& e, std::int64_t features) {
  const double ratio = e.number("l1_ratio", 0);
  const auto old = e.has("alpha") ? e.number_in(e.find("alpha")) : std::nullopt;  // a word where it is no longer used
  double alpha = 0;
  if (old) {
    const std::string where = e.text("regularization", "both");
    if (where != "components" && where != "None") alpha = *old;
  } else if (e.has("alpha_W")) {
    alpha = e.number("alpha_W") * static_cast<double>(features);
  }
  return {.l1 = alpha * ratio, .l2 = alpha * (1 - ratio)};
}

/// H H^T.
Matrix gram(const Matrix& h) {
  Matrix made{h.rows, h.rows, std::vector<double>(static_cast<std::size_t>(h.rows * h.rows))};
  for (std::int64_t r = 0; r < h.rows; ++r)
    for (std::int64_t k = 0; k < h.rows; ++k) {
      double sum = 0;
      for (std::int64_t f = 0; f < h.columns; ++f) sum += h.at(r, f) * h.at(k, f);
      made.values[static_cast<std::size_t>(r * h.rows + k)] = sum;
    }
  return made;
}

/// A row of numbers for each row of x.
Value* for_each_row(GraphBuilder& g, Value* x, Value* row, std::int64_t width) {
  Value* rows = g.op("Shape", {x}, {{"start", 0}, {"end", 1}});
  return g.op("Expand", {row, g.concat({rows, g.ints({width})}, 0)});
}

Value* total(GraphBuilder& g, Value* x) { return g.op("ReduceSum", {x}, {{"keepdims", 0}}); }

Value* is_before(GraphBuilder& g, Value* round, std::int64_t rounds) {
  return g.op("Less", {round, g.index(rounds - 1)});
}

std::int64_t rounds_of(const Estimator& e, std::string_view attribute, std::int64_t fallback) {
  const std::int64_t rounds = e.integer(attribute, fallback);
  if (rounds < 1) throw Error(Code::bad_source_graph, "its number of rounds is not positive");
  return rounds;
}

/// One look at each component in turn: W moves to the best value of that component, and how far off it was adds up.
Values descended(Context& c, GraphBuilder& outer, const Matrix& inner_products, Value* products, Value* w) {
  const std::int64_t k = inner_products.rows;
  std::vector<double> curvature, is_live;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < k; ++i) {
    const double h = inner_products.at(i, i);
    curvature.push_back(h == 0 ? 1 : h);
    is_live.push_back(h == 0 ? 0 : 1);
    places.push_back(i);
  }
  Value* all = c.matrix(inner_products);
  Value* curvatures = c.row(curvature);
  Value* live = c.row(is_live);
  Value* numbers = c.g.constant(Tensor::ints(places).reshaped({1, k}));
  return repeat(outer, c.g.index(k), {w, c.number(0)}, [&](GraphBuilder& g, Value* t, const Values& state) -> Values {
    Value* at = g.unsqueeze(t, {0});
    const auto column = [&](Value* v) { return g.op("Gather", {v, at}, {{"axis", 1}}); };
    Value* own = column(state[0]);
    Value* slope = g.sub(g.op("MatMul", {state[0], column(all)}), column(products));
    Value* downhill = g.op("Min", {slope, g.scalar(0, c.elem)});
    Value* is_zero = g.op("Equal", {own, g.scalar(0, c.elem)});
    Value* off = total(g, g.op("Abs", {g.where(is_zero, downhill, slope)}));
    Value* best = g.op("Max", {g.sub(own, g.div(slope, column(curvatures))), g.scalar(0, c.elem)});
    Value* moves = g.op("And", {g.op("Equal", {numbers, t}), g.op("Greater", {column(live), g.scalar(0.5, c.elem)})});
    return {g.where(moves, best, state[0]), g.add(state[1], off)};
  });
}

Value* by_coordinates(Context& c, const Estimator& e, Value* x, const Matrix& h, const Penalty& penalty) {
  if (e.flag("shuffle")) refuse("it takes its components in a random order", "fit it with shuffle=False");
  Matrix inner_products = gram(h);
  for (std::int64_t i = 0; i < h.rows; ++i)
    inner_products.values[static_cast<std::size_t>(i * h.rows + i)] += penalty.l2;
  Value* products = c.linear(x, h, {});
  if (penalty.l1 != 0) products = c.g.sub(products, penalty.l1);
  const double tolerance = e.number("tol", 1e-4);
  const std::int64_t rounds = rounds_of(e, "max_iter", 200);
  Value* start = for_each_row(c.g, x, c.number(0), h.rows);
  return repeat_while(c.g, {start, c.number(0)},
                      [&](GraphBuilder& g, Value* round, const Values& state) -> Values {
                        const Values made = descended(c, g, inner_products, products, state[0]);
                        Value* is_first = g.op("Equal", {round, g.index(0)});
                        Value* first = g.where(is_first, made[1], state[1]);
                        Value* is_done = g.op("LessOrEqual", {g.div(made[1], first), g.scalar(tolerance, c.elem)});
                        is_done = g.op("Or", {is_done, g.op("Equal", {first, g.scalar(0, c.elem)})});
                        Value* goes_on = g.op("And", {g.op("Not", {is_done}), is_before(g, round, rounds)});
                        return {made[0], first, goes_on};
                      })
      .at(0);
}

double beta_of(const Estimator& e) {
  if (const auto number = e.has("beta_loss") ? e.number_in(e.find("beta_loss")) : std::nullopt) return *number;
  const std::string word = e.text("beta_loss", "frobenius");
  if (word == "frobenius") return 2;
  if (word == "kullback-leibler") return 1;
  if (word == "itakura-saito") return 0;
  refuse("the loss '" + word + "' is not known");
}

/// The multiplicative updates of W in X = W H, and the distance between the two.
class Updates {
 public:
  Updates(Context& c, Value* x, const Matrix& h, const Penalty& penalty, double beta)
      : elem_(c.elem), x_(x), penalty_(penalty), beta_(beta) {
    h_ = c.matrix(h);
    turned_ = c.matrix(h.turned());
    products_ = c.g.op("MatMul", {x, turned_});
    squares_ = c.matrix(gram(h));
    std::vector<double> sums;
    for (std::int64_t r = 0; r < h.rows; ++r) {
      double sum = 0;
      for (std::int64_t f = 0; f < h.columns; ++f) sum += h.at(r, f);
      sums.push_back(sum);
    }
    sums_ = c.row(sums);
  }

  Value* next(GraphBuilder& g, Value* w) const {
    Value* above = products_;
    Value* below = nullptr;
    if (beta_ == 2) {
      below = g.op("MatMul", {w, squares_});
    } else {
      Value* wh = g.op("MatMul", {w, h_});
      Value* safe = without_zeros(g, wh);
      Value* ratio =
          beta_ == 1 ? g.div(x_, beta_ < 2 ? safe : wh) : g.mul(power(g, beta_ < 2 ? safe : wh, beta_ - 2), x_);
      above = g.op("MatMul", {ratio, turned_});
      below = beta_ == 1 ? sums_ : g.op("MatMul", {power(g, beta_ < 1 ? safe : wh, beta_ - 1), turned_});
    }
    if (penalty_.l1 > 0) below = g.add(below, penalty_.l1);
    if (penalty_.l2 > 0) below = g.add(below, g.mul(w, penalty_.l2));
    Value* factor = g.div(above, without_zeros(g, below));
    const double gamma = beta_ < 1 ? 1 / (2 - beta_) : beta_ > 2 ? 1 / (beta_ - 1) : 1;
    return g.mul(w, gamma == 1 ? factor : power(g, factor, gamma));
  }

  /// The root of twice the divergence of x from w h, rank 0.
  Value* error(GraphBuilder& g, Value* w) const {
    Value* wh = g.op("MatMul", {w, h_});
    if (beta_ == 2) {
      Value* apart = g.sub(x_, wh);
      return g.op("Sqrt", {total(g, g.mul(apart, apart))});
    }
    Value* zero = g.scalar(0, elem_);
    Value* counts = g.op("Greater", {x_, g.scalar(kSmall, elem_)});
    Value* x = g.where(counts, x_, zero);
    Value* safe = without_zeros(g, wh);
    const auto counted = [&](Value* v) { return total(g, g.where(counts, v, zero)); };
    Value* sum = nullptr;
    if (beta_ == 0 || beta_ == 1) {
      Value* ratio = g.div(x, safe);
      Value* logarithm = g.op("Log", {g.where(counts, ratio, g.scalar(1, elem_))});
      if (beta_ == 1) {
        sum = g.add(total(g, g.mul(x, logarithm)), g.sub(total(g, wh), total(g, x)));
      } else {
        Value* size = g.cast(g.op("Size", {x_}), elem_);
        sum = g.sub(g.sub(total(g, ratio), size), total(g, logarithm));
      }
    } else {
      Value* cross = total(g, g.mul(x, power(g, safe, beta_ - 1)));
      sum = g.sub(counted(power(g, x_, beta_)), g.mul(cross, beta_));
      sum = g.add(sum, g.mul(total(g, power(g, wh, beta_)), beta_ - 1));
      sum = g.div(sum, beta_ * (beta_ - 1));
    }
    return g.op("Sqrt", {g.mul(g.op("Max", {sum, zero}), 2)});
  }

 private:
  Value* power(GraphBuilder& g, Value* v, double exponent) const { return g.op("Pow", {v, g.scalar(exponent, elem_)}); }
  Value* without_zeros(GraphBuilder& g, Value* v) const {
    return g.where(g.op("Equal", {v, g.scalar(0, elem_)}), g.scalar(kSmall, elem_), v);
  }

  DType elem_;
  Value *x_, *h_, *turned_, *products_, *squares_, *sums_;
  Penalty penalty_;
  double beta_;
};

/// Every row begins with the root of the mean of all of x over the number of components.
Value* mean_start(Context& c, Value* x, std::int64_t components) {
  Value* mean = c.g.op("ReduceMean", {x}, {{"keepdims", 0}});
  return for_each_row(c.g, x, c.g.op("Sqrt", {c.g.div(mean, static_cast<double>(components))}), components);
}

Value* by_factors(Context& c, const Estimator& e, Value* x, const Matrix& h, const Penalty& penalty) {
  const double beta = beta_of(e), tolerance = e.number("tol", 1e-4);
  const std::int64_t rounds = rounds_of(e, "max_iter", 200);
  const Updates updates(c, x, h, penalty, beta);
  Value* start = mean_start(c, x, h.rows);
  const auto once = [&](GraphBuilder& g, Value*, const Values& state) -> Values {
    Value* w = updates.next(g, state[0]);
    if (beta >= 1) return {w};
    Value* is_tiny = g.op("Less", {w, g.scalar(kTiny, c.elem)});
    return {g.where(is_tiny, g.scalar(0, c.elem), w)};
  };
  if (!(tolerance > 0)) return repeat(c.g, c.g.index(rounds), {start}, once).at(0);
  Value* first = updates.error(c.g, start);
  const std::int64_t looks = (rounds + kCheckEvery - 1) / kCheckEvery;
  const auto some = [&](GraphBuilder& g, Value* look, const Values& state) -> Values {
    Value* left = g.sub(g.index(rounds), g.op("Mul", {look, g.index(kCheckEvery)}));
    Value* w = repeat(g, g.op("Min", {left, g.index(kCheckEvery)}), {state[0]}, once).at(0);
    Value* error = updates.error(g, w);
    Value* gain = g.div(g.sub(state[1], error), first);
    Value* is_done = g.op("Less", {gain, g.scalar(tolerance, c.elem)});
    return {w, error, g.op("And", {g.op("Not", {is_done}), is_before(g, look, looks)})};
  };
  return repeat_while(c.g, {start, first}, some).at(0);
}

/// log(x) and its kin as scikit-learn's own digamma function has it, a series behind 6.
Value* series_digamma(GraphBuilder& g, Value* x) {
  const auto number = [&](double v) { return g.scalar(v, x->type.elem); };
  Value *at = x, *sum = number(0);
  for (int i = 0; i < 6; ++i) {
    Value* is_low = g.op("Less", {at, number(6)});
    sum = g.where(is_low, g.sub(sum, g.div(1, at)), sum);
    at = g.where(is_low, g.add(at, 1), at);
  }
  Value* r = g.div(1, at);
  sum = g.sub(g.add(sum, g.op("Log", {at})), g.mul(r, 0.5));
  Value* r2 = g.mul(r, r);
  Value* tail = g.sub(1.0 / 120, g.mul(r2, 1.0 / 252));
  sum = g.sub(sum, g.mul(r2, g.sub(1.0 / 12, g.mul(r2, tail))));
  Value* is_tiny = g.op("LessOrEqual", {x, number(1e-6)});
  return g.where(is_tiny, g.sub(-std::numbers::egamma, g.div(1, x)), sum);
}

/// exp(E[log p]) of Dirichlet distributions, a row each.
Value* expected_weights(GraphBuilder& g, Value* counts) {
  return g.op("Exp", {g.sub(series_digamma(g, counts), series_digamma(g, g.reduce_sum(counts, {1})))});
}

}  // namespace

Columns nonnegative_factors(Context& c, const Estimator& e, const Columns& x) {
  const Matrix h = e.matrix("components_");
  if (h.columns != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const Penalty penalty = penalty_of(e, h.columns);
  Value* numbers = c.numbers(x);
  c.couples_rows = true;
  c.notes.add("when " + std::string(e.name()) + " has converged is told by all rows of a batch, as in scikit-learn");
  const bool by_coordinate = e.text("solver", "cd") == "cd";
  return c.columns_of(by_coordinate ? by_coordinates(c, e, numbers, h, penalty)
                                    : by_factors(c, e, numbers, h, penalty));
}

Columns minibatch_factors(Context& c, const Estimator& e, const Columns& x) {
  const Matrix h = e.matrix("components_");
  if (h.columns != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const double tolerance = e.number("tol", 1e-4);
  const std::int64_t rounds = rounds_of(e, e.has("_transform_max_iter") ? "_transform_max_iter" : "max_iter", 200);
  Value* numbers = c.numbers(x);
  c.couples_rows = true;
  c.notes.add("when MiniBatchNMF has converged is told by all rows of a batch, as in scikit-learn");
  const Updates updates(c, numbers, h, penalty_of(e, h.columns), beta_of(e));
  const auto once = [&](GraphBuilder& g, Value* round, const Values& state) -> Values {
    Value* w = updates.next(g, state[0]);
    Value* goes_on = is_before(g, round, rounds);
    if (tolerance > 0) {
      const auto size = [&](Value* v) { return g.op("Sqrt", {total(g, g.mul(v, v))}); };
      Value* moved = g.div(size(g.sub(w, state[0])), size(w));
      goes_on = g.op("And", {goes_on, g.op("Not", {g.op("LessOrEqual", {moved, g.scalar(tolerance, c.elem)})})});
    }
    return {w, goes_on};
  };
  return c.columns_of(repeat_while(c.g, {mean_start(c, numbers, h.rows)}, once).at(0));
}

Columns topic_shares(Context& c, const Estimator& e, const Columns& x) {
  const Matrix words = e.matrix("exp_dirichlet_component_");
  if (words.columns != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const std::int64_t topics = words.rows, rounds = rounds_of(e, "max_doc_update_iter", 100);
  const double tolerance = e.number("mean_change_tol", 1e-3), prior = e.number("doc_topic_prior_");
  const double tiny = c.elem == DType::f64 ? kTiny : kSmall;
  Value* counts = c.numbers(x);
  Value* by_topic = c.matrix(words);
  Value* by_word = c.matrix(words.turned());
  Value* ones = for_each_row(c.g, counts, c.number(1), topics);
  Value* is_open = c.g.op("Equal", {c.column(ones, 0), c.number(1)});
  const Values last = repeat_while(
      c.g, {ones, expected_weights(c.g, ones), is_open},
      [&](GraphBuilder& g, Value* round, const Values& state) -> Values {
        Value* phi = g.add(g.op("MatMul", {state[1], by_topic}), tiny);
        Value* next = g.add(g.mul(state[1], g.op("MatMul", {g.div(counts, phi), by_word})), prior);
        Value* change = g.div(g.reduce_sum(g.op("Abs", {g.sub(state[0], next)}), {1}), static_cast<double>(topics));
        Value* is_done = g.op("Less", {change, g.scalar(tolerance, c.elem)});
        Value* stays_open = g.op("And", {state[2], g.op("Not", {is_done})});
        Value* left = g.op("ReduceMax", {g.cast(stays_open, DType::i64)}, {{"keepdims", 0}});
        Value* goes_on = g.op("And", {g.op("Greater", {left, g.index(0)}), is_before(g, round, rounds)});
        return {g.where(state[2], next, state[0]), g.where(state[2], expected_weights(g, next), state[1]), stays_open,
                goes_on};
      });
  return c.columns_of(c.g.div(last[0], c.sum_rows(last[0])));
}

}  // namespace ingot::frontends::sklearn
