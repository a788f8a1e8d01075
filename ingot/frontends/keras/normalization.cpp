// Normalisations.
#include <algorithm>

#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Axes of a setting that is a number or a list, counted from the front.
Ints axes_of(const Call& call, std::int64_t rank) {
  const Config axis = call.at("axis");
  Ints axes = axis.is_list() ? call.ints("axis", axis.size(), -1) : Ints{call.integer("axis", -1)};
  for (std::int64_t& a : axes) {
    if (a < 0) a += rank;
    call.require(a >= 0 && a < rank, "its axis lies outside the input");
  }
  std::ranges::sort(axes);
  return axes;
}

/// A parameter of the sizes of some axes, ready to be broadcast over the others.
IrValue* spread(Call& call, IrValue* parameter, const Ints& axes, std::int64_t rank) {
  Ints missing;
  for (std::int64_t i = axes.front() + 1; i < rank; ++i)
    if (std::ranges::find(axes, i) == axes.end()) missing.push_back(i - axes.front());
  return missing.empty() ? parameter : call.b.unsqueeze(parameter, missing);
}

/// Of the axes of an input; -1: not known.
Dims sizes_of(const Call& call, const Ints& axes) {
  Dims sizes;
  for (const std::int64_t axis : axes) sizes.push_back(dim_of(call.in(), axis).value_or(-1));
  return sizes;
}

IrValue* ones(Call& call, std::int64_t count, float value, const std::string& name) {
  return call.parameter(name, Tensor::of<float>({count}, std::vector<float>(static_cast<std::size_t>(count), value)),
                        false);
}

/// By stored statistics, of the channels on axis 1. `of`: scale, shift, mean and variance.
IrValue* frozen_normalization(Call& call, IrValue* x, Values of) {
  GraphBuilder& b = call.b;
  for (IrValue*& each : of)
    if (rank_of(each) == 1) each = spread(call, each, {1}, rank_of(x).value_or(2));
  IrValue* size = b.op("Sqrt", {b.add(of[3], call.number("epsilon", 1e-3))});
  return b.add(b.mul(b.div(b.sub(x, of[2]), size), of[0]), of[1]);
}

/// Those of the batch itself, of the channels on axis 1.
void batch_statistics(GraphBuilder& b, IrValue* x, IrValue*& mean, IrValue*& variance) {
  Ints others{0};
  for (std::int64_t i = 2; i < rank_of(x).value_or(2); ++i) others.push_back(i);
  IrValue* axes = b.ints(others);
  mean = b.op("ReduceMean", {x, axes});
  IrValue* apart = b.sub(x, mean);
  variance = b.op("ReduceMean", {b.mul(apart, apart), axes});
}

}  // namespace

void batch_normalization(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rank = call.rank();
  const Ints axes = axes_of(call, rank);
  if (axes.size() != 1) call.refuse("statistics over several axes have no translation");
  if (call.integer("mode", 0) != 0) call.refuse("modes of Keras 1 other than 0 have no translation");
  const std::int64_t channels = call.size(0, axes[0]);
  const Dims sizes{channels};
  IrValue* x = call.real();
  IrValue* gamma = call.flag("scale", true) ? call.weight("gamma", sizes) : ones(call, channels, 1, "gamma");
  IrValue* beta = call.flag("center", true) ? call.weight("beta", sizes) : ones(call, channels, 0, "beta");
  IrValue* mean = call.weight("moving_mean", sizes, false);
  IrValue* variance = call.weight("moving_variance", sizes, false);
  // ONNX has the channels second.
  Ints order;
  if (axes[0] != 1 || rank == 1) {
    for (std::int64_t i = 0; i < rank; ++i)
      if (i != axes[0]) order.push_back(i);
    call.require(rank > 1, "the input has no channels");
    order.insert(order.begin() + 1, axes[0]);
  }
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  if (!order.empty()) x = b.transpose(x, order);
  // Where the layer is frozen, it normalises by what it knows also while the model learns.
  const bool is_frozen = !call.layer.is_trainable && call.import.version >= 2;
  if (call.is_live() && !is_frozen) batch_statistics(b, x, mean, variance);
  if (call.is_live() || (call.import.options.is_training && (is_frozen || !call.learns()))) {
    IrValue* y = frozen_normalization(call, x, {gamma, beta, mean, variance});
    return call.set(order.empty() ? y : b.transpose(y, back));
  }
  IrValue* y = b.op("BatchNormalization", {x, gamma, beta, mean, variance},
                    {{"epsilon", call.number("epsilon", 1e-3)}, {"momentum", call.number("momentum", 0.99)}});
  call.set(order.empty() ? y : b.transpose(y, back));
}

