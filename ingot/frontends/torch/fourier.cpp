// Discrete Fourier transforms.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/torch/complex.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

enum class Scale : std::uint8_t { none, root, all };  // of the sum: 1, 1 / sqrt(n), 1 / n

Scale scale_of(const Call& c, std::size_t norm, bool is_inverse) {
  const std::string word = c.has(norm) ? c.text(norm) : "backward";
  if (word == "ortho") return Scale::root;
  return (word == "forward") != is_inverse ? Scale::all : Scale::none;
}

Value* count_of(GraphBuilder& g, Value* x, std::int64_t axis) { return g.op("Gather", {g.shape(x), g.index(axis)}); }

/// One axis of pairs, or of single reals along the last axis. `n`: null keeps the axis's size.
Value* transformed(GraphBuilder& g, Value* x, std::int64_t axis, Value* n, bool is_inverse, bool is_onesided,
                   Scale scale) {
  Values inputs{x, n, g.index(axis)};
  Value* y = g.op("DFT", inputs, {{"inverse", is_inverse}, {"onesided", is_onesided}});
  const Scale given = is_inverse ? Scale::all : Scale::none;
  if (scale == given) return y;
  Value* size = g.cast(n ? n : count_of(g, x, axis), x->type.elem);
  if (scale == Scale::root) size = g.op("Sqrt", {size});
  return is_inverse ? g.mul(y, size) : g.div(y, size);
}

/// Reals from the first half of a spectrum that is its own mirror image: the rest is added, then transformed back.
Value* real_again(GraphBuilder& g, Value* half, std::int64_t axis, Value* n, Scale scale) {
  const auto cut = [&](Value* x, Value* begin, Value* end) {
    return g.op("Slice", {x, g.reshape(begin, {1}), g.reshape(end, {1}), g.ints({axis})});
  };
  if (!n) n = g.mul(g.sub(count_of(g, half, axis), g.index(1)), g.index(2));
  Value* bins = g.add(g.div(n, g.index(2)), g.index(1));
  // What is missing of the bins is zero.
  const auto rank = static_cast<std::size_t>(*rank_of(half));
  Value* missing = g.op("Max", {g.sub(bins, count_of(g, half, axis)), g.index(0)});
  Values pads;
  for (std::size_t i = 0; i < 2 * rank; ++i)
    pads.push_back(i == rank + static_cast<std::size_t>(axis) ? g.reshape(missing, {1}) : g.ints({0}));
  Value* low = cut(g.op("Pad", {half, g.concat(pads, 0)}), g.index(0), bins);
  Value* mirrored = cut(low, g.index(1), g.add(g.div(g.sub(n, g.index(1)), g.index(2)), g.index(1)));
  mirrored = g.op("Slice", {mirrored, g.ints({-1}), g.ints({INT64_MIN}), g.ints({axis}), g.ints({-1})});
  mirrored = joined_parts(g, real_part(g, mirrored), g.neg(imaginary_part(g, mirrored)));
  return real_part(g, transformed(g, g.concat({low, mirrored}, axis), axis, nullptr, true, false, scale));
}

Value* single_reals(const Call& c, std::size_t i) { return c.g().unsqueeze(c.real_tensor(i), {-1}); }

Value* given_count(const Call& c, std::size_t i) { return c.has(i) ? c.index(i) : nullptr; }

/// The axes of a transform over several: those given, else the last ones that sizes are given for, else all.
Ints several_axes(const Call& c, std::int64_t rank, std::size_t sizes, std::size_t dims) {
  Ints axes;
  if (c.has(dims)) {
    axes = c.ints(dims);
  } else {
    const std::int64_t count = c.row.name.ends_with('2') ? 2
                               : c.has(sizes)            ? static_cast<std::int64_t>(c.ints(sizes).size())
                                                         : rank;
    for (std::int64_t i = rank - count; i < rank; ++i) axes.push_back(i);
  }
  for (std::int64_t& a : axes) a = normal_axis(a, rank);
  return axes;
}

Value* size_at(const Call& c, std::size_t sizes, std::size_t i) {
  const ListRef* list = c.has(sizes) ? c.arg(sizes).get<ListRef>() : nullptr;
  if (!list || i >= (*list)->items.size()) return nullptr;
  const Call one{c.t, c.row, {(*list)->items[i]}};
  return one.known_integer(0) == -1 ? nullptr : one.index(0);
}

Scale of_number(std::int64_t normalization) {
  return normalization == 0 ? Scale::none : normalization == 1 ? Scale::root : Scale::all;
}

}  // namespace

