// Transposed convolutions as convolutions: what each result of a block of `stride` x `stride` is made of is the same at
// every position.
#include "ingot/engine/rewrites/lower_transposed.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/direct.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/nn/window.h"

namespace ingot::engine {
namespace {

/// Result stride * v + r gets from input v + e what weight k = r + pad - stride * e gives.
struct Axis {
  std::int64_t kernel, stride, pad;  // of the transposed convolution
  std::int64_t first, taps;          // the least e, and how many there are
  std::int64_t end;                  // padding behind the input

  static Axis of(std::int64_t kernel, std::int64_t stride, std::int64_t begin, std::int64_t end) {
    const auto floor = [&](std::int64_t n) { return n >= 0 ? n / stride : -((stride - 1 - n) / stride); };
    const std::int64_t first = -floor(kernel - 1 - begin), last = floor(stride - 1 + begin);
    const std::int64_t longer = stride == 1 ? kernel - 1 - begin - end : 0;
    return {kernel, stride, begin, first, last - first + 1, longer + last};
  }
  /// The weight, or -1.
  std::int64_t weight(std::int64_t result, std::int64_t tap) const {
    const std::int64_t k = result + pad - stride * (first + tap);
    return k >= 0 && k < kernel ? k : -1;
  }
};

struct Transposed {
  Node* node;
  const Tensor* weights;
  std::int64_t groups, outputs;  // of each group
  std::vector<Axis> axes;        // height and width; a single axis is the width
  bool is_row;
};

bool is_float(const Value* v, std::size_t rank) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() == rank;
}

/// Nothing where sizes are not multiples, or too much would be multiplied by zeros.
std::optional<Transposed> transposed_of(Node& node) {
  const Tensor* weights = constant_of(node.input(1));
  if (!node.is("ConvTranspose") || !weights || weights->dtype() != DType::f32 || !node.output(0)) return {};
  const std::size_t rank = weights->dims().size();
  if (rank < 3 || rank > 4 || !is_float(node.input(0), rank) || !has_usual_window(weights->dims())) return {};
  if (node.attributes.has("output_shape") || weights->size() == 0) return {};
  const Shape kernel(weights->dims().begin() + 2, weights->dims().end());
  const ops::Window window = ops::Window::read(node.attributes, rank - 2, &kernel);
  const Dims extra = node.attributes.ints_or("output_padding", Dims(rank - 2, 0));
  if (window.auto_pad != ops::Window::AutoPad::notset || extra.size() != rank - 2) return {};
  Transposed t{&node, weights, node.attributes.int_or("group", 1), weights->dims()[1], {}, rank == 3};
  if (t.groups < 1 || weights->dims()[0] % t.groups != 0) return {};
  if (node.input(2)) {
    const Tensor* bias = constant_of(node.input(2));
    if (!bias || bias->dtype() != DType::f32 || bias->size() != t.groups * t.outputs) return {};
  }
  if (t.is_row) t.axes.push_back(Axis::of(1, 1, 0, 0));
  double before = 1, after = 1;
  for (std::size_t i = 0; i < rank - 2; ++i) {
    const std::int64_t size = weights->dims()[i + 2], stride = window.strides[i];
    const std::int64_t begin = window.pads[i], end = window.pads[i + rank - 2];
    if (window.dilations[i] != 1 || begin < 0 || end < 0 || begin >= size) return {};
    if (stride > 1 ? size - begin - end + extra[i] != stride : extra[i] != 0) return {};
    t.axes.push_back(Axis::of(size, stride, begin, end));
    if (t.axes.back().first > 0 || t.axes.back().end < 0) return {};
    before *= static_cast<double>(size);
    after *= static_cast<double>(t.axes.back().taps * stride);
  }
  if (!t.is_row && t.axes[0].stride != t.axes[1].stride) return {};
  // Zeros that stand together are left out where the engine has its own convolutions.
  return after <= before * (DirectConvolution::has_registers() ? 4 : 1.5) ? std::optional(t) : std::nullopt;
}

/// [results of a block x outputs, inputs of a group, taps...] of [inputs, outputs of a group, kernel...]. In each group
/// all outputs of the first result of a block come before those of the next.
Tensor turned(const Transposed& t) {
  const Axis &y = t.axes[0], &x = t.axes[1];
  const std::int64_t inputs = t.weights->dims()[0] / t.groups, kernel = y.kernel * x.kernel;
  const std::vector<float> from = t.weights->to_vector<float>();
  Dims dims = {t.groups * y.stride * x.stride * t.outputs, inputs, y.taps, x.taps};
  std::vector<float> to(static_cast<std::size_t>(tensor_size(dims)));
  std::size_t at = 0;
  for (std::int64_t group = 0; group < t.groups; ++group)
    for (std::int64_t result = 0; result < y.stride * x.stride; ++result)
      for (std::int64_t output = 0; output < t.outputs; ++output)
        for (std::int64_t input = 0; input < inputs; ++input)
          for (std::int64_t tap = 0; tap < y.taps * x.taps; ++tap, ++at) {
            const std::int64_t i = y.weight(result / x.stride, tap / x.taps),
                               j = x.weight(result % x.stride, tap % x.taps);
            if (i < 0 || j < 0) continue;
            const std::int64_t row = (group * inputs + input) * t.outputs + output;
            to[at] = from[static_cast<std::size_t>(row * kernel + i * x.kernel + j)];
          }
  if (t.is_row) dims.erase(dims.begin() + 2);
  return Tensor::of<float>(dims, to);
}

void write(const Transposed& t) {
  Graph& graph = t.node->graph();
  GraphBuilder g(graph, t.node);
  const Axis &y = t.axes[0], &x = t.axes[1];
  const std::int64_t results = y.stride * x.stride;
  Values inputs = {t.node->input(0), g.constant(turned(t))};
  if (const Tensor* bias = constant_of(t.node->input(2))) {
    const std::vector<float> once = bias->to_vector<float>();
    std::vector<float> all;
    for (std::int64_t i = 0; i < results; ++i) all.insert(all.end(), once.begin(), once.end());
    inputs.push_back(g.constant(Tensor::of<float>({std::ssize(all)}, all)));
  }
  Dims pads = {-y.first, -x.first, y.end, x.end};
  if (t.is_row) pads = {-x.first, x.end};
  Value* made = g.op("Conv", inputs, {{"pads", pads}, {"group", t.groups}, {kHasGaps, std::int64_t{1}}});
  made->producer()->name = names_of(std::array{t.node});
  if (t.is_row && x.stride > 1) {
    // [N, stride * outputs, length] -> [N, outputs, length * stride]
    const Dim& length = t.node->input(0)->type.shape->back();
    const std::int64_t known = length.is_known() ? length.value() : -1;
    Value* parts = g.reshape(made, {0, x.stride, t.outputs, known});
    made = g.reshape(g.transpose(parts, {0, 2, 3, 1}), {0, t.outputs, known < 0 ? known : known * x.stride});
  } else if (x.stride > 1) {
    made = g.op("DepthToSpace", {made}, {{"blocksize", x.stride}});
  }
  made->type = t.node->output(0)->type;
  graph.replace_all_uses(t.node->output(0), made);
  graph.erase(t.node);
}

}  // namespace

void lower_transposed(Graph& graph) {
  std::vector<Transposed> found;
  for (Node& node : graph.nodes())
    if (auto transposed = transposed_of(node)) found.push_back(std::move(*transposed));
  for (const Transposed& transposed : found)
    if (transposed.groups == 1 || transposed.axes[1].stride == 1) write(transposed);
}

}  // namespace ingot::engine
