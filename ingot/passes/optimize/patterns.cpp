// What older operators spell out becomes the operator that newer sets have for it.
#include <algorithm>
#include <cmath>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/optimize/rules.h"

namespace ingot::passes {
namespace {

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The factors of a product of products that only its own nodes read: numbers joined into one, the rest listed.
struct Factors {
  double number = 1;
  Values values;
};

void collect_factors(const Node& node, Factors& found, int depth) {
  for (Value* v : node.inputs()) {
    if (const auto number = number_of(v)) {
      found.number *= *number;
      continue;
    }
    if (depth > 0) {
      if (const Node* inner = own_maker(v, "Mul", node)) {
        collect_factors(*inner, found, depth - 1);
        continue;
      }
      if (const Node* quotient = own_maker(v, "Div", node))
        if (const auto divisor = number_of(quotient->input(1)); divisor && *divisor != 0) {
          found.number /= *divisor;
          found.values.push_back(quotient->input(0));
          continue;
        }
    }
    found.values.push_back(v);
  }
}

/// value = x * factor; nothing if it is no such product.
std::optional<double> factor_of(const Value* value, const Value* x, const Node& reader) {
  if (const Node* quotient = own_maker(value, "Div", reader))
    if (const auto divisor = number_of(quotient->input(1)); divisor && *divisor != 0 && quotient->input(0) == x)
      return 1 / *divisor;
  const Node* product = own_maker(value, "Mul", reader);
  if (!product) return std::nullopt;
  const WithNumber parts = split_number(*product);
  return parts.other == x ? std::optional(parts.number) : std::nullopt;
}

/// 1 + f: the node that makes f.
const Node* one_plus(const Value* value, std::string_view op, const Node& reader) {
  const Node* sum = own_maker(value, "Add", reader);
  if (!sum) return nullptr;
  const WithNumber parts = split_number(*sum);
  return parts.other && parts.number == 1 ? own_maker(parts.other, op, *sum) : nullptr;
}

/// t = sqrt(2/pi) * (x + 0.044715 * x^3)
bool is_inner_of_tanh_gelu(const Value* t, const Value* x, const Node& tanh) {
  const Node* scaled = own_maker(t, "Mul", tanh);
  if (!scaled) return false;
  const WithNumber outer = split_number(*scaled);
  if (!outer.other || !is_near(outer.number, std::sqrt(2 / M_PI))) return false;
  const Node* sum = own_maker(outer.other, "Add", *scaled);
  if (!sum) return false;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (sum->input(i) != x) continue;
    const Node* cubic = own_maker(sum->input(1 - i), "Mul", *sum);
    if (!cubic) continue;
    Factors factors;
    collect_factors(*cubic, factors, 2);
    if (!is_near(factors.number, 0.044715)) continue;
    if (factors.values.size() == 1) {
      const Node* power = own_maker(factors.values[0], "Pow", *cubic);
      if (power && power->input(0) == x && number_of(power->input(1)) == 3.0) return true;
    }
    if (factors.values.size() == 3 && std::ranges::all_of(factors.values, [&](const Value* v) { return v == x; }))
      return true;
  }
  return false;
}

/// 0.5 * x * (1 + erf(x / sqrt(2))), or with tanh; in any order.
bool fuse_gelu(RuleContext& c) {
  Node& node = c.node;
  Factors factors;
  collect_factors(node, factors, 2);
  if (factors.values.size() != 2 || !is_near(factors.number, 0.5)) return false;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Value* x = factors.values[i];
    const Value* gate = factors.values[1 - i];
    if (!may_have_same_shape(x, node.output()) || gate->uses().size() != 1) continue;
    const Node& reader = *gate->uses()[0].node;
    const Node* erf = one_plus(gate, "Erf", reader);
    const Node* tanh = erf ? nullptr : one_plus(gate, "Tanh", reader);
    if (erf) {
      const auto factor = factor_of(erf->input(0), x, *erf);
      if (!factor || !is_near(*factor, std::sqrt(0.5))) continue;
    } else if (!tanh || !is_inner_of_tanh_gelu(tanh->input(0), x, *tanh)) {
      continue;
    }
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    replace_node(node, {tanh ? g.op("Gelu", {x}, {{"approximate", "tanh"}}) : g.op("Gelu", {x})});
    return true;
  }
  return false;
}

