// ai.onnx.contrib.AudioDecoder: the samples of a sound, at a lower rate if wanted.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ingot/formats/audio/audio.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using formats::audio::Format;
using formats::audio::Sound;
constexpr std::size_t kMostSamples = 480000;  // half a minute at 16 kHz

/// Weights of a filter of second order: of inputs and of earlier outputs.
struct Section {
  std::array<double, 3> b;
  std::array<double, 2> a;
};

/// One pair of poles of a Butterworth filter of fourth order by the bilinear transform; the cutoff is a part of the
/// rate.
Section section(int pair, double cutoff) {
  const double w = std::tan(std::numbers::pi * cutoff), q = 2 * std::sin((2 * pair + 1) * std::numbers::pi / 8);
  const double d = 1 + q * w + w * w;
  return {{w * w / d, 2 * w * w / d, w * w / d}, {2 * (w * w - 1) / d, (1 - q * w + w * w) / d}};
}

/// Keeps what the lower rate can hold.
std::vector<float> low_pass(const std::vector<float>& x, double cutoff, Pace& pace) {
  std::vector<double> y(x.begin(), x.end());
  for (int pair = 0; pair < 2; ++pair) {
    const Section s = section(pair, cutoff);
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (double& v : y) {
      const double out = s.b[0] * v + s.b[1] * x1 + s.b[2] * x2 - s.a[0] * y1 - s.a[1] * y2;
      x2 = x1, x1 = v, y2 = y1, y1 = out;
      v = out;
      pace.step(1);
    }
  }
  return {y.begin(), y.end()};
}

/// Modified Bessel function of order 0.
double bessel(double x) {
  double sum = 0, term = 1;
  for (double n = 1; term > 1e-8 * sum; ++n) {
    sum += term;
    term *= x * x / 4 / (n * n);
  }
  return sum;
}

/// Samples between samples: a sine cardinal within a window of Kaiser's.
std::vector<float> resampled(const std::vector<float>& x, float from, float to, Pace& pace) {
  constexpr double kBeta = 6;
  const float factor = to / from;
  std::vector<float> y(static_cast<std::size_t>(std::ceil(static_cast<float>(x.size()) * factor)));
  y.resize(std::min(y.size(), kMostSamples));
  const auto range = static_cast<std::int64_t>(std::ceil(kBeta / (2.0 * static_cast<double>(factor))));
  const double top = bessel(kBeta);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float index = static_cast<float>(i) / factor;
    const auto middle = static_cast<std::int64_t>(index);
    const std::int64_t begin = std::max<std::int64_t>(0, middle - range);
    const std::int64_t end = std::min(std::ssize(x) - 1, middle + range);
    double sum = 0;
    for (std::int64_t j = begin; j <= end; ++j) {
      const double place = 2.0 * static_cast<double>(j - begin) / static_cast<double>(end - begin) - 1;
      const double window = end > begin ? bessel(kBeta * std::sqrt(1 - place * place)) / top : 1;
      const double d = std::numbers::pi * std::abs(static_cast<double>(j) - static_cast<double>(index));
      sum += static_cast<double>(x[static_cast<std::size_t>(j)]) * window * (d < 1e-6 ? 1 : std::sin(d) / d);
    }
    y[i] = static_cast<float>(sum);
    pace.step(64 * (end - begin + 1));
  }
  return y;
}

Format format_of(KernelContext& c, std::span<const std::byte> data) {
  const std::string name = c.has(1) ? text_argument(c, 1) : "";
  if (name == "wav") return Format::wav;
  if (name == "flac") return Format::flac;
  if (name == "mp3") return Format::mp3;
  if (!name.empty() && name != "default") c.fail("the format is '" + name + "'");
  return formats::audio::recognise(data);
}

void run_audio(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) c.fail("the bytes must have the shape [n] or [1, n]");
  const auto data = std::as_bytes(x.data<std::uint8_t>());
  Sound sound = formats::audio::decode(data, format_of(c, data), c.host().budget());
  const std::int64_t rate = c.attr("downsampling_rate", std::int64_t{-1});
  if (rate != -1 && (rate <= 0 || rate > sound.rate)) c.fail("sounds can only be brought to a lower rate");
  std::vector<float>& samples = sound.samples;
  if (c.attr("stereo_to_mono", std::int64_t{0}) && sound.channels > 1 && samples.size() > 1) {
    for (std::size_t i = 0; i < samples.size() / 2; ++i) samples[i] = (samples[2 * i] + samples[2 * i + 1]) / 2;
    samples.resize(samples.size() / 2);
  }
  Pace pace(c.host().budget());
  if (rate != -1 && rate != sound.rate) {
    const double cutoff = 0.5 * static_cast<double>(rate) / static_cast<double>(sound.rate);
    samples =
        resampled(low_pass(samples, cutoff, pace), static_cast<float>(sound.rate), static_cast<float>(rate), pace);
  }
  samples.resize(std::min(samples.size(), kMostSamples));
  std::ranges::copy(samples, c.make(0, DType::f32, {1, std::ssize(samples)}).mutable_data<float>().begin());
}

void infer_audio(InferContext& c) { c.out_shape(0, {1, c.data_dim(0, 1)}); }

}  // namespace

constinit const OpDef defs::contrib::AudioDecoder = {
    .name = "AudioDecoder", .domain = kContrib, .infer = infer_audio, .kernel = run_audio};

}  // namespace ingot::ops
