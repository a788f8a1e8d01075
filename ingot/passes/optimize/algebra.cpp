// Rules of arithmetic and logic.
#include <algorithm>
#include <cmath>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/identities.h"
#include "ingot/passes/optimize/rules.h"

namespace ingot::passes {
namespace {

bool take_out_nothing(RuleContext& c) { return legalize::does_nothing(c.node) && legalize::take_out_nothing(c.node); }

/// x + 0, x * 1, x - 0, x / 1, x ^ 1
template <int kNeutral, bool kEitherSide> bool drop_neutral(RuleContext& c) {
  const Node& node = c.node;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    if (i == 0 && !kEitherSide) break;
    const auto number = number_of(node.input(i));
    if (number && *number == kNeutral && is_same_type(node.input(1 - i), node.output()))
      return pass_through(c.node, 1 - i);
  }
  return false;
}

/// f(f(x)) is f(x), or x.
bool drop_repeated(RuleContext& c) { return maker(c.node.input(0), c.node.op) && pass_through(c.node); }

bool drop_inverse(RuleContext& c) {
  const Node* inner = maker(c.node.input(0), c.node.op);
  if (!inner || !inner->input(0)) return false;
  c.node.set_input(0, inner->input(0));
  return pass_through(c.node);
}

/// (x + a) + b is x + (a + b), (x * a) * b is x * (a * b): numbers only, and where nothing else reads the inner one.
bool join_numbers(RuleContext& c) {
  Node& node = c.node;
  const bool is_product = node.is("Mul");
  const WithNumber outer = split_number(node);
  if (!outer.other || !is_float(outer.other->type.elem)) return false;
  Node* inner_node = own_maker(outer.other, node.op, node);
  if (!inner_node) return false;
  const WithNumber inner = split_number(*inner_node);
  if (!inner.other || !is_same_type(inner.other, node.output())) return false;
  const double joined = is_product ? inner.number * outer.number : inner.number + outer.number;
  const double size = std::abs(joined);
  // What leaves the range of floats on the way would not be the same.
  const bool is_safe = std::isfinite(joined) && (joined == 0 ? !is_product : size > 1e-30) && size < 1e30;
  if (!is_safe || node.output()->type.elem != DType::f32) return false;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  node.set_input(0, inner.other);
  node.set_input(1, g.scalar(joined, DType::f32));
  return true;
}

Value* number_like(RuleContext& c, double number) {
  const auto dims = static_dims(c.node.output()->type.shape);
  if (!dims || tensor_size(*dims) > 4096) return nullptr;
  GraphBuilder g(c.node.graph(), &c.node);
  g.name_after(c.node);
  return g.op("Expand", {g.scalar(number, c.node.output()->type.elem), g.ints(*dims)});
}

/// x * 0 is 0, unless x may be infinite or no number.
bool drop_zero_product(RuleContext& c) {
  const WithNumber parts = split_number(c.node);
  if (!parts.other || parts.number != 0) return false;
  if (!c.options.ignores_nan && !is_integer(parts.other->type.elem)) return false;
  Value* zeros = number_like(c, 0);
  if (!zeros) return false;
  replace_node(c.node, {zeros});
  return true;
}

/// x - x is 0
bool drop_difference(RuleContext& c) {
  const Node& node = c.node;
  if (!node.input(0) || node.input(0) != node.input(1)) return false;
  if (!c.options.ignores_nan && !is_integer(node.input(0)->type.elem)) return false;
  Value* zeros = number_like(c, 0);
  if (!zeros) return false;
  replace_node(c.node, {zeros});
  return true;
}

/// Whether every value of `from` is one of `to`.
bool holds(DType to, DType from) {
  if (from == DType::boolean) return is_integer(to) || to == DType::f32 || to == DType::f64;
  if (is_integer(from) && is_integer(to)) {
    if (is_signed_integer(from) && !is_signed_integer(to)) return false;
    const bool gains_sign = !is_signed_integer(from) && is_signed_integer(to);
    return bits_of(to) > bits_of(from) || (!gains_sign && bits_of(to) == bits_of(from));
  }
  if (from == DType::f16 || from == DType::bf16) return to == DType::f32 || to == DType::f64;
  return from == DType::f32 && to == DType::f64;
}

/// A cast that loses nothing, before another.
bool join_casts(RuleContext& c) {
  const Node* inner = maker(c.node.input(0), "Cast");
  if (!inner || !inner->input(0)) return false;
  const DType first = inner->input(0)->type.elem, middle = inner->output()->type.elem;
  if (first == DType::undefined || !holds(middle, first)) return false;
  // True is 1 as an integer, and has as many digits as its type as a text.
  if (c.node.output()->type.elem == DType::string) return false;
  c.node.set_input(0, inner->input(0));
  if (c.node.output()->type.elem == first) return pass_through(c.node);
  return true;
}

/// A matrix product and a row added to it.
bool product_with_bias(RuleContext& c) {
  Node& sum = c.node;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node* product = own_maker(sum.input(i), "MatMul", sum);
    const Tensor* bias = ops::constant_of(sum.input(1 - i));
    if (!product || !bias || !is_float(bias->dtype()) || !is_same_type(product->output(), sum.output())) continue;
    const auto has_two = [](const Value* v) { return v && v->type.shape && v->type.shape->size() == 2; };
    if (!has_two(product->input(0)) || !has_two(product->input(1)) || bias->rank() > 2) continue;
    GraphBuilder g(sum.graph(), &sum);
    g.name_after(sum);
    replace_node(sum, {g.op("Gemm", {product->input(0), product->input(1), sum.input(1 - i)})});
    return true;
  }
  return false;
}

