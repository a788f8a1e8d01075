// What the layout of its data means to each operator.
#include "ingot/passes/layout/rules.h"

#include <algorithm>

#include "ingot/ops/infer.h"

namespace ingot::passes {
namespace {

using From = std::optional<Layout>;

std::size_t rank_of(const Value* v) { return v && v->type.shape ? v->type.shape->size() : 0; }
bool has_rank(const Value* v) { return v && v->type.is_tensor() && v->type.shape.has_value(); }

bool tie_data(const Node& n, Ports& p) {
  if (!layout_rank(n.input(0)) || layout_rank(n.output(0)) != layout_rank(n.input(0))) return false;
  p.tie_in(0);
  p.tie_out(0);
  return true;
}

// Elementwise: data in input 0, the rest are scalars.
bool plan_unary(const Node& n, From, Ports& p) { return tie_data(n, p); }

bool plan_dropout(const Node& n, From, Ports& p) {
  if (n.output(1)) p.tie_out(1);
  return tie_data(n, p);
}

bool plan_broadcast(const Node& n, From, Ports& p) {
  const std::size_t rank = layout_rank(n.output(0));
  if (!rank) return false;
  bool is_tied = false;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    const Value* x = n.input(i);
    if (!x) continue;
    if (!has_rank(x) || rank_of(x) > rank) return false;
    const bool is_single = std::ranges::all_of(*x->type.shape, [](const Dim& d) { return d.as_int() == 1; });
    if (rank_of(x) == rank)
      p.tie_in(i);
    else if (!is_single)
      p.in[i] = Port::lowered;
    is_tied |= rank_of(x) == rank;
  }
  p.tie_out(0);
  return is_tied;
}

// Inputs and outputs of one rank, all tied.
bool plan_all(const Node& n, From, Ports& p) {
  const std::size_t rank = layout_rank(n.output(0));
  if (!rank) return false;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    if (layout_rank(n.input(i)) != rank) return false;
    p.tie_in(i);
  }
  p.tie_out(0);
  return true;
}

bool plan_outputs(const Node& n, From, Ports& p) {
  if (!layout_rank(n.input(0))) return false;
  p.tie_in(0);
  for (std::size_t i = 0; i < n.output_count(); ++i) {
    if (!n.output(i)) continue;
    if (layout_rank(n.output(i)) != layout_rank(n.input(0))) return false;
    p.tie_out(i);
  }
  return true;
}

void move_axis_minus_1(Move& m) { m.set_axis(-1); }
void move_axis_0(Move& m) { m.set_axis(0); }

bool plan_cum_sum(const Node& n, From, Ports& p) { return fixed_ints(n.input(1)) && tie_data(n, p); }
void move_cum_sum(Move& m) {
  const std::int64_t axis = m.axis(fixed_ints(m.node.input(1))->at(0));
  m.node.set_input(1, m.g.index(axis));
}

bool plan_quantize(const Node& n, From, Ports& p) {
  const Value* scale = n.input(1);
  return has_rank(scale) && rank_of(scale) <= 1 && tie_data(n, p);
}
void move_quantize(Move& m) {
  if (rank_of(m.node.input(1)) == 1) m.set_axis(1);
}

/// Axes `gone` are left out of a tensor of this rank. What follows for the rest when the tensor is permuted?
enum class Rest { same, follows, torn };
Rest rest_of(std::size_t rank, Layout from, const std::vector<std::int64_t>& gone) {
  const Perm perm = layout_perm(rank, from, other(from));
  Perm rest;
  for (const std::int64_t old : perm)
    if (std::ranges::find(gone, old) == gone.end()) rest.push_back(old);
  if (std::ranges::is_sorted(rest)) return Rest::same;
  Perm kept = rest;  // renumbered without the axes that are gone
  std::ranges::sort(kept);
  for (std::int64_t& axis : rest) axis = std::ranges::find(kept, axis) - kept.begin();
  return rest.size() >= 3 && rest == layout_perm(rest.size(), from, other(from)) ? Rest::follows : Rest::torn;
}

