// MaxRoiPool and RoiAlign: pool regions of an image, each into the same number of bins.
#include <algorithm>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/roi_body.h"
#include "ingot/ops/nn/roi_samples.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer_max_roi_pool(InferContext& c) {
  const auto* bins = c.attr_ints("pooled_shape");
  const Attribute* stated = c.node().attributes.find("pooled_shape");
  if (stated && stated->is_reference()) return c.out_rank(0, 4);
  if (!bins || bins->size() != 2 || (*bins)[0] < 1 || (*bins)[1] < 1)
    c.fail("attribute 'pooled_shape' must be two positive numbers");
  require_rank(c, 0, 4, "the input");
  require_rank(c, 1, 2, "the list of regions");
  agree(c, c.dim(1, 1), 5, "the size of a region");
  c.out_shape(0, {c.dim(1, 0), c.dim(0, 1), (*bins)[0], (*bins)[1]});
}

void infer_roi_align(InferContext& c) {
  const std::int64_t height = c.attr("output_height", std::int64_t{1});
  const std::int64_t width = c.attr("output_width", std::int64_t{1});
  c.require(height >= 1 && width >= 1, "output_height and output_width must be positive");
  require_rank(c, 0, 4, "the input");
  require_rank(c, 1, 2, "the list of regions");
  agree(c, c.dim(1, 1), 4, "the size of a region");
  const Dim regions = require_vector(c, 2, c.dim(1, 0), "batch_indices");
  c.out_shape(0, {regions, c.dim(0, 1), height, width});
}

// Version 10 had no coordinate_transformation_mode and did what is called output_half_pixel since.
constexpr Step kRoiAlignSteps[] = {{
    .since = 16,
    .up =
        [](StepContext& c) {
          c.node.attributes.set({"coordinate_transformation_mode", "output_half_pixel"});
        },
    .down =
        [](StepContext& c) {
          const std::string mode = c.node.attributes.string_or("coordinate_transformation_mode", "half_pixel");
          if (mode != "output_half_pixel")
            c.cannot("coordinate_transformation_mode '" + mode + "' does not exist before opset 16",
                     "write opset 16 or newer");
          c.node.attributes.erase("coordinate_transformation_mode");
        },
}};

Values decompose_align(DecomposeContext& c) {
  return c.elem(0) == DType::bf16 ? bfloat16_in_float(c) : decompose_roi_align(c);
}

Values decompose_max_pool(DecomposeContext& c) {
  return c.elem(0) == DType::bf16 ? bfloat16_in_float(c) : decompose_max_roi_pool(c);
}

/// The regions of an image [N, C, height, width], in the type to compute in.
struct Regions {
  Array x, rois;
  std::int64_t channels, height, width, count;

  explicit Regions(KernelContext& c, std::int64_t size) : x(computable(c, 0)), rois(computable(c, 1)) {
    if (x.rank() != 4) c.fail("the input has rank " + std::to_string(x.rank()) + ", not 4");
    if (rois.rank() != 2 || rois.dims()[1] != size)
      c.fail("the regions are not given as [regions, " + std::to_string(size) + "]");
    channels = x.dims()[1];
    height = x.dims()[2];
    width = x.dims()[3];
    count = rois.dims()[0];
  }
};

