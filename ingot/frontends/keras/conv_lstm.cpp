// LSTMs whose products are convolutions: a loop over the steps.
#include <algorithm>

#include "ingot/frontends/channels_last.h"
#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/cell.h"
#include "ingot/frontends/keras/translators.h"
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/window.h"

namespace ingot::frontends::keras {
namespace {

struct Setting {
  std::size_t axes = 0;
  std::int64_t filters = 0;
  Window input, state;
  IrValue *input_kernel = nullptr, *state_kernel = nullptr, *bias = nullptr;  // channels first
  std::string activation, recurrent_activation;
};

Setting read_setting(Call& call, std::size_t axes) {
  Setting s;
  s.axes = axes;
  s.filters = call.integer("filters");
  call.require(s.filters > 0 && s.filters < (1 << 30), "its number of filters is impossible");
  s.input.kernel = call.ints("kernel_size", axes, 1);
  s.input.strides = call.ints("strides", axes, 1);
  s.input.dilations = call.ints("dilation_rate", axes, 1);
  s.input.is_same = call.text("padding", "valid") == "same";
  s.state.kernel = s.input.kernel;
  s.state.strides.assign(axes, 1);
  s.state.is_same = true;
  for (const Ints* sizes : {&s.input.kernel, &s.input.strides, &s.input.dilations})
    call.require(std::ranges::all_of(*sizes, [](std::int64_t v) { return v > 0 && v < (1 << 20); }),
                 "a size of its window is impossible");
  if (call.layer.weights.is_tree() && call.layer.weights.values().empty())
    call.layer.weights = call.layer.weights.part("cell");
  Dims sizes = s.input.kernel;
  sizes.insert(sizes.end(), {-1, 4 * s.filters});
  s.input_kernel = filter_channels_first(call.b, call.weight("kernel", sizes), axes);
  sizes[axes] = s.filters;
  s.state_kernel = filter_channels_first(call.b, call.weight("recurrent_kernel", sizes), axes);
  if (call.flag("use_bias", true)) s.bias = call.weight("bias", Dims{4 * s.filters});
  s.activation = call.at("activation").exists() ? activation_name(call.at("activation")) : "tanh";
  s.recurrent_activation = call.at("recurrent_activation").exists()
                               ? activation_name(call.at("recurrent_activation"))
                               : (call.import.version >= 3 ? "sigmoid" : "hard_sigmoid");
  return s;
}

IrValue* convolved(GraphBuilder& b, IrValue* x, IrValue* w, IrValue* bias, const Window& window) {
  Attrs attrs = window.attrs(true);
  window.pad(attrs, x);
  return b.op("Conv", {x, w, bias}, attrs);
}

void conv_lstm(Call& call, std::size_t axes) {
  GraphBuilder& b = call.b;
  const auto rank = static_cast<std::int64_t>(axes) + 3;
  call.require(call.rank() == rank, "the input does not have the rank that the layer needs");
  const Setting s = read_setting(call, axes);
  const bool is_first = call.is_channels_first();
  const bool is_reversed = call.flag("go_backwards", false) != call.kwargs.contains("__go_backwards__");
  IrValue *x = call.in(), *mask = call.stated_mask();
  if (!is_first) {
    Ints order{0, 1, rank - 1};
    for (std::int64_t i = 2; i < rank - 1; ++i) order.push_back(i);
    x = b.transpose(x, order);  // [batch, steps, channels, spatial...]
  }
  if (is_reversed) {
    x = reversed(b, x, 1);
    if (mask) mask = reversed(b, mask, 1);
  }
  // The inputs of all steps at once, as examples of one batch.
  IrValue* sizes = b.shape(x);
  IrValue* inner = b.op("Slice", {sizes, b.ints({2}), b.ints({rank}), b.ints({0})});
  IrValue* flat = b.op("Reshape", {x, b.concat({b.ints({-1}), inner}, 0)});
  IrValue* from_x = convolved(b, flat, s.input_kernel, s.bias, s.input);
  IrValue* made_sizes = b.op("Slice", {b.shape(from_x), b.ints({1}), b.ints({rank - 1}), b.ints({0})});
  IrValue* outer = b.op("Slice", {sizes, b.ints({0}), b.ints({2}), b.ints({0})});
  from_x = b.op("Reshape", {from_x, b.concat({outer, made_sizes}, 0)});
  IrValue* spatial = b.op("Slice", {made_sizes, b.ints({1}), b.ints({rank - 2}), b.ints({0})});
  IrValue* batch = b.op("Slice", {sizes, b.ints({0}), b.ints({1}), b.ints({0})});
  IrValue* zeros = b.op("Expand", {b.scalar(0, x->type.elem), b.concat({batch, b.ints({s.filters}), spatial}, 0)});
  Values start{zeros, zeros, zeros};  // h, c, the last output
  std::vector<Flow> given(call.inputs.begin() + 1, call.inputs.end());
  if (const auto initial = call.kwargs.find("initial_state"); initial != call.kwargs.end())
    collect(initial->second, given);
  for (std::size_t i = 0; i < given.size() && i < 2; ++i)
    start[i] = is_first ? given[i].value : channels_first(b, given[i].value, axes + 2);
  const int version = call.import.version;
  const Values made = repeat(b, size_of(b, x, 1), start, [&](GraphBuilder& g, IrValue* round, const Values& state) {
    IrValue* now = g.op("Gather", {from_x, round}, {{"axis", 1}});
    IrValue* sum = g.add(now, convolved(g, state[0], s.state_kernel, nullptr, s.state));
    const Values gates = g.op("Split", {sum}, {{"axis", 1}, {"num_outputs", 4}}, 4);
    const auto gate = [&](std::size_t i) { return activated(g, version, s.recurrent_activation, gates[i]); };
    IrValue* c = g.add(g.mul(gate(1), state[1]), g.mul(gate(0), activated(g, version, s.activation, gates[2])));
    IrValue* h = g.mul(gate(3), activated(g, version, s.activation, c));
    Values next{h, c, h};
    if (mask) {
      Ints at;
      for (std::size_t i = 0; i <= axes; ++i) at.push_back(static_cast<std::int64_t>(i) + 1);
      IrValue* counts = g.unsqueeze(g.op("Gather", {mask, round}, {{"axis", 1}}), at);
      for (std::size_t i = 0; i < 3; ++i) next[i] = g.where(counts, next[i], state[i]);
    }
    next.push_back(g.op("Identity", {next[2]}));
    return next;
  });
  const auto out = [&](IrValue* v) { return is_first ? v : channels_last(b, v, axes + 2); };
  const bool has_sequences = call.flag("return_sequences", false);
  if (has_sequences) {
    Ints order{1, 0};  // [steps, batch, channels, spatial...]
    for (std::int64_t i = is_first ? 2 : 3; i < rank; ++i) order.push_back(i);
    if (!is_first) order.push_back(2);
    call.set(b.transpose(made[3], order), call.mask());
  } else {
    call.set(out(made[2]));
  }
  if (call.flag("return_state", false))
    for (std::size_t i = 0; i < 2; ++i) call.outputs.push_back({out(made[i]), nullptr});
}

}  // namespace

void conv_lstm_1d(Call& call) { conv_lstm(call, 1); }
void conv_lstm_2d(Call& call) { conv_lstm(call, 2); }
void conv_lstm_3d(Call& call) { conv_lstm(call, 3); }

}  // namespace ingot::frontends::keras
