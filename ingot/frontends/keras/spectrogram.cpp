// Spectrograms of sounds.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/frontends/keras/spatial.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

constexpr double kEpsilon = 1e-7;  // Keras's own
constexpr double kPi = std::numbers::pi;

/// Frames of the sound in the waves of a kernel [frame, 1, waves]: [batch, channels, waves, frames].
IrValue* in_waves(Call& call, IrValue* x, const Tensor& kernel, const std::string& name) {
  GraphBuilder& b = call.b;
  const bool is_first = call.is_channels_first();
  const std::int64_t channels = call.size(0, is_first ? 1 : 2);
  const std::int64_t frame = call.integer("frame_length", 256);
  const Config step = call.at("frame_step");
  call.require(kernel.rank() == 3, "its kernel is of another rank");
  IrValue* w = call.parameter(name, transposed(kernel, {2, 1, 0}), true);
  if (!is_first) x = b.transpose(x, {0, 2, 1});
  IrValue* length = b.op("Slice", {b.shape(x), b.ints({2}), b.ints({3}), b.ints({0})});
  x = b.op("Reshape", {x, b.concat({b.ints({-1, 1}), length}, 0)});
  const bool is_same = call.text("padding", "valid") == "same";
  IrValue* y =
      b.op("Conv", {x, w},
           {{"strides", Ints{step.as_int().value_or(frame / 2)}}, {"auto_pad", is_same ? "SAME_UPPER" : "VALID"}});
  IrValue* frames = b.op("Slice", {b.shape(y), b.ints({2}), b.ints({3}), b.ints({0})});
  return b.op("Reshape", {y, b.concat({b.ints({-1, channels, kernel.dims()[2]}), frames}, 0)});
}

IrValue* in_order(Call& call, IrValue* y) {
  GraphBuilder& b = call.b;
  const bool is_first = call.is_channels_first();
  if (call.flag("expand_dims", false)) return b.transpose(y, is_first ? Ints{0, 1, 3, 2} : Ints{0, 3, 2, 1});
  IrValue* batch = b.op("Slice", {b.shape(y), b.ints({0}), b.ints({1}), b.ints({0})});
  IrValue* frames = b.op("Slice", {b.shape(y), b.ints({3}), b.ints({4}), b.ints({0})});
  y = b.op("Reshape", {y, b.concat({batch, b.ints({-1}), frames}, 0)});
  return is_first ? y : b.transpose(y, {0, 2, 1});
}

/// The angle of (x, y), by the arc of their quotient in each half of the plane.
IrValue* angle(GraphBuilder& b, IrValue* y, IrValue* x) {
  const DType type = x->type.elem;
  IrValue* zero = b.scalar(0, type);
  IrValue* is_flat = b.op("Equal", {x, zero});
  IrValue* arc = b.op("Atan", {b.div(y, b.where(is_flat, b.scalar(1, type), x))});
  IrValue* half = b.where(b.op("Less", {y, zero}), b.scalar(-kPi, type), b.scalar(kPi, type));
  IrValue* whole = b.where(b.op("Less", {x, zero}), b.add(arc, half), arc);
  return b.where(is_flat, b.mul(b.op("Sign", {y}), kPi / 2), whole);
}

double mel(double hertz) { return 1127.0 * std::log(1 + hertz / 700.0); }

/// How much of each wave each band has: [waves, bands].
Tensor bands_of(std::int64_t waves, std::int64_t bands, double rate, double from, double to) {
  std::vector<float> weights(static_cast<std::size_t>(waves * bands));
  const double low = mel(from), step = (mel(to) - low) / static_cast<double>(bands + 1);
  for (std::int64_t w = 1; w < waves; ++w) {
    const double at = mel(rate / 2 * static_cast<double>(w) / static_cast<double>(waves - 1));
    for (std::int64_t k = 0; k < bands; ++k) {
      const double begin = low + step * static_cast<double>(k);
      const double rising = (at - begin) / step, falling = (begin + 2 * step - at) / step;
      weights[static_cast<std::size_t>(w * bands + k)] = static_cast<float>(std::max(0.0, std::min(rising, falling)));
    }
  }
  return Tensor::of<float>({waves, bands}, weights);
}

/// The window over a frame, in the middle of as many zeros as there are more places.
Tensor window_of(const Call& call, const std::string& name, std::int64_t size, std::int64_t places) {
  std::vector<float> window(static_cast<std::size_t>(places));
  const std::int64_t left = (places - size) / 2;
  for (std::int64_t i = 0; i < size; ++i) {
    const double turn = std::cos(2 * kPi * static_cast<double>(i) / static_cast<double>(size));
    double value = 1;
    if (name == "hann")
      value = 0.5 - 0.5 * turn;
    else if (name == "hamming")
      value = 0.54 - 0.46 * turn;
    else
      call.refuse("the window '" + name + "' has no translation", "hann and hamming have one");
    window[static_cast<std::size_t>(left + i)] = static_cast<float>(value);
  }
  return Tensor::of<float>({places}, window);
}

