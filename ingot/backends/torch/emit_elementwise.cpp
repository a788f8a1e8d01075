// Operators element by element that are more than a name.
#include "ingot/backends/torch/operators.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::torch {
namespace {

/// f(f(a, b), c) ...
std::string chained(const NodeOut& n, std::string_view function) {
  std::string made = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) made = NodeOut::call(function, {made, n.in(i)});
  return made;
}

std::string_view comparison_of(std::string_view op) {
  if (op == "Less") return " < ";
  if (op == "LessOrEqual") return " <= ";
  return op == "Greater" ? " > " : " >= ";
}

}  // namespace

void write_clip(const NodeOut& n) {
  const auto bound = [&](std::size_t i) -> const Tensor* {
    return n.has(i) ? ops::constant_of(n.node.input(i)) : nullptr;
  };
  const bool are_known = (!n.has(1) || bound(1)) && (!n.has(2) || bound(2));
  if (are_known && (n.has(1) || n.has(2)) && n.elem() != DType::u64) {
    const auto text = [&](std::size_t i) { return n.has(i) ? literal(*bound(i)) : "None"; };
    return n.set(NodeOut::call("torch.clamp", {n.in(0), text(1), text(2)}));
  }
  std::string made = n.in(0);
  if (n.has(1)) made = NodeOut::call("torch.maximum", {made, n.in(1)});
  if (n.has(2)) made = NodeOut::call("torch.minimum", {made, n.in(2)});
  n.set(made);
}

void write_comparison(const NodeOut& n) {
  const std::string_view sign = comparison_of(n.node.op);
  if (n.elem() != DType::u64) return n.set(n.operand(0) + std::string(sign) + n.operand(1));
  n.set(n.helped("ordered", {n.in(0)}) + std::string(sign) + n.helped("ordered", {n.in(1)}));
}

void write_div(const NodeOut& n) {
  if (n.elem() == DType::u64) return n.set(n.helped("divide_unsigned", {n.in(0), n.in(1)}));
  if (!is_integer(n.elem())) return n.set(n.operand(0) + " / " + n.operand(1));
  n.set(NodeOut::call("torch.div", {n.in(0), n.operand(1), "rounding_mode=\"trunc\""}));
}

void write_elu(const NodeOut& n) { n.set(NodeOut::call(n.s.nn("elu"), {n.in(0), n.real("alpha", 1)})); }

void write_celu(const NodeOut& n) { n.set(NodeOut::call("torch.celu", {n.in(0), n.real("alpha", 1)})); }

void write_hard_sigmoid(const NodeOut& n) {
  n.set("torch.clamp(" + n.in(0) + " * " + n.real("alpha", 0.2F) + " + " + n.real("beta", 0.5F) + ", 0, 1)");
}

void write_is_inf(const NodeOut& n) {
  const bool high = n.flag("detect_positive", true), low = n.flag("detect_negative", true);
  if (high && low) return n.set(NodeOut::call("torch.isinf", {n.in(0)}));
  if (high || low) return n.set(n.in(0) + (high ? " == inf" : " == -inf"));
  n.set(NodeOut::call("torch.zeros_like", {n.in(0), "dtype=" + n.type(DType::boolean)}));
}

void write_leaky_relu(const NodeOut& n) {
  n.set(NodeOut::call(n.s.nn("leaky_relu"), {n.in(0), n.real("alpha", 0.01F)}));
}

void write_extremum(const NodeOut& n) {
  const bool is_max = n.node.op == "Max";
  if (n.elem() != DType::u64) return n.set(chained(n, is_max ? "torch.maximum" : "torch.minimum"));
  std::string made = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i)
    made = NodeOut::call(is_max ? "torch.maximum" : "torch.minimum",
                         {i == 1 ? n.helped("ordered", {made}) : made, n.helped("ordered", {n.in(i)})});
  n.set(n.helped("ordered", {made}));
}

void write_sum(const NodeOut& n) {
  std::string made = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) made += " + " + n.in(i);
  n.set(made);
}

void write_mean(const NodeOut& n) {
  std::string made = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) made += " + " + n.in(i);
  n.set("(" + made + ") / " + text_of(static_cast<std::int64_t>(n.node.input_count())));
}

void write_mod(const NodeOut& n) {
  if (n.elem() == DType::u64)
    return n.set(n.in(0) + " - " + n.helped("divide_unsigned", {n.in(0), n.in(1)}) + " * " + n.in(1));
  n.set(NodeOut::call(n.flag("fmod") ? "torch.fmod" : "torch.remainder", {n.in(0), n.in(1)}));
}

void write_pow(const NodeOut& n) {
  if (n.elem(0) == n.elem(1)) return n.set(n.operand(0) + " ** " + n.operand(1));
  std::string exponent = n.in(1);
  if (n.elem(1) == DType::u64 && is_float(n.elem(0)))
    exponent = n.helped("float_of_unsigned", {exponent}) + ".to(" + n.type(n.elem(0)) + ")";
  n.set(NodeOut::call("torch.pow", {n.in(0), exponent}) + ".to(" + n.type(n.elem(0)) + ")");
}

void write_prelu(const NodeOut& n) {
  n.set("torch.where(" + n.in(0) + " < 0, " + n.in(0) + " * " + n.in(1) + ", " + n.in(0) + ")");
}

void write_bit_shift(const NodeOut& n) {
  const bool goes_left = n.word("direction", "") == "LEFT";
  if (goes_left || n.elem() != DType::u64) return n.set(n.in(0) + (goes_left ? " << " : " >> ") + n.in(1));
  n.set(n.helped("shift_right", {n.in(0), n.in(1)}));
}

void write_shrink(const NodeOut& n) {
  const std::string x = n.in(0), bias = n.real("bias", 0), lambd = n.real("lambd", 0.5F);
  n.set("torch.where(" + x + " > " + lambd + ", " + x + " - " + bias + ", torch.where(" + x + " < -" + lambd + ", " +
        x + " + " + bias + ", torch.zeros_like(" + x + ")))");
}

}  // namespace ingot::backends::torch
