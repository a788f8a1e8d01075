// What is quantised on both sides is computed in integers.
#include "ingot/engine/rewrites/keep_bytes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/nn/window.h"

namespace ingot::engine {
namespace {

bool is_byte(DType type) { return type == DType::i8 || type == DType::u8; }

bool is_scale(float scale) { return std::isfinite(scale) && scale > 0; }

/// A DequantizeLinear of bytes that has one scale.
struct Source {
  Node* node;
  Value* bytes;
  Quantization quantization;
};
std::optional<Source> source_of(const Value* v) {
  Node* node = v ? v->producer() : nullptr;
  if (!node || !node->is("DequantizeLinear") || v->type.elem != DType::f32) return {};
  Value* bytes = node->input(0);
  if (constant_of(bytes) || !is_byte(bytes->type.elem)) return {};
  const auto quantization = quantization_of(*node, bytes->type.elem);
  if (!quantization || !is_scale(quantization->scale)) return {};
  return Source{node, bytes, *quantization};
}

/// The same in four dimensions.
std::optional<Source> image_of(const Value* v) {
  auto source = source_of(v);
  if (source && (!source->bytes->type.shape || source->bytes->type.shape->size() != 4)) source.reset();
  return source;
}

/// Limits and the QuantizeLinear to bytes that follow a value, which nobody else reads.
struct Sink {
  std::vector<Node*> nodes;  // the QuantizeLinear last
  Quantization quantization;
  std::int64_t low, high;  // as integers
  Value* bytes() const { return nodes.back()->output(0); }
};
std::optional<Sink> sink_of(const Value* v) {
  Sink sink;
  std::vector<Limits> limits;
  Node* reader = only_reader(v);
  for (; reader && reader->input(0) == v; reader = only_reader(v)) {
    const auto some = limits_of(*reader);
    if (!some || !(some->low <= some->high)) break;
    limits.push_back(*some);
    sink.nodes.push_back(reader);
    v = reader->output(0);
  }
  if (!reader || !reader->is("QuantizeLinear") || reader->input(0) != v) return {};
  const auto quantization = quantization_of(*reader, reader->output(0)->type.elem);
  if (!quantization || !is_byte(quantization->type) || !is_scale(quantization->scale)) return {};
  sink.nodes.push_back(reader);
  sink.quantization = *quantization;
  sink.low = quantization->lowest();
  sink.high = quantization->highest();
  // Rounding keeps the order, so limits may come after it.
  const auto rounded = [&](float limit) {
    const float whole = std::nearbyint(limit / quantization->scale) + static_cast<float>(quantization->zero);
    return static_cast<std::int64_t>(
        std::clamp(whole, static_cast<float>(quantization->lowest()), static_cast<float>(quantization->highest())));
  };
  for (const Limits& some : limits) {
    sink.low = std::clamp(sink.low, rounded(some.low), rounded(some.high));
    sink.high = std::clamp(sink.high, rounded(some.low), rounded(some.high));
  }
  return sink;
}

/// Weights of bytes with a scale for all, or one per filter.
struct Weights {
  Node* node;
  Value* bytes;
  std::vector<float> scales;
  Tensor zeros;  // one, or one per filter

