#pragma once
#include "ingot/ir/tensor.h"
#include "ingot/passes/quantize/quantize.h"

// From ranges to scales and zero points, and from floats to integers.

namespace ingot::passes::quantize_parts {

/// The integers that a type has.
struct Whole {
  std::int64_t least, most;
};
Whole integers_of(DType dtype, bool is_narrow = false);

struct Scale {
  float scale = 1;
  std::int64_t zero_point = 0;
};
/// The range is made to hold 0, which is exact.
Scale scale_of(ValueRange range, DType dtype, bool is_symmetric);

/// A weight in integers. Scales and zero points have the weight's shape with 1 along axes that share them, or as many
/// elements as there are blocks.
struct QuantizedTensor {
  Tensor values;
  std::vector<float> scales;
  std::vector<std::int64_t> zero_points;
  double noise = 0;  // decibels
};

struct WeightGrid {
  DType dtype = DType::i8;
  std::int64_t axis = -1;  // one scale for each index of this axis; negative: one for all
  std::int64_t block = 0;  // then also one for each run of so many elements along `block_axis`
  std::int64_t block_axis = 0;
  bool is_symmetric = true;
  bool is_narrow = false;
  std::vector<float> least_scales{};  // per channel; empty: none
};
QuantizedTensor quantized(const Tensor& weight, const WeightGrid& grid);

/// Integers as a tensor of a type of 4 or 8 bits.
Tensor packed(DType dtype, Dims dims, const std::vector<std::int64_t>& values);

}  // namespace ingot::passes::quantize_parts
