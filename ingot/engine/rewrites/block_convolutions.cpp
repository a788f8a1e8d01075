// Convolutions, pools and what stands between them, on channels in blocks.
#include "ingot/engine/rewrites/block_convolutions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/convolution_group.h"
#include "ingot/engine/rewrites/lower_transposed.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/nn/window.h"

namespace ingot::engine {
namespace {

constexpr std::string_view kUnary[] = {"Abs",   "Ceil",    "Clip",      "Elu",         "Erf",      "Exp",
                                       "Floor", "Gelu",    "HardSwish", "HardSigmoid", "Identity", "LeakyRelu",
                                       "Log",   "Mish",    "Neg",       "Reciprocal",  "Relu",     "Round",
                                       "Selu",  "Sigmoid", "Softplus",  "Sqrt",        "Swish",    "Tanh"};
constexpr std::string_view kBinary[] = {"Add", "Div", "Max", "Min", "Mul", "PRelu", "Sub"};

template <std::size_t N> bool is_one_of(const Node& node, const std::string_view (&names)[N]) {
  return node.domain.empty() && std::ranges::find(names, node.op) != std::end(names);
}

bool is_float_of_rank_3_to_5(const Value* v) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() >= 3 && v->type.shape->size() <= 5;
}

/// Channels of [N, C, ...] if they are known and there are any, else 0.
std::int64_t channels_of(const Value* v) {
  if (!is_float_of_rank_3_to_5(v) || !v->type.shape->at(1).is_known()) return 0;
  return std::max<std::int64_t>(0, v->type.shape->at(1).value());
}

bool fill_blocks(std::int64_t channels) { return channels > 0 && channels % kBlock == 0; }

/// Below this many channels the library reads a plain input as fast as one in blocks.
constexpr std::int64_t kFewChannels = kBlock;

/// A result of fewer channels is put in blocks only if the input is.
constexpr std::int64_t kLeastPadded = kBlock / 2;

class Blocking {
 public:
  explicit Blocking(Graph& graph) : graph_(graph) {}

  void run() {
    bool has_convolutions = false;
    for (const Node& node : graph_.nodes()) has_convolutions |= node.is("Conv");
    if (!has_convolutions) return;
    const auto order = topological_order(graph_);
    if (!order) return;
    for (Node* node : *order) {
      if (!node->is("Conv") || !can_run(*node)) continue;
      ConvolutionGroup group = group_of(*node, grouped_);
      grouped_.insert(group.nodes.begin(), group.nodes.end());
      Node* tail = group.nodes.back();
      tails_.emplace(tail, std::move(group));
    }
    for (Node* node : *order) visit(*node);
    // From the last to the first: what no plain reader needs goes.
    for (std::size_t i = replaced_.size(); i-- > 0;) settle(*replaced_[i]);
  }

 private:
  /// Constant float weights, known ranks, and padding that does not depend on the input.
  bool can_run(const Node& node) const {
    if (!is_float_of_rank_3_to_5(node.input(0)) || !node.output(0)) return false;
    const Tensor* weight = constant_of(node.input(1));
    if (!weight || weight->dtype() != DType::f32 || weight->dims().size() != node.input(0)->type.shape->size())
      return false;
    if (node.input(2)) {
      const Tensor* bias = constant_of(node.input(2));
      if (!bias || bias->dtype() != DType::f32 || bias->size() != weight->dims()[0]) return false;
    }
    const std::int64_t groups = node.attributes.int_or("group", 1), out = weight->dims()[0];
    if (groups < 1 || out % groups != 0 || weight->size() == 0) return false;
    // Groups that do not fill blocks fall to slow paths, but for one channel each.
    const bool is_depthwise = weight->dims()[1] == 1 && out == groups;
    if (groups > 1 && !is_depthwise && (weight->dims()[1] % kBlock != 0 || out / groups % kBlock != 0)) return false;
    return has_usual_window(weight->dims()) && pads_of(node, weight->dims()).has_value();
  }

  static Shape spatial(const Dims& weight) { return Shape(weight.begin() + 2, weight.end()); }

  /// Pads at the beginning of all axes, then at the end, where they are numbers.
  static std::optional<Dims> pads_of(const Node& node, const Dims& weight) {
    const Shape kernel = spatial(weight);
    const ops::Window window = ops::Window::read(node.attributes, kernel.size(), &kernel);
    const Shape& x = *node.input(0)->type.shape;
    Dims begin, end;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const auto [before, after] = window.padding(i, x[i + 2]);
      if (!before.is_known() || !after.is_known()) return {};
      begin.push_back(before.value());
      end.push_back(after.value());
    }
    begin.insert(begin.end(), end.begin(), end.end());
    return begin;
  }

