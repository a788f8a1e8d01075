// Batch normalisation by the statistics of the batch, and its gradient, channel by channel.
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 14;  // elements of one piece of work

/// [N, C, ...]: the places of one channel are `images` planes, `step` apart.
struct Channels {
  std::int64_t images, count, plane, step;

  explicit Channels(const Dims& dims)
      : images(dims[0]), count(dims[1]), plane(tensor_size(Dims(dims.begin() + 2, dims.end()))), step(count * plane) {}
  std::int64_t places() const { return images * plane; }

  template <class F> void each(ops::KernelContext& c, ThreadPool& pool, F f) const {
    const Budget& budget = c.host().budget();
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, places()));
    pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t channel = begin; channel < end; ++channel) f(channel);
    });
  }
  /// Calls f with the offset of each plane of a channel.
  template <class F> void planes(std::int64_t channel, F f) const {
    for (std::int64_t i = 0; i < images; ++i) f(i * step + channel * plane);
  }
};

const float* numbers(ops::KernelContext& c, std::size_t i, std::int64_t size) {
  const Array& x = c.in(i);
  if (x.dtype() != DType::f32 || x.size() != size) c.fail("the inputs are not of the types that were inferred");
  return x.data<float>().data();
}

/// x, scale, bias, mean, variance and perhaps what is added -> y, next mean, next variance, and for the gradient the
/// batch's mean and 1 / deviation.
class TrainedNormalization final : public PreparedNode {
 public:
  explicit TrainedNormalization(const Attributes& attributes)
      : epsilon_(static_cast<double>(attributes.float_or("epsilon", 1e-5f))),
        momentum_(static_cast<double>(attributes.float_or("momentum", 0.9f))),
        low_(attributes.float_or("low", -std::numeric_limits<float>::infinity())),
        high_(attributes.float_or("high", std::numeric_limits<float>::infinity())) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& in = c.in(0);
    if (in.dtype() != DType::f32 || in.rank() < 2) c.fail("the input is not of the type that was inferred");
    const Channels channels(in.dims());
    const std::int64_t n = channels.count;
    const float *x = in.data<float>().data(), *scale = numbers(c, 1, n), *bias = numbers(c, 2, n);
    const float *mean = numbers(c, 3, n), *variance = numbers(c, 4, n);
    const float* added = c.has(5) ? numbers(c, 5, in.size()) : nullptr;
    Array y = make_raw(c, 0, DType::f32, in.dims());
    std::array<float*, 4> out{};
    std::array<Array, 4> made;
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = make_raw(c, i + 1, DType::f32, {n});
      out[i] = made[i].mutable_data<float>().data();
    }
    float* to = y.mutable_data<float>().data();
    const auto places = static_cast<double>(channels.places());
    channels.each(c, pool, [&](std::int64_t channel) {
      double sum = 0, squares = 0;
      channels.planes(channel, [&](std::int64_t at) { sum += sum_of(x + at, channels.plane); });
      const double exact = sum / places;
      const auto center = static_cast<float>(exact);
      channels.planes(channel, [&](std::int64_t at) { squares += squares_about(x + at, channels.plane, center); });
      const double spread =
          squares / places - (exact - static_cast<double>(center)) * (exact - static_cast<double>(center));
      const double inverse = 1 / std::sqrt(spread + epsilon_);
      ChannelLine line;
      line.mean = center;
      line.factor = static_cast<float>(static_cast<double>(scale[channel]) * inverse);
      line.offset = bias[channel];
      line.low = low_;
      line.high = high_;
      channels.planes(channel, [&](std::int64_t at) {
        line_of_channel(line, x + at, added ? added + at : nullptr, to + at, channels.plane);
      });
      const auto moved = [&](float old, double now) {
        return static_cast<float>(static_cast<double>(old) * momentum_ + now * (1 - momentum_));
      };
      out[0][channel] = moved(mean[channel], exact);
      out[1][channel] = moved(variance[channel], spread);
      out[2][channel] = center;
      out[3][channel] = static_cast<float>(inverse);
    });
  }

 private:
  double epsilon_, momentum_;
  float low_, high_;
};

/// dy, x, scale, the batch's mean and 1 / deviation, and perhaps a gate -> dx, the gradients of scale and bias.
class NormalizationGradient final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& in = c.in(1);
    if (in.dtype() != DType::f32 || in.rank() < 2) c.fail("the input is not of the type that was inferred");
    const Channels channels(in.dims());
    const std::int64_t n = channels.count;
    const float *dy = numbers(c, 0, in.size()), *x = in.data<float>().data(), *scale = numbers(c, 2, n);
    const float *mean = numbers(c, 3, n), *inverse = numbers(c, 4, n);
    const float* gate = c.has(5) ? numbers(c, 5, in.size()) : nullptr;
    Array dx = make_raw(c, 0, DType::f32, in.dims());
    Dims dims(in.dims().size(), 1);
    dims[1] = n;
    Array weighted = make_raw(c, 1, DType::f32, dims), plain = make_raw(c, 2, DType::f32, dims);
    float *to = dx.mutable_data<float>().data(), *dscale = weighted.mutable_data<float>().data();
    float* dbias = plain.mutable_data<float>().data();
    const auto places = static_cast<double>(channels.places());
    channels.each(c, pool, [&](std::int64_t channel) {
      const auto arriving = [&](std::int64_t at) { return Arriving{dy + at, gate ? gate + at : nullptr}; };
      GradientSums sums;
      channels.planes(channel, [&](std::int64_t at) {
        const GradientSums part = gradient_sums(arriving(at), x + at, channels.plane, mean[channel]);
        sums.plain += part.plain;
        sums.weighted += part.weighted;
      });
      const double factor = inverse[channel], slope = static_cast<double>(scale[channel]) * factor;
      sums.weighted *= factor;
      GradientLine line;
      line.mean = mean[channel];
      line.by_arriving = static_cast<float>(slope);
      line.by_deviation = static_cast<float>(-slope * factor * sums.weighted / places);
      line.offset = static_cast<float>(-slope * sums.plain / places);
      channels.planes(
          channel, [&](std::int64_t at) { gradient_of_channel(line, arriving(at), x + at, to + at, channels.plane); });
      dscale[channel] = static_cast<float>(sums.weighted);
      dbias[channel] = static_cast<float>(sums.plain);
    });
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_trained_normalization(PrepareContext& c) {
  return std::make_unique<TrainedNormalization>(c.node.attributes);
}

std::unique_ptr<PreparedNode> prepare_normalization_gradient(PrepareContext&) {
  return std::make_unique<NormalizationGradient>();
}

}  // namespace ingot::engine