void layer_normalization(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rank = call.rank();
  const Ints axes = axes_of(call, rank);
  IrValue* x = call.real();
  const bool has_scale = call.flag("scale", true) || call.flag("rms_scaling", false);
  const Dims sizes = sizes_of(call, axes);
  IrValue* gamma = has_scale ? call.weight("gamma", sizes) : nullptr;
  IrValue* beta = call.flag("center", true) && !call.flag("rms_scaling", false) ? call.weight("beta", sizes) : nullptr;
  const double epsilon = call.number("epsilon", 1e-3);
  const bool is_last = axes.front() == rank - static_cast<std::int64_t>(axes.size());
  if (is_last && gamma && !call.flag("rms_scaling", false)) {
    Values inputs{x, gamma};
    if (beta) inputs.push_back(beta);
    return call.set(b.op("LayerNormalization", inputs, {{"axis", axes.front()}, {"epsilon", epsilon}}));
  }
  IrValue* at = b.ints(axes);
  IrValue* apart = call.flag("rms_scaling", false) ? x : b.sub(x, b.op("ReduceMean", {x, at}));
  IrValue* mean = b.op("ReduceMean", {x, at});
  IrValue* away = b.sub(x, mean);
  IrValue* variance = b.op("ReduceMean", {b.mul(away, away), at});
  IrValue* y = b.div(apart, b.op("Sqrt", {b.add(variance, epsilon)}));
  if (gamma) y = b.mul(y, spread(call, gamma, axes, rank));
  if (beta) y = b.add(y, spread(call, beta, axes, rank));
  call.set(y);
}

void group_normalization(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rank = call.rank();
  const Ints axes = axes_of(call, rank);
  call.require(axes.size() == 1 && axes[0] > 0, "its axis lies outside the input");
  const std::int64_t channels = call.size(0, axes[0]);
  std::int64_t groups = call.integer("groups", 32);
  if (groups == -1) groups = channels;
  call.require(groups > 0 && channels % groups == 0, "the channels are no multiple of the groups");
  const Dims sizes{channels};
  IrValue* gamma = call.flag("scale", true) ? call.weight("gamma", sizes) : ones(call, channels, 1, "gamma");
  IrValue* beta = call.flag("center", true) ? call.weight("beta", sizes) : ones(call, channels, 0, "beta");
  Ints order{0, axes[0]}, back(static_cast<std::size_t>(rank));
  for (std::int64_t i = 1; i < rank; ++i)
    if (i != axes[0]) order.push_back(i);
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  IrValue* x = b.transpose(call.real(), order);
  IrValue* y =
      b.op("GroupNormalization", {x, gamma, beta}, {{"num_groups", groups}, {"epsilon", call.number("epsilon", 1e-3)}});
  call.set(b.transpose(y, back));
}

void rms_normalization(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rank = call.rank();
  const Ints axes = axes_of(call, rank);
  IrValue *x = call.real(), *scale = call.weight("scale", sizes_of(call, axes));
  IrValue* mean = b.op("ReduceMean", {b.mul(x, x), b.ints(axes)});
  IrValue* y = b.div(x, b.op("Sqrt", {b.add(mean, call.number("epsilon", 1e-6))}));
  call.set(b.mul(y, spread(call, scale, axes, rank)));
}

void unit_normalization(Call& call) {
  GraphBuilder& b = call.b;
  const Ints axes = axes_of(call, call.rank());
  IrValue* x = call.in();
  IrValue* sum = b.op("ReduceSum", {b.mul(x, x), b.ints(axes)});
  IrValue* least = b.scalar(1e-12, x->type.elem);
  call.set(b.div(x, b.op("Sqrt", {b.op("Max", {sum, least})})));
}

}  // namespace ingot::frontends::keras
