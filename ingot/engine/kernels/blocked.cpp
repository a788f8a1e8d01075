// Convolutions, pools and reorderings on channels in blocks.
#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/depthwise.h"
#include "ingot/engine/kernels/depthwise_pairs.h"
#include "ingot/engine/kernels/direct.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/pointwise.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/engine/kernels/winograd.h"
#include "ingot/engine/rewrites/lower_transposed.h"

namespace ingot::engine {
namespace {

const Array& floats(ops::KernelContext& c, std::size_t i) {
  const Array& x = c.in(i);
  if (x.dtype() != DType::f32 || x.rank() < 3) c.fail("the input is not of the type that was inferred");
  return x;
}

/// [N, C, spatial...] of blocks [N, C / 8, spatial..., 8].
Dims without_blocks(const Dims& blocked) {
  Dims dims(blocked.begin(), blocked.end() - 1);
  dims[1] *= kBlock;
  return dims;
}

Dims with_blocks(Dims dims) {
  dims[1] = (dims[1] + kBlock - 1) / kBlock;
  dims.push_back(kBlock);
  return dims;
}

class FusedConvolution final : public PreparedNode {
 public:
  /// `has_any_length`: the input is a row whose length may be another in each run.
  FusedConvolution(const ConvolutionSpec& spec, Tensor weights, bool has_any_length)
      : input_is_blocked_(spec.input_is_blocked),
        output_is_blocked_(spec.output_is_blocked),
        convolution_(spec, weights) {
    const Dims& dims = weights.dims();
    spec_ = spec;
    if (DirectConvolution::has_registers() && DepthwisePairs::is_for(spec, dims)) {
      spec_.bias.resize(spec.bias.empty() ? 0 : static_cast<std::size_t>((dims[0] + kBlock - 1) / kBlock * kBlock));
      pairs_ = std::make_unique<DepthwisePairs>(spec, weights);
      if (DepthwisePairs::is_always_faster(spec, dims)) convolution_.forget_weights();
      return;
    }
    const bool is_direct = DirectConvolution::has_registers() && DirectConvolution::is_for(spec, dims);
    if (is_direct || is_pointwise(spec, dims) || Depthwise::is_for(spec, dims) ||
        (has_any_length && is_row(spec, dims))) {
      spec_.bias.resize(spec.bias.empty() ? 0 : static_cast<std::size_t>((dims[0] + kBlock - 1) / kBlock * kBlock));
      if (is_winograd(spec, dims)) winograd_ = std::make_unique<Winograd>(weights, spec.factor);
      if (is_direct)
        direct_ = std::make_unique<DirectConvolution>(spec, std::move(weights));
      else if (spec.groups > 1)
        depthwise_ = std::make_unique<Depthwise>(spec, weights);
      else
        pointwise_ = std::make_unique<Pointwise>(std::move(weights), spec.factor, filter_of(spec, dims));
      convolution_.forget_weights();
      return;
    }
    if (is_winograd(spec, dims)) winograd_ = std::make_unique<Winograd>(std::move(weights), spec.factor);
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    const Dims dims = input_is_blocked_ ? without_blocks(x.dims()) : x.dims();
    Dims out = convolution_.output_dims(dims);
    if (output_is_blocked_) out = with_blocks(std::move(out));
    const float* residual = nullptr;
    if (c.has(3)) {
      const Array& other = floats(c, 3);
      if (other.dims() != out) c.fail("what is added does not have the shape of the result");
      residual = other.data<float>().data();
    }
    Array y = make_raw(c, 0, DType::f32, std::move(out));
    if (y.size() == 0) return;
    if (pointwise_)
      run_pointwise(x, dims, residual, y, pool, c.host().budget());
    else if (pairs_ && pairs_->is_faster(y.dims()[2] * (y.rank() > 4 ? y.dims()[3] : 1)))
      pairs_->run(x.data<float>().data(), dims, y.mutable_data<float>().data(), without_blocks(y.dims()),
                  epilogue_of(residual), pool, c.host().budget());
    else if (depthwise_)
      depthwise_->run(x.data<float>().data(), dims, y.mutable_data<float>().data(), without_blocks(y.dims()),
                      epilogue_of(residual), spec_.functions, pool, c.host().budget());
    else if (winograd_ && Winograd::is_for(dims[1], y.dims()[1] * kBlock, y.dims()[2], y.dims()[3]))
      run_winograd(c, x, dims, residual, y, pool);
    else if (direct_)
      direct_->run(x.data<float>().data(), dims, y.mutable_data<float>().data(), without_blocks(y.dims()),
                   epilogue_of(residual), pool, c.host().budget());
    else
      convolution_.run(x.data<float>().data(), dims, residual, y.mutable_data<float>().data(), pool, c.host().budget());
  }

