// Fourier's transforms among keras.ops, of pairs of real and imaginary parts.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Both parts with an axis of two behind the others.
IrValue* pairs(Call& call) {
  GraphBuilder& b = call.b;
  std::vector<Flow> parts = call.inputs;
  call.require(parts.size() == 2, "its input is no pair of real and imaginary parts");
  return b.concat({b.unsqueeze(real(b, parts[0].value), {-1}), b.unsqueeze(real(b, parts[1].value), {-1})}, -1);
}
void set_pairs(Call& call, IrValue* y) {
  GraphBuilder& b = call.b;
  for (std::int64_t i = 0; i < 2; ++i)
    call.outputs.push_back({b.op("Gather", {y, b.index(i)}, {{"axis", -1}}), nullptr});
}

IrValue* transformed(GraphBuilder& b, IrValue* x, std::int64_t axis, bool is_inverse, bool is_half = false) {
  return b.op("DFT", {x, nullptr, b.index(axis)}, {{"inverse", is_inverse}, {"onesided", is_half}});
}

/// Cut or filled up with zeros to a length along the last axis but one.
IrValue* of_length(GraphBuilder& b, IrValue* x, std::int64_t length) {
  IrValue* missing = b.op("Max", {b.sub(b.index(length), size_of(b, x, -2)), b.index(0)});
  IrValue* pads = b.concat({b.ints({0}), b.reshape(missing, {1})}, 0);
  x = b.op("Pad", {x, pads, number_like(b, x, 0), b.ints({*rank_of(x) - 2})});
  return b.op("Slice", {x, b.ints({0}), b.ints({length}), b.ints({-2})});
}

std::int64_t length_of(Call& call, const char* name) {
  const std::int64_t length = setting(call, 99, {name}).as_int().value_or(0);
  call.require(length >= 0 && length <= (1 << 24), std::string("'") + name + "' is no size");
  return length;
}

/// The window of a transform, in the middle of its length.
Tensor window_of(Call& call, std::int64_t length, std::int64_t whole) {
  std::vector<float> values(static_cast<std::size_t>(whole), 0);
  const Config stated = setting(call, 4, {"window"});
  const std::string_view name = stated.is_null() ? "ones" : stated.is_text() ? stated.text() : "";
  const std::int64_t before = (whole - length) / 2;
  for (std::int64_t i = 0; i < length; ++i) {
    const double turn = std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
    double v = 1;
    if (name == "hann") v = 0.5 - 0.5 * turn;
    if (name == "hamming") v = 0.54 - 0.46 * turn;
    values[static_cast<std::size_t>(before + i)] = static_cast<float>(v);
  }
  if (name != "hann" && name != "hamming" && name != "ones") call.refuse("a window of one's own has no translation");
  return Tensor::of<float>({whole}, values);
}

}  // namespace

/// "FFT", "FFT2" and "IFFT2".
void op_fourier(Call& call) {
  const std::string& name = call.layer.class_name;
  IrValue* x = pairs(call);
  const bool is_inverse = name.starts_with("I");
  x = transformed(call.b, x, -2, is_inverse);
  if (name.ends_with("2")) x = transformed(call.b, x, -3, is_inverse);
  set_pairs(call, x);
}

void op_rfft(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = b.unsqueeze(real(b, first(call)), {-1});
  if (const std::int64_t length = length_of(call, "fft_length")) x = of_length(b, x, length);
  set_pairs(call, transformed(b, x, -2, false, true));
}

/// The other half of the frequencies is the conjugate of the first, backwards.
void op_irfft(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = pairs(call);
  IrValue* half = size_of(b, x, -2);
  std::int64_t length = length_of(call, "fft_length");
  if (length) {
    x = of_length(b, x, length / 2 + 1);
  } else if (const auto known = dim_of(x, -2)) {
    length = 2 * (*known - 1);
  }
  IrValue* inner = length ? b.index(length - length / 2 - 1) : b.sub(half, 2);  // that have a counterpart
  IrValue* places = b.sub(inner, counted(b, inner));
  IrValue* rest = b.op("Gather", {x, places}, {{"axis", -2}});
  IrValue* sign = b.constant(Tensor::of<float>({2}, {1, -1}));
  IrValue* all = b.concat({x, b.mul(rest, b.cast(sign, x->type.elem))}, -2);
  IrValue* y = transformed(b, all, -2, true);
  call.set(b.op("Gather", {y, b.index(0)}, {{"axis", -1}}));
}

/// Of windows that move along the last axis.
void op_stft(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = real(b, first(call));
  const std::int64_t length = length_of(call, "sequence_length"), stride = length_of(call, "sequence_stride");
  const std::int64_t whole = length_of(call, "fft_length");
  call.require(length > 0 && stride > 0 && whole >= length, "its length, stride or size is impossible");
  const std::int64_t rank = rank_needed(call, x);
  if (setting(call, 5, {"center"}).as_bool().value_or(true))
    x = b.op("Pad", {x, b.ints({whole / 2, whole / 2}), nullptr, b.ints({rank - 1})}, {{"mode", "reflect"}});
  IrValue* count = b.add(b.div(b.sub(size_of(b, x, -1), static_cast<double>(whole)), static_cast<double>(stride)), 1);
  IrValue* starts = b.unsqueeze(b.mul(counted(b, count), static_cast<double>(stride)), {1});
  IrValue* frames = b.op("Gather", {x, b.add(starts, counted(b, b.index(whole)))}, {{"axis", -1}});
  frames = b.mul(frames, b.cast(b.constant(window_of(call, length, whole)), x->type.elem));
  set_pairs(call, transformed(b, b.unsqueeze(frames, {-1}), -2, false, true));
}

}  // namespace ingot::frontends::keras
