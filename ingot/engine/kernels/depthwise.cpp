// Convolutions of each channel for itself on channels in blocks of eight: some positions of a row in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/depthwise.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/depthwise.h"

#ifndef INGOT_ENGINE_DEPTHWISE_PART
#define INGOT_ENGINE_DEPTHWISE_PART  // this file is compiled once per kind of CPU
namespace ingot::engine {

/// Neighbouring results of a row, whose filters meet the same number of inputs.
struct RowPart {
  const float* x;                      // the first input of the first filter
  std::int64_t x_row, x_column, step;  // to the next row, to the next input of a filter, to the next filter's first
  const float* weights;
  std::int64_t weights_row;
  std::int64_t rows, columns;  // of the filter
  float* y;
  const float* bias;      // or null
  const float* residual;  // or null
  float low, high;
};

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<float, 8> d;
using V = hn::Vec<decltype(d)>;

/// R results of eight channels.
template <int R> HWY_INLINE void tile(const RowPart& p) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  for (int lane = 0; lane < 8; lane += kLanes) {
    V sum[R];
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
    for (std::int64_t i = 0; i < p.rows; ++i) {
      const float* HWY_RESTRICT x = p.x + i * p.x_row + lane;
      const float* HWY_RESTRICT w = p.weights + i * p.weights_row + lane;
      for (std::int64_t k = 0; k < p.columns; ++k, x += p.x_column, w += 8) {
        const V weight = hn::LoadU(d, w);
        HWY_UNROLL(12)
        for (int r = 0; r < R; ++r) sum[r] = hn::MulAdd(hn::LoadU(d, x + r * p.step), weight, sum[r]);
      }
    }
    const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
      V y = sum[r];
      if (p.bias) y = hn::Add(y, hn::LoadU(d, p.bias + lane));
      if (p.residual) y = hn::Add(y, hn::LoadU(d, p.residual + r * 8 + lane));
      // Written so that NaN passes both comparisons.
      const V above = hn::IfThenElse(hn::Lt(y, low), low, y);
      hn::StoreU(hn::IfThenElse(hn::Gt(above, high), high, above), d, p.y + r * 8 + lane);
    }
  }
}

template <int R> HWY_INLINE void tiles_of(RowPart& p, std::int64_t& count) {
  for (; count >= R; count -= R) {
    tile<R>(p);
    p.x += R * p.step;
    p.y += R * 8;
    if (p.residual) p.residual += R * 8;
  }
}