  bool reads(std::size_t i) const override { return i == 0 || i == 3; }

 private:
  /// 1 x 1 and one position for each, in blocks.
  static bool is_pointwise(const ConvolutionSpec& spec, const Dims& weights) {
    const auto are_all = [](std::int64_t value, const Dims& dims) {
      return std::ranges::all_of(dims, [&](std::int64_t d) { return d == value; });
    };
    return spec.input_is_blocked && spec.output_is_blocked && spec.groups == 1 && are_all(1, spec.strides) &&
           are_all(0, spec.pads_begin) && are_all(0, spec.pads_end) &&
           std::all_of(weights.begin() + 2, weights.end(), [](std::int64_t d) { return d == 1; });
  }

  /// 3 x 3 and stride 1, in blocks that are full.
  static bool is_winograd(const ConvolutionSpec& spec, const Dims& weights) {
    const Dims ones = {1, 1};
    return !spec.has_gaps && weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && spec.groups == 1 &&
           spec.strides == ones && spec.dilations == ones && spec.input_is_blocked && spec.output_is_blocked &&
           weights[0] % kBlock == 0 && weights[1] % kBlock == 0;
  }

  /// Along one axis, in blocks. The library would make a kernel for each length.
  static bool is_row(const ConvolutionSpec& spec, const Dims& weights) {
    return weights.size() == 3 && spec.groups == 1 && spec.input_is_blocked && spec.output_is_blocked;
  }

  static RowFilter filter_of(const ConvolutionSpec& spec, const Dims& weights) {
    if (weights.size() != 3) return {};
    return {weights[2], spec.strides[0], spec.dilations[0], spec.pads_begin[0]};
  }

  void run_pointwise(const Array& x, const Dims& dims, const float* residual, Array& y, ThreadPool& pool,
                     const Budget& budget) const {
    const Pointwise::Sizes sizes{dims[0], x.size() / (dims[0] * dims[1]), y.size() / (dims[0] * y.dims()[1] * kBlock)};
    pointwise_->run(x.data<float>().data(), sizes, y.mutable_data<float>().data(), epilogue_of(residual),
                    spec_.functions, pool, budget);
  }

  BlockedEpilogue epilogue_of(const float* residual) const {
    BlockedEpilogue epilogue;
    if (!spec_.bias.empty()) epilogue.bias = spec_.bias.data();
    epilogue.residual = residual;
    if (spec_.has_limits) {
      epilogue.low = spec_.low;
      epilogue.high = spec_.high;
    }
    return epilogue;
  }

  void run_winograd(ops::KernelContext& c, const Array& x, const Dims& dims, const float* residual, Array& y,
                    ThreadPool& pool) const {
    const Winograd::Image image{dims[2], dims[3], spec_.pads_begin[0], spec_.pads_begin[1], y.dims()[2], y.dims()[3]};
    Array room = static_cast<FastHost&>(c.host()).allocate_raw(DType::f32, {winograd_->room_size(image)});
    const std::int64_t in_size = x.size() / dims[0], out_size = y.size() / dims[0];
    for (std::int64_t i = 0; i < dims[0]; ++i) {
      const BlockedEpilogue epilogue = epilogue_of(residual ? residual + i * out_size : nullptr);
      winograd_->run(x.data<float>().data() + i * in_size, image, y.mutable_data<float>().data() + i * out_size,
                     epilogue, room.mutable_data<float>().data(), pool, c.host().budget());
    }
    if (spec_.functions.empty()) return;
    constexpr std::int64_t kGrain = 1 << 14;
    float* out = y.mutable_data<float>().data();
    pool.parallel_for(y.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (const ElementStep& step : spec_.functions)
        apply(step.unary, out + begin, out + begin, end - begin, step.a, step.b);
    });
  }