IrValue* in_decibels(Call& call, IrValue* power) {
  GraphBuilder& b = call.b;
  const double least = call.number("min_power", 1e-10);
  const double reference = std::max(std::abs(call.number("ref_power", 1)), least);
  const DType type = power->type.elem;
  IrValue* log = b.mul(b.op("Log", {b.op("Max", {power, b.scalar(least, type)})}), 10 / std::log(10.0));
  log = b.sub(log, 10 * std::log10(reference));
  IrValue* loudest = b.op("ReduceMax", {log}, {{"keepdims", 0}});
  return b.op("Max", {log, b.sub(loudest, call.number("top_db", 80))});
}

}  // namespace

void stft_spectrogram(Call& call) {
  GraphBuilder& b = call.b;
  call.require(call.rank() == 3, "the input is no sound of channels");
  const std::string mode = call.text("mode", "log");
  IrValue* x = b.cast(call.in(), call.elem());
  std::size_t next = 0;
  const auto part = [&](const char* name) {
    call.require(next < call.weight_count(), "its kernels are not in the file");
    const Tensor kernel = call.stored(next++);
    return in_waves(call, x, kernel, name);
  };
  IrValue* real = mode != "imag" ? part("real_kernel") : nullptr;
  IrValue* imaginary = mode != "real" ? part("imag_kernel") : nullptr;
  if (mode == "real" || mode == "imag") return call.set(in_order(call, real ? real : imaginary));
  if (mode == "angle") return call.set(in_order(call, angle(b, imaginary, real)));
  if (mode == "stft") return call.set(in_order(call, b.concat({real, imaginary}, 2)));
  IrValue* power = b.add(b.mul(real, real), b.mul(imaginary, imaginary));
  if (mode == "psd") {
    IrValue* inner = b.op("Slice", {power, b.ints({1}), b.ints({-1}), b.ints({2})});
    IrValue* padded = b.op("Pad", {inner, b.ints({0, 0, 1, 0, 0, 0, 1, 0})});
    return call.set(in_order(call, b.add(power, padded)));
  }
  IrValue* epsilon = b.scalar(kEpsilon, call.elem());
  IrValue* magnitude = in_order(call, b.op("Sqrt", {b.op("Max", {power, epsilon})}));
  if (mode != "magnitude" && mode != "log") call.refuse("mode '" + mode + "' has no translation");
  call.set(mode == "magnitude" ? magnitude : b.op("Log", {b.op("Max", {magnitude, epsilon})}));
}

void mel_spectrogram(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t rank = call.rank();
  call.require(rank == 1 || rank == 2, "the input is no sound");
  const std::int64_t places = call.integer("fft_length", 2048);
  const std::int64_t size = call.at("sequence_length").as_int().value_or(places);
  const std::int64_t step = call.integer("sequence_stride", 512);
  call.require(places > 1 && places <= (1 << 20) && size > 0 && size <= places && step > 0, "it has bad sizes");
  const double rate = call.number("sampling_rate", 16000);
  const std::int64_t waves = places / 2 + 1, bands = call.integer("num_mel_bins", 128);
  call.require(bands > 0 && bands <= (1 << 14), "it has a bad number of bands");
  IrValue* x = b.cast(call.in(), DType::f32);
  if (rank == 1) x = b.unsqueeze(x, {0});
  x = b.op("Pad", {x, b.ints({0, places / 2, 0, places / 2})}, {{"mode", "reflect"}});
  const Config window = call.at("window");
  Tensor shape = Tensor::of<float>({places}, std::vector<float>(static_cast<std::size_t>(places), 1));
  if (!window.exists() || !window.is_null())
    shape = window_of(call, window.exists() ? std::string(window.text()) : "hann", size, places);
  IrValue* parts = b.op("STFT", {b.unsqueeze(x, {-1}), b.index(step), b.constant(shape), b.index(places)});
  IrValue* power = b.op("ReduceSumSquare", {parts, b.ints({-1})}, {{"keepdims", 0}});
  const double exponent = call.number("mag_exp", 2);
  if (exponent != 2) power = b.op("Pow", {b.op("Sqrt", {power}), b.scalar(exponent, DType::f32)});
  const Config highest = call.at("max_freq");
  const double to = highest.as_number().value_or(std::floor(rate / 2));
  const Tensor matrix = bands_of(waves, bands, rate, call.number("min_freq", 20), to);
  IrValue* y = b.op("MatMul", {power, b.constant(matrix)});
  if (call.flag("power_to_db", true)) y = in_decibels(call, y);
  y = b.transpose(y, {0, 2, 1});
  if (rank == 1) y = b.squeeze(y, {0});
  call.set(b.cast(y, call.elem()));
}

}  // namespace ingot::frontends::keras
