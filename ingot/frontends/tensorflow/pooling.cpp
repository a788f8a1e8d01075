// Pools, normalisations, biases and activations of layers.
#include <algorithm>
#include <numeric>

#include "ingot/frontends/tensorflow/layout.h"

namespace ingot::frontends::tensorflow {
namespace {

using Ints = std::vector<std::int64_t>;

/// Numbers in the order of 64-bit integers: the places of all that occur among those sorted, which a double holds.
struct Ranks {
  Value *sorted, *places;
};
Ranks ranks_of(GraphBuilder& g, Value* x) {
  const Values unique = g.op("Unique", {g.reshape(x, {-1})}, {{"sorted", 1}}, 3);
  Value* shaped = g.op("Reshape", {unique[2], g.shape(x)});
  if (x->type.shape) shaped->type = refine(shaped->type, Type::tensor(DType::i64, *x->type.shape));
  return {unique[0], g.cast(shaped, DType::f64)};
}

Values pooled(const TfNode& n, GraphBuilder& g, ops::Name op, std::int64_t spatial, bool with_places = false) {
  const Layout layout(n, spatial);
  const Ints all_kernel = n.input_count() > 2 ? n.need_ints(1) : n.ints("ksize");
  const Ints all_strides = n.input_count() > 2 ? n.need_ints(2) : n.ints("strides");
  const std::size_t channel = static_cast<std::size_t>(layout.channel_axis());
  if (all_kernel.size() > channel && (all_kernel[channel] != 1 || all_kernel[0] != 1))
    n.unsupported("pooling over channels or batches");
  const Ints kernel = layout.spatial(all_kernel), strides = layout.spatial(all_strides);
  for (std::size_t i = 0; i < kernel.size(); ++i)
    if (kernel[i] < 1 || strides[i] < 1) n.unsupported("a window or stride is not positive");
  // ONNX pools no wide integers: doubles hold 32 bits exactly, and of more the order.
  const bool is_wide = is_integer(n.elem(0)) && bits_of(n.elem(0)) > 8;
  const bool is_ranked = is_wide && bits_of(n.elem(0)) > 32;
  if (is_ranked && op.text != "MaxPool") n.unsupported("means of 64-bit integers");
  const Ranks ranks = is_ranked ? ranks_of(g, n.input(0)) : Ranks{};
  Value* numbers = is_ranked ? ranks.places : is_wide ? g.cast(n.input(0), DType::f64) : n.input(0);
  Value* x = layout.to_channels_first(g, numbers);
  Attrs attrs = padding_attrs(n, layout, x, {{kernel, strides, {}}});
  attrs.emplace_back("kernel_shape", kernel);
  attrs.emplace_back("strides", strides);
  Values y = g.op(op, {x}, attrs, with_places ? 2 : 1);
  y[0] = is_ranked ? g.op("Gather", {ranks.sorted, g.cast(y[0], DType::i64)}) : g.cast(y[0], n.elem(0));
  if (!with_places) return {layout.from_channels_first(g, y[0])};

  // ONNX numbers [n, c, h, w], TensorFlow [h, w, c], with the batch if asked for.
  Value* dims = g.shape(x);
  const auto size = [&](std::int64_t axis) { return g.op("Gather", {dims, g.index(axis)}); };
  Value* channels = size(1);
  Value* area = g.mul(size(2), size(3));
  Value* in_plane = g.op("Mod", {y[1], area});
  const auto counted = [&](Value* count, const Ints& shape) {
    return g.reshape(g.op("Range", {g.index(0), count, g.index(1)}), shape);
  };
  Value* place = g.add(g.mul(in_plane, channels), counted(channels, {1, -1, 1, 1}));
  if (n.flag("include_batch_in_index", false)) {
    Value* whole = g.mul(area, channels);
    place = g.add(place, g.mul(counted(size(0), {-1, 1, 1, 1}), whole));
  }
  Value* best = layout.from_channels_first(g, y[0]);
  Value* places = layout.from_channels_first(g, place);
  return {best, g.cast(places, n.dtype("Targmax", DType::i64))};
}

/// Each gradient goes to the place that its window's maximum came from. Inputs: what was pooled, what came of it, the
/// gradient, and in newer files the window.
Values max_pool_gradient(const TfNode& n, GraphBuilder& g, std::int64_t spatial) {
  const Layout layout(n, spatial);
  const Ints all_kernel = n.input_count() > 3 ? n.need_ints(3) : n.ints("ksize");
  const Ints all_strides = n.input_count() > 4 ? n.need_ints(4) : n.ints("strides");
  const Ints kernel = layout.spatial(all_kernel), strides = layout.spatial(all_strides);
  for (std::size_t i = 0; i < kernel.size(); ++i)
    if (kernel[i] < 1 || strides[i] < 1) n.unsupported("a window or stride is not positive");
  Value* x = layout.to_channels_first(g, n.input(0));
  Value* dy = layout.to_channels_first(g, n.input(2));
  Attrs attrs = padding_attrs(n, layout, x, {{kernel, strides, {}}});
  attrs.emplace_back("kernel_shape", kernel);
  attrs.emplace_back("strides", strides);
  const Values y = g.op("MaxPool", {x}, attrs, 2);
  Value* dims = g.shape(x);
  Value* zeros = g.op("Expand", {g.scalar(0, n.elem(2)), g.reshape(g.op("Size", {x}), {1})});
  Value* places = g.reshape(y[1], {-1});
  Value* sums = g.op("ScatterElements", {zeros, places, g.reshape(dy, {-1})}, {{"axis", 0}, {"reduction", "add"}});
  return {layout.from_channels_first(g, g.op("Reshape", {sums, dims}))};
}

/// How a window of a mean lies along one axis of what was pooled.
struct MeanWindow {
  std::int64_t size, kernel, stride;  // of the axis, of the window
  bool is_same;
  std::int64_t count() const { return is_same ? (size + stride - 1) / stride : (size - kernel) / stride + 1; }
  std::int64_t reach() const { return (count() - 1) * stride + kernel; }
  std::int64_t before() const { return is_same ? std::max<std::int64_t>(0, reach() - size) / 2 : 0; }
  /// Of each window, the places that are no padding.
  std::vector<float> places() const {
    std::vector<float> all;
    for (std::int64_t i = 0; i < count(); ++i) {
      const std::int64_t begin = i * stride - before();
      all.push_back(static_cast<float>(std::min(begin + kernel, size) - std::max<std::int64_t>(begin, 0)));
    }
    return all;
  }
};

/// Each gradient is shared by the places of its window that are no padding. Inputs: the sizes of what was pooled, and
/// the gradient.
Values avg_pool_gradient(const TfNode& n, GraphBuilder& g, std::int64_t spatial) {
  constexpr std::int64_t kMost = 1 << 20;
  const Layout layout(n, spatial);
  const Ints all_sizes = n.need_ints(0);
  if (static_cast<std::int64_t>(all_sizes.size()) != layout.rank()) n.unsupported("sizes of another rank");
  const Ints kernel = layout.spatial(n.ints("ksize")), strides = layout.spatial(n.ints("strides"));
  const Ints sizes = layout.spatial(all_sizes);
  Value* dy = layout.to_channels_first(g, n.input(1));
  Value* dims = g.shape(dy);
  Ints planes{-1, 1}, ones{1, 1}, pads(2 * static_cast<std::size_t>(spatial + 2), 0), starts, ends, axes, area;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const MeanWindow window{sizes[i], kernel[i], strides[i], n.text("padding", "") == "SAME"};
    if (kernel[i] < 1 || strides[i] < 1 || kernel[i] > kMost || strides[i] > kMost || sizes[i] < 1 || sizes[i] > kMost)
      n.unsupported("a window, stride or size that is not positive, or too large");
    if (window.count() < 1) n.unsupported("a window that is larger than what was pooled");
    Ints shape(static_cast<std::size_t>(spatial + 2), 1);
    shape[i + 2] = window.count();
    dy = g.div(dy, g.cast(g.constant(Tensor::of<float>(shape, window.places())), n.elem(1)));
    planes.push_back(window.count());
    ones.push_back(kernel[i]);
    starts.push_back(window.before());
    ends.push_back(window.before() + sizes[i]);
    axes.push_back(static_cast<std::int64_t>(i) + 2);
    pads[pads.size() - kernel.size() + i] = std::max<std::int64_t>(0, ends.back() - window.reach());
    area.push_back(sizes[i]);
  }
  Value* weights = g.op("Expand", {g.scalar(1, n.elem(1)), g.ints(ones)});
  Value* spread = g.op("ConvTranspose", {g.reshape(dy, planes), weights}, {{"strides", strides}});
  Value* padded = g.op("Pad", {spread, g.ints(pads)});
  Value* planes_of_x = g.op("Slice", {padded, g.ints(starts), g.ints(ends), g.ints(axes)});
  Value* outer = g.op("Slice", {dims, g.ints({0}), g.ints({2})});
  Value* shape = g.op("Concat", {outer, g.ints(area)}, {{"axis", 0}});
  return {layout.from_channels_first(g, g.op("Reshape", {planes_of_x, shape}))};
}

/// A vector of one number per channel, to be combined with a tensor.
Value* per_channel(const Layout& layout, GraphBuilder& g, Value* v) {
  if (layout.is_channels_last()) return v;
  Ints axes(static_cast<std::size_t>(layout.rank() - 2));
  std::iota(axes.begin(), axes.end(), 1);
  return g.unsqueeze(v, axes);
}

}  // namespace

