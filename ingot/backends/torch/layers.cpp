// Nodes as layers of torch.nn.
#include "ingot/backends/torch/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ingot/backends/torch/operators.h"
#include "ingot/backends/torch/slide.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::torch {
namespace {

using IsOwn = std::function<bool(const Value&)>;
using Fields = std::vector<Layer::Field>;

bool is_weight(const Value* value, const IsOwn& is_own, std::int64_t rank) {
  return value && value->initializer && value->initializer->rank() == rank && is_own(*value);
}

Layer::Field field(std::string name, const Value* value) {
  return {std::move(name), value, *value->initializer, false};
}

/// "3" where all are the same, else "(3, 5)".
std::string sizes_text(const Ints& sizes) {
  if (std::ranges::all_of(sizes, [&](std::int64_t s) { return s == sizes[0]; })) return text_of(sizes[0]);
  const std::string list = text_of(sizes);
  return "(" + list.substr(1, list.size() - 2) + ")";
}

/// ", stride=2" unless that is the default.
std::string option(std::string_view name, const Ints& sizes, std::int64_t usual) {
  if (std::ranges::all_of(sizes, [&](std::int64_t s) { return s == usual; })) return {};
  return fmt::format(", {}={}", name, sizes_text(sizes));
}

std::string epsilon_option(const Node& node) {
  const float epsilon = node.attributes.float_or("epsilon", 1e-5F);
  return epsilon == 1e-5F ? std::string() : ", eps=" + text_of(epsilon);
}

void transpose(Layer::Field& weight) {
  const Tensor& tensor = weight.tensor;
  const auto rows = static_cast<std::size_t>(tensor.dims()[0]), columns = static_cast<std::size_t>(tensor.dims()[1]);
  const std::size_t width = bits_of(tensor.dtype()) / 8;
  std::string made(tensor.bytes().size(), '\0');
  const char* from = reinterpret_cast<const char*>(tensor.bytes().data());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      std::memcpy(made.data() + (c * rows + r) * width, from + (r * columns + c) * width, width);
  weight.tensor = Tensor(tensor.dtype(), {tensor.dims()[1], tensor.dims()[0]}, Bytes::own(std::move(made)));
  weight.is_transposed = true;
}

std::optional<Layer> convolution(const Node& node, const IsOwn& is_own) {
  const Value *w = node.input(1), *b = node.input(2);
  const auto rank = static_cast<std::int64_t>(node.input(0)->type.shape->size());
  if (!is_weight(w, is_own, rank) || (b && !is_weight(b, is_own, 1))) return {};
  const Slide slide = slide_of(node, true);
  if (!slide.is_even()) return {};
  const bool is_transposed = node.op == "ConvTranspose";
  const Dims& dims = w->initializer->dims();
  const std::int64_t group = node.attributes.int_or("group", 1);
  const std::int64_t in = is_transposed ? dims[0] : dims[1] * group, out = is_transposed ? dims[1] * group : dims[0];
  std::string made = fmt::format("nn.{}({}, {}, {}", sized(is_transposed ? "ConvTranspose" : "Conv", slide.rank()), in,
                                 out, sizes_text(slide.kernel));
  made += option("stride", slide.strides, 1) + option("padding", slide.before, 0);
  if (is_transposed)
    made += option("output_padding", node.attributes.ints_or("output_padding", Ints(slide.rank(), 0)), 0);
  made += option("dilation", slide.dilations, 1) + option("groups", {group}, 1);
  Layer layer{.made = made + (b ? ")" : ", bias=False)"), .input = node.input(0), .fields = {field("weight", w)}};
  if (b) layer.fields.push_back(field("bias", b));
  return layer;
}

std::optional<Layer> linear(const Value* x, Layer::Field weight, const Value* bias) {
  const Dims& dims = weight.tensor.dims();
  if (bias && bias->initializer->dims() != Dims{dims[0]}) return {};
  Layer layer{.made = fmt::format("nn.Linear({}, {}{})", dims[1], dims[0], bias ? "" : ", bias=False"),
              .input = x,
              .fields = {std::move(weight)}};
  if (bias) layer.fields.push_back(field("bias", bias));
  return layer;
}

std::optional<Layer> gemm(const Node& node, const IsOwn& is_own) {
  const Value *w = node.input(1), *b = node.input(2);
  const bool is_plain = node.attributes.float_or("alpha", 1) == 1 && node.attributes.float_or("beta", 1) == 1 &&
                        !node.attributes.int_or("transA", 0);
  if (!is_plain || !is_weight(w, is_own, 2) || (b && !is_weight(b, is_own, 1))) return {};
  Layer::Field weight = field("weight", w);
  if (!node.attributes.int_or("transB", 0)) transpose(weight);
  return linear(node.input(0), std::move(weight), b);
}

/// MatMul with a matrix, or with the transpose of one.
std::optional<Layer::Field> matrix_of(const Node& product, const IsOwn& is_own, std::vector<const Node*>& parts) {
  const Value* w = product.input(1);
  if (is_weight(w, is_own, 2)) {
    Layer::Field weight = field("weight", w);
    transpose(weight);
    return weight;
  }
  const Node* turn = w ? w->producer() : nullptr;
  if (!turn || !turn->is("Transpose") || w->uses().size() != 1 || !is_weight(turn->input(0), is_own, 2)) return {};
  if (turn->attributes.ints_or("perm", {1, 0}) != Ints{1, 0}) return {};
  parts.push_back(turn);
  return field("weight", turn->input(0));
}

bool is_product(const Value* value, const Graph& graph) {
  const Node* node = value ? value->producer() : nullptr;
  return node && node->is("MatMul") && value->uses().size() == 1 && &node->graph() == &graph && value->type.shape &&
         value->type.shape->size() >= 2;
}

/// x W + b; a sum that is none is left alone.
std::optional<Layer> biased_product(const Node& sum, const IsOwn& is_own) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value* b = sum.input(1 - i);
    if (!is_product(sum.input(i), sum.graph()) || !is_weight(b, is_own, 1)) continue;
    const Node& product = *sum.input(i)->producer();
    std::vector<const Node*> parts{&product};
    auto weight = matrix_of(product, is_own, parts);
    if (!weight) continue;
    auto layer = linear(product.input(0), std::move(*weight), b);
    if (layer) layer->parts = std::move(parts);
    return layer;
  }
  return {};
}