void run_max_roi_pool(KernelContext& c) {
  const auto bins = c.attr_ints("pooled_shape");
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1) c.fail("attribute 'pooled_shape' must be two positive numbers");
  const Regions r(c, 5);
  Array y = scratch(c, r.x.dtype(), {r.count, r.channels, bins[0], bins[1]});
  Pace pace(c.host().budget());
  dispatch(r.x.dtype(), ComputeFloats{}, [&]<class T>() {
    const T scale = static_cast<T>(c.attr("spatial_scale", 1.0f));
    T* out = y.mutable_data<T>().data();
    for (std::int64_t k = 0; y.size() > 0 && k < r.count; ++k) {
      const T* roi = r.rois.data<T>().data() + k * 5;
      const auto image = saturate_cast<std::int64_t>(roi[0]);
      if (image < 0 || image >= r.x.dims()[0]) c.fail("a region's batch index is out of range");
      // Whole elements [begin, end) of one axis that a bin covers.
      const auto bin = [&](T first, T last, std::int64_t i, std::int64_t count, std::int64_t size) {
        const T begin = std::round(first * scale), length = std::max(std::round(last * scale) - begin + 1, T{1});
        const T step = length / static_cast<T>(count);
        const auto within = [&](T v) { return std::clamp<std::int64_t>(saturate_cast<std::int64_t>(v), 0, size); };
        return std::pair(within(std::floor(static_cast<T>(i) * step) + begin),
                         within(std::ceil(static_cast<T>(i + 1) * step) + begin));
      };
      for (std::int64_t ch = 0; ch < r.channels; ++ch) {
        const T* plane = r.x.data<T>().data() + (image * r.channels + ch) * r.height * r.width;
        for (std::int64_t i = 0; i < bins[0]; ++i)
          for (std::int64_t j = 0; j < bins[1]; ++j) {
            const auto [top, bottom] = bin(roi[2], roi[4], i, bins[0], r.height);
            const auto [left, right] = bin(roi[1], roi[3], j, bins[1], r.width);
            T best = top < bottom && left < right ? plane[top * r.width + left] : T{0};
            for (std::int64_t row = top; row < bottom; ++row)
              for (std::int64_t column = left; column < right; ++column)
                best = std::max(best, plane[row * r.width + column]);
            *out++ = best;
            pace.step((bottom - top) * (right - left) + 1);
          }
      }
    }
  });
  put(c, 0, y, c.in(0).dtype());
}

void run_roi_align(KernelContext& c) {
  const RoiAlignment how(c);
  const Regions r(c, 4);
  if (c.in(2).dims() != Dims{r.count}) c.fail("batch_indices does not have one element per region");
  const auto images = c.in(2).data<std::int64_t>();
  Array y = scratch(c, r.x.dtype(), {r.count, r.channels, how.height, how.width});
  Pace pace(c.host().budget());
  dispatch(r.x.dtype(), ComputeFloats{}, [&]<class T>() {
    T* out = y.mutable_data<T>().data();
    for (std::int64_t k = 0; y.size() > 0 && k < r.count; ++k) {
      const std::int64_t image = images[static_cast<std::size_t>(k)];
      if (image < 0 || image >= r.x.dims()[0]) c.fail("a region's batch index is out of range");
      const AlignedRegion<T> region(how, r.rois.data<T>().data() + k * 4);
      for (std::int64_t ch = 0; ch < r.channels; ++ch) {
        const T* plane = r.x.data<T>().data() + (image * r.channels + ch) * r.height * r.width;
        for (std::int64_t i = 0; i < how.height * how.width; ++i) {
          double sum = 0, most = 0;
          bool is_first = true;
          for (std::int64_t row = 0; row < region.down.samples; ++row) {
            const Between<T> v(region.down.place(i / how.width, row), r.height);
            for (std::int64_t column = 0; column < region.across.samples; ++column) {
              pace.step(1);
              const Between<T> h(region.across.place(i % how.width, column), r.width);
              const bool is_outside = v.is_outside || h.is_outside;
              const auto part = [&](std::int64_t y0, std::int64_t x0, T weight) {
                return is_outside ? 0.0 : static_cast<double>(weight) * static_cast<double>(plane[y0 * r.width + x0]);
              };
              const double a = part(v.low, h.low, (1 - v.part) * (1 - h.part));
              const double b = part(v.low, h.high, (1 - v.part) * h.part);
              const double d = part(v.high, h.low, v.part * (1 - h.part));
              const double e = part(v.high, h.high, v.part * h.part);
              sum += a + b + d + e;
              const double largest = std::max({a, b, d, e});
              most = is_first ? largest : std::max(most, largest);
              is_first = false;
            }
          }
          *out++ = static_cast<T>(how.is_max ? most : sum / region.sample_count());
        }
      }
    }
  });
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::MaxRoiPool = {
    .name = "MaxRoiPool",
    .infer = infer_max_roi_pool,
    .decompose = decompose_max_pool,
    .kernel = run_max_roi_pool,
};
constinit const OpDef defs::RoiAlign = {
    .name = "RoiAlign",
    .infer = infer_roi_align,
    .steps = kRoiAlignSteps,
    .decompose = decompose_align,
    .kernel = run_roi_align,
};

}  // namespace ingot::ops