  float scale(std::size_t filter) const { return scales[scales.size() == 1 ? 0 : filter]; }
};
/// Of filters, which are along one of their axes.
std::optional<Weights> weights_of(const Value* v, std::int64_t rank, std::int64_t along) {
  Node* node = v ? v->producer() : nullptr;
  if (!node || !node->is("DequantizeLinear") || v->type.elem != DType::f32) return {};
  const Tensor *bytes = constant_of(node->input(0)), *scale = constant_of(node->input(1));
  if (!bytes || !is_byte(bytes->dtype()) || bytes->rank() != rank || bytes->size() == 0) return {};
  if (!scale || scale->dtype() != DType::f32 || scale->rank() > 1 || node->attributes.int_or("block_size", 0) != 0)
    return {};
  const std::int64_t filters = bytes->dims()[static_cast<std::size_t>(along)];
  const std::int64_t axis = node->attributes.int_or("axis", 1);
  if (scale->size() != 1 && (scale->size() != filters || (axis != along && axis != along - rank))) return {};
  const Tensor* zero = constant_of(node->input(2));
  if (node->input(2) && (!zero || zero->dtype() != bytes->dtype() || zero->dims() != scale->dims())) return {};
  Weights weights{node, node->input(0), scale->to_vector<float>(), {}};
  if (!std::ranges::all_of(weights.scales, is_scale)) return {};
  const std::vector<std::int64_t> none = {0};
  const std::vector<std::int64_t> zeros = zero ? zero->to_ints() : none;
  weights.zeros = Tensor::of<std::int32_t>({std::ssize(zeros)}, std::vector<std::int32_t>(zeros.begin(), zeros.end()));
  return weights;
}

/// The bias as integers of the sums' scale, which is the product of the other two. `most`: beyond that, sums leave
/// int32.
std::optional<std::vector<std::int32_t>> bias_of(const Value* v, float x_scale, const std::vector<float>& scales,
                                                 std::int64_t filters, std::int64_t most) {
  constexpr float kNear = 1e-6f;  // scales are rounded to floats
  if (!v) return std::vector<std::int32_t>();
  const Node* node = v->producer();
  if (!node || !node->is("DequantizeLinear") || node->attributes.int_or("block_size", 0) != 0) return {};
  const Tensor *words = constant_of(node->input(0)), *scale = constant_of(node->input(1));
  if (!words || words->dtype() != DType::i32 || words->rank() != 1 || words->size() != filters) return {};
  if (!scale || scale->dtype() != DType::f32 || (scale->size() != 1 && scale->size() != filters)) return {};
  if (scale->size() != 1 && node->attributes.int_or("axis", 1) != 0 && node->attributes.int_or("axis", 1) != -1)
    return {};
  if (node->input(2)) {
    const Tensor* zero = constant_of(node->input(2));
    if (!zero || !std::ranges::all_of(zero->to_ints(), [](std::int64_t z) { return z == 0; })) return {};
  }
  const std::vector<float> given = scale->to_vector<float>();
  const std::vector<std::int32_t> bias = words->to_vector<std::int32_t>();
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const float sums = x_scale * scales[scales.size() == 1 ? 0 : i];
    if (std::abs(given[given.size() == 1 ? 0 : i] - sums) > kNear * sums) return {};
    if (std::abs(std::int64_t{bias[i]}) > most) return {};
  }
  return bias;
}

class Keeper {
 public:
  explicit Keeper(Graph& graph) : graph_(graph) {}

  void run() {
    const auto order = topological_order(graph_);
    if (!order) return;
    std::vector<Node*> found;
    for (Node* node : *order)
      if (node->domain.empty() &&
          (node->op == "Conv" || node->op == "Add" || is_mean(*node) || is_product(*node) || is_moving(*node)))
        found.push_back(node);
    for (Node* node : found) {
      if (node->op == "Conv")
        convolve(*node);
      else if (is_product(*node))
        multiply(*node);
      else if (is_moving(*node))
        move(*node);
      else if (node->op == "Add")
        add(*node);
      else
        average(*node);
    }
    for (Node* transpose : made_) erase_unread(transpose);
  }

 private:
  static bool is_mean(const Node& node) {
    return node.op == "AveragePool" || node.op == "GlobalAveragePool" || node.op == "ReduceMean";
  }

  static bool is_moving(const Node& node) {
    constexpr std::string_view kMovesBytes[] = {
        "Concat",  "DepthToSpace", "Expand", "Flatten", "Gather",       "GatherElements", "GatherND",  "Identity",
        "MaxPool", "Reshape",      "Slice",  "Squeeze", "SpaceToDepth", "Tile",           "Transpose", "Unsqueeze"};
    return std::ranges::find(kMovesBytes, node.op) != std::end(kMovesBytes);
  }
  static bool is_product(const Node& node) { return node.op == "MatMul" || node.op == "Gemm"; }

  /// Pads at the beginning of both axes, then at the end, where they are numbers.
  static std::optional<Dims> pads_of(const ops::Window& window, const Shape& x) {
    Dims pads(4);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto [before, after] = window.padding(i, x[i + 2]);
      if (!before.is_known() || !after.is_known()) return {};
      pads[i] = before.value();
      pads[i + 2] = after.value();
    }
    return pads;
  }

