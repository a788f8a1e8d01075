// Sums and products for each channel go into the weights of the convolution before them.
#include "ingot/passes/absorb_lines.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/affine.h"

namespace ingot::passes {
namespace {

/// How many channels the convolution makes, if its weights are constant floats.
std::optional<std::size_t> channels_of(const Node& conv) {
  const bool is_transposed = conv.is("ConvTranspose");
  if (!is_transposed && !conv.is("Conv")) return {};
  const Tensor* weight = ops::constant_of(conv.input(1));
  if (!weight || weight->dtype() != DType::f32 || weight->rank() < 3) return {};
  if (is_transposed && conv.attributes.int_or("group", 1) != 1) return {};
  const auto channels = static_cast<std::size_t>(weight->dims()[is_transposed ? 1 : 0]);
  if (!channels || !conv.output(0)) return {};
  if (conv.input(2)) {
    const Tensor* bias = ops::constant_of(conv.input(2));
    if (!bias || bias->dtype() != DType::f32 || static_cast<std::size_t>(bias->size()) != channels) return {};
  }
  return channels;
}

/// The node that alone reads the value, in its own graph.
Node* only_reader(const Value* v) {
  if (v->uses().size() != 1) return nullptr;
  Node* node = v->uses()[0].node;
  return node && &node->graph() == &v->graph() ? node : nullptr;
}

/// A constant with one number for each channel of [N, C, ...], or one for all.
std::optional<std::vector<double>> per_channel(const Value* constant, std::size_t rank, std::size_t channels) {
  const Tensor* tensor = ops::constant_of(constant);
  if (!tensor || tensor->dtype() != DType::f32 || static_cast<std::size_t>(tensor->rank()) > rank) return {};
  if (tensor->size() == 1) return std::vector<double>(channels, tensor->to_doubles()[0]);
  const std::size_t missing = rank - static_cast<std::size_t>(tensor->rank());
  if (missing > 1 || static_cast<std::size_t>(tensor->dims()[1 - missing]) != channels) return {};
  return static_cast<std::size_t>(tensor->size()) == channels ? std::optional(tensor->to_doubles()) : std::nullopt;
}

/// What the node does to each channel of `y`, if that is all it does.
std::optional<Affine> line_of(const Node& node, const Value* y, std::size_t channels) {
  if (node.is("BatchNormalization") && node.input(0) == y) {
    auto affine = affine_of(node);
    return affine && affine->factor.size() == channels ? affine : std::nullopt;
  }
  const bool adds = node.is("Add"), subtracts = node.is("Sub") && node.input(0) == y, scales = node.is("Mul");
  if (!adds && !subtracts && !scales) return {};
  const Value* other = node.input(0) == y ? node.input(1) : node.input(0);
  if (!y->type.shape || other == y) return {};
  auto numbers = per_channel(other, y->type.shape->size(), channels);
  if (!numbers) return {};
  if (scales) return Affine{std::move(*numbers), std::vector<double>(channels, 0)};
  if (subtracts)
    for (double& n : *numbers) n = -n;
  return Affine{std::vector<double>(channels, 1), std::move(*numbers)};
}

/// Lines that follow each other are one.
void follow(Affine& line, const Affine& next) {
  for (std::size_t i = 0; i < line.factor.size(); ++i) {
    line.factor[i] *= next.factor[i];
    line.offset[i] = line.offset[i] * next.factor[i] + next.offset[i];
  }
}

Tensor scaled(const Tensor& weight, const std::vector<double>& factor, bool is_transposed) {
  std::vector<double> values = weight.to_doubles();
  const std::size_t channels = factor.size(), first = is_transposed ? static_cast<std::size_t>(weight.dims()[0]) : 1;
  const std::size_t inner = values.size() / channels / first;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factor[i / inner % channels];
  return Tensor::of<float>(weight.dims(), std::vector<float>(values.begin(), values.end()));
}

bool has_factors(const Affine& line) {
  return std::ranges::any_of(line.factor, [](double f) { return f != 1; });
}

bool is_finite(const Affine& line) {
  const auto finite = [](double v) { return std::isfinite(v); };
  return std::ranges::all_of(line.factor, finite) && std::ranges::all_of(line.offset, finite);
}

void absorb(Node& conv, Node& last, const Affine& line) {
  std::vector<double> bias(line.factor.size(), 0);
  if (conv.input(2)) bias = ops::constant_of(conv.input(2))->to_doubles();
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] * line.factor[i] + line.offset[i];
  GraphBuilder g(conv.graph(), &conv);
  g.name_after(conv);
  if (has_factors(line))
    conv.set_input(1, g.constant(scaled(*ops::constant_of(conv.input(1)), line.factor, conv.is("ConvTranspose"))));
  conv.set_input(2, g.constant(Tensor::of<float>({std::ssize(bias)}, std::vector<float>(bias.begin(), bias.end()))));
  conv.name = last.name;
  conv.metadata = last.metadata;
}

/// The nodes behind a convolution that it takes in; the last one's output becomes the convolution's.
std::size_t absorb_behind(Node& conv) {
  const auto channels = channels_of(conv);
  if (!channels) return 0;
  const bool is_shared = conv.input(1)->uses().size() != 1;  // then a copy with factors would be one more
  Affine line{std::vector<double>(*channels, 1), std::vector<double>(*channels, 0)};
  std::vector<Node*> taken;
  const Value* y = conv.output(0);
  while (Node* reader = only_reader(y)) {
    const auto next = line_of(*reader, y, *channels);
    if (!next || !is_finite(*next) || (is_shared && has_factors(*next))) break;
    follow(line, *next);
    taken.push_back(reader);
    y = reader->output(0);
  }
  if (taken.empty()) return 0;
  absorb(conv, *taken.back(), line);
  // The readers of what is taken in are those of the convolution now: it stands before all of them.
  for (Node* node : taken) {
    node->set_input(node->input(0) == conv.output(0) ? 0 : 1, nullptr);
    replace_node(*node, {conv.output(0)});
  }
  return taken.size();
}

}  // namespace

std::size_t absorb_lines(Graph& root) {
  std::size_t count = 0;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) count += absorb_behind(node);
  });
  return count;
}

}  // namespace ingot::passes