/// x W, unless what reads it adds a bias.
std::optional<Layer> product(const Node& node, const IsOwn& is_own) {
  const Value* y = node.output();
  if (!y->type.shape || y->type.shape->size() < 2) return {};
  if (y->uses().size() == 1 && y->uses()[0].node && y->uses()[0].node->is("Add") &&
      biased_product(*y->uses()[0].node, is_own))
    return {};
  std::vector<const Node*> parts;
  auto weight = matrix_of(node, is_own, parts);
  if (!weight) return {};
  auto layer = linear(node.input(0), std::move(*weight), nullptr);
  if (layer) layer->parts = std::move(parts);
  return layer;
}

std::optional<Layer> batch_norm(const Node& node, const IsOwn& is_own) {
  constexpr std::string_view kNames[] = {"weight", "bias", "running_mean", "running_var"};
  const auto& shape = node.input(0)->type.shape;
  if (!shape || shape->size() < 2 || shape->size() > 5) return {};
  Fields fields;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!is_weight(node.input(i + 1), is_own, 1)) return {};
    fields.push_back(field(std::string(kNames[i]), node.input(i + 1)));
  }
  const std::int64_t count = fields[0].tensor.dims()[0];
  fields.push_back({"num_batches_tracked", nullptr, Tensor::scalar<std::int64_t>(0), false});
  const std::string momentum = momentum_of(node);
  return Layer{.made = fmt::format("nn.{}({}{}{})", sized("BatchNorm", std::max<std::size_t>(shape->size() - 2, 1)),
                                   count, epsilon_option(node), momentum == "0.1" ? "" : ", momentum=" + momentum),
               .input = node.input(0),
               .fields = std::move(fields)};
}

/// Scale and shift by the names that all normalisations have for them.
std::optional<Layer> normalization(const Node& node, const IsOwn& is_own, std::int64_t rank, const std::string& made) {
  if (!is_weight(node.input(1), is_own, rank) || !is_weight(node.input(2), is_own, rank)) return {};
  return Layer{
      .made = made, .input = node.input(0), .fields = {field("weight", node.input(1)), field("bias", node.input(2))}};
}

