// Convolutions, products, sums, means and maxima of bytes on channels last, as nodes of a plan.
#include <algorithm>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/byte_convolution.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/integer_node.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

const Array& bytes(ops::KernelContext& c, std::size_t i, DType type) {
  const Array& x = c.in(i);
  if (x.dtype() != type || x.rank() != 4) c.fail("the input is not of the type that was inferred");
  return x;
}

std::vector<std::int32_t> words(const Array& x) {
  const std::vector<std::int64_t> ints = x.to_ints();
  return {ints.begin(), ints.end()};
}

/// Of images, or of rows of any number of axes times a matrix: one long line of pixels.
class ByteConv final : public PreparedNode {
 public:
  ByteConv(ByteSpec spec, Tensor weights, bool is_product)
      : spec_(std::move(spec)), weights_(weights), packed_(std::move(weights)), is_product_(is_product) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const ByteConvolution& convolution = *packed_.get([&] {
      return std::make_shared<ByteConvolution>(spec_, weights_, has_quads() ? ByteMath::quads : ByteMath::pairs);
    });
    const Array& x = is_product_ ? rows(c, convolution.channels()) : bytes(c, 0, spec_.x_type);
    const Dims line = {1, 1, x.size() / convolution.channels(), convolution.channels()};
    const Dims& image = is_product_ ? line : x.dims();
    Dims dims = is_product_ ? x.dims() : convolution.output_dims(image);
    dims.back() = convolution.filters();
    Array y = make_raw(c, 0, spec_.y_type, dims);
    if (y.size() == 0) return;
    Array room = static_cast<FastHost&>(c.host()).allocate_raw(DType::u8, {convolution.room_size(image)});
    convolution.run(x.bytes(), image, y.bytes(), room.bytes(), pool, c.host().budget());
  }

  bool reads(std::size_t i) const override { return i == 0; }

 private:
  const Array& rows(ops::KernelContext& c, std::int64_t depth) const {
    const Array& x = c.in(0);
    if (x.dtype() != spec_.x_type || x.rank() == 0) c.fail("the input is not of the type that was inferred");
    if (x.dims().back() != depth)
      c.fail("the inner dimensions " + std::to_string(x.dims().back()) + " and " + std::to_string(depth) + " differ");
    return x;
  }

  ByteSpec spec_;
  Tensor weights_;
  PackedOnce<std::shared_ptr<ByteConvolution>> packed_;
  bool is_product_;
};

/// The largest of windows of each channel.
class ByteMax final : public PreparedNode {
 public:
  ByteMax(DType type, const Attributes& attributes)
      : type_(type),
        loops_(fold_loops(Fold::maximum, type)),
        kernel_(attributes.ints_or("kernel_shape", {})),
        strides_(attributes.ints_or("strides", {})),
        dilations_(attributes.ints_or("dilations", {})),
        pads_(attributes.ints_or("pads", {})),
        sizes_(attributes.ints_or("sizes", {})) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = bytes(c, 0, type_);
    const Dims& dims = x.dims();
    Array y = make_raw(c, 0, type_, {dims[0], sizes_[0], sizes_[1], dims[3]});
    if (y.size() == 0) return;
    const std::int64_t wide = sizes_[1] * dims[3];
    constexpr std::int64_t kGrain = 1 << 17;
    pool.parallel_for(dims[0] * sizes_[0], std::max<std::int64_t>(1, kGrain / (wide * kernel_[0] * kernel_[1])),
                      [&](std::int64_t begin, std::int64_t end) {
                        c.host().budget().poll();
                        for (std::int64_t i = begin; i < end; ++i) line(x, i, y.bytes() + i * wide);
                      });
  }

 private:
  /// The i-th line of results of all images.
  void line(const Array& x, std::int64_t i, std::byte* to) const {
    const std::int64_t height = x.dims()[1], width = x.dims()[2], channels = x.dims()[3];
    loops_.start(to, sizes_[1] * channels);
    for (std::int64_t k = 0; k < kernel_[0]; ++k) {
      const std::int64_t row = i % sizes_[0] * strides_[0] - pads_[0] + k * dilations_[0];
      if (row < 0 || row >= height) continue;
      const std::byte* from = x.bytes() + (i / sizes_[0] * height + row) * width * channels;
      for (std::int64_t j = 0; j < kernel_[1]; ++j) {
        // The results that meet a pixel of this tap.
        const std::int64_t start = j * dilations_[1] - pads_[1], step = strides_[1];
        const std::int64_t first = start < 0 ? (-start + step - 1) / step : 0;
        const std::int64_t end = start < width ? std::min(sizes_[1], (width - 1 - start) / step + 1) : 0;
        if (first >= end) continue;
        if (step == 1)
          loops_.columns(from + (start + first) * channels, (end - first) * channels, to + first * channels);
        else
          for (std::int64_t at = first; at < end; ++at)
            loops_.columns(from + (start + at * step) * channels, channels, to + at * channels);
      }
    }
  }

  DType type_;
  FoldLoops loops_;
  Dims kernel_, strides_, dilations_, pads_, sizes_;
};

