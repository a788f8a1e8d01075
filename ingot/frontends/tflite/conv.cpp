// Convolutions.
#include <algorithm>
#include <cstring>

#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

/// The shape of weights: TFLite's files always state it.
const Ints& weight_dims(const Op& op, std::size_t i, std::size_t rank) {
  const Ints& dims = op.tensor(i).shape;
  op.require(dims.size() == rank, "the weights do not have the rank that the operator needs");
  return dims;
}

/// The channels of an input [N, C, ...] of this rank, where they are known.
std::optional<std::int64_t> channels_of(const Value* x, std::size_t rank) {
  return x->type.shape && x->type.shape->size() == rank ? (*x->type.shape)[1].as_int() : std::nullopt;
}

/// Weights of fewer channels than the input has are those of groups.
std::int64_t groups_of(Op& op, const Value* x, const Ints& dims) {
  const auto channels = channels_of(x, dims.size());
  if (!channels) return 1;
  op.require(dims[3] > 0 && *channels % dims[3] == 0, "the weights do not fit the channels of the input");
  return *channels / dims[3];
}

/// Weights [depth, height, width, ...].
Window window_3d(const Op& op, const Ints& dims) {
  Window window;
  window.kernel = {dims[0], dims[1], dims[2]};
  window.strides = {op.options.get_int("stride_d"), op.options.get_int("stride_h"), op.options.get_int("stride_w")};
  window.dilations = {op.options.get_int("dilation_d_factor"), op.options.get_int("dilation_h_factor"),
                      op.options.get_int("dilation_w_factor")};
  window.is_same = op.options.get_enum<tfl::Padding>("padding") == tfl::Padding::SAME;
  for (const Ints* steps : {&window.strides, &window.dilations})
    op.require(std::ranges::all_of(*steps, [](std::int64_t s) { return s > 0; }), "strides must be positive");
  return window;
}

Value* conv(Op& op, Value* x, Value* w, Value* bias, const Window& window, std::int64_t group) {
  Attrs attrs = window.attrs(true);
  if (group != 1) attrs.emplace_back("group", group);
  window.pad(attrs, x);
  return op.b.op("Conv", {x, w, bias}, attrs);
}

}  // namespace

void conv_2d(Op& op) {
  const Ints& dims = weight_dims(op, 1, 4);
  const Window window = window_2d(op, {dims[1], dims[2]});
  Value* x = spatial_input(op, 0);
  Value* w = op.weights(1, {0, 3, 1, 2});
  op.note_dynamic_range(1, 0);
  Value* bias = op.bias(2, 0, 1);
  Value* y = conv(op, x, w, bias, window, groups_of(op, x, dims));
  y = op.activated(y);
  set_spatial(op, y);
}

void depthwise_conv_2d(Op& op) {
  const Ints& dims = weight_dims(op, 1, 4);
  const Window window = window_2d(op, {dims[1], dims[2]});
  Value* x = spatial_input(op, 0);
  Value* w = op.weights(1, {3, 0, 1, 2});
  op.note_dynamic_range(1, 0);
  Value* bias = op.bias(2, 0, 1);
  // The multiplier of the options may be wrong; what counts are the channels.
  const std::int64_t stated = op.options.get_int("depth_multiplier");
  std::int64_t group = dims[3] / std::max<std::int64_t>(stated, 1);
  if (const auto channels = channels_of(x, dims.size())) group = *channels;
  Value* y = conv(op, x, w, bias, window, group);
  y = op.activated(y);
  set_spatial(op, y);
}

namespace {

/// The operator of the same graph that makes a tensor; null: none does.
const tfl::Operator* maker_of(const Op& op, std::int32_t tensor) {
  for (const tfl::Operator& one : op.frame.source().operators)
    if (std::ranges::find(one.outputs, tensor) != one.outputs.end()) return &one;
  return nullptr;
}

bool is_dense(const Window& window) {
  const auto is_one = [](std::int64_t v) { return v == 1; };
  return !window.is_same && std::ranges::all_of(window.strides, is_one) &&
         std::ranges::all_of(window.dilations, is_one);
}

}  // namespace

