#pragma once
#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/sliding.h"

namespace ingot::ops {

/// Infers output 0 of a convolution from inputs x [N, C, ...] and w [M, C/group, ...] and checks the bias [M].
void infer_conv(InferContext& c, std::size_t x, std::size_t w, std::size_t bias);

/// The spatial part of a shape [N, C, ...]; refuses shapes without one.
Shape spatial(const InferContext& c, const Shape& shape, std::string_view what);

/// The sizes of a convolution of x [N, C, ...] by w [M, C/group, ...] that is run, checked.
struct ConvSizes {
  Sliding sliding;
  std::int64_t batch, channels, filters, depth, group;  // depth: channels of a group
  Dims result;

  ConvSizes(const KernelContext& c, const Dims& x, const Dims& w);
};

/// Fills a result [N, M, ...] in double with a bias [M], an input, where there is one.
void fill_with_bias(KernelContext& c, Array& y, std::size_t bias);

}  // namespace ingot::ops
