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
    const auto next = channel_affine_of(*reader, y, static_cast<std::int64_t>(*channels));
    if (!next || !is_finite(*next) || (is_shared && has_factors(*next))) break;
    line = joined(line, *next);
    taken.push_back(reader);
    y = reader->output(0);
  }
  if (taken.empty()) return 0;
  absorb(conv, *taken.back(), line);
  // The readers of what is taken in are those of the convolution now: it stands before all of them.
  for (Node* node : taken) {
    node->set_input(node->input(0) == conv.output(0) ? 0 : 1, nullptr);
    conv.output(0)->is_declared = false;  // it is what this node made now, and takes the name of that
    replace_node(*node, {conv.output(0)});
  }
  return taken.size();
}

}  // namespace

std::size_t absorb_own_lines(Graph& graph) {
  std::size_t count = 0;
  for (Node& node : graph.nodes()) count += absorb_behind(node);
  return count;
}

std::size_t absorb_lines(Graph& root) {
  std::size_t count = 0;
  for_each_graph(root, [&](Graph& graph) { count += absorb_own_lines(graph); });
  return count;
}

}  // namespace ingot::passes