std::optional<Layer> layer_norm(const Node& node, const IsOwn& is_own) {
  const Value* w = node.input(1);
  if (!w || !w->initializer) return {};
  const std::string sizes =
      w->initializer->rank() == 1 ? text_of(w->initializer->dims()[0]) : text_of(w->initializer->dims());
  return normalization(node, is_own, w->initializer->rank(),
                       fmt::format("nn.LayerNorm({}{})", sizes, epsilon_option(node)));
}

std::optional<Layer> channel_norm(const Node& node, const IsOwn& is_own) {
  const Value* w = node.input(1);
  const auto& shape = node.input(0)->type.shape;
  if (!w || !w->initializer || w->initializer->rank() != 1 || !shape) return {};
  const std::int64_t count = w->initializer->dims()[0];
  if (node.op == "GroupNormalization")
    return normalization(
        node, is_own, 1,
        fmt::format("nn.GroupNorm({}, {}{})", node.attributes.int_or("num_groups", 1), count, epsilon_option(node)));
  if (shape->size() < 3 || shape->size() > 5) return {};
  return normalization(
      node, is_own, 1,
      fmt::format("nn.{}({}{}, affine=True)", sized("InstanceNorm", shape->size() - 2), count, epsilon_option(node)));
}

std::optional<Layer> embedding(const Node& node, const IsOwn& is_own) {
  const Value* w = node.input(0);
  const bool is_index = !ops::constant_of(node.input(1)) &&
                        (node.input(1)->type.elem == DType::i64 || node.input(1)->type.elem == DType::i32);
  if (node.attributes.int_or("axis", 0) != 0 || !is_index || !is_weight(w, is_own, 2)) return {};
  const Dims& dims = w->initializer->dims();
  return Layer{.made = fmt::format("nn.Embedding({}, {})", dims[0], dims[1]),
               .input = node.input(1),
               .fields = {field("weight", w)}};
}

/// The name in front of ".weight" or ".bias"; empty: it is called otherwise.
std::string stem_of(const Layer::Field& field) {
  if (!field.value) return {};
  const std::string& name = field.value->name();
  const std::string end = "." + field.name;
  return name.size() > end.size() && name.ends_with(end) ? name.substr(0, name.size() - end.size()) : std::string();
}

/// "/layer1/layer1.0/conv1/Conv" is conv1 of layer1.0, as PyTorch's own exporter means it.
std::string scope_of(const Node& node) {
  std::vector<std::string> parts(1);
  for (const char c : node.name)
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  if (parts.size() > 1 && parts.back().starts_with(node.op)) parts.pop_back();
  std::string path;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const std::size_t dot = path.rfind('.');
    const std::string last = dot == std::string::npos ? path : path.substr(dot + 1);
    if (!last.empty() && part.starts_with(last + "."))
      path = path.substr(0, path.size() - last.size()) + part;
    else
      path += (path.empty() ? "" : ".") + part;
  }
  return path;
}

}  // namespace

std::optional<Layer> layer_of(const Node& node, const IsOwn& is_own) {
  if (!node.domain.empty() || node.op == "Constant" || refusal(node) || wide_type(node) != DType::undefined) return {};
  if (node.op == "Conv" || node.op == "ConvTranspose") return convolution(node, is_own);
  if (node.op == "Gemm") return gemm(node, is_own);
  if (node.op == "Add") return biased_product(node, is_own);
  if (node.op == "MatMul") return product(node, is_own);
  if (node.op == "BatchNormalization") return batch_norm(node, is_own);
  if (node.op == "LayerNormalization") return layer_norm(node, is_own);
  if (node.op == "GroupNormalization" || node.op == "InstanceNormalization") return channel_norm(node, is_own);
  if (node.op == "Gather") return embedding(node, is_own);
  return {};
}

std::string path_of(const Node& node, const Layer& layer) {
  for (const Layer::Field& f : layer.fields)
    if (const std::string stem = stem_of(f); !stem.empty()) return stem;
  if (const std::string scope = scope_of(node); !scope.empty()) return scope;
  std::string made = layer.made.substr(3, layer.made.find('(') - 3);
  std::ranges::transform(made, made.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return made;
}

}  // namespace ingot::backends::torch