/// x * sigmoid(alpha * x), where alpha is 1 if nothing else is said.
bool fuse_swish(RuleContext& c) {
  Node& node = c.node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Value* x = node.input(i);
    const Node* gate = x ? own_maker(node.input(1 - i), "Sigmoid", node) : nullptr;
    if (!gate) continue;
    const auto alpha = gate->input(0) == x ? std::optional(1.0) : factor_of(gate->input(0), x, *gate);
    if (!alpha || x->type.elem != DType::f32) continue;
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    replace_node(node, {g.op("Swish", {x}, {{"alpha", *alpha}})});
    return true;
  }
  return false;
}

/// x * HardSigmoid(x) with alpha 1/6 and beta 1/2
bool fuse_hard_swish(RuleContext& c) {
  Node& node = c.node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node* gate = own_maker(node.input(1 - i), "HardSigmoid", node);
    if (!gate || gate->input(0) != node.input(i)) continue;
    const bool is_usual = is_near(static_cast<double>(gate->attributes.float_or("alpha", 0.2f)), 1.0 / 6) &&
                          gate->attributes.float_or("beta", 0.5f) == 0.5f;
    if (!is_usual) continue;
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    replace_node(node, {g.op("HardSwish", {node.input(i)})});
    return true;
  }
  return false;
}

bool is_mean_of_last_axis(const Node& mean) {
  const Tensor* axes = ops::constant_of(mean.input(1));
  if (!axes || axes->size() != 1 || mean.attributes.int_or("keepdims", 1) == 0 || !mean.input(0)->type.shape)
    return false;
  const std::int64_t axis = axes->to_ints()[0];
  return axis == -1 || axis == std::ssize(*mean.input(0)->type.shape) - 1;
}

bool is_square_of(const Node* node, const Value* x) {
  if (!node) return false;
  if (node->is("Pow")) return node->input(0) == x && number_of(node->input(1)) == 2.0;
  return node->is("Mul") && node->input(0) == x && node->input(1) == x;
}

/// sqrt(mean(d * d) + epsilon) of a divisor; nothing if it is something else.
std::optional<double> root_mean_square(const Value* divisor, const Value* d, const Node& reader) {
  const Node* root = own_maker(divisor, "Sqrt", reader);
  const Node* sum = root ? own_maker(root->input(0), "Add", *root) : nullptr;
  if (!sum) return std::nullopt;
  const WithNumber parts = split_number(*sum);
  const Node* mean = parts.other ? own_maker(parts.other, "ReduceMean", *sum) : nullptr;
  if (!mean || !is_mean_of_last_axis(*mean)) return std::nullopt;
  const Value* square = mean->input(0);
  if (!is_read_only_by(square, *mean) || !is_square_of(square->producer(), d)) return std::nullopt;
  return parts.number;
}

/// A constant with a number for each element of the last axis, as a list of them; null: it is something else.
Value* row_of(GraphBuilder& g, Value* value, const Value* like) {
  const Tensor* tensor = ops::constant_of(value);
  const auto& shape = like->type.shape;
  if (!tensor || !shape || shape->empty() || tensor->dtype() != like->type.elem || tensor->rank() < 1) return nullptr;
  if (tensor->rank() > std::ssize(*shape) || tensor->size() != tensor->dims().back()) return nullptr;
  if (!same(shape->back(), Dim(tensor->size()))) return nullptr;
  return tensor->rank() == 1 ? value : g.constant(tensor->reshaped({tensor->size()}));
}

/// d / root, or d * (1 / root): the dividend, with the epsilon of the root.
struct Normalized {
  Value* d = nullptr;
  double epsilon = 0;
};

std::optional<Normalized> normalized_by(const Node& node) {
  if (node.is("Div")) {
    const auto epsilon = node.input(0) ? root_mean_square(node.input(1), node.input(0), node) : std::nullopt;
    return epsilon ? std::optional(Normalized{node.input(0), *epsilon}) : std::nullopt;
  }
  if (!node.is("Mul")) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Value* d = node.input(i);
    const Node* inverse = own_maker(node.input(1 - i), "Reciprocal", node);
    std::size_t root = 0;
    if (const Node* quotient = inverse ? nullptr : own_maker(node.input(1 - i), "Div", node);
        quotient && number_of(quotient->input(0)) == 1.0) {
      inverse = quotient;
      root = 1;
    }
    const auto epsilon = inverse ? root_mean_square(inverse->input(root), d, *inverse) : std::nullopt;
    if (epsilon) return Normalized{d, *epsilon};
  }
  return std::nullopt;
}

