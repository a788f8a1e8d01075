// Einsum in other operators: operands meet two at a time, as matrix products where they can.
#include "ingot/ops/tensor/einsum/body.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/einsum/equation.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;

struct Parser {
  [[noreturn]] void fail(const std::string& message) const { throw Error(Code::inference_failed, message); }
};

/// A tensor whose axes have letters, no letter twice.
struct Operand {
  Value* value;
  std::string labels;

  Dim size(char label) const { return (*value->type.shape)[labels.find(label)]; }
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// "i.j" with letters in place of "...": the last `count` of `others`.
std::string spelt_out(const std::string& term, std::size_t count, const std::string& others) {
  std::string text;
  for (const char label : term)
    text += label == kEllipsis ? others.substr(others.size() - count) : std::string(1, label);
  return text;
}

Operand ordered(GraphBuilder& g, const Operand& x, const std::string& labels) {
  if (x.labels == labels) return x;
  Ints perm;
  for (const char label : labels) perm.push_back(static_cast<std::int64_t>(x.labels.find(label)));
  return {g.transpose(x.value, perm), labels};
}

/// The axes in this order, with axes of size 1 for letters that the operand does not have.
Value* spread(GraphBuilder& g, const Operand& x, const std::string& labels) {
  std::string own;
  Ints missing;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (has(x.labels, labels[i]))
      own += labels[i];
    else
      missing.push_back(static_cast<std::int64_t>(i));
  }
  Value* value = ordered(g, x, own).value;
  return missing.empty() ? value : g.unsqueeze(value, missing);
}

Operand summed(GraphBuilder& g, const Operand& x, const std::string& kept) {
  Ints axes;
  std::string rest;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (has(kept, x.labels[i]))
      rest += x.labels[i];
    else
      axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes.empty() ? x : Operand{g.reduce_sum(x.value, axes, false), rest};
}

/// Axes with the same letter become one: their diagonal.
bool take_diagonals(GraphBuilder& g, Operand& x) {
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    const std::size_t j = x.labels.find(x.labels[i], i + 1);
    if (j == std::string::npos) continue;
    const Dim size = (*x.value->type.shape)[i];
    if (!size.is_known() || !same(size, (*x.value->type.shape)[j])) return false;
    const std::int64_t n = size.value();
    const auto count = static_cast<std::size_t>(n * n);
    const auto truth = std::make_unique<bool[]>(count);
    for (std::int64_t k = 0; k < n; ++k) truth[static_cast<std::size_t>(k * n + k)] = true;
    Ints dims(x.labels.size(), 1);
    dims[i] = dims[j] = n;
    Tensor mask = Tensor::of<bool>(dims, std::span<const bool>(truth.get(), count));
    Value* zero = g.scalar(0, x.value->type.elem);
    Value* kept = g.where(g.constant(std::move(mask)), x.value, zero);
    x.value = g.reduce_sum(kept, {static_cast<std::int64_t>(j)}, false);
    x.labels.erase(j, 1);
    --i;
  }
  return true;
}

/// Axes of size 1 whose letter is larger in the other operand are taken away: they are stretched.
void drop_stretched(GraphBuilder& g, Operand& x, const Operand& other) {
  Ints axes;
  std::string rest;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (same((*x.value->type.shape)[i], 1) && has(other.labels, x.labels[i]) && !same(other.size(x.labels[i]), 1))
      axes.push_back(static_cast<std::int64_t>(i));
    else
      rest += x.labels[i];
  }
  if (axes.empty()) return;
  x.value = g.squeeze(x.value, axes);
  x.labels = rest;
}

bool multiplies_matrices(DType elem) {
  return elem == DType::f32 || elem == DType::f64 || elem == DType::f16 || elem == DType::i32 || elem == DType::i64;
}

/// The sizes of some letters multiplied; nothing where one is not known.
std::optional<std::int64_t> joined_size(const Operand& x, const std::string& labels) {
  std::int64_t size = 1;
  for (const char label : labels) {
    if (!x.size(label).is_known()) return std::nullopt;
    size *= x.size(label).value();
  }
  return size;
}

/// Letters of two operands that share only such as are summed.
struct Meeting {
  std::string left, right, gone;
};

/// [left..., gone] x [gone, right]: the rows keep their axes, whose sizes may be open.
Operand met_by_rows(GraphBuilder& g, const Operand& a, const Operand& b, const Meeting& m) {
  const std::int64_t inner = *joined_size(a, m.gone);
  Ints a_dims(m.left.size(), 0), dims(m.left.size(), 0);  // 0: as it is
  a_dims.push_back(inner);
  for (const char label : m.right) dims.push_back(b.size(label).value());
  Value* x = ordered(g, a, m.left + m.gone).value;
  if (m.gone.size() > 1) x = g.reshape(x, a_dims);
  Value* y = g.reshape(ordered(g, b, m.gone + m.right).value, {inner, *joined_size(b, m.right)});
  Value* product = g.op("MatMul", {x, y});
  return {m.right.size() == 1 ? product : g.reshape(product, dims), m.left + m.right};
}

