// Einsum: sums of products, written as labels of dimensions.
#include <algorithm>
#include <array>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/einsum/body.h"
#include "ingot/ops/tensor/einsum/equation.h"
#include "ingot/ops/tensor/einsum/kernel.h"

namespace ingot::ops {
namespace {

// What is known of the dimensions that labels stand for.
struct Labels {
  std::array<std::optional<Dim>, 128> dims;
  std::optional<Shape> others = Shape();  // "..."; nothing: not known

  void meet(const InferContext& c, char label, const Dim& dim) {
    std::optional<Dim>& known = dims[static_cast<std::size_t>(label)];
    known = known ? broadcast(c, {*known}, {dim}).front() : dim;
  }
};

void read_term(const InferContext& c, const std::string& term, const Shape* x, Labels& labels) {
  const bool has_others = term.find(kEllipsis) != std::string::npos;
  const std::size_t named = term.size() - (has_others ? 1 : 0);
  if (!x) {
    for (const char label : term)
      if (label != kEllipsis) labels.meet(c, label, Dim());
    if (has_others) labels.others.reset();
    return;
  }
  if (has_others ? x->size() < named : x->size() != named)
    c.fail("'" + term + "' does not fit rank " + std::to_string(x->size()));
  std::size_t at = 0;
  for (const char label : term) {
    if (label != kEllipsis) {
      labels.meet(c, label, (*x)[at++]);
      continue;
    }
    const auto first = x->begin() + static_cast<std::ptrdiff_t>(at);
    at += x->size() - named;
    if (labels.others)
      labels.others = broadcast(c, *labels.others, {first, x->begin() + static_cast<std::ptrdiff_t>(at)});
  }
}

void infer(InferContext& c) {
  const auto text = c.need_string("equation");
  if (!text) return;
  c.require(text->size() < 4096, "the equation is too long");
  const Equation equation = parse_equation(c, *text);
  if (equation.inputs.size() != c.input_count())
    c.fail("the equation has " + std::to_string(equation.inputs.size()) + " terms for " +
           std::to_string(c.input_count()) + " inputs");
  Labels labels;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) read_term(c, equation.inputs[i], c.shape(i), labels);
  Shape y;
  for (const char label : equation.output) {
    if (label == kEllipsis) {
      if (!labels.others) return;
      y.insert(y.end(), labels.others->begin(), labels.others->end());
    } else {
      y.push_back(*labels.dims[static_cast<std::size_t>(label)]);
    }
  }
  c.out_shape(0, std::move(y));
}

/// The terms with letters of their own in place of "...", and operands without the axes of size 1 that are stretched.
struct Operand {
  Value* value;
  std::string term;    // all axes
  std::string labels;  // of `value`
  std::vector<std::int64_t> dropped;
};

/// "i.j" with what "..." stands for: the last `count` of `others`.
std::string spelt_out(const std::string& term, std::size_t count, const std::string& others) {
  std::string text;
  for (const char label : term) {
    if (label == kEllipsis)
      text += others.substr(others.size() - count);
    else
      text += label;
  }
  return text;
}

/// Axes of size 1 whose label is larger elsewhere are taken out.
void drop_stretched(GradContext& c, Operand& operand, const std::string& large) {
  const auto& shape = operand.value->type.shape;
  for (std::size_t i = 0; i < operand.term.size(); ++i) {
    if (shape && same((*shape)[i], 1) && large.find(operand.term[i]) != std::string::npos)
      operand.dropped.push_back(static_cast<std::int64_t>(i));
    else
      operand.labels += operand.term[i];
  }
  if (!operand.dropped.empty()) operand.value = c.g.squeeze(operand.value, operand.dropped);
}

/// Whether each label of an operand is known to stand for one size wherever it stands.
bool sizes_agree(const std::vector<Operand>& operands, std::size_t of) {
  const auto size_at = [&](std::size_t i, std::size_t k) {
    const auto& shape = operands[i].value->type.shape;
    return shape && k < shape->size() ? (*shape)[k] : Dim();
  };
  for (std::size_t k = 0; k < operands[of].labels.size(); ++k)
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (std::size_t j = 0; j < operands[i].labels.size(); ++j)
        if (operands[i].labels[j] == operands[of].labels[k] && (i != of || j != k) &&
            !same(size_at(i, j), size_at(of, k)))
          return false;
  return true;
}

Values gradient_einsum(GradContext& c) {
  GraphBuilder& g = c.g;
  InferSession session;
  const InferContext view(c.node, session);
  const Equation equation = parse_equation(view, c.attr("equation", ""));
  const std::size_t count = c.node.input_count();
  // Letters for "...".
  std::vector<std::size_t> extra(count);
  std::size_t most = 0;
  std::string used = equation.output;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& term = equation.inputs[i];
    used += term;
    if (term.find(kEllipsis) == std::string::npos) continue;
    extra[i] = static_cast<std::size_t>(c.rank(i)) + 1 - term.size();
    most = std::max(most, extra[i]);
  }
  std::string others;
  for (char label = 'A'; label <= 'z' && others.size() < most; ++label)
    if (is_label(label) && used.find(label) == std::string::npos) others += label;
  if (others.size() < most) c.fail("the equation uses too many letters");
  std::vector<Operand> operands;
  std::string large;  // labels that are more than 1 somewhere
  for (std::size_t i = 0; i < count; ++i) {
    operands.push_back({c.x(i), spelt_out(equation.inputs[i], extra[i], others), {}, {}});
    c.rank(i);
    for (std::size_t k = 0; k < operands[i].term.size(); ++k)
      if (!same((*c.x(i)->type.shape)[k], 1)) large += operands[i].term[k];
  }
  for (Operand& operand : operands) drop_stretched(c, operand, large);
  const std::string result = spelt_out(equation.output, most, others);
  Values dxs;
  for (std::size_t i = 0; i < count; ++i) {
    if (!c.wants(i)) {
      dxs.push_back(nullptr);
      continue;
    }
    Values inputs = {c.dy()};
    std::string left = result, known = result, own, target;
    for (std::size_t k = 0; k < count; ++k) {
      if (k == i) continue;
      inputs.push_back(operands[k].value);
      left += "," + operands[k].labels;
      known += operands[k].labels;
    }
    std::vector<std::int64_t> missing;  // axes that were summed away at once
    for (const char label : operands[i].labels) {
      if (own.find(label) != std::string::npos) continue;
      if (known.find(label) == std::string::npos)
        missing.push_back(static_cast<std::int64_t>(own.size()));
      else
        target += label;
      own += label;
    }
    Value* dx = g.op("Einsum", inputs, {{"equation", left + "->" + target}});
    if (!missing.empty()) dx = g.unsqueeze(dx, missing);
    if (own.size() != operands[i].labels.size()) {
      // A diagonal was read: what arrives goes back there.
      Value* places = g.op("Einsum", {c.positions(operands[i].value)}, {{"equation", operands[i].labels + "->" + own}});
      dx = c.add_at(operands[i].value, places, c.stretched(dx, places));
    }
    if (!operands[i].dropped.empty()) dx = g.unsqueeze(dx, operands[i].dropped);
    // Sizes that are known only when running may turn out to be 1, and to have been stretched.
    const bool may_differ = !sizes_agree(operands, i);
    if (!missing.empty() || may_differ) dx = c.stretched(dx, c.x(i));
    dxs.push_back(may_differ ? c.sum_to(dx, c.x(i)) : dx);
  }
  return dxs;
}

}  // namespace

constinit const OpDef defs::Einsum = {
    .name = "Einsum",
    .infer = infer,
    .decompose = einsum_by_products,
    .kernel = run_einsum,
    .gradient = gradient_einsum,
};

}  // namespace ingot::ops
