// MultiHeadAttention takes in the products before it: of one input all three, as Attention; else their biases.
#include <algorithm>

#include "ingot/ir/array.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {
namespace {

/// rows * weight + bias, with constants.
struct Linear {
  Value* rows = nullptr;
  const Tensor *weight = nullptr, *bias = nullptr;
};

const Tensor* float_constant(const Value* v, std::int64_t rank) {
  const Tensor* tensor = ops::constant_of(v);
  return tensor && tensor->dtype() == DType::f32 && tensor->rank() == rank ? tensor : nullptr;
}

/// Gemm between two views, as some exporters write the product of rows.
std::optional<Linear> linear_gemm(const Value* v) {
  const Node* wide = maker(v, "Reshape");
  const Node* gemm = wide ? maker(wide->input(0), "Gemm") : nullptr;
  const Node* flat = gemm ? maker(gemm->input(0), "Reshape") : nullptr;
  if (!flat || rank_of(flat->input(0)) != 3 || rank_of(v) != 3) return std::nullopt;
  for (std::int64_t axis : {0, 1})
    if (!may_be_same(dim_of(flat->input(0), axis), dim_of(v, axis))) return std::nullopt;
  const Attributes& a = gemm->attributes;
  const bool is_plain =
      a.float_or("alpha", 1) == 1 && a.float_or("beta", 1) == 1 && !a.int_or("transA", 0) && !a.int_or("transB", 0);
  const Tensor *weight = float_constant(gemm->input(1), 2), *bias = float_constant(gemm->input(2), 1);
  if (!is_plain || !weight || (gemm->input(2) && !bias) || !same(dim_of(flat->input(0), 2), Dim(weight->dims()[0])))
    return std::nullopt;
  return Linear{flat->input(0), weight, bias};
}

std::optional<Linear> linear_of(const Value* v) {
  if (const auto gemm = linear_gemm(v)) return gemm;
  const Tensor* bias = nullptr;
  if (const Node* sum = maker(v, "Add")) {
    const auto biased = split_bias(*sum);
    if (!biased) return std::nullopt;
    bias = float_constant(biased->row, 1);
    v = biased->x;
  }
  const Node* product = maker(v, "MatMul");
  const Tensor* weight = product ? float_constant(product->input(1), 2) : nullptr;
  if (!weight || rank_of(product->input(0)) != 3) return std::nullopt;
  return Linear{product->input(0), weight, bias};
}

/// Columns side by side.
Tensor beside(const std::vector<const Tensor*>& parts) {
  std::int64_t columns = 0;
  const std::int64_t rows = parts[0]->dims()[0];
  for (const Tensor* part : parts) columns += part->dims()[1];
  std::vector<float> all(static_cast<std::size_t>(rows * columns));
  std::int64_t at = 0;
  for (const Tensor* part : parts) {
    const std::vector<float> from = part->to_vector<float>();
    const std::int64_t width = part->dims()[1];
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(from.begin() + r * width, width, all.begin() + r * columns + at);
    at += width;
  }
  return Tensor::of<float>({rows, columns}, all);
}

Tensor row_of(const std::vector<Linear>& parts) {
  std::vector<float> all;
  for (const Linear& part : parts) {
    const auto width = static_cast<std::size_t>(part.weight->dims()[1]);
    const std::vector<float> from = part.bias ? part.bias->to_vector<float>() : std::vector<float>(width, 0.0f);
    all.insert(all.end(), from.begin(), from.end());
  }
  return Tensor::of<float>({std::ssize(all)}, all);
}

Attrs attributes_of(const Node& node, std::int64_t width, std::int64_t value_width) {
  Attrs attrs = {{"num_heads", node.attributes.int_or("num_heads", 1)},
                 {"scale", node.attributes.float_or("scale", 0)}};
  if (width != value_width)
    attrs.emplace_back("qkv_hidden_sizes", std::vector<std::int64_t>{width, width, value_width});
  return attrs;
}

bool is_plain(const Node& node) {
  for (std::size_t i : {3, 4, 6, 7, 8, 9})
    if (node.input(i)) return false;
  return node.output_count() == 1 && rank_of(node.input(0)) == 3 && rank_of(node.input(1)) == 3 &&
         rank_of(node.input(2)) == 3;
}

/// Three parts of one product.
bool pack_split(Node& node) {
  const Node* split = maker(node.input(0), "Split");
  if (!split || !is_plain(node) || split->output_count() != 3) return false;
  for (std::size_t i = 0; i < 3; ++i)
    if (split->output(i) != node.input(i)) return false;
  const std::int64_t axis = split->attributes.int_or("axis", 0);
  if (axis != -1 && axis != 2) return false;
  const auto linear = linear_of(split->input(0));
  if (!linear || size_of(node.input(0), 2) < 0 || size_of(node.input(0), 2) != size_of(node.input(1), 2)) return false;
  GraphBuilder g(node.graph(), &node);
  replace_by_microsoft(
      node, "Attention",
      {linear->rows, g.constant(*linear->weight), g.constant(row_of({*linear})), nullptr, nullptr, node.input(5)},
      attributes_of(node, size_of(node.input(0), 2), size_of(node.input(2), 2)));
  return true;
}

bool pack_products(Node& node) {
  if (!is_plain(node)) return false;
  std::vector<Linear> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = linear_of(node.input(i));
    if (!part || (i > 0 && part->rows != parts[0].rows)) return false;
    parts.push_back(*part);
  }
  const std::int64_t width = parts[0].weight->dims()[1];
  if (parts[1].weight->dims()[1] != width) return false;
  GraphBuilder g(node.graph(), &node);
  replace_by_microsoft(node, "Attention",
                       {parts[0].rows, g.constant(beside({parts[0].weight, parts[1].weight, parts[2].weight})),
                        g.constant(row_of(parts)), nullptr, nullptr, node.input(5)},
                       attributes_of(node, width, parts[2].weight->dims()[1]));
  return true;
}

/// Biases of queries, keys and values that come from different rows.
bool take_biases(Node& node) {
  if (node.input(3) || rank_of(node.input(1)) != 3 || rank_of(node.input(2)) != 3) return false;
  std::vector<float> all;
  Values inputs = node.inputs();
  inputs.resize(std::max<std::size_t>(inputs.size(), 4));
  for (std::size_t i = 0; i < 3; ++i) {
    const Node* sum = own_maker(node.input(i), "Add", node);
    const auto biased = sum ? split_bias(*sum) : std::nullopt;
    const Tensor* row = biased ? float_constant(biased->row, 1) : nullptr;
    if (!row) return false;
    inputs[i] = biased->x;
    const std::vector<float> numbers = row->to_vector<float>();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  inputs[3] = g.constant(Tensor::of<float>({std::ssize(all)}, all));
  for (std::size_t i = 0; i < 4; ++i) node.set_input(i, inputs[i]);
  return true;
}

constexpr Fusion kFusions[] = {
    {"Attention", "MultiHeadAttention", pack_split, kMicrosoft},
    {"Attention", "MultiHeadAttention", pack_products, kMicrosoft},
    {"MultiHeadAttention with bias", "MultiHeadAttention", take_biases, kMicrosoft},
};

}  // namespace

std::span<const Fusion> packed_attention_fusions() { return kFusions; }

}  // namespace ingot::passes::fuse