bool dilated_conv(Op& op) {
  const tfl::Operator* middle = op.has(0) ? maker_of(op, op.input(0)) : nullptr;
  if (!middle) return false;
  const bool is_depthwise = middle->code.builtin == tfl::BuiltinOperator::DEPTHWISE_CONV_2D;
  if (!is_depthwise && middle->code.builtin != tfl::BuiltinOperator::CONV_2D) return false;
  Op inner(op.frame, *middle, op.row);
  const tfl::Operator* first = inner.has(0) ? maker_of(op, inner.input(0)) : nullptr;
  if (!first || first->code.builtin != tfl::BuiltinOperator::SPACE_TO_BATCH_ND) return false;
  Op outer(op.frame, *first, op.row);
  const auto blocks = outer.known_ints(1), padding = outer.known_ints(2), crops = op.known_ints(2);
  if (!blocks || !padding || !crops || blocks->size() != 2 || padding->size() != 4 || crops->size() != 4) return false;
  if (op.known_ints(1) != blocks || !op.alike(inner.out_tensor(), op.out_tensor())) return false;
  const Ints& dims = weight_dims(inner, 1, 4);
  Window window = window_2d(inner, {dims[1], dims[2]});
  if (!is_dense(window)) return false;
  window.dilations = *blocks;
  Ints pads;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    for (std::size_t i = 0; i < 2; ++i) pads.push_back((*padding)[2 * i + side] - (*crops)[2 * i + side]);
  if (std::ranges::any_of(pads, [](std::int64_t p) { return p < 0; })) return false;

  Value* x = spatial_input(outer, 0);
  Value* w = inner.weights(1, is_depthwise ? Ints{3, 0, 1, 2} : Ints{0, 3, 1, 2});
  inner.note_dynamic_range(1, 0);
  Value* bias = inner.bias(2, 0, 1);
  const auto channels = channels_of(x, dims.size());
  if (is_depthwise && !channels) return false;
  const std::int64_t group = is_depthwise ? *channels : groups_of(inner, x, dims);
  Attrs attrs = window.attrs(true);
  if (group != 1) attrs.emplace_back("group", group);
  attrs.emplace_back("pads", pads);
  set_spatial(op, inner.activated(op.b.op("Conv", {x, w, bias}, attrs)));
  return true;
}

void conv_3d(Op& op) {
  const Ints& dims = weight_dims(op, 1, 5);
  const Window window = window_3d(op, dims);
  Value* x = spatial_input(op, 0);
  Value* w = op.weights(1, {4, 3, 0, 1, 2});
  op.note_dynamic_range(1, 0);
  Value* bias = op.bias(2, 0, 1);
  Value* y = conv(op, x, w, bias, window, groups_of(op, x, dims));
  y = op.activated(y);
  set_spatial(op, y);
}

namespace {

/// ConvTranspose whose output has the spatial sizes `out`, cut as TFLite's padding says. All sizes may be unknown but
/// the cut then has to be none.
Value* transposed_conv(Op& op, Value* x, Value* w, Value* bias, const Window& window, const std::optional<Ints>& out) {
  const std::size_t count = window.kernel.size();
  Attrs attrs = window.attrs(true);
  if (!out) {
    attrs.emplace_back("auto_pad", window.is_same ? "SAME_UPPER" : "VALID");
    return op.b.op("ConvTranspose", {x, w, bias}, attrs);
  }
  op.require(x->type.shape && x->type.shape->size() == count + 2, "the input does not have the rank of an image");
  Ints pads(2 * count), extra(count, 0);
  bool is_padded = false, is_extended = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto in = (*x->type.shape)[i + 2].as_int();
    op.require(in.has_value(), "the spatial size of the input must be known");
    const std::int64_t full = (*in - 1) * window.strides[i] + window.extent(i);
    const std::int64_t total = std::max<std::int64_t>(full - (*out)[i], 0);
    pads[i] = window.is_same ? ops::split_padding(total).before : 0;
    pads[count + i] = total - pads[i];
    extra[i] = (*out)[i] - (full - total);
    is_padded |= total != 0;
    is_extended |= extra[i] != 0;
  }
  if (is_padded) attrs.emplace_back("pads", pads);
  if (is_extended) attrs.emplace_back("output_padding", extra);
  return op.b.op("ConvTranspose", {x, w, bias}, attrs);
}

}  // namespace

namespace {

/// The elements of an input that gives sizes, as far as they are known.
std::vector<Dim> wanted_sizes(Op& op, std::size_t i) {
  if (const auto known = op.known_ints(i)) return {known->begin(), known->end()};
  const Value* value = op.stored(i);
  return value->known_ints ? *value->known_ints : std::vector<Dim>{};
}

/// Whether the sizes asked for are those of the input times the strides, or what that becomes without padding: then
/// ONNX's rules say the same.
bool grows_by_strides(const Value* x, const Window& window, const std::vector<Dim>& sizes) {
  if (sizes.size() != window.kernel.size() + 2 || !x->type.shape || x->type.shape->size() != sizes.size()) return false;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const Dim& in = (*x->type.shape)[i + 2];
    if (in.is_unknown() || sizes[i + 1].is_unknown()) return false;
    const Dim out = window.is_same ? in * window.strides[i] : (in - 1) * window.strides[i] + window.extent(i);
    if (!same(out, sizes[i + 1])) return false;
  }
  return true;
}