Values max_pool(const TfNode& n, GraphBuilder& g) { return pooled(n, g, "MaxPool", 2); }
Values max_pool_3d(const TfNode& n, GraphBuilder& g) { return pooled(n, g, "MaxPool", 3); }
Values avg_pool(const TfNode& n, GraphBuilder& g) { return pooled(n, g, "AveragePool", 2); }
Values avg_pool_3d(const TfNode& n, GraphBuilder& g) { return pooled(n, g, "AveragePool", 3); }
Values max_pool_grad(const TfNode& n, GraphBuilder& g) { return max_pool_gradient(n, g, 2); }
Values max_pool_3d_grad(const TfNode& n, GraphBuilder& g) { return max_pool_gradient(n, g, 3); }
Values avg_pool_grad(const TfNode& n, GraphBuilder& g) { return avg_pool_gradient(n, g, 2); }
Values avg_pool_3d_grad(const TfNode& n, GraphBuilder& g) { return avg_pool_gradient(n, g, 3); }
Values max_pool_with_argmax(const TfNode& n, GraphBuilder& g) { return pooled(n, g, "MaxPool", 2, true); }

Values bias_add(const TfNode& n, GraphBuilder& g) {
  Value* bias = n.input(1);
  if (n.text("data_format", "NHWC").starts_with("NC") && n.rank(0) > 2) {
    Ints axes(static_cast<std::size_t>(n.rank(0) - 2));
    std::iota(axes.begin(), axes.end(), 1);
    bias = g.unsqueeze(bias, axes);
  }
  return {g.add(n.input(0), bias)};
}