/// Writes LayerNormalization or RMSNormalization in place of the node; false: the operator set has it not.
bool write_normalization(RuleContext& c, GraphBuilder& g, const Normalized& found, Value* scale) {
  const Node* difference = maker(found.d, "Sub");
  const Node* mean = difference ? maker(difference->input(1), "ReduceMean") : nullptr;
  const Attrs attrs = {{"axis", -1}, {"epsilon", found.epsilon}};
  if (mean && mean->input(0) == difference->input(0) && is_mean_of_last_axis(*mean)) {
    if (c.options.opset < 17) return false;
    replace_node(c.node, {g.op("LayerNormalization", {difference->input(0), scale}, attrs)});
    return true;
  }
  if (c.options.opset < 23) return false;
  replace_node(c.node, {g.op("RMSNormalization", {found.d, scale}, attrs)});
  return true;
}

/// (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale, from the product with the scale; a sum may follow.
bool fuse_normalization(RuleContext& c) {
  Node& product = c.node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node* inner = own_maker(product.input(i), "Div", product);
    if (!inner) inner = own_maker(product.input(i), "Mul", product);
    const auto found = inner ? normalized_by(*inner) : std::nullopt;
    if (!found || found->d->type.elem != DType::f32) continue;
    GraphBuilder g(product.graph(), &product);
    g.name_after(product);
    Value* scale = row_of(g, product.input(1 - i), found->d);
    if (scale && write_normalization(c, g, *found, scale)) return true;
  }
  return false;
}

/// The same where no product with a scale follows.
bool fuse_bare_normalization(RuleContext& c) {
  Node& node = c.node;
  const auto found = normalized_by(node);
  if (!found || found->d->type.elem != DType::f32 || !found->d->type.shape) return false;
  const Dim& width = found->d->type.shape->back();
  if (!width.is_known() || width.value() < 1) return false;
  for (const Use& use : node.output()->uses())
    if (use.node && use.node->is("Mul")) return false;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  const std::vector<float> ones(static_cast<std::size_t>(width.value()), 1.0f);
  return write_normalization(c, g, *found, g.constant(Tensor::of<float>({width.value()}, ones)));
}

/// A row added to what was normalised is its bias.
bool fuse_normalization_bias(RuleContext& c) {
  Node& sum = c.node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Node* normalization = own_maker(sum.input(i), "LayerNormalization", sum);
    if (!normalization || normalization->input(2) || !is_same_type(sum.input(i), sum.output())) continue;
    if (normalization->output_count() > 1) continue;
    GraphBuilder g(sum.graph(), &sum);
    g.name_after(sum);
    Value* bias = row_of(g, sum.input(1 - i), sum.output());
    if (!bias) continue;
    const Attributes& old = normalization->attributes;
    replace_node(sum, {g.op("LayerNormalization", {normalization->input(0), normalization->input(1), bias},
                            {{"axis", old.int_or("axis", -1)}, {"epsilon", old.float_or("epsilon", 1e-5f)}})});
    return true;
  }
  return false;
}

/// How many there are along an axis of a value of known rank, as a list of one.
Value* length(GraphBuilder& g, Value* v, std::int64_t axis) {
  const Dim& d = (*v->type.shape)[static_cast<std::size_t>(axis)];
  return d.is_known() ? g.ints({d.value()}) : g.op("Shape", {v}, {{"start", axis}, {"end", axis + 1}});
}

/// ONNX spreads a mask over queries and keys; ONNX Runtime asks for a row for each query and a column for each key.
Value* with_all_rows(GraphBuilder& g, Value* mask, Value* q, Value* k) {
  const Shape& shape = *mask->type.shape;
  if (same(shape[shape.size() - 2], (*q->type.shape)[2]) && same(shape.back(), (*k->type.shape)[2])) return mask;
  return g.op("Expand", {mask, g.concat({length(g, q, 2), length(g, k, 2)}, 0)});
}