  bool input_is_blocked_, output_is_blocked_;
  Convolution convolution_;
  ConvolutionSpec spec_;                  // of the next ones
  std::unique_ptr<Pointwise> pointwise_;  // null: the layer is not made for it
  std::unique_ptr<Depthwise> depthwise_;
  std::unique_ptr<DepthwisePairs> pairs_;
  std::unique_ptr<DirectConvolution> direct_;
  std::unique_ptr<Winograd> winograd_;
};

class Pool final : public PreparedNode {
 public:
  explicit Pool(PoolingSpec spec) : window_(std::move(spec)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    const Dims dims = without_blocks(x.dims());
    Array y = make_raw(c, 0, DType::f32, with_blocks(window_.output_dims(dims)));
    if (y.size() == 0) return;
    window_.run(x.data<float>().data(), dims, y.mutable_data<float>().data(), pool, c.host().budget());
  }

 private:
  PoolingWindow window_;
};

/// DepthToSpace of whole blocks.
class Spread final : public PreparedNode {
 public:
  explicit Spread(std::int64_t size) : size_(size) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    if (x.rank() != 5 || x.dims()[1] % (size_ * size_) != 0) c.fail("the input is not of the type that was inferred");
    const std::int64_t blocks = x.dims()[1] / (size_ * size_), height = x.dims()[2], width = x.dims()[3];
    Array y = make_raw(c, 0, DType::f32, {x.dims()[0], blocks, height * size_, width * size_, kBlock});
    const float* from = x.data<float>().data();
    float* to = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    constexpr std::int64_t kGrain = 1 << 13;  // elements
    if (y.size() == 0) return;
    const std::int64_t row = width * size_ * kBlock, rows = y.size() / row;
    pool.parallel_for(rows, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t plane = i / (height * size_), line = i % (height * size_);
        const std::int64_t image = plane / blocks, block = plane % blocks;
        for (std::int64_t k = 0; k < size_; ++k) {
          const std::int64_t source = (image * size_ * size_ + line % size_ * size_ + k) * blocks + block;
          const float* in = from + (source * height + line / size_) * width * kBlock;
          for (std::int64_t j = 0; j < width; ++j)
            std::memcpy(to + i * row + (j * size_ + k) * kBlock, in + j * kBlock, kBlock * sizeof(float));
        }
      }
    });
  }

 private:
  std::int64_t size_;
};

/// Spatial positions of one plane.
std::int64_t plane_size(const Dims& dims, std::size_t first, std::size_t last) {
  std::int64_t size = 1;
  for (std::size_t i = first; i < last; ++i) size *= dims[i];
  return size;
}

/// Where one block of channels of one image begins, in blocks and without; the last block may have fewer channels.
struct BlockAt {
  std::int64_t blocked, plain, channels;
};
BlockAt block_at(std::int64_t index, std::int64_t channels, std::int64_t plane) {
  const std::int64_t blocks = (channels + kBlock - 1) / kBlock, image = index / blocks, first = index % blocks * kBlock;
  return {index * kBlock * plane, (image * channels + first) * plane, std::min(kBlock, channels - first)};
}

const std::uint32_t* words(const float* x) { return reinterpret_cast<const std::uint32_t*>(x); }
std::uint32_t* words(float* x) { return reinterpret_cast<std::uint32_t*>(x); }

class Block final : public PreparedNode {
 public:
  explicit Block(std::int64_t channels) : channels_(channels) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    if (channels_ > 0 && x.dims()[1] != channels_)
      c.fail("the input has " + std::to_string(x.dims()[1]) + " channels, not " + std::to_string(channels_));
    Array y = make_raw(c, 0, DType::f32, with_blocks(x.dims()));
    const std::int64_t plane = plane_size(x.dims(), 2, x.dims().size());
    const float* from = x.data<float>().data();
    float* to = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(y.dims()[0] * y.dims()[1], 1, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t block = begin; block < end; ++block) {
        const BlockAt at = block_at(block, x.dims()[1], plane);
        if (at.channels < kBlock) std::fill_n(to + at.blocked, kBlock * plane, 0.0f);
        transpose_words(words(from + at.plain), plane, words(to + at.blocked), kBlock, plane, at.channels);
      }
    });
  }

 private:
  std::int64_t channels_;
};

class Unblock final : public PreparedNode {
 public:
  explicit Unblock(std::int64_t channels) : channels_(channels) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    Dims dims = without_blocks(x.dims());
    const std::int64_t plane = plane_size(dims, 2, dims.size());
    dims[1] = channels_;
    if (with_blocks(dims) != x.dims()) c.fail("the blocks do not hold the channels that were inferred");
    Array y = make_raw(c, 0, DType::f32, dims);
    const float* from = x.data<float>().data();
    float* to = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.dims()[0] * x.dims()[1], 1, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t block = begin; block < end; ++block) {
        const BlockAt at = block_at(block, channels_, plane);
        transpose_words(words(from + at.blocked), kBlock, words(to + at.plain), plane, at.channels, plane);
      }
    });
  }

 private:
  std::int64_t channels_;
};

