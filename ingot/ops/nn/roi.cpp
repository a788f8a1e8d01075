// MaxRoiPool and RoiAlign: pool regions of an image, each into the same number of bins.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
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

}  // namespace

constinit const OpDef defs::MaxRoiPool = {
    .name = "MaxRoiPool",
    .infer = infer_max_roi_pool,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::RoiAlign = {
    .name = "RoiAlign",
    .infer = infer_roi_align,
    .steps = kRoiAlignSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