std::vector<std::int64_t> positive(std::vector<std::int64_t> axes, std::size_t rank) {
  for (std::int64_t& a : axes)
    if (a < 0) a += static_cast<std::int64_t>(rank);
  return axes;
}

bool in_range(const std::vector<std::int64_t>& axes, std::size_t rank) {
  return std::ranges::all_of(axes, [&](std::int64_t a) { return a >= 0 && a < static_cast<std::int64_t>(rank); });
}

/// `big` loses the axes and gives `small`; one is the node's input 0, the other its output 0.
bool plan_fewer(const Value* big, const Value* small, Port& big_port, Port& small_port, From from,
                const std::vector<std::int64_t>& axes) {
  const std::size_t rank = layout_rank(big);
  if (!rank || !in_range(axes, rank)) return false;
  big_port = Port::tied;
  if (!from) {
    if (layout_rank(small) && rest_of(rank, Layout::channels_first, axes) == Rest::follows) small_port = Port::tied;
    return true;
  }
  const Rest rest = rest_of(rank, *from, axes);
  if (rest == Rest::follows && layout_rank(small)) small_port = Port::tied;
  return rest == Rest::same || small_port == Port::tied;
}

std::optional<std::vector<std::int64_t>> reduced_axes(const Node& n) {
  const std::size_t rank = rank_of(n.input(0));
  if (n.input(1)) {
    auto axes = fixed_ints(n.input(1));
    if (!axes) return std::nullopt;
    if (!axes->empty()) return positive(*axes, rank);
  }
  std::vector<std::int64_t> all;
  if (!n.attributes.int_or("noop_with_empty_axes", 0))
    for (std::size_t i = 0; i < rank; ++i) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

bool plan_reduce(const Node& n, From from, Ports& p) {
  const auto axes = reduced_axes(n);
  if (!axes) return false;
  if (n.attributes.int_or("keepdims", 1)) return tie_data(n, p);
  return plan_fewer(n.input(0), n.output(0), p.in[0], p.out[0], from, *axes);
}
void move_reduce(Move& m) {
  if (!m.node.input(1) || fixed_ints(m.node.input(1))->empty()) return;
  std::vector<std::int64_t> axes = *fixed_ints(m.node.input(1));
  for (std::int64_t& a : axes) a = m.axis(a);
  std::ranges::sort(axes);
  m.set_input(1, axes);
}

bool plan_arg(const Node& n, From from, Ports& p) {
  if (n.attributes.int_or("keepdims", 1)) return tie_data(n, p);
  const auto axis = positive({n.attributes.int_or("axis", 0)}, rank_of(n.input(0)));
  return plan_fewer(n.input(0), n.output(0), p.in[0], p.out[0], from, axis);
}

std::vector<std::int64_t> squeezed_axes(const Node& n) {
  if (n.input(1))
    return positive(fixed_ints(n.input(1)).value_or(std::vector<std::int64_t>{-1000}), rank_of(n.input(0)));
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < rank_of(n.input(0)); ++i)
    if ((*n.input(0)->type.shape)[i].as_int() == 1) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}
bool plan_squeeze(const Node& n, From from, Ports& p) {
  return plan_fewer(n.input(0), n.output(0), p.in[0], p.out[0], from, squeezed_axes(n));
}
void move_squeeze(Move& m) {
  std::vector<std::int64_t> axes = squeezed_axes(m.node);
  for (std::int64_t& a : axes) a = m.axis(a);
  std::ranges::sort(axes);
  m.set_input(1, axes);
}

bool plan_unsqueeze(const Node& n, From from, Ports& p) {
  const auto axes = fixed_ints(n.input(1));
  if (!axes) return false;
  return plan_fewer(n.output(0), n.input(0), p.out[0], p.in[0], from, positive(*axes, rank_of(n.output(0))));
}
void move_unsqueeze(Move& m) {
  std::vector<std::int64_t> axes = *fixed_ints(m.node.input(1));
  const Perm perm = layout_perm(rank_of(m.node.output(0)), m.from, m.to);
  for (std::int64_t& a : axes) a = moved_axis(perm, a);
  std::ranges::sort(axes);
  m.set_input(1, axes);
}

