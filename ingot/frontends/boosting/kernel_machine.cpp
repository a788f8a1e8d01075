// libsvm's decisions: kernels, votes of pairs of classes, probabilities.
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/frontends/boosting/prediction.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::boosting {
namespace {

/// Coefficients [count, pairs]: the pair i < j takes row j - 1 for vectors of i and row i for those of j.
std::vector<double> pair_coefficients(const KernelMachine& m, std::size_t count, std::size_t classes) {
  const std::size_t pairs = classes * (classes - 1) / 2;
  std::vector<double> made(count * pairs);
  std::vector<std::size_t> starts = {0};
  for (const std::int64_t n : m.support_counts)
    starts.push_back(starts.back() + static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
  if (starts.back() != count) throw Error(Code::bad_source_graph, "the support vectors do not belong to the classes");
  std::size_t pair = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j, ++pair) {
      for (std::size_t s = starts[i]; s < starts[i + 1]; ++s) made[s * pairs + pair] = m.dual[(j - 1) * count + s];
      for (std::size_t s = starts[j]; s < starts[j + 1]; ++s) made[s * pairs + pair] = m.dual[i * count + s];
    }
  return made;
}

}  // namespace

Value* kernel_matrix(GraphBuilder& g, Value* x, const KernelMachine& m) {
  if (m.kernel == "precomputed") return g.op("Gather", {x, g.ints(m.chosen)}, {{"axis", 1}});
  const std::size_t count = m.count();
  const DType elem = x->type.elem;
  const Dims dims = {m.features, static_cast<std::int64_t>(count)};
  const bool is_linear = m.kernel == "linear";
  if (m.kernel == "rbf") {
    // libsvm sums the squares of differences; |x|^2 - 2xv + |v|^2 would lose digits.
    Value* wide = g.unsqueeze(x, {1});
    Value* vectors = constant_of(g, {1, static_cast<std::int64_t>(count), m.features}, m.vectors, elem);
    Value* distance = g.op("ReduceSumSquare", {g.sub(wide, vectors), g.ints({2})}, {{"keepdims", 0}});
    return g.op("Exp", {g.mul(distance, -m.gamma)});
  }
  // Not MatMul times gamma: ONNX Runtime joins the two, and keeps the number as a float.
  Numbers vectors = turned(m.vectors, static_cast<std::int64_t>(count), m.features);
  for (double& v : vectors.own()) v *= is_linear ? 1 : m.gamma;
  Value* products = g.op("MatMul", {x, constant_of(g, dims, vectors, elem)});
  if (is_linear) return products;
  Value* scaled = g.add(products, m.coef0);
  if (m.kernel == "poly" || m.kernel == "polynomial")
    return g.op("Pow", {scaled, g.scalar(static_cast<double>(m.degree), elem)});
  if (m.kernel == "sigmoid") return g.op("Tanh", {scaled});
  throw Error(Code::unsupported_setting, "the kernel '" + m.kernel + "' is not translated")
      .hint("linear, poly, rbf and sigmoid are");
}

Value* pair_decisions(GraphBuilder& g, Value* x, const KernelMachine& m) {
  const std::size_t count = m.count();
  const std::size_t classes = m.support_counts.size();
  const std::size_t pairs = classes < 2 ? 1 : classes * (classes - 1) / 2;
  if (m.dual.size() != count * std::max<std::size_t>(1, classes < 2 ? 1 : classes - 1) || m.intercepts.size() != pairs)
    throw Error(Code::bad_source_graph, "the coefficients do not fit the support vectors");
  const auto coefficients = classes < 2 ? m.dual : pair_coefficients(m, count, classes);
  const DType elem = x->type.elem;
  Value* k = kernel_matrix(g, x, m);
  const Dims dims = {static_cast<std::int64_t>(count), static_cast<std::int64_t>(pairs)};
  Value* sum = g.op("MatMul", {k, constant_of(g, dims, coefficients, elem)});
  return g.add(sum, constant_of(g, {1, dims[1]}, m.intercepts, elem));
}

Value* pair_votes(GraphBuilder& g, Value* decisions, std::int64_t classes) {
  const DType elem = decisions->type.elem;
  const std::int64_t pairs = classes * (classes - 1) / 2;
  std::vector<double> first(static_cast<std::size_t>(pairs * classes)), second = first;
  std::size_t pair = 0;
  for (std::int64_t i = 0; i < classes; ++i)
    for (std::int64_t j = i + 1; j < classes; ++j, ++pair) {
      first[pair * static_cast<std::size_t>(classes) + static_cast<std::size_t>(i)] = 1;
      second[pair * static_cast<std::size_t>(classes) + static_cast<std::size_t>(j)] = 1;
    }
  Value* wins = g.cast(g.op("Greater", {decisions, g.scalar(0, elem)}), elem);
  return g.add(g.op("MatMul", {wins, constant_of(g, {pairs, classes}, first, elem)}),
               g.op("MatMul", {g.sub(1.0, wins), constant_of(g, {pairs, classes}, second, elem)}));
}

/// Wu, Lin and Weng's second method as libsvm iterates it: one sweep over the classes per round, until the residual is
/// below 0.005 / classes, for each row by itself.
Value* coupled_probabilities(GraphBuilder& g, Value* decisions, const KernelMachine& m, std::int64_t classes) {
  const DType elem = decisions->type.elem;
  const auto k = static_cast<std::size_t>(classes);
  const std::int64_t pairs = classes * (classes - 1) / 2;
  if (std::ssize(m.prob_a) != pairs || std::ssize(m.prob_b) != pairs)
    throw Error(Code::bad_source_graph, "the model does not have one sigmoid per pair of classes");
  Value* fit =
      g.add(g.mul(decisions, constant_of(g, {1, pairs}, m.prob_a, elem)), constant_of(g, {1, pairs}, m.prob_b, elem));
  Value* r = g.op("Clip", {g.op("Sigmoid", {g.neg(fit)}), g.scalar(1e-7, elem), g.scalar(1 - 1e-7, elem)});
  // r_ij for all i, j: [N, k, k]; r_ji = 1 - r_ij. Q_ii = sum of r_ji^2, Q_ij = -r_ji r_ij.
  Values columns;
  for (std::int64_t p = 0; p < pairs; ++p)
    columns.push_back(g.op("Slice", {r, g.ints({p}), g.ints({p + 1}), g.ints({1})}));
  const auto pair_of = [&](std::size_t i, std::size_t j) { return i * k - i * (i + 1) / 2 + j - i - 1; };
  const auto rate = [&](std::size_t i, std::size_t j) {
    return i < j ? columns[pair_of(i, j)] : g.sub(1.0, columns[pair_of(j, i)]);
  };
  Values rows;
  for (std::size_t i = 0; i < k; ++i) {
    Values entries;
    for (std::size_t j = 0; j < k; ++j) {
      if (i != j) {
        entries.push_back(g.neg(g.mul(rate(j, i), rate(i, j))));
        continue;
      }
      Value* diagonal = nullptr;
      for (std::size_t other = 0; other < k; ++other) {
        if (other == i) continue;
        Value* square = g.mul(rate(other, i), rate(other, i));
        diagonal = diagonal ? g.add(diagonal, square) : square;
      }
      entries.push_back(diagonal);
    }
    rows.push_back(g.unsqueeze(g.concat(entries, 1), {1}));
  }
  Value* q = g.concat(rows, 1);  // [N, k, k]
  Value* start =
      g.add(g.mul(g.op("ReduceSum", {q, g.ints({2})}, {{"keepdims", 0}}), 0.0), 1.0 / static_cast<double>(k));
  const double limit = 0.005 / static_cast<double>(k);
  const auto sweep = [&](GraphBuilder& b, Value*, const Values& state) {
    Value* p = state[0];
    const auto times_q = [&](Value* v) { return b.squeeze(b.op("MatMul", {q, b.unsqueeze(v, {2})}), {2}); };
    Value* qp = times_q(p);
    Value* pqp = b.reduce_sum(b.mul(p, qp), {1});
    Value* error = b.op("ReduceMax", {b.op("Abs", {b.sub(qp, pqp)}), b.ints({1})}, {{"keepdims", 1}});
    Value* is_open = b.op("GreaterOrEqual", {error, b.scalar(limit, elem)});
    Value *next = p, *next_qp = qp, *next_pqp = pqp;
    for (std::size_t t = 0; t < k; ++t) {
      std::vector<double> unit(k);
      unit[t] = 1;
      Value* e = constant_of(b, {1, classes}, unit, elem);
      Value* column = b.squeeze(b.op("Gather", {q, b.ints({static_cast<std::int64_t>(t)})}, {{"axis", 1}}), {1});
      Value* diagonal = b.reduce_sum(b.mul(column, e), {1});
      Value* change = b.div(b.sub(next_pqp, b.reduce_sum(b.mul(next_qp, e), {1})), diagonal);
      Value* divisor = b.add(change, 1.0);
      next = b.div(b.add(next, b.mul(e, change)), divisor);
      next_pqp = b.div(b.div(b.add(next_pqp, b.mul(change, b.add(b.mul(change, diagonal),
                                                                 b.mul(b.reduce_sum(b.mul(next_qp, e), {1}), 2.0)))),
                             divisor),
                       divisor);
      next_qp = b.div(b.add(next_qp, b.mul(column, change)), divisor);
    }
    return Values{b.where(is_open, next, p)};
  };
  return repeat(g, g.index(std::max<std::int64_t>(100, classes)), {start}, sweep)[0];
}

}  // namespace ingot::frontends::boosting
