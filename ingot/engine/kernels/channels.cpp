// Normalisations of plain images, channel by channel: with given statistics, with their own, by neighbours.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t grain_of(std::int64_t work) { return std::max<std::int64_t>(1, kGrain / (work + 1)); }

/// Images as channels of planes.
struct Planes {
  std::int64_t images, channels, size;

  static Planes of(ops::KernelContext& c) {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() < 2) c.fail("the input is not of the type that was inferred");
    const std::int64_t count = x.dims()[0] * x.dims()[1];
    return {x.dims()[0], x.dims()[1], count ? x.size() / count : 0};
  }
};

const float* per_channel(const ops::KernelContext& c, std::size_t i, std::int64_t channels) {
  if (c.in(i).dtype() != DType::f32 || c.in(i).size() != channels)
    c.fail("input " + std::to_string(i) + " does not have one number per channel");
  return c.in(i).data<float>().data();
}

class BatchNormalization final : public PreparedNode {
 public:
  explicit BatchNormalization(float epsilon) : epsilon_(epsilon) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Planes p = Planes::of(c);
    const float *scale = per_channel(c, 1, p.channels), *bias = per_channel(c, 2, p.channels);
    const float *mean = per_channel(c, 3, p.channels), *variance = per_channel(c, 4, p.channels);
    Array y = make_raw(c, 0, DType::f32, c.in(0).dims());
    if (y.size() == 0) return;
    std::vector<float> factors(static_cast<std::size_t>(p.channels));
    for (std::int64_t k = 0; k < p.channels; ++k)
      factors[static_cast<std::size_t>(k)] = scale[k] / std::sqrt(variance[k] + epsilon_);
    const float *in = c.in(0).data<float>().data(), *factor = factors.data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    if (p.size == 1)
      return pool.parallel_for(p.images, grain_of(p.channels), [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        for (std::int64_t i = begin * p.channels; i < end * p.channels; ++i) {
          const std::int64_t k = i % p.channels;
          out[i] = (in[i] - mean[k]) * factor[k] + bias[k];
        }
      });
    pool.parallel_for(p.images * p.channels, grain_of(p.size), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t k = i % p.channels;
        line_of_channel({mean[k], factor[k], bias[k], -kInfinity, kInfinity}, in + i * p.size, nullptr,
                        out + i * p.size, p.size);
      }
    });
  }

 private:
  float epsilon_;
};

/// By the statistics of groups of channels of each image; instance normalisation has groups of one.
class GroupNormalization final : public PreparedNode {
 public:
  GroupNormalization(float epsilon, std::int64_t groups) : epsilon_(epsilon), groups_(groups) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Planes p = Planes::of(c);
    const float *scale = per_channel(c, 1, p.channels), *bias = per_channel(c, 2, p.channels);
    const std::int64_t groups = groups_ ? groups_ : p.channels;
    if (p.channels % groups != 0) c.fail("the channels cannot be split into the groups");
    Array y = make_raw(c, 0, DType::f32, c.in(0).dims());
    if (y.size() == 0) return;
    const std::int64_t wide = p.channels / groups, size = wide * p.size;
    const float* in = c.in(0).data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(p.images * groups, grain_of(size), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const float* from = in + i * size;
        const auto mean = static_cast<float>(sum_of(from, size) / static_cast<double>(size));
        const double variance = squares_about(from, size, mean) / static_cast<double>(size);
        const auto factor = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(epsilon_)));
        for (std::int64_t k = 0; k < wide; ++k) {
          const std::int64_t channel = i % groups * wide + k;
          line_of_channel({mean, factor * scale[channel], bias[channel], -kInfinity, kInfinity}, from + k * p.size,
                          nullptr, out + i * size + k * p.size, p.size);
        }
      }
    });
  }

 private:
  float epsilon_;
  std::int64_t groups_;  // 0: as many as channels
};