/// What the attributes of a sum say.
struct SumSpec {
  float scales[2], zeros[2], scale, zero, low, high;
  DType type;
};

class ByteSum final : public PreparedNode {
 public:
  explicit ByteSum(const SumSpec& spec) : spec_(spec) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &a = bytes(c, 0, spec_.type), &b = bytes(c, 1, spec_.type);
    if (a.dims() != b.dims()) c.fail("the inputs do not have the same shape");
    Array y = make_raw(c, 0, spec_.type, a.dims());
    constexpr std::int64_t kGrain = 1 << 15;
    pool.parallel_for(y.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      c.host().budget().poll();
      add_terms({a.bytes() + begin, spec_.scales[0], spec_.zeros[0]},
                {b.bytes() + begin, spec_.scales[1], spec_.zeros[1]}, end - begin, spec_.scale, spec_.zero, spec_.low,
                spec_.high, spec_.type, y.bytes() + begin);
    });
  }

 private:
  SumSpec spec_;
};

/// The mean of each channel, as float.
class ByteMean final : public PreparedNode {
 public:
  ByteMean(DType type, double scale, std::int64_t zero, bool keeps_axes)
      : type_(type), scale_(scale), zero_(zero), keeps_axes_(keeps_axes) {}

  void run(ops::KernelContext& c, ThreadPool&) const override {
    const Array& x = bytes(c, 0, type_);
    const std::int64_t batch = x.dims()[0], plane = x.dims()[1] * x.dims()[2], channels = x.dims()[3];
    Array y = make_raw(c, 0, DType::f32, keeps_axes_ ? Dims{batch, channels, 1, 1} : Dims{batch, channels});
    float* to = y.mutable_data<float>().data();
    std::vector<std::int32_t> sums(static_cast<std::size_t>(channels));
    for (std::int64_t n = 0; n < batch; ++n) {
      c.host().budget().poll();
      std::fill(sums.begin(), sums.end(), 0);
      for (std::int64_t i = 0; i < plane; ++i)
        add_to_sums(x.bytes() + (n * plane + i) * channels, type_ == DType::i8, channels, sums.data());
      for (const std::int32_t sum : sums)
        *to++ = static_cast<float>(static_cast<double>(sum - plane * zero_) * scale_ / static_cast<double>(plane));
    }
  }

 private:
  DType type_;
  double scale_;
  std::int64_t zero_;
  bool keeps_axes_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_byte_convolution(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const bool is_product = c.node.op == "ByteProduct";
  ByteSpec spec;
  spec.strides = attributes.ints_or("strides", {1, 1});
  spec.dilations = attributes.ints_or("dilations", {1, 1});
  const Dims pads = attributes.ints_or("pads", {0, 0, 0, 0});
  spec.pads_begin.assign(pads.begin(), pads.begin() + 2);
  spec.pads_end.assign(pads.begin() + 2, pads.end());
  spec.is_depthwise = attributes.int_or("group", 1) > 1;
  spec.is_matrix = is_product && attributes.int_or("transB", 0) == 0;
  spec.x_type = c.elem(0);
  spec.y_type = c.node.output(0)->type.elem;
  spec.x_zero = static_cast<std::int32_t>(attributes.int_or("x_zero", 0));
  spec.y_zero = static_cast<float>(attributes.int_or("y_zero", 0));
  spec.low = static_cast<float>(attributes.int_or("low", 0));
  spec.high = static_cast<float>(attributes.int_or("high", 0));
  spec.weight_zeros = words(*c.constant(2));
  spec.factors.assign(c.constant(3)->data<float>().begin(), c.constant(3)->data<float>().end());
  if (const Array* bias = c.constant(4)) spec.bias = words(*bias);
  Tensor weights = c.weights(1);
  if (is_product && !spec.is_matrix) weights = weights.reshaped({weights.dims()[0], weights.dims()[1], 1, 1});
  return std::make_unique<ByteConv>(std::move(spec), std::move(weights), is_product);
}

std::unique_ptr<PreparedNode> prepare_byte_max(PrepareContext& c) {
  return std::make_unique<ByteMax>(c.elem(0), c.node.attributes);
}

std::unique_ptr<PreparedNode> prepare_byte_sum(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const auto number = [&](const char* name) { return static_cast<float>(attributes.int_or(name, 0)); };
  const auto scale = [&](const char* name) { return attributes.float_or(name, 1); };
  return std::make_unique<ByteSum>(SumSpec{{scale("a_scale"), scale("b_scale")},
                                           {number("a_zero"), number("b_zero")},
                                           scale("scale"),
                                           number("zero"),
                                           number("low"),
                                           number("high"),
                                           c.elem(0)});
}

std::unique_ptr<PreparedNode> prepare_byte_mean(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  return std::make_unique<ByteMean>(c.elem(0), static_cast<double>(attributes.float_or("scale", 1)),
                                    attributes.int_or("zero", 0), attributes.int_or("keepdims", 1) != 0);
}

}  // namespace ingot::engine
