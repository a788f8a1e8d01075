// ai.onnx.contrib: StftNorm, SplitSignalSegments, MergeSignalSegments.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/signal/fft.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kMostPoints = 1 << 24;

/// How a signal is cut into frames.
struct Frames {
  std::int64_t points, hop, bins, count;
};

Frames frames_of(KernelContext& c, std::int64_t samples, std::int64_t points, std::int64_t hop, std::int64_t window,
                 bool is_onesided) {
  if (points <= 0 || points > kMostPoints || hop <= 0) c.fail("the sizes of frame and hop must be positive and small");
  if (window <= 0 || window > points) c.fail("the window must have at least one number, and at most n_fft");
  const std::int64_t padded = samples + window / 2 * 2;
  const std::int64_t count = padded < window ? 0 : (padded - window) / hop + 1;
  return {points, hop, is_onesided ? points / 2 + 1 : points, count};
}

/// Squared magnitudes [bins, frames] of a signal between half windows of silence.
template <class Put>
void power(KernelContext& c, std::span<const float> signal, std::span<const float> window, const Frames& f, Put put) {
  RealFft fft(c, f.points);
  std::vector<std::complex<double>> frame(static_cast<std::size_t>(f.points));
  const auto before = std::ssize(window) / 2;
  Pace pace(c.host().budget());
  for (std::int64_t t = 0; t < f.count; ++t) {
    pace.step(f.points);
    std::ranges::fill(frame, 0);
    for (std::size_t i = 0; i < window.size(); ++i) {
      const std::int64_t at = t * f.hop + static_cast<std::int64_t>(i) - before;
      if (at >= 0 && at < std::ssize(signal))
        frame[i] = static_cast<double>(signal[static_cast<std::size_t>(at)]) * static_cast<double>(window[i]);
    }
    fft(frame);
    for (std::int64_t k = 0; k < f.bins; ++k)
      put(k, t, static_cast<float>(std::norm(frame[static_cast<std::size_t>(k)])));
  }
}

std::span<const float> signal_of(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 2 || x.dims()[0] != 1) c.fail("the signal must have the shape [1, n]");
  return x.data<float>();
}

void infer_norm(InferContext& c) {
  const auto points = c.const_int(1);
  Dim bins = c.data_dim(0, 1);
  if (points) bins = c.attr("onesided", std::int64_t{1}) ? *points / 2 + 1 : *points;
  c.out_shape(0, {1, bins, c.data_dim(0, 2)});
}

void run_norm(KernelContext& c) {
  const auto signal = signal_of(c), window = c.in(3).data<float>();
  const std::int64_t points = int_argument(c, 1);
  if (int_argument(c, 4) != points) c.fail("frame_length must be n_fft");
  const Frames f = frames_of(c, std::ssize(signal), points, int_argument(c, 2), std::ssize(window),
                             c.attr("onesided", std::int64_t{1}) != 0);
  const auto out = c.make(0, DType::f32, {1, f.bins, f.count}).mutable_data<float>();
  power(c, signal, window, f,
        [&](std::int64_t k, std::int64_t t, float v) { out[static_cast<std::size_t>(k * f.count + t)] = v; });
}

void infer_segments(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0), 2}); }

/// Loudness of each frame in decibels.
std::vector<float> loudness(KernelContext& c, std::span<const float> signal, std::int64_t points, std::int64_t hop) {
  if (points <= 0 || points > kMostPoints) c.fail("the size of a frame must be positive and small");
  std::vector<float> window(static_cast<std::size_t>(points));
  for (std::size_t i = 0; i < window.size(); ++i) {
    const double sine = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(points));
    window[i] = static_cast<float>(sine * sine);
  }
  const Frames f = frames_of(c, std::ssize(signal), points, hop, points, true);
  c.host().budget().poll();
  std::vector<float> energy(static_cast<std::size_t>(f.count), 0);
  power(c, signal, window, f, [&](std::int64_t, std::int64_t t, float v) { energy[static_cast<std::size_t>(t)] += v; });
  for (float& e : energy) e = 10.0F * std::log10(e + 1e-10F);
  return energy;
}

/// Stretches louder than a threshold below the loudest, in milliseconds.
void run_split(KernelContext& c) {
  const auto signal = signal_of(c);
  const std::int64_t rate = int_argument(c, 1), frame_ms = int_argument(c, 2), hop_ms = int_argument(c, 3);
  constexpr std::int64_t kMost = 1 << 30;
  if (rate <= 0 || rate > kMost || frame_ms <= 0 || frame_ms > kMost || hop_ms <= 0 || hop_ms > kMost)
    c.fail("rate, frame and hop must be positive");
  const std::int64_t hop = hop_ms * rate / 1000;
  const std::vector<float> energy = loudness(c, signal, frame_ms * rate / 1000, hop);
  std::vector<std::int64_t> segments;
  if (!energy.empty()) {
    std::vector<float> ordered = energy;
    const auto middle = ordered.begin() + std::ssize(ordered) / 2;
    std::ranges::nth_element(ordered, middle);
    const float threshold = std::max(std::ranges::max(energy) + float_argument(c, 4), *middle);
    const auto time = [&](std::size_t t) {
      const float seconds = static_cast<float>(static_cast<std::int64_t>(t) * hop) / static_cast<float>(rate);
      return static_cast<std::int64_t>(seconds * 1000.0F);
    };
    for (std::size_t t = 0; t <= energy.size(); ++t) {
      const bool is_loud = t < energy.size() && energy[t] > threshold;
      if (is_loud != (segments.size() % 2 == 1)) segments.push_back(time(t));
    }
  }
  give_ints(c, 0, {std::ssize(segments) / 2, 2}, segments);
}

void run_merge(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 2 || x.dims()[1] != 2) c.fail("the segments must have the shape [n, 2]");
  const std::int64_t gap = int_argument(c, 1);
  const auto in = x.data<std::int64_t>();
  std::vector<std::int64_t> merged;
  for (std::size_t i = 0; i < in.size(); i += 2) {
    std::int64_t distance = 0;
    const bool is_far = merged.empty() || __builtin_sub_overflow(in[i], merged.back(), &distance) || distance > gap;
    if (is_far)
      merged.insert(merged.end(), {in[i], in[i + 1]});
    else
      merged.back() = std::max(merged.back(), in[i + 1]);
  }
  give_ints(c, 0, {std::ssize(merged) / 2, 2}, merged);
}

}  // namespace

constinit const OpDef defs::contrib::MergeSignalSegments = {
    .name = "MergeSignalSegments", .domain = kContrib, .infer = infer_segments, .kernel = run_merge};
constinit const OpDef defs::contrib::SplitSignalSegments = {
    .name = "SplitSignalSegments", .domain = kContrib, .infer = infer_segments, .kernel = run_split};
constinit const OpDef defs::contrib::StftNorm = {
    .name = "StftNorm", .domain = kContrib, .infer = infer_norm, .kernel = run_norm};

}  // namespace ingot::ops