  void convolve(Node& conv) {
    const auto x = image_of(conv.input(0));
    const auto w = x ? weights_of(conv.input(1), 4, 0) : std::nullopt;
    const auto sink = w ? sink_of(conv.output(0)) : std::nullopt;
    if (!sink) return;
    const Dims dims = constant_of(w->bytes)->dims();
    const std::int64_t groups = conv.attributes.int_or("group", 1), filters = dims[0];
    const bool is_depthwise = groups > 1 && dims[1] == 1 && groups == filters;
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() - dims[1] * dims[2] * dims[3] * 255 * 255;
    if ((groups != 1 && !is_depthwise) || most < 0) return;
    const auto bias = bias_of(conv.input(2), x->quantization.scale, w->scales, filters, most);
    if (!bias) return;
    const Shape kernel(dims.begin() + 2, dims.end());
    const ops::Window window = ops::Window::read(conv.attributes, 2, &kernel);
    const auto pads = pads_of(window, *x->bytes->type.shape);
    if (!pads) return;
    const auto factors = factors_of(*x, *w, *sink, filters);
    if (factors.empty()) return;
    GraphBuilder g(graph_, sink->nodes.back());
    Value* offsets = bias->empty() ? nullptr : g.constant(Tensor::of<std::int32_t>({filters}, *bias));
    const Attrs attrs = {{"strides", window.strides},
                         {"dilations", window.dilations},
                         {"pads", *pads},
                         {"group", groups},
                         {"x_zero", x->quantization.zero},
                         {"y_zero", sink->quantization.zero},
                         {"low", sink->low},
                         {"high", sink->high}};
    Node* made = g.node("ByteConv", kEngineDomain,
                        {channels_last(g, x->bytes), w->bytes, g.constant(w->zeros),
                         g.constant(Tensor::of<float>({filters}, factors)), offsets},
                        attrs, 1);
    finish(g, conv, *sink, *made);
  }

  /// By how much sums are more than a step of the result; none where a number is too large.
  static std::vector<float> factors_of(const Source& x, const Weights& w, const Sink& sink, std::int64_t filters) {
    std::vector<float> factors;
    for (std::size_t i = 0; i < static_cast<std::size_t>(filters); ++i)
      factors.push_back(x.quantization.scale * w.scale(i) / sink.quantization.scale);
    if (!std::ranges::all_of(factors, [](float f) { return std::isfinite(f); })) factors.clear();
    return factors;
  }

  /// Rows times a matrix.
  void multiply(Node& product) {
    const Attributes& attributes = product.attributes;
    const bool is_turned = attributes.int_or("transB", 0) != 0;  // a filter is a row
    if (attributes.int_or("transA", 0) != 0 || attributes.float_or("alpha", 1) != 1 ||
        attributes.float_or("beta", 1) != 1)
      return;
    const auto x = source_of(product.input(0));
    const auto w = x ? weights_of(product.input(1), 2, is_turned ? 0 : 1) : std::nullopt;
    const auto sink = w ? sink_of(product.output(0)) : std::nullopt;
    if (!sink) return;
    const Dims dims = constant_of(w->bytes)->dims();
    const std::int64_t filters = dims[is_turned ? 0 : 1], depth = dims[is_turned ? 1 : 0];
    const std::int64_t most = std::numeric_limits<std::int32_t>::max() - depth * 255 * 255;
    if (most < 0) return;
    const auto bias = bias_of(product.input(2), x->quantization.scale, w->scales, filters, most);
    const auto factors = factors_of(*x, *w, *sink, filters);
    if (!bias || factors.empty()) return;
    GraphBuilder g(graph_, sink->nodes.back());
    Value* offsets = bias->empty() ? nullptr : g.constant(Tensor::of<std::int32_t>({filters}, *bias));
    const Attrs attrs = {{"transB", is_turned ? 1 : 0},
                         {"x_zero", x->quantization.zero},
                         {"y_zero", sink->quantization.zero},
                         {"low", sink->low},
                         {"high", sink->high}};
    Node* made =
        g.node("ByteProduct", kEngineDomain,
               {x->bytes, w->bytes, g.constant(w->zeros), g.constant(Tensor::of<float>({filters}, factors)), offsets},
               attrs, 1);
    made->name = names_of(nodes_of(product, *sink));
    made->output(0)->type = sink->bytes()->type;
    replace(product, *sink, made->output(0));
  }