Values fused_batch_norm(const TfNode& n, GraphBuilder& g) {
  const Layout layout(n, n.rank(0) - 2);
  const double epsilon = n.real("epsilon", 1e-4);
  Value *x = n.input(0), *scale = n.input(1), *offset = n.input(2);
  if (!n.flag("is_training", true)) {
    Value *mean = n.input(3), *variance = n.input(4);
    Value* first = layout.to_channels_first(g, x);
    Value* y = g.op("BatchNormalization", {first, scale, offset, mean, variance}, {{"epsilon", epsilon}});
    return {layout.from_channels_first(g, y), mean, variance, mean, variance};
  }
  // With the statistics of the batch itself.
  Ints axes;
  for (std::int64_t axis = 0; axis < layout.rank(); ++axis)
    if (axis != layout.channel_axis()) axes.push_back(axis);
  const DType inner = n.elem(1);
  Value* wide = g.cast(x, inner);
  Value* along = g.ints(axes);
  Value* mean = g.op("ReduceMean", {wide, along}, {{"keepdims", 0}});
  Value* centred = g.sub(wide, per_channel(layout, g, mean));
  Value* squares = g.mul(centred, centred);
  Value* variance = g.op("ReduceMean", {squares, along}, {{"keepdims", 0}});
  Value* deviation = g.op("Sqrt", {g.add(variance, epsilon)});
  Value* factor = per_channel(layout, g, g.div(scale, deviation));
  Value* y = g.add(g.mul(centred, factor), per_channel(layout, g, offset));
  // The variance given out is that of a sample: n / (n - 1).
  Value* count = g.div(g.op("Size", {x}), g.op("Size", {mean}));
  Value* less = g.op("Max", {g.sub(count, g.index(1)), g.index(1)});
  Value* ratio = g.div(g.cast(count, inner), g.cast(less, inner));
  return {g.cast(y, n.elem(0)), mean, g.mul(variance, ratio), mean, variance};
}