class GlobalAverage final : public PreparedNode {
 public:
  GlobalAverage(std::int64_t channels, bool keeps_axes) : channels_(channels), keeps_axes_(keeps_axes) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = floats(c, 0);
    Dims dims = without_blocks(x.dims());
    const std::int64_t plane = plane_size(dims, 2, dims.size());
    dims[1] = channels_;
    if (with_blocks(dims) != x.dims()) c.fail("the blocks do not hold the channels that were inferred");
    std::fill(dims.begin() + 2, dims.end(), 1);
    if (!keeps_axes_) dims.resize(2);
    Array y = make_raw(c, 0, DType::f32, dims);
    const float* from = x.data<float>().data();
    float* to = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.dims()[0] * x.dims()[1], 8, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t block = begin; block < end; ++block) {
        double sums[kBlock] = {};
        const BlockAt at = block_at(block, channels_, plane);
        sum_blocks(from + at.blocked, plane, sums);
        const std::int64_t first = block_at(block, channels_, 1).plain;
        for (std::int64_t j = 0; j < at.channels; ++j)
          to[first + j] = static_cast<float>(sums[j] / static_cast<double>(plane));
      }
    });
  }

 private:
  std::int64_t channels_;
  bool keeps_axes_;
};

/// The halves of `pads`: at the beginning of all axes, and at the end.
void split_pads(const Node& node, Dims& begin, Dims& end) {
  const Dims pads = node.attributes.ints_or("pads", {});
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  begin.assign(pads.begin(), half);
  end.assign(half, pads.end());
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_convolution(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  ConvolutionSpec spec;
  spec.strides = attributes.ints_or("strides", {});
  spec.dilations = attributes.ints_or("dilations", {});
  split_pads(c.node, spec.pads_begin, spec.pads_end);
  spec.groups = attributes.int_or("group", 1);
  spec.has_residual = c.has(3);
  spec.has_limits = attributes.has("low");
  spec.low = attributes.float_or("low", 0);
  spec.high = attributes.float_or("high", 0);
  spec.functions = steps_of(c.node);
  spec.input_is_blocked = attributes.int_or("blocked_input", 0) != 0;
  spec.output_is_blocked = attributes.int_or("blocked_output", 0) != 0;
  spec.has_gaps = attributes.has(kHasGaps);
  if (const Array* bias = c.constant(2)) spec.bias.assign(bias->data<float>().begin(), bias->data<float>().end());
  if (const Array* factor = c.constant(4))
    spec.factor.assign(factor->data<float>().begin(), factor->data<float>().end());
  const Shape* shape = c.shape(0);
  return std::make_unique<FusedConvolution>(spec, c.weights(1), !shape || !shape->back().is_known());
}

std::unique_ptr<PreparedNode> prepare_pool(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  PoolingSpec spec;
  const std::string kind = attributes.string_or("kind", "max");
  spec.kind = kind == "max" ? Pooling::max : kind == "average" ? Pooling::average : Pooling::average_with_padding;
  spec.kernel = attributes.ints_or("kernel_shape", {});
  spec.strides = attributes.ints_or("strides", {});
  spec.dilations = attributes.ints_or("dilations", {});
  split_pads(c.node, spec.pads_begin, spec.pads_end);
  return std::make_unique<Pool>(std::move(spec));
}

std::unique_ptr<PreparedNode> prepare_spread(PrepareContext& c) {
  return std::make_unique<Spread>(c.node.attributes.int_or("blocksize", 1));
}
std::unique_ptr<PreparedNode> prepare_block(PrepareContext& c) {
  return std::make_unique<Block>(c.node.attributes.int_or("channels", 0));
}
std::unique_ptr<PreparedNode> prepare_unblock(PrepareContext& c) {
  return std::make_unique<Unblock>(c.node.attributes.int_or("channels", 0));
}
std::unique_ptr<PreparedNode> prepare_global_average(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  return std::make_unique<GlobalAverage>(attributes.int_or("channels", 0), attributes.int_or("keepdims", 1) != 0);
}

}  // namespace ingot::engine