class ResponseNormalization final : public PreparedNode {
 public:
  ResponseNormalization(std::int64_t size, float alpha, float beta, float bias)
      : size_(size), alpha_(alpha), beta_(beta), bias_(bias) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Planes p = Planes::of(c);
    Array y = make_raw(c, 0, DType::f32, c.in(0).dims());
    if (y.size() == 0) return;
    const float* in = c.in(0).data<float>().data();
    float* out = y.mutable_data<float>().data();
    const std::int64_t tiles = (p.size + kTile - 1) / kTile;
    const Budget& budget = c.host().budget();
    pool.parallel_for(p.images * tiles, grain_of(p.channels * kTile), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      std::vector<float> squares(static_cast<std::size_t>(p.channels * kTile));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t at = i / tiles * p.channels * p.size + i % tiles * kTile;
        tile(p, in + at, out + at, std::min(kTile, p.size - i % tiles * kTile), squares.data());
      }
    });
  }

 private:
  static constexpr std::int64_t kTile = 128;

  void tile(const Planes& p, const float* in, float* out, std::int64_t n, float* squares) const {
    const std::int64_t before = (size_ - 1) / 2, after = size_ - 1 - before;
    const float each = alpha_ / static_cast<float>(size_);
    for (std::int64_t k = 0; k < p.channels; ++k) apply(Unary::square, in + k * p.size, squares + k * kTile, n);
    std::array<float, kTile> sum, root;
    for (std::int64_t k = 0; k < p.channels; ++k) {
      const std::int64_t first = std::max<std::int64_t>(0, k - before), last = std::min(p.channels - 1, k + after);
      std::copy_n(squares + first * kTile, n, sum.data());
      for (std::int64_t j = first + 1; j <= last; ++j)
        apply(Binary::add, sum.data(), 1, squares + j * kTile, 1, sum.data(), n);
      apply(Binary::multiply, sum.data(), 1, &each, 0, sum.data(), n);
      apply(Binary::add, sum.data(), 1, &bias_, 0, sum.data(), n);
      if (beta_ == 0.75f) {
        apply(Unary::sqrt, sum.data(), sum.data(), n);
        apply(Unary::sqrt, sum.data(), root.data(), n);
        apply(Binary::multiply, sum.data(), 1, root.data(), 1, sum.data(), n);
      } else {
        apply(Unary::log, sum.data(), sum.data(), n);
        apply(Binary::multiply, sum.data(), 1, &beta_, 0, sum.data(), n);
        apply(Unary::exp, sum.data(), sum.data(), n);
      }
      apply(Binary::divide, in + k * p.size, 1, sum.data(), 1, out + k * p.size, n);
    }
  }

  std::int64_t size_;
  float alpha_, beta_, bias_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_batch_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  if (c.node.attributes.int_or("training_mode", 0) != 0 || c.node.output(1)) return c.refuse("it is training");
  return std::make_unique<BatchNormalization>(c.node.attributes.float_or("epsilon", 1e-5f));
}

std::unique_ptr<PreparedNode> prepare_instance_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  return std::make_unique<GroupNormalization>(c.node.attributes.float_or("epsilon", 1e-5f), 0);
}

std::unique_ptr<PreparedNode> prepare_group_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the inputs are not known to be of type float");
  const std::int64_t groups = c.node.attributes.int_or("num_groups", 0);
  if (groups < 1) return c.refuse("the number of groups is not known");
  return std::make_unique<GroupNormalization>(c.node.attributes.float_or("epsilon", 1e-5f), groups);
}

std::unique_ptr<PreparedNode> prepare_response_normalization(PrepareContext& c) {
  if (!c.all_floats()) return c.refuse("the input is not known to be of type float");
  const Attributes& a = c.node.attributes;
  const float alpha = a.float_or("alpha", 1e-4f), bias = a.float_or("bias", 1.0f);
  // Of numbers that are not positive the reference kernel knows what a power is.
  if (a.int_or("size", 0) < 1 || alpha < 0 || bias <= 0) return c.refuse("its numbers are not those of most models");
  return std::make_unique<ResponseNormalization>(a.int_or("size", 1), alpha, a.float_or("beta", 0.75f), bias);
}

}  // namespace ingot::engine