Operand met(GraphBuilder& g, Operand a, Operand b, const std::string& kept) {
  drop_stretched(g, a, b);
  drop_stretched(g, b, a);
  std::string both, left, right, gone;
  for (const char label : a.labels) (!has(b.labels, label) ? left : has(kept, label) ? both : gone) += label;
  for (const char label : b.labels)
    if (!has(a.labels, label)) right += label;
  const std::string all = both + left + right;
  if (gone.empty() || !multiplies_matrices(a.value->type.elem)) {
    Value* x = spread(g, a, all + gone);
    Value* y = spread(g, b, all + gone);
    return summed(g, {g.mul(x, y), all + gone}, kept);
  }
  // [both, left, gone] x [both, gone, right], several letters as one axis.
  const bool joins = left.size() > 1 || right.size() > 1 || gone.size() > 1;
  const auto rows = joined_size(a, left), columns = joined_size(b, right), inner = joined_size(a, gone);
  Ints a_dims, b_dims, dims;
  for (const char label : both) a_dims.push_back(a.size(label).as_int().value_or(0));  // 0: as it is
  if (joins && both.empty() && columns && inner) return met_by_rows(g, a, b, {left, right, gone});
  if (joins && !(rows && columns && inner)) {
    Value* x = spread(g, a, all + gone);
    Value* y = spread(g, b, all + gone);
    return summed(g, {g.mul(x, y), all + gone}, kept);
  }
  if (!joins) {
    Value* x = ordered(g, a, both + left + gone).value;
    Value* y = ordered(g, b, both + gone + right).value;
    const auto axis = static_cast<std::int64_t>(both.size());
    if (left.empty()) x = g.unsqueeze(x, {axis});
    if (right.empty()) y = g.unsqueeze(y, {axis + 1});
    Value* product = g.op("MatMul", {x, y});
    Ints extra;
    if (left.empty()) extra.push_back(axis);
    if (right.empty()) extra.push_back(axis + 1);
    return {extra.empty() ? product : g.squeeze(product, extra), all};
  }
  dims = a_dims;
  b_dims = a_dims;
  a_dims.insert(a_dims.end(), {*rows, *inner});
  b_dims.insert(b_dims.end(), {*inner, *columns});
  for (const char label : left) dims.push_back(a.size(label).value());
  for (const char label : right) dims.push_back(b.size(label).value());
  Value* x = g.reshape(ordered(g, a, both + left + gone).value, a_dims);
  Value* y = g.reshape(ordered(g, b, both + gone + right).value, b_dims);
  Value* product = g.op("MatMul", {x, y});
  return {g.reshape(product, dims), all};
}

}  // namespace

bool is_einsum_of_matrices(const Node& node) {
  if (node.input_count() != 2 || !node.input(0) || !node.input(1)) return false;
  const Equation equation = parse_equation(Parser(), node.attributes.string_or("equation", ""));
  if (equation.inputs.size() != 2) return false;
  Operand operands[2];
  for (std::size_t i = 0; i < 2; ++i) {
    operands[i] = {node.input(i), equation.inputs[i]};
    const std::string& labels = operands[i].labels;
    const auto& shape = operands[i].value->type.shape;
    if (!shape || shape->size() != labels.size() || has(labels, kEllipsis)) return false;
    for (std::size_t k = 0; k < labels.size(); ++k)
      if (labels.find(labels[k], k + 1) != std::string::npos) return false;
  }
  const auto& [a, b] = operands;
  std::string both, left, right, gone;
  for (const char label : a.labels) {
    const bool is_shared = has(b.labels, label), is_kept = has(equation.output, label);
    if (is_shared && !same(a.size(label), b.size(label))) return false;
    (is_shared ? is_kept ? both : gone : left) += label;
  }
  for (const char label : b.labels)
    if (!has(a.labels, label)) right += label;
  if (gone.empty()) return false;
  const bool joins = left.size() > 1 || right.size() > 1 || gone.size() > 1;
  return !joins || (joined_size(b, right) && joined_size(a, gone) && (both.empty() || joined_size(a, left)));
}

Values einsum_by_products(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const Equation equation = parse_equation(Parser(), c.attr("equation", ""));
  const std::size_t count = c.node.input_count();
  if (equation.inputs.size() != count || count == 0) return {};
  std::vector<std::size_t> extra(count);
  std::size_t most = 0;
  std::string used = equation.output;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& term = equation.inputs[i];
    if (!c.rank(i) || c.elem(i) == DType::undefined) return {};
    used += term;
    if (!has(term, kEllipsis)) continue;
    extra[i] = static_cast<std::size_t>(*c.rank(i)) + 1 - term.size();
    most = std::max(most, extra[i]);
  }
  std::string others;
  for (char label = 'A'; label <= 'z' && others.size() < most; ++label)
    if (is_label(label) && !has(used, label)) others += label;
  if (others.size() < most) return {};
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < count; ++i) {
    operands.push_back({c.in(i), spelt_out(equation.inputs[i], extra[i], others)});
    if (operands[i].labels.size() != static_cast<std::size_t>(*c.rank(i))) return {};
    if (!take_diagonals(g, operands[i])) return {};
  }
  const std::string result = spelt_out(equation.output, most, others);
  const auto kept_after = [&](std::size_t first) {
    std::string kept = result;
    for (std::size_t k = first; k < count; ++k) kept += operands[k].labels;
    return kept;
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::string kept = result;
    for (std::size_t k = 0; k < count; ++k)
      if (k != i) kept += operands[k].labels;
    operands[i] = summed(g, operands[i], kept);
  }
  Operand total = operands[0];
  for (std::size_t i = 1; i < count; ++i) total = met(g, total, operands[i], kept_after(i + 1));
  total = ordered(g, summed(g, total, result), result);
  return {total.value == c.in(0) ? g.op("Identity", {total.value}) : total.value};
}

}  // namespace ingot::ops
