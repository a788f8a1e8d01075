// Pools: over windows, over everything, and up again.
#include <algorithm>

#include "ingot/frontends/keras/spatial.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

template <bool is_max, std::size_t axes> void pool(Call& call) {
  Spatial spatial(call, axes);
  const Window window = spatial.window("pool_size");
  IrValue* x = spatial.input(call.in());
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  call.set(spatial.output(is_max ? call.b.op("MaxPool", {x}, attrs) : call.b.op("AveragePool", {x}, attrs)));
}

Ints spatial_axes(const Call& call, std::size_t axes) {
  Ints at;
  for (std::size_t i = 0; i < axes; ++i)
    at.push_back(static_cast<std::int64_t>(i) + (call.is_channels_first() ? 2 : 1));
  return at;
}

template <bool is_max, std::size_t axes> void global_pool(Call& call) {
  call.require(call.rank() == static_cast<std::int64_t>(axes) + 2,
               "the input does not have the rank that the layer needs");
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  const Ints at = spatial_axes(call, axes);
  const Attrs attrs{{"keepdims", call.flag("keepdims", false)}};
  if (axes == 1 && !is_max && call.stated_mask()) {  // the mean of the steps that count
    IrValue* counts = b.unsqueeze(b.cast(call.stated_mask(), x->type.elem), {call.is_channels_first() ? 1 : 2});
    IrValue* sum = b.op("ReduceSum", {b.mul(x, counts), b.ints(at)}, attrs);
    return call.set(b.div(sum, b.op("ReduceSum", {counts, b.ints(at)}, attrs)));
  }
  call.set(is_max ? b.op("ReduceMax", {x, b.ints(at)}, attrs) : b.op("ReduceMean", {x, b.ints(at)}, attrs));
}

/// Windows that together cover an axis: number i of n begins at floor(i * size / n), ends at ceil((i + 1) * size / n).
IrValue* adapted(Call& call, IrValue* x, std::int64_t axis, std::int64_t count, bool is_max) {
  GraphBuilder& b = call.b;
  const std::int64_t size = dim_of(x, axis).value_or(0);
  call.require(size > 0 && count > 0 && count <= 4096, "its sizes are not known");
  Values parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin = i * size / count, end = ((i + 1) * size + count - 1) / count;
    IrValue* part = b.op("Slice", {x, b.ints({begin}), b.ints({end}), b.ints({axis})});
    parts.push_back(is_max ? b.op("ReduceMax", {part, b.ints({axis})}) : b.op("ReduceMean", {part, b.ints({axis})}));
  }
  return b.concat(parts, axis);
}

template <bool is_max, std::size_t axes> void adaptive_pool(Call& call) {
  const Ints sizes = call.ints("output_size", axes, 1);
  const Ints at = spatial_axes(call, axes);
  IrValue* y = call.in();
  for (std::size_t i = 0; i < axes; ++i) y = adapted(call, y, at[i], sizes[i], is_max);
  call.set(y);
}

template <std::size_t axes> void up_sampling(Call& call) {
  GraphBuilder& b = call.b;
  Ints sizes = axes == 1 ? Ints{call.integer("size", 2)} : call.ints("size", axes, 2);
  const std::string how = call.text("interpolation", "nearest");
  std::vector<float> scales(axes + 2, 1.0F);
  const bool is_first = axes > 1 && call.is_channels_first();
  call.require(call.rank() == static_cast<std::int64_t>(axes) + 2,
               "the input does not have the rank that the layer needs");
  for (std::size_t i = 0; i < axes; ++i) scales[i + 2] = static_cast<float>(sizes[i]);
  IrValue* x = call.in();
  Ints to_first{0, static_cast<std::int64_t>(axes) + 1}, back{0};
  for (std::size_t i = 0; i < axes; ++i) {
    to_first.push_back(static_cast<std::int64_t>(i) + 1);
    back.push_back(static_cast<std::int64_t>(i) + 2);
  }
  back.push_back(1);
  if (!is_first) x = b.transpose(x, to_first);
  IrValue* scale = b.constant(Tensor::of<float>({static_cast<std::int64_t>(axes) + 2}, scales));
  Attrs attrs;
  if (how == "nearest")
    attrs = {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}};
  else if (how == "bilinear")
    attrs = {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}};
  else if (how == "bicubic")
    attrs = {{"mode", "cubic"},
             {"coordinate_transformation_mode", "half_pixel"},
             {"cubic_coeff_a", -0.5},
             {"exclude_outside", 1}};
  else
    call.refuse("interpolation '" + how + "' has no translation", "nearest, bilinear or bicubic have one");
  IrValue* y = b.op("Resize", {x, nullptr, scale}, attrs);
  call.set(is_first ? y : b.transpose(y, back));
}

}  // namespace

/// Pools among keras.ops: of as many axes as the input has.
void op_pool(Call& call) {
  const std::string& name = call.layer.class_name;
  const bool is_max = name.ends_with("MaxPool"), is_adaptive = name.starts_with("Adaptive");
  const std::int64_t axes = call.rank() - 2;
  call.require(axes >= 1 && axes <= 3, "the input does not have the rank that the operation needs");
  using Function = void (*)(Call&);
  constexpr Function kMax[] = {pool<true, 1>, pool<true, 2>, pool<true, 3>};
  constexpr Function kMean[] = {pool<false, 1>, pool<false, 2>, pool<false, 3>};
  constexpr Function kMostOfParts[] = {adaptive_pool<true, 1>, adaptive_pool<true, 2>, adaptive_pool<true, 3>};
  constexpr Function kMeanOfParts[] = {adaptive_pool<false, 1>, adaptive_pool<false, 2>, adaptive_pool<false, 3>};
  (is_adaptive ? (is_max ? kMostOfParts : kMeanOfParts) : (is_max ? kMax : kMean))[axes - 1](call);
}

void max_pooling_1d(Call& call) { pool<true, 1>(call); }
void max_pooling_2d(Call& call) { pool<true, 2>(call); }
void max_pooling_3d(Call& call) { pool<true, 3>(call); }
void average_pooling_1d(Call& call) { pool<false, 1>(call); }
void average_pooling_2d(Call& call) { pool<false, 2>(call); }
void average_pooling_3d(Call& call) { pool<false, 3>(call); }
void global_max_pooling_1d(Call& call) { global_pool<true, 1>(call); }
void global_max_pooling_2d(Call& call) { global_pool<true, 2>(call); }
void global_max_pooling_3d(Call& call) { global_pool<true, 3>(call); }
void global_average_pooling_1d(Call& call) { global_pool<false, 1>(call); }
void global_average_pooling_2d(Call& call) { global_pool<false, 2>(call); }
void global_average_pooling_3d(Call& call) { global_pool<false, 3>(call); }
void adaptive_max_pooling_1d(Call& call) { adaptive_pool<true, 1>(call); }
void adaptive_max_pooling_2d(Call& call) { adaptive_pool<true, 2>(call); }
void adaptive_max_pooling_3d(Call& call) { adaptive_pool<true, 3>(call); }
void adaptive_average_pooling_1d(Call& call) { adaptive_pool<false, 1>(call); }
void adaptive_average_pooling_2d(Call& call) { adaptive_pool<false, 2>(call); }
void adaptive_average_pooling_3d(Call& call) { adaptive_pool<false, 3>(call); }
void up_sampling_1d(Call& call) { up_sampling<1>(call); }
void up_sampling_2d(Call& call) { up_sampling<2>(call); }
void up_sampling_3d(Call& call) { up_sampling<3>(call); }

}  // namespace ingot::frontends::keras