void filter_row(RowPart p, std::int64_t count) {
  tiles_of<8>(p, count);
  tiles_of<4>(p, count);
  tiles_of<1>(p, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(filter_row);

constexpr std::int64_t kWidth = kBlock;

/// The inputs [begin, end) of a filter at `place`, counted by the filter's own elements, that are not padding.
struct Met {
  std::int64_t begin, end;

  Met(std::int64_t place, std::int64_t size, std::int64_t kernel, std::int64_t dilation)
      : begin(place >= 0 ? 0 : std::min(kernel, (-place + dilation - 1) / dilation)),
        end(place >= size ? 0 : std::min(kernel, (size - 1 - place) / dilation + 1)) {
    end = std::max(begin, end);
  }
  bool operator==(const Met&) const = default;
};

}  // namespace

bool Depthwise::is_for(const ConvolutionSpec& spec, const Dims& weights) {
  const bool is_depthwise = weights[1] == 1 && spec.groups == weights[0] && spec.groups > 1;
  const bool is_for_library = weights.size() == 4 && spec.functions.empty();
  return is_depthwise && weights.size() <= 4 && !is_for_library && spec.input_is_blocked && spec.output_is_blocked;
}

Depthwise::Depthwise(const ConvolutionSpec& spec, const Tensor& weights) {
  const Dims& dims = weights.dims();
  const auto axis = [&](std::size_t i) {
    return Axis{dims[i + 2], spec.strides[i], spec.dilations[i], spec.pads_begin[i]};
  };
  across_ = axis(dims.size() - 3);
  if (dims.size() == 4) down_ = axis(0);
  const std::int64_t blocks = (dims[0] + kWidth - 1) / kWidth, taps = down_.kernel * across_.kernel;
  weights_.resize(static_cast<std::size_t>(blocks * taps * kWidth));
  const std::vector<float> plain = weights.to_vector<float>();
  for (std::int64_t c = 0; c < dims[0]; ++c) {
    const float factor = spec.factor.empty() ? 1.0f : spec.factor[static_cast<std::size_t>(c)];
    for (std::int64_t k = 0; k < taps; ++k)
      weights_[static_cast<std::size_t>((c / kWidth * taps + k) * kWidth + c % kWidth)] =
          plain[static_cast<std::size_t>(c * taps + k)] * factor;
  }
}

void Depthwise::run(const float* x, const Dims& dims, float* y, const Dims& out, const BlockedEpilogue& epilogue,
                    const std::vector<ElementStep>& functions, ThreadPool& pool, const Budget& budget) const {
  const bool is_plane = dims.size() == 4;
  const std::int64_t height = is_plane ? dims[2] : 1, width = dims.back();
  const std::int64_t out_height = is_plane ? out[2] : 1, out_width = out.back();
  const std::int64_t blocks = (dims[1] + kWidth - 1) / kWidth, taps = down_.kernel * across_.kernel;
  const auto filter = HWY_DYNAMIC_DISPATCH(filter_row);
  const auto row = [&](std::int64_t image_block, std::int64_t i) {
    const std::int64_t block = image_block % blocks, top = i * down_.stride - down_.pad;
    const Met rows(top, height, down_.kernel, down_.dilation);
    const float* plane = x + image_block * height * width * kWidth;
    float* line = y + (image_block * out_height + i) * out_width * kWidth;
    for (std::int64_t j = 0; j < out_width;) {
      const auto met = [&](std::int64_t column) {
        return Met(column * across_.stride - across_.pad, width, across_.kernel, across_.dilation);
      };
      const Met columns = met(j);
      // Results whose filters lie within the row as this one's does.
      std::int64_t end = j + 1;
      if (columns.begin == 0 && columns.end == across_.kernel) {
        const std::int64_t last = width - 1 - (across_.kernel - 1) * across_.dilation + across_.pad;
        end = std::clamp(last / across_.stride + 1, end, out_width);
      }
      const std::int64_t left = j * across_.stride - across_.pad + columns.begin * across_.dilation;
      const std::int64_t first = (top + rows.begin * down_.dilation) * width + left;
      RowPart part{};
      part.x = plane + first * kWidth;
      part.x_row = down_.dilation * width * kWidth;
      part.x_column = across_.dilation * kWidth;
      part.step = across_.stride * kWidth;
      part.weights = weights_.data() + (block * taps + rows.begin * across_.kernel + columns.begin) * kWidth;
      part.weights_row = across_.kernel * kWidth;
      part.rows = rows.end - rows.begin;
      part.columns = columns.end - columns.begin;
      part.y = line + j * kWidth;
      part.bias = epilogue.bias ? epilogue.bias + block * kWidth : nullptr;
      part.residual = epilogue.residual ? epilogue.residual + (part.y - y) : nullptr;
      part.low = epilogue.low;
      part.high = epilogue.high;
      filter(part, end - j);
      j = end;
    }
    for (const ElementStep& step : functions) apply(step.unary, line, line, out_width * kWidth, step.a, step.b);
  };
  constexpr std::int64_t kGrain = 1 << 14;  // multiplications of vectors
  const std::int64_t rows = dims[0] * blocks * out_height;
  pool.parallel_for(rows, std::max<std::int64_t>(1, kGrain / (out_width * taps)),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i) row(i / out_height, i % out_height);
                    });
}

}  // namespace ingot::engine
#endif