  void visit(Node& node) {
    if (const auto it = tails_.find(&node); it != tails_.end()) return emit(it->second);
    if (grouped_.contains(&node)) return;
    const bool is_quantized = node.domain == kEngineDomain && node.op == "Quantized";
    if ((is_one_of(node, kUnary) || is_quantized) && twin(node.input(0))) return visit_unary(node);
    if (is_one_of(node, kBinary) && is_float_of_rank_3_to_5(node.output(0))) return visit_binary(node);
    if ((node.is("MaxPool") || node.is("AveragePool")) && twin(node.input(0))) return visit_pool(node);
    if (node.is("GlobalAveragePool") && twin(node.input(0))) return average(node, true);
    if (node.is("ReduceMean") && twin(node.input(0))) return visit_mean(node);
    if (node.is("Resize") && twin(node.input(0))) return visit_resize(node);
    if (node.is("DepthToSpace") && twin(node.input(0))) return visit_depth_to_space(node);
    if (node.is("Concat")) visit_concat(node);
  }

  /// The channels that are read: those that the weights want where the input's shape does not say.
  static std::int64_t channels_into(const Node& conv, std::int64_t wanted) {
    const Value* x = conv.input(0);
    return is_float_of_rank_3_to_5(x) && !x->type.shape->at(1).is_known() ? wanted : channels_of(x);
  }

  /// Whether the result of a convolution is made in blocks. Where its channels do not fill them, zeros do.
  bool makes_blocks(const ConvolutionGroup& group, const Dims& weight, std::int64_t in, bool is_depthwise) const {
    if (fill_blocks(weight[0])) return true;
    const Value* x = group.conv->input(0);
    return is_depthwise ? in > 0 : weight[0] >= kLeastPadded || twin(x) || fill_blocks(in);
  }

  void emit(const ConvolutionGroup& group) {
    Node& conv = *group.conv;
    Node& tail = *group.nodes.back();
    const Dims weight = constant_of(conv.input(1))->dims();
    const std::int64_t groups = conv.attributes.int_or("group", 1), in = channels_into(conv, weight[1] * groups);
    const bool is_depthwise = groups > 1 && weight[1] == 1 && weight[0] == groups;
    const bool output_is_blocked = makes_blocks(group, weight, in, is_depthwise);
    const bool input_is_blocked = output_is_blocked && in == weight[1] * groups &&
                                  (twin(conv.input(0)) || fill_blocks(in) || in >= kFewChannels || is_depthwise);
    GraphBuilder g(graph_, &tail);
    Value* x = input_is_blocked ? blocked(g, conv.input(0), in) : conv.input(0);
    Value* residual = nullptr;
    if (group.sum) {
      residual = group.sum->input(group.residual);
      if (output_is_blocked) residual = blocked(g, residual);
    }
    const Shape kernel = spatial(weight);
    const ops::Window window = ops::Window::read(conv.attributes, kernel.size(), &kernel);
    Attrs attrs = {{"strides", window.strides},         {"dilations", window.dilations},
                   {"pads", *pads_of(conv, weight)},    {"group", groups},
                   {"blocked_input", input_is_blocked}, {"blocked_output", output_is_blocked}};
    if (conv.attributes.has(kHasGaps)) attrs.emplace_back(kHasGaps, std::int64_t{1});
    if (group.limits) {
      attrs.emplace_back("low", group.limits->low);
      attrs.emplace_back("high", group.limits->high);
    }
    const Attrs functions = attributes_of(group.functions);
    if (!group.functions.empty()) attrs.insert(attrs.end(), functions.begin(), functions.end());
    Value *bias = conv.input(2), *factor = nullptr;
    if (group.affine) {
      std::vector<float> factors(group.affine->factor.begin(), group.affine->factor.end()), offsets;
      const Tensor* old = constant_of(bias);
      for (std::size_t i = 0; i < factors.size(); ++i) {
        const double before = old ? static_cast<double>(old->at<float>(static_cast<std::int64_t>(i))) : 0;
        offsets.push_back(static_cast<float>(before * group.affine->factor[i] + group.affine->offset[i]));
      }
      if (std::ranges::any_of(factors, [](float f) { return f != 1; }))
        factor = g.constant(Tensor::of<float>({weight[0]}, factors));
      bias = g.constant(Tensor::of<float>({weight[0]}, offsets));
    }
    Node* fused = g.node("Conv", kEngineDomain, {x, conv.input(1), bias, residual, factor}, attrs, 1);
    fused->name = names_of(group.nodes);
    fused->output(0)->type = tail.output(0)->type;
    if (output_is_blocked) {
      set_twin(tail.output(0), fused->output(0), weight[0]);
      // The nodes of the group go one by one, the tail first.
      for (std::size_t i = 0; i + 1 < group.nodes.size(); ++i) replaced_.push_back(group.nodes[i]);
      replaced_.push_back(&tail);
    } else {
      graph_.replace_all_uses(tail.output(0), fused->output(0));
      for (std::size_t i = group.nodes.size(); i-- > 0;) graph_.erase(group.nodes[i]);
    }
  }