bool plan_gather(const Node& n, From from, Ports& p) {
  if (!has_rank(n.input(1))) return false;
  if (rank_of(n.input(1)) == 1) return tie_data(n, p);
  const auto axis = positive({n.attributes.int_or("axis", 0)}, rank_of(n.input(0)));
  return rank_of(n.input(1)) == 0 && plan_fewer(n.input(0), n.output(0), p.in[0], p.out[0], from, axis);
}

bool plan_pad(const Node& n, From, Ports& p) {
  const bool has_axes = n.input(3) != nullptr;
  return (has_axes ? fixed_ints(n.input(3)).has_value() : fixed_ints(n.input(1)).has_value()) && tie_data(n, p);
}
void move_pad(Move& m) {
  if (m.node.input(3)) {
    std::vector<std::int64_t> axes = *fixed_ints(m.node.input(3));
    for (std::int64_t& a : axes) a = m.axis(a);
    return m.set_input(3, axes);
  }
  const std::vector<std::int64_t> pads = *fixed_ints(m.node.input(1));
  const std::size_t rank = pads.size() / 2;
  std::vector<std::int64_t> moved;
  for (std::size_t half = 0; half < 2; ++half)
    for (const std::int64_t i : m.perm) moved.push_back(pads[half * rank + static_cast<std::size_t>(i)]);
  m.set_input(1, moved);
}

std::optional<std::vector<std::int64_t>> sliced_axes(const Node& n) {
  if (n.input(3)) return fixed_ints(n.input(3));
  if (!has_rank(n.input(1)) || rank_of(n.input(1)) != 1) return std::nullopt;
  const auto count = (*n.input(1)->type.shape)[0].as_int();
  if (!count || *count > 5) return std::nullopt;
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < *count; ++i) axes.push_back(i);
  return axes;
}
bool plan_slice(const Node& n, From, Ports& p) { return sliced_axes(n) && tie_data(n, p); }
void move_slice(Move& m) {
  std::vector<std::int64_t> axes = *sliced_axes(m.node);
  for (std::int64_t& a : axes) a = m.axis(a);
  m.set_input(3, axes);
}

// Input 1 has a number for each axis.
bool plan_per_axis(const Node& n, From, Ports& p) {
  const auto values = fixed_ints(n.input(1));
  return values && values->size() == rank_of(n.input(0)) && tie_data(n, p);
}
void move_per_axis(Move& m) { m.set_input(1, permuted(*fixed_ints(m.node.input(1)), m.perm)); }

bool plan_resize(const Node& n, From, Ports& p) { return tie_data(n, p); }
void move_resize(Move& m) {
  const Tensor* scales = m.node.input(2) ? ops::constant_of(m.node.input(2)) : nullptr;
  const auto sizes = fixed_ints(m.node.input(3));
  const bool has_roi =
      m.node.input(1) && rank_of(m.node.input(1)) == 1 && (*m.node.input(1)->type.shape)[0].as_int() != 0;
  std::vector<std::int64_t> axes = m.node.attributes.ints_or("axes", {});
  const std::size_t rank = m.perm.size();
  if (axes.empty() && !has_roi && scales && scales->dtype() == DType::f32 &&
      static_cast<std::size_t>(scales->size()) == rank) {
    const std::vector<float> moved = permuted(scales->to_vector<float>(), m.perm);
    return m.node.set_input(2, m.g.constant(Tensor::of<float>(scales->dims(), moved)));
  }
  if (axes.empty() && !has_roi && sizes && sizes->size() == rank) return m.set_input(3, permuted(*sizes, m.perm));
  if (axes.empty())
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (std::int64_t& a : axes) a = m.axis(a);
  m.node.attributes.set({"axes", axes});
}

/// Batch and channels stay what they are; only the dimensions between or behind them are joined or split.
bool keeps_axes(const Shape& x, const Shape& y, Layout layout) {
  const bool first = layout == Layout::channels_first;
  return same(x.front(), y.front()) && same(first ? x[1] : x.back(), first ? y[1] : y.back());
}

