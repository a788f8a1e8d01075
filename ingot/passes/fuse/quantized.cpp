// Products of integers with what makes them floats again.
#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/integer_product.h"

namespace ingot::passes::fuse {
namespace {

bool is_row_or_number(const Value* v) { return is_float_tensor(v) && rank_of(v) >= 0 && rank_of(v) <= 1; }

}  // namespace

std::optional<IntegerProduct> integer_product(const Node& node) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Node* cast = own_maker(node.input(i), "Cast", node);
    const Node* product = cast ? own_maker(cast->input(0), "MatMulInteger", *cast) : nullptr;
    const Node* scale = own_maker(node.input(1 - i), "Mul", node);
    if (!product || !is_float_tensor(node.output())) continue;
    if (!scale) scale = maker(node.input(1 - i), "Mul");
    if (!scale) continue;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      Value *a = scale->input(k), *b = scale->input(1 - k);
      const Node* rounding = maker(a, "DynamicQuantizeLinear");
      const bool is_of_a = rounding && rounding->output(1) == a && rounding->output(0) == product->input(0) &&
                           rounding->output(2) == product->input(2);
      if (is_of_a && is_row_or_number(b) && ops::constant_of(b)) return IntegerProduct{product, rounding, b};
    }
  }
  return std::nullopt;
}

namespace {

bool fuse_dynamic(Node& node) {
  const auto found = integer_product(node);
  if (!found) return false;
  const Node& product = *found->product;
  const Tensor* weight = ops::constant_of(product.input(1));
  if (!weight || weight->rank() != 2) return false;
  Value* b_scale = found->b_scale;
  replace_by_microsoft(node, "DynamicQuantizeMatMul",
                       {found->rounding->input(0), product.input(1), b_scale, product.input(3)}, {});
  return true;
}

/// A row added behind is the bias.
bool take_bias(Node& sum) {
  const auto biased = split_bias(sum);
  const Node* product = biased ? biased->x->producer() : nullptr;
  if (!product || !product->is("DynamicQuantizeMatMul", kMicrosoft) || product->input(4)) return false;
  if (!is_read_only_by(biased->x, sum)) return false;
  replace_by_microsoft(sum, "DynamicQuantizeMatMul",
                       {product->input(0), product->input(1), product->input(2), product->input(3), biased->row}, {});
  return true;
}

constexpr Fusion kFusions[] = {
    {"DynamicQuantizeMatMul", "Mul", fuse_dynamic},
    {"DynamicQuantizeMatMul with bias", "Add", take_bias},
};

}  // namespace

std::span<const Fusion> quantized_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse
