// Einsum: sums of products, written as labels of dimensions.
#include <algorithm>
#include <array>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

constexpr char kEllipsis = '.';  // stands for "..." in a parsed term

bool is_label(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

// "i...j" becomes "i.j"
template <class Context> std::string parse_term(const Context& c, std::string_view text) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_label(text[i])) {
      term += text[i];
    } else if (text.substr(i, 3) == "..." && term.find(kEllipsis) == std::string::npos) {
      term += kEllipsis;
      i += 2;
    } else if (text[i] != ' ') {
      c.fail("the equation is not understood");
    }
  }
  return term;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

template <class Context> Equation parse(const Context& c, std::string_view text) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const std::size_t comma = left.find(',');
    equation.inputs.push_back(parse_term(c, left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  std::array<std::size_t, 128> count{};
  for (const std::string& term : equation.inputs)
    for (const char label : term) ++count[static_cast<std::size_t>(label)];
  if (arrow != std::string_view::npos) {
    equation.output = parse_term(c, text.substr(arrow + 2));
    std::string sorted = equation.output;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) c.fail("the result names a label twice");
    for (const char label : equation.output)
      if (label != kEllipsis && count[static_cast<std::size_t>(label)] == 0)
        c.fail("the result has a label of its own");
  } else {
    // All labels that occur once, in the order of the alphabet, after what "..." stands for.
    if (count[static_cast<std::size_t>(kEllipsis)]) equation.output += kEllipsis;
    for (char label = 'A'; label <= 'z'; ++label)
      if (is_label(label) && count[static_cast<std::size_t>(label)] == 1) equation.output += label;
  }
  return equation;
}

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
  const Equation equation = parse(c, *text);
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

Values gradient_einsum(GradContext& c) {
  GraphBuilder& g = c.g;
  InferSession session;
  const InferContext view(c.node, session);
  const Equation equation = parse(view, c.attr("equation", ""));
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
    dxs.push_back(missing.empty() ? dx : c.stretched(dx, c.x(i)));
  }
  return dxs;
}

/// A factor whose dimensions have labels: letters, and for what "..." stands for numbers from 128 on, counted from its
/// end.
struct Factor {
  Array array;
  std::vector<std::size_t> labels;
};

constexpr std::size_t kFirstOther = 128;

std::vector<std::size_t> labels_of(const KernelContext& c, const std::string& term, std::int64_t rank) {
  const bool has_others = term.find(kEllipsis) != std::string::npos;
  const auto named = static_cast<std::int64_t>(term.size()) - (has_others ? 1 : 0);
  if (has_others ? rank < named : rank != named) c.fail("'" + term + "' does not fit rank " + std::to_string(rank));
  std::vector<std::size_t> labels;
  for (const char label : term) {
    if (label != kEllipsis) labels.push_back(static_cast<std::size_t>(label));
    for (std::int64_t k = rank - named; label == kEllipsis && k-- > 0;)
      labels.push_back(kFirstOther + static_cast<std::size_t>(k));
  }
  return labels;
}

bool has_label(const std::vector<std::size_t>& labels, std::size_t label) {
  return std::ranges::find(labels, label) != labels.end();
}

/// The product of two factors, summed over all labels that are not kept. Dimensions of 1 are stretched.
Factor product_of(KernelContext& c, const Factor& a, const Factor& b, const std::vector<std::size_t>& kept,
                  const Dims& sizes) {
  std::vector<std::size_t> order = kept;
  for (const Factor* f : {&a, &b})
    for (const std::size_t label : f->labels)
      if (!has_label(order, label)) order.push_back(label);
  Walk walk{{}, std::vector<Dims>(3, Dims(order.size(), 0))};
  for (const std::size_t label : order) walk.dims.push_back(sizes[label]);
  const Dims result(walk.dims.begin(), walk.dims.begin() + static_cast<std::ptrdiff_t>(kept.size()));
  std::ranges::copy(strides_of(result), walk.strides[2].begin());
  for (std::size_t k = 0; k < 2; ++k) {
    const Factor& f = k == 0 ? a : b;
    const Dims dense = strides_of(f.array.dims());
    for (std::size_t i = 0; i < f.labels.size(); ++i) {
      const auto at = static_cast<std::size_t>(std::ranges::find(order, f.labels[i]) - order.begin());
      if (f.array.dims()[i] != 1) walk.strides[k][at] += dense[i];  // a label that stands twice is a diagonal
    }
  }
  Factor y{scratch(c, a.array.dtype(), result), kept};
  join_axes(walk);
  dispatch(a.array.dtype(), Types<double, std::uint64_t>{}, [&]<class T>() {
    const T *left = a.array.data<T>().data(), *right = b.array.data<T>().data();
    const auto out = y.array.mutable_data<T>();
    std::ranges::fill(out, T(0));
    const std::int64_t i = walk.strides[0].back(), j = walk.strides[1].back(), k = walk.strides[2].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      T* to = out.data() + at[2];
      for (std::int64_t t = 0; t < n; ++t) to[t * k] += left[at[0] + t * i] * right[at[1] + t * j];
    });
  });
  return y;
}

// One factor after the other; what neither the result nor a later factor needs is summed at once.
void run(KernelContext& c) {
  const std::string text = c.attr("equation", "");
  if (text.size() >= 4096) c.fail("the equation is too long");
  const Equation equation = parse(c, text);
  if (equation.inputs.size() != c.input_count()) c.fail("the equation does not have one term per input");
  const DType dtype = c.in(0).dtype(), work = is_float(dtype) ? DType::f64 : DType::u64;  // integers wrap around
  Dims sizes(kFirstOther + static_cast<std::size_t>(kMostDims), 1);
  std::vector<Factor> factors;
  std::vector<std::size_t> last_use(sizes.size(), 0);
  std::size_t others = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Array& x = c.in(i);
    if (x.dtype() != dtype) c.fail("the inputs differ in element type");
    if (x.rank() > kMostDims) c.fail("rank " + std::to_string(x.rank()) + " is too high");
    factors.push_back({converted(x, work, c.host()), labels_of(c, equation.inputs[i], x.rank())});
    for (std::size_t k = 0; k < factors.back().labels.size(); ++k) {
      const std::size_t label = factors.back().labels[k];
      last_use[label] = i;
      if (label >= kFirstOther) others = std::max(others, label - kFirstOther + 1);
      const std::int64_t d = x.dims()[k];
      if (sizes[label] != 1 && d != 1 && sizes[label] != d) c.fail("the dimensions of one label differ");
      if (d != 1) sizes[label] = d;
    }
  }
  std::vector<std::size_t> output;
  for (const char label : equation.output) {
    if (label != kEllipsis) output.push_back(static_cast<std::size_t>(label));
    for (std::size_t k = others; label == kEllipsis && k-- > 0;) output.push_back(kFirstOther + k);
  }
  Factor y{converted(Array::scalar(1.0), work, c.host()), {}};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const bool is_last = i + 1 == factors.size();
    std::vector<std::size_t> kept;
    for (const Factor* f : {&y, &factors[i]})
      for (const std::size_t label : f->labels) {
        const bool is_needed = last_use[label] > i || has_label(output, label);
        if (is_needed && !has_label(kept, label)) kept.push_back(label);
      }
    y = product_of(c, y, factors[i], is_last ? output : kept, sizes);
    factors[i] = {};
  }
  put(c, 0, y.array, dtype);
}

}  // namespace

constinit const OpDef defs::Einsum = {
    .name = "Einsum",
    .infer = infer,
    .kernel = run,
    .gradient = gradient_einsum,
};

}  // namespace ingot::ops