  void visit_unary(Node& node) {
    const std::int64_t channels = twins_.at(node.input(0)).channels;
    if (!fill_blocks(channels)) {
      const auto step = step_for(node);
      if (!node.is("Identity") && (!step || step->is_binary || !step->keeps_zero())) return;
    }
    Values inputs = node.inputs();
    inputs[0] = twin(inputs[0]);
    finish_copy(node, inputs, channels);
  }

  void visit_binary(Node& node) {
    Values inputs = node.inputs();
    const std::int64_t channels = channels_of(node.output(0));
    if (inputs.size() != 2 || channels == 0) return;
    if (!twin(inputs[0]) && !twin(inputs[1])) return;
    GraphBuilder g(graph_, &node);
    for (Value*& input : inputs) input = of_rank(g, input, node.output(0)->type.shape->size(), channels);
    // The blocked operand must have the result's rank and channels, or broadcasting would pair other axes.
    for (const Value* input : inputs) {
      if (is_single(input, node.output(0))) continue;
      if (!is_float_of_rank_3_to_5(input) || input->type.shape->size() != node.output(0)->type.shape->size()) return;
      if (channels_of(input) != channels) return;
    }
    if (!fill_blocks(channels) && !keeps_zero(node)) return;
    for (Value*& input : inputs)
      if (!is_single(input, node.output(0))) input = blocked(g, input);
    finish_copy(node, inputs, channels);
    // Slopes in blocks no longer look like slopes of the input.
    if (node.is("PRelu")) twin(node.output(0))->producer()->domain = kEngineDomain;
  }

  /// A constant of one number per channel with axes of 1 in front.
  static Value* of_rank(GraphBuilder& g, Value* v, std::size_t rank, std::int64_t channels) {
    const Tensor* tensor = constant_of(v);
    if (!tensor || tensor->dtype() != DType::f32 || tensor->size() == 1 || tensor->size() != channels ||
        tensor->dims().size() >= rank || tensor->dims()[0] != channels)
      return v;
    Dims dims(rank - tensor->dims().size(), 1);
    dims.insert(dims.end(), tensor->dims().begin(), tensor->dims().end());
    return g.constant(Tensor::of<float>(dims, tensor->to_vector<float>()));
  }

  /// Whether the function of zeros, or of zeros and its constant number, is zero.
  static bool keeps_zero(const Node& node) {
    if (node.is("Div")) return false;
    const auto left = constant_number(node.input(0), 0), right = constant_number(node.input(1), 0);
    if (!left && !right) return true;
    if (const auto step = step_for(node); step && !step->is_binary) return step->keeps_zero();
    return node.is("Mul") && std::isfinite(left ? *left : *right);
  }

  /// One number for all elements of the result.
  static bool is_single(const Value* v, const Value* result) {
    const Tensor* tensor = constant_of(v);
    return tensor && tensor->size() == 1 && tensor->rank() <= std::ssize(*result->type.shape);
  }