/// f(self, n, dim, norm)
Item fft_one(const Call& c) {
  const bool is_inverse = c.row.name == "fft_ifft";
  Value* x = pairs_of(c, 0);
  const std::int64_t axis = normal_axis(c.integer(2), c.rank(x) - 1);
  return complex_item(transformed(c.g(), x, axis, given_count(c, 1), is_inverse, false, scale_of(c, 3, is_inverse)));
}
Item fft_rfft(const Call& c) {
  Value* x = single_reals(c, 0);
  const std::int64_t axis = normal_axis(c.integer(2), c.rank(x) - 1);
  return complex_item(transformed(c.g(), x, axis, given_count(c, 1), false, true, scale_of(c, 3, false)));
}
Item fft_irfft(const Call& c) {
  Value* x = pairs_of(c, 0);
  const std::int64_t axis = normal_axis(c.integer(2), c.rank(x) - 1);
  return real_again(c.g(), x, axis, given_count(c, 1), scale_of(c, 3, true));
}
/// f(self, s, dim, norm)
Item fft_several(const Call& c) {
  const bool is_inverse = c.row.name.starts_with("fft_i"), is_real = c.row.name.find("rfft") != std::string_view::npos;
  GraphBuilder& g = c.g();
  Value* x = is_real && !is_inverse ? single_reals(c, 0) : pairs_of(c, 0);
  const Ints axes = several_axes(c, c.rank(x) - 1, 1, 2);
  const Scale scale = scale_of(c, 3, is_inverse);
  // The last axis is the one of half the spectrum: first on the way there, last on the way back.
  if (is_real && !is_inverse) x = transformed(g, x, axes.back(), size_at(c, 1, axes.size() - 1), false, true, scale);
  for (std::size_t i = 0; i + (is_real ? 1 : 0) < axes.size(); ++i)
    x = transformed(g, x, axes[i], size_at(c, 1, i), is_inverse, false, scale);
  if (is_real && is_inverse) return real_again(g, x, axes.back(), size_at(c, 1, axes.size() - 1), scale);
  return complex_item(x);
}
/// f(self, dim, normalization, onesided or forward or the last size)
Item fft_r2c(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = single_reals(c, 0);
  const Ints axes = c.ints(1);
  const Scale scale = of_number(c.integer(2));
  const std::int64_t rank = c.rank(x) - 1;
  x = transformed(g, x, normal_axis(axes.back(), rank), nullptr, false, c.flag(3), scale);
  for (std::size_t i = 0; i + 1 < axes.size(); ++i)
    x = transformed(g, x, normal_axis(axes[i], rank), nullptr, false, false, scale);
  return complex_item(x);
}
Item fft_c2c(const Call& c) {
  Value* x = pairs_of(c, 0);
  const std::int64_t rank = c.rank(x) - 1;
  for (const std::int64_t axis : c.ints(1))
    x = transformed(c.g(), x, normal_axis(axis, rank), nullptr, !c.flag(3), false, of_number(c.integer(2)));
  return complex_item(x);
}
Item fft_c2r(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = pairs_of(c, 0);
  const Ints axes = c.ints(1);
  const std::int64_t rank = c.rank(x) - 1;
  const Scale scale = of_number(c.integer(2));
  for (std::size_t i = 0; i + 1 < axes.size(); ++i)
    x = transformed(g, x, normal_axis(axes[i], rank), nullptr, true, false, scale);
  return real_again(g, x, normal_axis(axes.back(), rank), c.index(3), scale);
}
/// Half of each axis changes places with the other half.
Item fft_shift(const Call& c) {
  const bool is_back = c.row.name == "fft_ifftshift", is_pairs = is_complex_item(c.arg(0));
  Value* x = c.tensor(0);
  const std::int64_t rank = c.rank(x) - (is_pairs ? 1 : 0);
  Ints axes = c.has(1) ? c.ints(1) : Ints{};
  if (!c.has(1))
    for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  Ints shifts;
  for (std::int64_t& a : axes) {
    a = normal_axis(a, rank);
    const auto size = dim_of(x, a);
    if (!size) refuse("an axis of unknown size is shifted by half of it");
    shifts.push_back(is_back ? (*size + 1) / 2 : *size / 2);
  }
  const Item rolled = c.t.call("roll", {Item(x), Item::integers(shifts), Item::integers(axes)});
  const TensorRef* made = rolled.get<TensorRef>();
  return is_pairs && made ? complex_item(c.t.read(*made)) : rolled;
}
Item fft_frequencies(const Call& c) {
  const std::int64_t n = c.integer(0);
  const double width = c.has(1) ? c.real(1) : 1;
  if (n <= 0 || n > 100'000'000) refuse("frequencies of a signal of no length");
  const bool is_half = c.row.name == "fft_rfftfreq";
  std::vector<float> values;
  for (std::int64_t i = 0; i < (is_half ? n / 2 + 1 : n); ++i)
    values.push_back(static_cast<float>(static_cast<double>(!is_half && i > (n - 1) / 2 ? i - n : i) /
                                        (static_cast<double>(n) * width)));
  return c.g().constant(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
}

namespace {

/// The window of a short-time transform, as long as a frame.
Value* frame_window(const Call& c, std::size_t window, std::int64_t length, std::int64_t frame, DType elem) {
  GraphBuilder& g = c.g();
  Value* w = c.has(window) ? g.cast(c.tensor(window), elem) : g.op("Expand", {g.scalar(1, elem), g.ints({length})});
  const std::int64_t left = (frame - length) / 2;
  return length == frame ? w : g.op("Pad", {w, g.ints({left, frame - length - left})});
}

}  // namespace

/// f(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)
Item stft(const Call& c) {
  GraphBuilder& g = c.g();
  const std::int64_t frame = c.integer(1), hop = c.has(2) ? c.integer(2) : frame / 4;
  const std::int64_t length = c.has(3) ? c.integer(3) : frame;
  if (frame <= 0 || hop <= 0 || length <= 0 || length > frame) refuse("frames of no length");
  const bool is_complex_signal = is_complex_item(c.arg(0));
  if (is_complex_signal) refuse("a short-time transform of a complex signal");
  const Item cut = c.t.call("unfold", {c.arg(0), -1, frame, hop});
  const TensorRef* frames = cut.get<TensorRef>();
  if (!frames) return cut;
  Value* x = c.t.read(*frames);  // [..., frames, n_fft]
  const std::int64_t rank = c.rank(x);
  x = g.mul(x, frame_window(c, 4, length, frame, x->type.elem));
  const bool is_onesided = !c.has(6) || c.flag(6);
  const Scale scale = c.flag(5) ? Scale::root : Scale::none;
  Value* y = transformed(g, g.unsqueeze(x, {-1}), rank - 1, nullptr, false, is_onesided, scale);
  Ints perm;
  for (std::int64_t i = 0; i < rank + 1; ++i) perm.push_back(i);
  std::swap(perm[static_cast<std::size_t>(rank - 2)], perm[static_cast<std::size_t>(rank - 1)]);
  y = g.transpose(y, perm);  // [..., bins, frames, 2]
  return c.has(7) && !c.flag(7) ? Item(y) : complex_item(y);
}
/// f(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
Item istft(const Call& c) {
  GraphBuilder& g = c.g();
  const std::int64_t frame = c.integer(1), hop = c.has(2) ? c.integer(2) : frame / 4;
  const std::int64_t length = c.has(3) ? c.integer(3) : frame;
  if (frame <= 0 || hop <= 0 || length <= 0 || length > frame) refuse("frames of no length");
  if (c.has(7) && !c.flag(7)) refuse("a short-time transform back from a whole spectrum");
  if (c.flag(9)) refuse("a short-time transform back to a complex signal");
  Value* x = c.tensor(0);  // [..., bins, frames, 2], complex or real pairs
  const bool is_single = c.rank(x) == 3;
  if (is_single) x = g.unsqueeze(x, {0});
  if (c.rank(x) != 4) refuse("a short-time transform back of several channels");
  Value* y = real_again(g, x, 1, g.index(frame), c.flag(6) ? Scale::root : Scale::all);  // [batch, n_fft, frames]
  Value* window = g.unsqueeze(frame_window(c, 4, length, frame, y->type.elem), {1});
  // Frames are laid over each other: a transposed convolution with the unit matrix.
  std::vector<float> unit(static_cast<std::size_t>(frame * frame), 0);
  for (std::int64_t i = 0; i < frame; ++i) unit[static_cast<std::size_t>(i * frame + i)] = 1;
  Value* kernel = g.cast(g.constant(Tensor::of<float>({frame, 1, frame}, unit)), y->type.elem);
  const Attrs attrs{{"strides", {hop}}};
  Value* signal = g.op("ConvTranspose", {g.mul(y, window), kernel}, attrs);
  Value* weight = g.op("Expand", {g.mul(window, window), g.op("Slice", {g.shape(y), g.ints({1}), g.ints({3})})});
  signal = g.squeeze(g.div(signal, g.op("ConvTranspose", {g.unsqueeze(weight, {0}), kernel}, attrs)), {1});
  const std::int64_t margin = !c.has(5) || c.flag(5) ? frame / 2 : 0;
  Value* end = c.has(8) ? g.add(c.index(8), g.index(margin)) : margin ? g.index(-margin) : g.index(INT64_MAX);
  signal = g.op("Slice", {signal, g.ints({margin}), g.reshape(end, {1}), g.ints({1})});
  return is_single ? g.squeeze(signal, {0}) : signal;
}

}  // namespace ingot::frontends::torch