/// Sizes that are given while running: the whole is computed, then cut or filled up with zeros, which is what TFLite's
/// kernel begins with.
Value* transposed_conv_of_size(Op& op, Value* x, Value* w, Value* bias, const Window& window, Value* shape) {
  GraphBuilder& b = op.b;
  const auto count = static_cast<std::int64_t>(window.kernel.size());
  Value* full = b.op("ConvTranspose", {x, w}, window.attrs(true));
  Ints axes;
  for (std::int64_t i = 0; i < count; ++i) axes.push_back(i + 2);
  Value* along = b.ints(axes);
  Value* asked = b.op("Slice", {shape, b.ints({1}), b.ints({count + 1})});
  Value* made = b.op("Slice", {b.shape(full), b.ints({2}), b.ints({count + 2})});
  Value* none = b.ints(Ints(static_cast<std::size_t>(count), 0));
  Value* more = b.op("Max", {b.sub(asked, made), none});
  Value* wide = b.op("Pad", {full, b.concat({none, more}, 0), nullptr, along});
  Value* start = none;
  if (window.is_same) start = b.div(b.op("Max", {b.sub(made, asked), none}), b.ints({2}));
  Value* y = b.op("Slice", {wide, start, b.add(start, asked), along});
  if (!bias) return y;
  Ints behind;
  for (std::int64_t i = 0; i < count; ++i) behind.push_back(i + 1);
  return b.add(y, b.unsqueeze(bias, behind));
}

}  // namespace

void transpose_conv(Op& op) {
  const Ints& dims = weight_dims(op, 1, 4);
  const Window window = window_2d(op, {dims[1], dims[2]});
  Value* x = spatial_input(op, 2);
  Value* w = op.weights(1, {3, 0, 1, 2});
  Value* bias = op.bias(3, 2, 1);
  const std::vector<Dim> sizes = wanted_sizes(op, 0);
  std::optional<Ints> out;
  if (sizes.size() == 4 && sizes[1].is_known() && sizes[2].is_known()) out = Ints{sizes[1].value(), sizes[2].value()};
  Value* y = nullptr;
  if (out || grows_by_strides(x, window, sizes))
    y = transposed_conv(op, x, w, bias, window, out);
  else
    y = transposed_conv_of_size(op, x, w, bias, window, op.index_list(0));
  set_spatial(op, op.activated(y));
}

void conv_3d_transpose(Op& op) {
  const Ints& dims = weight_dims(op, 1, 5);
  const Window window = window_3d(op, dims);
  Value* x = spatial_input(op, 2);
  Value* w = op.weights(1, {4, 3, 0, 1, 2});
  Value* bias = op.bias(3, 2, 1);
  std::optional<Ints> out;
  if (const auto shape = op.known_ints(0); shape && shape->size() == 5)
    out = Ints(shape->begin() + 1, shape->end() - 1);
  Value* y = transposed_conv(op, x, w, bias, window, out);
  y = op.activated(y);
  set_spatial(op, y);
}

void transpose_conv_with_bias(Op& op) {
  // MediaPipe's: inputs, weights [O,H,W,I], bias; the options are a C struct: padding (1 SAME, 2 VALID), strides.
  const std::string_view raw = op.source.custom_options.text();
  op.require(raw.size() >= 12, "the custom options are too short");
  const auto number = [&](std::size_t i) {
    std::int32_t value = 0;
    std::memcpy(&value, raw.data() + 4 * i, 4);
    return std::int64_t{value};
  };
  const Ints& dims = weight_dims(op, 1, 4);
  Window window;
  window.kernel = {dims[1], dims[2]};
  window.strides = {number(2), number(1)};
  window.is_same = number(0) == 1;
  op.require(window.strides[0] > 0 && window.strides[1] > 0, "strides must be positive");
  Value* x = spatial_input(op, 0);
  Value* w = op.weights(1, {3, 0, 1, 2});
  op.note_dynamic_range(1, 0);
  Value* bias = op.bias(2, 0, 1);
  Ints out;
  for (std::size_t i = 0; i < 2; ++i) {
    const bool has_rank = x->type.shape && x->type.shape->size() == 4;
    const auto in = has_rank ? (*x->type.shape)[i + 2].as_int() : std::nullopt;
    op.require(in.has_value(), "the spatial size of the input must be known");
    out.push_back(window.is_same ? *in * window.strides[i] : (*in - 1) * window.strides[i] + window.kernel[i]);
  }
  Value* y = transposed_conv(op, x, w, bias, window, out);
  set_spatial(op, y);
}

}  // namespace ingot::frontends::tflite