Values batch_norm_global(const TfNode& n, GraphBuilder& g) {
  // t, m, v, beta, gamma
  Value* root = g.op("Sqrt", {g.add(n.input(2), n.real("variance_epsilon", 1e-3))});
  Value* y = g.div(g.sub(n.input(0), n.input(1)), root);
  if (n.flag("scale_after_normalization", true)) y = g.mul(y, n.input(4));
  return {g.add(y, n.input(3))};
}

Values lrn(const TfNode& n, GraphBuilder& g) {
  const std::int64_t size = 2 * n.integer("depth_radius", 5) + 1;
  Value* x = g.transpose(n.input(0), {0, 3, 1, 2});
  Value* y = g.op("LRN", {x},
                  {{"size", size},
                   {"alpha", n.real("alpha", 1) * static_cast<double>(size)},
                   {"beta", n.real("beta", 0.5)},
                   {"bias", n.real("bias", 1)}});
  return {g.transpose(y, {0, 2, 3, 1})};
}

Values softmax(const TfNode& n, GraphBuilder& g) { return {g.op("Softmax", {n.input(0)}, {{"axis", -1}})}; }
Values log_softmax(const TfNode& n, GraphBuilder& g) { return {g.op("LogSoftmax", {n.input(0)}, {{"axis", -1}})}; }

Values softmax_cross_entropy(const TfNode& n, GraphBuilder& g) {
  Value* log = g.op("LogSoftmax", {n.input(0)}, {{"axis", -1}});
  Value* loss = g.neg(g.op("ReduceSum", {g.mul(n.input(1), log), g.ints({-1})}, {{"keepdims", 0}}));
  Value* p = g.op("Softmax", {n.input(0)}, {{"axis", -1}});
  return {loss, g.sub(p, n.input(1))};
}
Values sparse_softmax_cross_entropy(const TfNode& n, GraphBuilder& g) {
  Value* log = g.op("LogSoftmax", {n.input(0)}, {{"axis", -1}});
  Value* at = g.unsqueeze(as_int64(g, n.input(1)), {-1});
  Value* own = g.op("GatherElements", {log, at}, {{"axis", -1}});
  Value* loss = g.neg(g.squeeze(own, {-1}));
  Value* p = g.op("Softmax", {n.input(0)}, {{"axis", -1}});
  Value* classes = g.op("Gather", {g.shape(log), g.ints({-1})});
  Value* off = g.scalar(0, n.elem(0));
  Value* ends = g.concat({g.reshape(off, {1}), g.reshape(g.scalar(1, n.elem(0)), {1})}, 0);
  Value* target = g.op("OneHot", {as_int64(g, n.input(1)), classes, ends}, {{"axis", -1}});
  return {loss, g.sub(p, target)};
}

namespace {

Values rearranged(const TfNode& n, GraphBuilder& g, bool to_depth) {
  const Layout layout(n, 2);
  const std::int64_t size = n.integer("block_size", 2);
  if (size < 1) n.unsupported("the block size is not positive");
  Value* x = layout.to_channels_first(g, n.input(0));
  Value* y = to_depth ? g.op("SpaceToDepth", {x}, {{"blocksize", size}})
                      : g.op("DepthToSpace", {x}, {{"blocksize", size}, {"mode", "DCR"}});
  return {layout.from_channels_first(g, y)};
}

}  // namespace

Values depth_to_space(const TfNode& n, GraphBuilder& g) { return rearranged(n, g, false); }
Values space_to_depth(const TfNode& n, GraphBuilder& g) { return rearranged(n, g, true); }

}  // namespace ingot::frontends::tensorflow