/// Reshape's input for the permuted shape; nothing: it cannot be said without knowing more.
std::optional<std::vector<std::int64_t>> reshape_target(const Shape& shape, const Perm& perm) {
  std::vector<std::int64_t> target;
  bool has_open = false;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    const Dim& d = shape[static_cast<std::size_t>(perm[i])];
    if (d.is_known()) {
      target.push_back(d.value());
    } else if (i == 0) {
      target.push_back(0);  // the batch: as in the input
    } else {
      if (has_open) return std::nullopt;
      has_open = true;
      target.push_back(-1);
    }
  }
  return std::ranges::count(target, 0) > (shape[0].is_known() ? 0 : 1) ? std::nullopt : std::optional(target);
}

bool plan_reshape(const Node& n, From from, Ports& p) {
  if (!layout_rank(n.input(0)) || !layout_rank(n.output(0))) return false;
  const Shape &x = *n.input(0)->type.shape, &y = *n.output(0)->type.shape;
  const bool fits = from ? keeps_axes(x, y, *from)
                         : keeps_axes(x, y, Layout::channels_first) || keeps_axes(x, y, Layout::channels_last);
  const Layout layout = from.value_or(Layout::channels_first);
  if (!fits || !reshape_target(y, layout_perm(y.size(), layout, other(layout)))) return false;
  p.tie_in(0);
  p.tie_out(0);
  return true;
}
void move_reshape(Move& m) {
  const Shape& y = *m.node.output(0)->type.shape;
  m.set_input(1, *reshape_target(y, layout_perm(y.size(), m.from, m.to)));
  m.node.attributes.erase("allowzero");
}