  /// What does nothing but move numbers, or take the largest, does it to the bytes, where the result is quantised as
  /// they are.
  void move(Node& node) {
    const std::size_t count = node.op == "Concat" ? node.input_count() : 1;
    Node* reader = node.output_count() == 1 && node.output(0) ? only_reader(node.output(0)) : nullptr;
    if (!reader || !reader->is("QuantizeLinear") || reader->input(0) != node.output(0)) return;
    const auto wanted = quantization_of(*reader, reader->output(0)->type.elem);
    std::vector<Source> sources;
    for (std::size_t i = 0; i < count; ++i)
      if (auto source = source_of(node.input(i)); source && wanted && source->quantization == *wanted)
        sources.push_back(*source);
    if (sources.size() != count) return;
    if (node.op == "MaxPool" && pool(node, sources[0], *reader)) return;
    for (std::size_t i = 0; i < count; ++i) node.set_input(i, sources[i].bytes);
    node.output(0)->type.elem = wanted->type;
    graph_.replace_all_uses(reader->output(0), node.output(0));
    node.name = names_of(std::array{&node, reader});
    graph_.erase(reader);
    std::set<Node*> nodes;
    for (const Source& source : sources) nodes.insert(source.node);
    for (Node* source : nodes) erase_unread(source);
  }

  /// The largest of windows of an image whose channels are last already.
  bool pool(Node& node, const Source& x, Node& quantize) {
    if (!last_.contains(x.bytes) || !static_dims(node.output(0)->type.shape)) return false;
    const ops::Window window = ops::Window::read(node.attributes, 2);
    const auto pads = pads_of(window, *x.bytes->type.shape);
    if (!pads || !window.kernel[0].is_known() || !window.kernel[1].is_known()) return false;
    const Dims out = *static_dims(node.output(0)->type.shape);
    GraphBuilder g(graph_, &quantize);
    Node* made = g.node("ByteMax", kEngineDomain, {channels_last(g, x.bytes)},
                        {{"kernel_shape", Dims{window.kernel[0].value(), window.kernel[1].value()}},
                         {"strides", window.strides},
                         {"dilations", window.dilations},
                         {"pads", *pads},
                         {"sizes", Dims{out[2], out[3]}}},
                        1);
    finish(g, node, {{&quantize}, x.quantization, 0, 0}, *made);
    return true;
  }

  /// Of two operands of one shape, if one of them has its channels last already.
  void add(Node& sum) {
    const auto a = image_of(sum.input(0)), b = image_of(sum.input(1));
    if (!a || !b || a->node == b->node || !have_same_shape(a->bytes, b->bytes)) return;
    if (!last_.contains(a->bytes) && !last_.contains(b->bytes)) return;
    const auto sink = sink_of(sum.output(0));
    if (!sink || a->quantization.type != b->quantization.type || a->quantization.type != sink->quantization.type)
      return;
    GraphBuilder g(graph_, sink->nodes.back());
    Node* made = g.node("ByteSum", kEngineDomain, {channels_last(g, a->bytes), channels_last(g, b->bytes)},
                        {{"a_scale", a->quantization.scale},
                         {"a_zero", a->quantization.zero},
                         {"b_scale", b->quantization.scale},
                         {"b_zero", b->quantization.zero},
                         {"scale", sink->quantization.scale},
                         {"zero", sink->quantization.zero},
                         {"low", sink->low},
                         {"high", sink->high}},
                        1);
    finish(g, sum, *sink, *made);
  }

