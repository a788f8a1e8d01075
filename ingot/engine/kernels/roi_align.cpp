// RoiAlign: where the samples of a region lie is found once for all channels.
#include <algorithm>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/roi_samples.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kMostSamples = 1 << 16;  // of a region; more are left to the reference kernel

/// The samples of all bins along one axis, those of a bin after each other.
struct Samples {
  struct Bin {
    std::size_t begin, end;
    bool has_outside;  // there were more, outside the image
  };
  struct Sample {
    std::int32_t low, high;
    float near, far;  // their weights
  };
  std::vector<Bin> bins;
  std::vector<Sample> samples;

  void place(const ops::AlignedRegion<float>::Axis& axis, std::int64_t count, std::int64_t size) {
    bins.clear();
    samples.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      Bin bin{samples.size(), 0, false};
      for (std::int64_t k = 0; k < axis.samples; ++k) {
        const ops::Between<float> at(axis.place(i, k), size);
        bin.has_outside |= at.is_outside;
        if (!at.is_outside)
          samples.push_back(
              {static_cast<std::int32_t>(at.low), static_cast<std::int32_t>(at.high), 1 - at.part, at.part});
      }
      bin.end = samples.size();
      bins.push_back(bin);
    }
  }
};

/// The mean of the samples of a bin, `scale` being one over their number.
float average(const float* plane, std::int64_t width, const Samples& down, const Samples::Bin& rows,
              const Samples& across, const Samples::Bin& columns, float scale) {
  float sum = 0;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const Samples::Sample& v = down.samples[i];
    const float *upper = plane + v.low * width, *lower = plane + v.high * width;
    float above = 0, below = 0;
    for (std::size_t j = columns.begin; j < columns.end; ++j) {
      const Samples::Sample& h = across.samples[j];
      above += h.near * upper[h.low] + h.far * upper[h.high];
      below += h.near * lower[h.low] + h.far * lower[h.high];
    }
    sum += v.near * above + v.far * below;
  }
  return sum * scale;
}

/// The largest weighted corner of all samples; those outside count as 0.
float largest(const float* plane, std::int64_t width, const Samples& down, const Samples::Bin& rows,
              const Samples& across, const Samples::Bin& columns) {
  float most = -std::numeric_limits<float>::infinity();
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const Samples::Sample& v = down.samples[i];
    const float *upper = plane + v.low * width, *lower = plane + v.high * width;
    for (std::size_t j = columns.begin; j < columns.end; ++j) {
      const Samples::Sample& h = across.samples[j];
      most = std::max({most, v.near * h.near * upper[h.low], v.near * h.far * upper[h.high],
                       v.far * h.near * lower[h.low], v.far * h.far * lower[h.high]});
    }
  }
  const bool is_empty = rows.begin == rows.end || columns.begin == columns.end;
  return is_empty ? 0 : rows.has_outside || columns.has_outside ? std::max(most, 0.0f) : most;
}

class RoiAlign final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const ops::RoiAlignment how(c);
    const Array &x = c.in(0), &rois = c.in(1), &batches = c.in(2);
    if (!is_plain(how, x, rois, batches)) return ops::find(c.node)->kernel(c);
    const std::int64_t count = rois.dims()[0], channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
    const float *in = x.data<float>().data(), *boxes = rois.data<float>().data();
    const auto images = batches.data<std::int64_t>();
    for (const std::int64_t image : images)
      if (image < 0 || image >= x.dims()[0]) c.fail("a region's batch index is out of range");
    Array y = make_raw(c, 0, DType::f32, {count, channels, how.height, how.width});
    if (y.size() == 0) return;
    float* out = y.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    const auto region = [&](std::int64_t k, Samples& down, Samples& across) {
      const ops::AlignedRegion<float> lies(how, boxes + k * 4);
      down.place(lies.down, how.height, height);
      across.place(lies.across, how.width, width);
      const auto scale = static_cast<float>(1 / lies.sample_count());
      float* to = out + k * channels * how.height * how.width;
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const float* plane = in + (images[static_cast<std::size_t>(k)] * channels + channel) * height * width;
        for (const Samples::Bin& rows : down.bins)
          for (const Samples::Bin& columns : across.bins)
            *to++ = how.is_max ? largest(plane, width, down, rows, across, columns)
                               : average(plane, width, down, rows, across, columns, scale);
      }
    };
    pool.parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
      Samples down, across;
      for (std::int64_t k = begin; k < end; ++k) {
        budget.poll();
        region(k, down, across);
      }
    });
  }

 private:
  /// Of the types and sizes that this kernel is made for.
  static bool is_plain(const ops::RoiAlignment& how, const Array& x, const Array& rois, const Array& batches) {
    if (x.dtype() != DType::f32 || rois.dtype() != DType::f32 || batches.dtype() != DType::i64) return false;
    if (x.rank() != 4 || rois.rank() != 2 || rois.dims()[1] != 4 || batches.dims() != Dims{rois.dims()[0]})
      return false;
    const std::int64_t width = x.dims()[3], height = x.dims()[2];
    if (width > std::numeric_limits<std::int32_t>::max() || height > std::numeric_limits<std::int32_t>::max())
      return false;
    if (how.height > kMostSamples || how.width > kMostSamples || how.ratio > kMostSamples) return false;
    const float* boxes = rois.data<float>().data();
    for (std::int64_t k = 0; k < rois.dims()[0]; ++k) {
      const ops::AlignedRegion<float> region(how, boxes + k * 4);
      if (region.down.samples > kMostSamples / how.height || region.across.samples > kMostSamples / how.width)
        return false;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_roi_align(PrepareContext& c) {
  if (c.elem(0) != DType::f32 || c.elem(1) != DType::f32)
    return c.refuse("image and regions are not known to be floats");
  return std::make_unique<RoiAlign>();
}

}  // namespace ingot::engine