bool has_rank_4(const Value* v) { return v && v->type.shape && v->type.shape->size() == 4; }

/// softmax(q * k^T * scale + mask) * v over heads
bool fuse_attention(RuleContext& c) {
  Node& mix = c.node;
  const Node* softmax = c.options.makes_attention ? own_maker(mix.input(0), "Softmax", mix) : nullptr;
  if (!softmax || !has_rank_4(softmax->input(0)) || softmax->input(0)->type.elem != DType::f32) return false;
  const std::int64_t axis = softmax->attributes.int_or("axis", -1);
  if (axis != -1 && axis != 3) return false;
  const Value* scores = softmax->input(0);
  const Node* reader = softmax;
  Value* mask = nullptr;
  if (const Node* sum = own_maker(scores, "Add", *softmax)) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Value* v = sum->input(i);
      if (!v || !(own_maker(v, "MatMul", *sum) || own_maker(v, "Mul", *sum) || own_maker(v, "Div", *sum))) continue;
      if (!is_same_type(v, sum->output()) || mask) continue;
      mask = sum->input(1 - i);
      scores = v;
    }
    if (!mask || !mask->type.shape || mask->type.shape->size() < 2) return false;
    reader = sum;
  }
  double scale = 1;
  for (const char* op : {"Mul", "Div"})
    if (const Node* scaled = own_maker(scores, op, *reader)) {
      const auto number = number_of(scaled->input(1));
      if (!number || *number <= 0) return false;
      scale = scaled->is("Div") ? 1 / *number : *number;
      scores = scaled->input(0);
      reader = scaled;
      break;
    }
  const Node* product = own_maker(scores, "MatMul", *reader);
  const Node* turned = product ? maker(product->input(1), "Transpose") : nullptr;
  if (!turned || !has_rank_4(product->input(0)) || !has_rank_4(turned->input(0)) || !has_rank_4(mix.input(1)))
    return false;
  const std::vector<std::int64_t> perm = turned->attributes.ints_or("perm", {});
  const bool has_heads_first = perm == std::vector<std::int64_t>{0, 1, 3, 2};
  if (!has_heads_first && perm != std::vector<std::int64_t>{0, 2, 3, 1}) return false;
  const Shape &q_shape = *product->input(0)->type.shape, &k_shape = *turned->input(0)->type.shape,
              &v_shape = *mix.input(1)->type.shape;
  const Dim& k_heads = k_shape[has_heads_first ? 1 : 2];
  if (!same(q_shape[1], k_heads) || !same(k_heads, v_shape[1]) || !same(q_shape[0], k_shape[0]) ||
      !same(k_shape[0], v_shape[0]))
    return false;
  GraphBuilder g(mix.graph(), &mix);
  g.name_after(mix);
  Value* k = has_heads_first ? turned->input(0) : g.transpose(turned->input(0), {0, 2, 1, 3});
  if (mask) mask = with_all_rows(g, mask, product->input(0), k);
  Value* y = g.op("Attention", {product->input(0), k, mix.input(1), mask}, {{"scale", scale}});
  y->type = mix.output()->type;
  replace_node(mix, {y});
  return true;
}

constexpr Rule kRules[] = {
    {"Gelu", "Mul", OptimizeLevel::all, fuse_gelu, 20},
    {"Swish", "Mul", OptimizeLevel::all, fuse_swish, 24},
    {"HardSwish", "Mul", OptimizeLevel::all, fuse_hard_swish, 14},
    {"normalisation of rows", "Mul", OptimizeLevel::all, fuse_normalization, 17},
    {"normalisation of rows", "Mul", OptimizeLevel::all, fuse_bare_normalization, 17},
    {"normalisation of rows", "Div", OptimizeLevel::all, fuse_bare_normalization, 17},
    {"normalisation of rows", "Add", OptimizeLevel::all, fuse_normalization_bias, 17},
    {"attention", "MatMul", OptimizeLevel::all, fuse_attention, 23},
};

}  // namespace

std::span<const Rule> pattern_rules() { return kRules; }

}  // namespace ingot::passes
