// Convolutional networks for images of 224 x 224.
#include "bench/models/models.h"

namespace ingot::bench {
namespace {

class Network {
 public:
  explicit Network(Graph& graph) : graph_(graph), g_(graph), weights_(g_) {
    x = graph.add_input("image", Type::tensor(DType::f32, Shape{1, 3, 224, 224}));
  }

  Value* x;

  std::int64_t channels(Value* v) const { return v->type.shape->at(1).value(); }

  Value* conv(Value* v, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
    const std::int64_t in = channels(v) / groups, pad = kernel / 2;
    Value* weight = weights_.weight({out, in, kernel, kernel}, in * kernel * kernel);
    return g_.op("Conv", {v, weight, weights_.uniform({out}, -0.1f, 0.1f)},
                 {{"strides", {stride, stride}}, {"pads", {pad, pad, pad, pad}}, {"group", groups}});
  }
  /// A convolution and its batch normalisation, as they are trained.
  Value* conv_norm(Value* v, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
    const std::int64_t in = channels(v) / groups, pad = kernel / 2;
    Value* weight = weights_.weight({out, in, kernel, kernel}, in * kernel * kernel);
    Value* y =
        g_.op("Conv", {v, weight}, {{"strides", {stride, stride}}, {"pads", {pad, pad, pad, pad}}, {"group", groups}});
    Value* scale = weights_.uniform({out}, 0.9f, 1.1f);
    Value* bias = weights_.uniform({out}, -0.1f, 0.1f);
    Value* mean = weights_.uniform({out}, -0.1f, 0.1f);
    Value* variance = weights_.uniform({out}, 0.5f, 1.5f);
    return g_.op("BatchNormalization", {y, scale, bias, mean, variance});
  }
  Value* relu(Value* v) { return g_.op("Relu", {v}); }
  Value* relu6(Value* v) { return g_.op("Clip", {v, g_.scalar(0, DType::f32), g_.scalar(6, DType::f32)}); }
  Value* add(Value* a, Value* b) { return g_.add(a, b); }
  Value* concat(Value* a, Value* b) { return g_.concat({a, b}, 1); }
  Value* max_pool(Value* v, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
    return g_.op("MaxPool", {v},
                 {{"kernel_shape", {kernel, kernel}}, {"strides", {stride, stride}}, {"pads", {pad, pad, pad, pad}}});
  }
  Value* average(Value* v) { return g_.op("Flatten", {g_.op("GlobalAveragePool", {v})}); }
  Value* flatten(Value* v) { return g_.op("Flatten", {v}); }
  Value* dense(Value* v, std::int64_t out) {
    const std::int64_t in = channels(v);
    Value* weight = weights_.weight({out, in}, in);
    return g_.op("Gemm", {v, weight, weights_.uniform({out}, -0.1f, 0.1f)}, {{"transB", 1}});
  }
  void finish(Value* v) { graph_.add_output(v); }

 private:
  Graph& graph_;
  GraphBuilder g_;
  Weights weights_;
};

Value* bottleneck(Network& n, Value* x, std::int64_t width, std::int64_t stride) {
  Value* y = n.relu(n.conv_norm(x, width, 1, 1));
  y = n.relu(n.conv_norm(y, width, 3, stride));
  y = n.conv_norm(y, 4 * width, 1, 1);
  Value* shortcut = stride == 1 && n.channels(x) == 4 * width ? x : n.conv_norm(x, 4 * width, 1, stride);
  return n.relu(n.add(y, shortcut));
}

Value* inverted_residual(Network& n, Value* x, std::int64_t out, std::int64_t stride, std::int64_t expand) {
  Value* y = expand == 1 ? x : n.relu6(n.conv_norm(x, n.channels(x) * expand, 1, 1));
  y = n.relu6(n.conv_norm(y, n.channels(y), 3, stride, n.channels(y)));
  y = n.conv_norm(y, out, 1, 1);
  return stride == 1 && n.channels(x) == out ? n.add(x, y) : y;
}

Value* fire(Network& n, Value* x, std::int64_t squeeze, std::int64_t expand) {
  Value* s = n.relu(n.conv(x, squeeze, 1, 1));
  Value* narrow = n.relu(n.conv(s, expand, 1, 1));
  Value* wide = n.relu(n.conv(s, expand, 3, 1));
  return n.concat(narrow, wide);
}

}  // namespace

void resnet50(Graph& graph) {
  Network n(graph);
  Value* y = n.max_pool(n.relu(n.conv_norm(n.x, 64, 7, 2)), 3, 2, 1);
  constexpr std::int64_t kBlocks[] = {3, 4, 6, 3};
  for (std::int64_t stage = 0; stage < 4; ++stage)
    for (std::int64_t block = 0; block < kBlocks[stage]; ++block)
      y = bottleneck(n, y, std::int64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1);
  n.finish(n.dense(n.average(y), 1000));
}

void vgg19(Graph& graph) {
  Network n(graph);
  Value* y = n.x;
  constexpr std::int64_t kConvolutions[] = {2, 2, 4, 4, 4}, kWidths[] = {64, 128, 256, 512, 512};
  for (std::size_t stage = 0; stage < 5; ++stage) {
    for (std::int64_t i = 0; i < kConvolutions[stage]; ++i) y = n.relu(n.conv(y, kWidths[stage], 3, 1));
    y = n.max_pool(y, 2, 2, 0);
  }
  y = n.relu(n.dense(n.flatten(y), 4096));
  n.finish(n.dense(n.relu(n.dense(y, 4096)), 1000));
}

void mobilenet_v2(Graph& graph) {
  struct Stage {
    std::int64_t expand, out, repeat, stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Network n(graph);
  Value* y = n.relu6(n.conv_norm(n.x, 32, 3, 2));
  for (const Stage& stage : kStages)
    for (std::int64_t i = 0; i < stage.repeat; ++i)
      y = inverted_residual(n, y, stage.out, i == 0 ? stage.stride : 1, stage.expand);
  n.finish(n.dense(n.average(n.relu6(n.conv_norm(y, 1280, 1, 1))), 1000));
}

void squeezenet(Graph& graph) {
  Network n(graph);
  Value* y = n.max_pool(n.relu(n.conv(n.x, 64, 3, 2)), 3, 2, 0);
  y = fire(n, fire(n, y, 16, 64), 16, 64);
  y = n.max_pool(y, 3, 2, 0);
  y = fire(n, fire(n, y, 32, 128), 32, 128);
  y = n.max_pool(y, 3, 2, 0);
  for (const std::int64_t width : {48, 48, 64, 64}) y = fire(n, y, width, 4 * width);
  n.finish(n.average(n.relu(n.conv(y, 1000, 1, 1))));
}

}  // namespace ingot::bench
