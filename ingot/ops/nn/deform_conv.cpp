// DeformConv: a convolution whose taps are moved by learnt offsets.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  infer_conv(c, 0, 1, 3);
  const std::int64_t groups = c.attr("offset_group", std::int64_t{1});
  c.require(groups >= 1, "attribute 'offset_group' is less than 1");
  if (!c.output_count() || !c.out_type(0).shape) return;
  Shape y = *c.out_type(0).shape;
  // Offsets [N, groups * taps * axes, ...] and mask [N, groups * taps, ...] have the spatial sizes of the output.
  Dim taps = groups;
  for (std::size_t i = 2; i < y.size(); ++i) taps = taps * c.dim(1, static_cast<std::int64_t>(i));
  for (const std::size_t k : {std::size_t{2}, std::size_t{4}}) {
    if (!c.shape(k)) continue;
    require_rank(c, k, static_cast<std::int64_t>(y.size()), k == 2 ? "the offset" : "the mask");
    const Dim axes = k == 2 ? static_cast<std::int64_t>(y.size()) - 2 : 1;
    agree(c, c.dim(k, 1), taps * axes, k == 2 ? "the offset's channels" : "the mask's channels");
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i != 1) y[i] = agree(c, y[i], c.dim(k, static_cast<std::int64_t>(i)), "a size of the output");
  }
  c.out_shape(0, std::move(y));
}

}  // namespace

constinit const OpDef defs::DeformConv = {.name = "DeformConv", .infer = infer};

}  // namespace ingot::ops