  void finish_copy(Node& node, const Values& inputs, std::int64_t channels) {
    Graph::ValueMap map;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != node.input(i)) map[node.input(i)] = inputs[i];
    Node* copy = graph_.add_copy(node, map, &node);
    copy->name = names_of(std::array{&node});
    copy->output(0)->type = node.output(0)->type;
    set_twin(node.output(0), copy->output(0), channels);
    replaced_.push_back(&node);
  }

  void visit_pool(Node& node) {
    if (node.output(1) || !is_float_of_rank_3_to_5(node.output(0))) return;
    const std::size_t rank = node.input(0)->type.shape->size() - 2;
    const ops::Window window = ops::Window::read(node.attributes, rank);
    // What a mean counts beyond the padding that is stated is not known to the library.
    const bool counts_padding = node.is("AveragePool") && node.attributes.int_or("count_include_pad", 0) != 0;
    if (window.ceil_mode && counts_padding) return;
    Dims kernel, begin, end;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto [before, after] = window.padding(i, node.input(0)->type.shape->at(i + 2));
      if (!before.is_known() || !after.is_known() || !window.kernel[i].is_known()) return;
      kernel.push_back(window.kernel[i].value());
      begin.push_back(before.value());
      end.push_back(after.value());
      if (window.ceil_mode) {
        // The last window may reach beyond the padding: as if there were more of it.
        const Dim &from = node.input(0)->type.shape->at(i + 2), &to = node.output(0)->type.shape->at(i + 2);
        if (!from.is_known() || !to.is_known()) return;
        const std::int64_t reach = (to.value() - 1) * window.strides[i] + window.extent(i).value();
        end.back() = std::max<std::int64_t>(0, reach - from.value() - begin.back());
      }
      if (begin.back() >= kernel.back() || end.back() >= kernel.back()) return;
    }
    begin.insert(begin.end(), end.begin(), end.end());
    const std::string kind = node.is("MaxPool") ? "max" : counts_padding ? "average_with_padding" : "average";
    GraphBuilder g(graph_, &node);
    Node* pool = g.node("Pool", kEngineDomain, {twin(node.input(0))},
                        {{"kind", kind},
                         {"kernel_shape", kernel},
                         {"strides", window.strides},
                         {"dilations", window.dilations},
                         {"pads", begin}},
                        1);
    pool->name = names_of(std::array{&node});
    pool->output(0)->type = node.output(0)->type;
    set_twin(node.output(0), pool->output(0), twins_.at(node.input(0)).channels);
    replaced_.push_back(&node);
  }

  /// One number per channel, not in blocks.
  void average(Node& node, bool keeps_axes) {
    GraphBuilder g(graph_, &node);
    const Twin& from = twins_.at(node.input(0));
    Node* made = g.node("GlobalAverage", kEngineDomain, {from.value},
                        {{"channels", from.channels}, {"keepdims", keeps_axes}}, 1);
    made->name = names_of(std::array{&node});
    made->output(0)->type = node.output(0)->type;
    graph_.replace_all_uses(node.output(0), made->output(0));
    graph_.erase(&node);
  }

  /// A mean over all spatial axes is an average of planes.
  void visit_mean(Node& node) {
    const Tensor* axes = constant_of(node.input(1));
    if (!axes || axes->dtype() != DType::i64 || !is_float_of_rank_3_to_5(node.input(0))) return;
    const std::int64_t rank = std::ssize(*node.input(0)->type.shape);
    std::vector<std::int64_t> sorted = axes->to_ints();
    for (std::int64_t& axis : sorted) axis += axis < 0 ? rank : 0;
    std::ranges::sort(sorted);
    if (std::ssize(sorted) != rank - 2) return;
    for (std::int64_t i = 0; i < rank - 2; ++i)
      if (sorted[static_cast<std::size_t>(i)] != i + 2) return;
    average(node, node.attributes.int_or("keepdims", 1) != 0);
  }

  /// Sizes of planes that are constant change on blocks as they do without.
  void visit_resize(Node& node) {
    const Attributes& attributes = node.attributes;
    if (!is_float_of_rank_3_to_5(node.output(0)) ||
        attributes.string_or("coordinate_transformation_mode", "") == "tf_crop_and_resize" ||
        attributes.string_or("keep_aspect_ratio_policy", "stretch") != "stretch")
      return;
    const bool has_scales = node.input(2) && !(constant_of(node.input(2)) && constant_of(node.input(2))->size() == 0);
    const Tensor* given = constant_of(node.input(has_scales ? 2 : 3));
    const Shape& shape = *node.input(0)->type.shape;
    const std::int64_t rank = std::ssize(shape);
    Dims axes = attributes.ints_or("axes", {}), kept;
    if (axes.empty())
      for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
    if (!given || given->rank() != 1 || given->size() != std::ssize(axes)) return;
    const std::vector<double> numbers = given->to_doubles();
    std::vector<double> wanted;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      if (axis < 0 || axis >= rank) return;
      const Dim& size = shape[static_cast<std::size_t>(axis)];
      const bool is_same = has_scales ? numbers[i] == 1 : size == Dim(static_cast<std::int64_t>(numbers[i]));
      if (axis < 2 && !is_same) return;
      if (axis < 2) continue;
      kept.push_back(axis);
      wanted.push_back(numbers[i]);
    }
    GraphBuilder g(graph_, &node);
    const std::vector<float> scales(wanted.begin(), wanted.end());
    Value* list = has_scales ? g.constant(Tensor::of<float>({std::ssize(scales)}, scales))
                             : g.ints(Dims(wanted.begin(), wanted.end()));
    finish_copy(node, {twin(node.input(0)), node.input(1), node.input(2), node.input(3)},
                twins_.at(node.input(0)).channels);
    Node* copy = twin(node.output(0))->producer();
    copy->set_input(1, nullptr);
    copy->set_input(2, has_scales ? list : nullptr);
    copy->set_input(3, has_scales ? nullptr : list);
    copy->attributes.set({"axes", kept});
  }

  /// Whole blocks of channels, where those of the first place of a block of results come before those of the next.
  void visit_depth_to_space(Node& node) {
    const std::int64_t size = node.attributes.int_or("blocksize", 0), channels = twins_.at(node.input(0)).channels;
    if (size < 1 || size > channels || channels % (size * size * kBlock) != 0) return;
    if (node.attributes.string_or("mode", "DCR") != "DCR" || !is_float_of_rank_3_to_5(node.output(0))) return;
    GraphBuilder g(graph_, &node);
    Node* spread = g.node("Spread", kEngineDomain, {twin(node.input(0))}, {{"blocksize", size}}, 1);
    spread->name = names_of(std::array{&node});
    spread->output(0)->type = node.output(0)->type;
    set_twin(node.output(0), spread->output(0), channels / (size * size));
    replaced_.push_back(&node);
  }

  void visit_concat(Node& node) {
    if (!is_float_of_rank_3_to_5(node.output(0))) return;
    const std::int64_t axis = node.attributes.int_or("axis", 0);
    if (axis != 1 && axis != 1 - static_cast<std::int64_t>(node.output(0)->type.shape->size())) return;
    bool has_twin = false;
    std::int64_t channels = 0;
    for (const Value* input : node.inputs()) {
      if (!fill_blocks(channels_of(input))) return;
      channels += channels_of(input);
      has_twin |= twin(input) != nullptr;
    }
    if (!has_twin) return;
    GraphBuilder g(graph_, &node);
    Values inputs = node.inputs();
    for (Value*& input : inputs) input = blocked(g, input);
    finish_copy(node, inputs, channels);
    twin(node.output(0))->producer()->attributes.set({"axis", 1});
  }

  struct Twin {
    Value* value;  // in blocks
    std::int64_t channels;
  };

  Value* twin(const Value* v) const {
    const auto it = v ? twins_.find(v) : twins_.end();
    return it == twins_.end() ? nullptr : it->second.value;
  }
  void set_twin(Value* plain, Value* blocked, std::int64_t channels) { twins_[plain] = {blocked, channels}; }

  /// The value in blocks; made once. `expected` are its channels where its shape does not say.
  Value* blocked(GraphBuilder& g, Value* v, std::int64_t expected = 0) {
    if (Value* known = twin(v)) return known;
    const std::int64_t channels = channels_of(v) > 0 ? channels_of(v) : expected;
    Value* made = nullptr;
    if (const Tensor* tensor = constant_of(v); tensor && tensor->size() == tensor->dims()[1]) {
      // One element per channel: the bytes are the same.
      std::vector<float> values = tensor->to_vector<float>();
      Dims dims = tensor->dims();
      dims[1] = (dims[1] + kBlock - 1) / kBlock;
      dims.push_back(kBlock);
      values.resize(static_cast<std::size_t>(tensor_size(dims)));
      made = g.constant(Tensor::of<float>(dims, values));
    } else {
      Node* block = g.node("Block", kEngineDomain, {v}, {{"channels", channels}}, 1);
      block->output(0)->type = v->type;
      made = block->output(0);
    }
    set_twin(v, made, channels);
    return made;
  }

  /// Takes a replaced node out, or gives its plain readers the blocks put back in order.
  void settle(Node& node) {
    Value* y = node.output(0);
    if (!y->uses().empty()) {
      Value* source = twin(y);
      if (!source) return;
      GraphBuilder g(graph_, &node);
      Node* unblock = g.node("Unblock", kEngineDomain, {source}, {{"channels", twins_.at(y).channels}}, 1);
      unblock->output(0)->type = y->type;
      graph_.replace_all_uses(y, unblock->output(0));
    }
    graph_.erase(&node);
  }

  Graph& graph_;
  std::unordered_set<const Node*> grouped_;
  std::unordered_map<const Node*, ConvolutionGroup> tails_;
  std::unordered_map<const Value*, Twin> twins_;
  std::vector<Node*> replaced_;  // in order
};

}  // namespace

void block_convolutions(Graph& graph) { Blocking(graph).run(); }

}  // namespace ingot::engine