  /// Over whole planes.
  void average(Node& mean) {
    const auto x = image_of(mean.input(0));
    if (!x || !last_.contains(x->bytes) || mean.output(0)->type.elem != DType::f32) return;
    const bool is_whole = mean.op == "GlobalAveragePool" ||
                          (mean.op == "AveragePool" ? covers_plane(mean, *x->bytes->type.shape) : is_over_plane(mean));
    if (!is_whole) return;
    GraphBuilder g(graph_, &mean);
    const bool keeps_axes = mean.op != "ReduceMean" || mean.attributes.int_or("keepdims", 1) != 0;
    Node* made =
        g.node("ByteMean", kEngineDomain, {channels_last(g, x->bytes)},
               {{"scale", x->quantization.scale}, {"zero", x->quantization.zero}, {"keepdims", keeps_axes}}, 1);
    made->name = names_of(std::array{x->node, &mean});
    made->output(0)->type = mean.output(0)->type;
    graph_.replace_all_uses(mean.output(0), made->output(0));
    graph_.erase(&mean);
    erase_unread(x->node);
  }

  static bool covers_plane(const Node& pool, const Shape& x) {
    const ops::Window window = ops::Window::read(pool.attributes, 2);
    const auto pads = pads_of(window, x);
    if (!pads || *pads != Dims(4, 0) || pool.output(1)) return false;
    for (std::size_t i = 0; i < 2; ++i)
      if (!same(window.kernel[i], x[i + 2]) || !x[i + 2].is_known() || window.dilations[i] != 1) return false;
    return true;
  }

  static bool is_over_plane(const Node& mean) {
    const Tensor* axes = constant_of(mean.input(1));
    if (!axes || axes->dtype() != DType::i64) return false;
    std::vector<std::int64_t> sorted = axes->to_ints();
    for (std::int64_t& axis : sorted) axis += axis < 0 ? 4 : 0;
    std::ranges::sort(sorted);
    return sorted == std::vector<std::int64_t>{2, 3};
  }

  static std::vector<Node*> nodes_of(Node& first, const Sink& sink) {
    std::vector<Node*> nodes = {&first};
    nodes.insert(nodes.end(), sink.nodes.begin(), sink.nodes.end());
    return nodes;
  }

  /// Gives the readers of the sink's bytes what was made.
  void finish(GraphBuilder& g, Node& first, const Sink& sink, Node& made) {
    made.name = names_of(nodes_of(first, sink));
    Type type = sink.bytes()->type;
    if (type.shape && type.shape->size() == 4)
      type.shape = Shape{(*type.shape)[0], (*type.shape)[2], (*type.shape)[3], (*type.shape)[1]};
    made.output(0)->type = type;
    Value* plain = g.transpose(made.output(0), {0, 3, 1, 2});
    plain->type = sink.bytes()->type;
    made_.push_back(plain->producer());
    last_[plain] = made.output(0);
    replace(first, sink, plain);
  }

  /// Gives the readers of the sink's bytes others, and takes out the nodes between.
  void replace(Node& first, const Sink& sink, Value* others) {
    graph_.replace_all_uses(sink.bytes(), others);
    const Values inputs = first.inputs();
    const std::vector<Node*> nodes = nodes_of(first, sink);
    for (std::size_t i = nodes.size(); i-- > 0;) graph_.erase(nodes[i]);
    for (Value* input : inputs)
      if (input) erase_unread(input->producer());
  }

  /// The value with its channels last; made once.
  Value* channels_last(GraphBuilder& g, Value* v) {
    if (const auto it = last_.find(v); it != last_.end()) return it->second;
    Node* before = v->producer();
    const auto is_moved = [&] {
      return before && before->is("Transpose") && before->attributes.ints_or("perm", {}) == Dims{0, 3, 1, 2};
    };
    return last_[v] = is_moved() ? before->input(0) : g.transpose(v, {0, 2, 3, 1});
  }

  void erase_unread(Node* node) {
    if (node && node->output(0) && node->output(0)->uses().empty() && node->output_count() == 1) graph_.erase(node);
  }

  Graph& graph_;
  std::unordered_map<const Value*, Value*> last_;
  std::vector<Node*> made_;  // Transposes for plain readers
};

}  // namespace

void keep_bytes(Graph& graph) { Keeper(graph).run(); }

}  // namespace ingot::engine