constexpr Rule kRules[] = {
    {"identities", "Identity", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Cast", OptimizeLevel::basic, take_out_nothing},
    {"identities", "CastLike", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Dropout", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Max", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Mean", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Min", OptimizeLevel::basic, take_out_nothing},
    {"identities", "Sum", OptimizeLevel::basic, take_out_nothing},
    {"neutral numbers", "Add", OptimizeLevel::basic, drop_neutral<0, true>},
    {"neutral numbers", "Sub", OptimizeLevel::basic, drop_neutral<0, false>},
    {"neutral numbers", "Mul", OptimizeLevel::basic, drop_neutral<1, true>},
    {"neutral numbers", "Div", OptimizeLevel::basic, drop_neutral<1, false>},
    {"neutral numbers", "Pow", OptimizeLevel::basic, drop_neutral<1, false>},
    {"repeated functions", "Abs", OptimizeLevel::basic, drop_repeated},
    {"repeated functions", "Ceil", OptimizeLevel::basic, drop_repeated},
    {"repeated functions", "Floor", OptimizeLevel::basic, drop_repeated},
    {"repeated functions", "Relu", OptimizeLevel::basic, drop_repeated},
    {"repeated functions", "Round", OptimizeLevel::basic, drop_repeated},
    {"repeated functions", "Sign", OptimizeLevel::basic, drop_repeated},
    {"inverse functions", "Neg", OptimizeLevel::basic, drop_inverse},
    {"inverse functions", "Not", OptimizeLevel::basic, drop_inverse},
    {"casts of casts", "Cast", OptimizeLevel::basic, join_casts},
    {"zeros", "Mul", OptimizeLevel::basic, drop_zero_product},
    {"zeros", "Sub", OptimizeLevel::basic, drop_difference},
    {"numbers joined", "Add", OptimizeLevel::extended, join_numbers},
    {"numbers joined", "Mul", OptimizeLevel::extended, join_numbers},
    {"products with bias", "Add", OptimizeLevel::extended, product_with_bias},
};

}  // namespace

std::span<const Rule> algebra_rules() { return kRules; }

}  // namespace ingot::passes