constexpr LayoutRule kRules[] = {
    {"Abs", plan_unary},
    {"Acos", plan_unary},
    {"Acosh", plan_unary},
    {"Add", plan_broadcast},
    {"And", plan_broadcast},
    {"ArgMax", plan_arg, move_axis_0},
    {"ArgMin", plan_arg, move_axis_0},
    {"Asin", plan_unary},
    {"Asinh", plan_unary},
    {"Atan", plan_unary},
    {"Atanh", plan_unary},
    {"BitShift", plan_broadcast},
    {"BitwiseAnd", plan_broadcast},
    {"BitwiseNot", plan_unary},
    {"BitwiseOr", plan_broadcast},
    {"BitwiseXor", plan_broadcast},
    {"Cast", plan_unary},
    {"CastLike", plan_unary},
    {"Ceil", plan_unary},
    {"Celu", plan_unary},
    {"Clip", plan_unary},
    {"Concat", plan_all, move_axis_0},
    {"Cos", plan_unary},
    {"Cosh", plan_unary},
    {"CumSum", plan_cum_sum, move_cum_sum},
    {"DequantizeLinear", plan_quantize, move_quantize},
    {"Div", plan_broadcast},
    {"Dropout", plan_dropout},
    {"DynamicQuantizeLinear", plan_unary},
    {"Elu", plan_unary},
    {"Equal", plan_broadcast},
    {"Erf", plan_unary},
    {"Exp", plan_unary},
    {"Expand", plan_per_axis, move_per_axis},
    {"Floor", plan_unary},
    {"Gather", plan_gather, move_axis_0},
    {"GatherElements", plan_all, move_axis_0},
    {"Gelu", plan_unary},
    {"Greater", plan_broadcast},
    {"GreaterOrEqual", plan_broadcast},
    {"HardSigmoid", plan_unary},
    {"HardSwish", plan_unary},
    {"Hardmax", plan_unary, move_axis_minus_1},
    {"Identity", plan_unary},
    {"IsInf", plan_unary},
    {"IsNaN", plan_unary},
    {"LeakyRelu", plan_unary},
    {"Less", plan_broadcast},
    {"LessOrEqual", plan_broadcast},
    {"Log", plan_unary},
    {"LogSoftmax", plan_unary, move_axis_minus_1},
    {"LpNormalization", plan_unary, move_axis_minus_1},
    {"Max", plan_broadcast},
    {"Mean", plan_broadcast},
    {"Min", plan_broadcast},
    {"Mish", plan_unary},
    {"Mod", plan_broadcast},
    {"Mul", plan_broadcast},
    {"Neg", plan_unary},
    {"Not", plan_unary},
    {"Or", plan_broadcast},
    {"PRelu", plan_broadcast},
    {"Pad", plan_pad, move_pad},
    {"Pow", plan_broadcast},
    {"QuantizeLinear", plan_quantize, move_quantize},
    {"Reciprocal", plan_unary},
    {"ReduceL1", plan_reduce, move_reduce},
    {"ReduceL2", plan_reduce, move_reduce},
    {"ReduceLogSum", plan_reduce, move_reduce},
    {"ReduceLogSumExp", plan_reduce, move_reduce},
    {"ReduceMax", plan_reduce, move_reduce},
    {"ReduceMean", plan_reduce, move_reduce},
    {"ReduceMin", plan_reduce, move_reduce},
    {"ReduceProd", plan_reduce, move_reduce},
    {"ReduceSum", plan_reduce, move_reduce},
    {"ReduceSumSquare", plan_reduce, move_reduce},
    {"Relu", plan_unary},
    {"Reshape", plan_reshape, move_reshape},
    {"Resize", plan_resize, move_resize},
    {"Round", plan_unary},
    {"ScatterElements", plan_all, move_axis_0},
    {"Selu", plan_unary},
    {"Shrink", plan_unary},
    {"Sigmoid", plan_unary},
    {"Sign", plan_unary},
    {"Sin", plan_unary},
    {"Sinh", plan_unary},
    {"Slice", plan_slice, move_slice},
    {"Softmax", plan_unary, move_axis_minus_1},
    {"Softplus", plan_unary},
    {"Softsign", plan_unary},
    {"Split", plan_outputs, move_axis_0},
    {"Sqrt", plan_unary},
    {"Squeeze", plan_squeeze, move_squeeze},
    {"Sub", plan_broadcast},
    {"Sum", plan_broadcast},
    {"Swish", plan_unary},
    {"Tan", plan_unary},
    {"Tanh", plan_unary},
    {"ThresholdedRelu", plan_unary},
    {"Tile", plan_per_axis, move_per_axis},
    {"TopK", plan_outputs, move_axis_minus_1},
    {"Unsqueeze", plan_unsqueeze, move_unsqueeze},
    {"Where", plan_broadcast},
    {"Xor", plan_broadcast},
};
static_assert(std::ranges::is_sorted(kRules, {}, &LayoutRule::op), "keep the table sorted");

constexpr std::string_view kSpatial[] = {
    "AveragePool",
    "BatchNormalization",
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DeformConv",
    "DepthToSpace",
    "GlobalAveragePool",
    "GlobalLpPool",
    "GlobalMaxPool",
    "GridSample",
    "GroupNormalization",
    "InstanceNormalization",
    "LRN",
    "LpPool",
    "MaxPool",
    "MaxUnpool",
    "QLinearConv",
    "SpaceToDepth",
};
static_assert(std::ranges::is_sorted(kSpatial), "keep the table sorted");

}  // namespace

void Move::set_axis(std::int64_t fallback) {
  const std::int64_t old = node.attributes.int_or("axis", fallback);
  node.attributes.set(Attribute("axis", AttrValue(axis(old))));
}

void Move::set_input(std::size_t i, const std::vector<std::int64_t>& ints) { node.set_input(i, g.ints(ints)); }

const LayoutRule* layout_rule(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto* found = std::ranges::lower_bound(kRules, std::string_view(node.op), {}, &LayoutRule::op);
  return found != std::end(kRules) && found->op == node.op ? found : nullptr;
}

bool is_spatial(const Node& node) { return node.domain.empty() && std::ranges::binary_search(kSpatial, node.op); }

}  // namespace ingot::passes
