#pragma once
#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/lanes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Checks scale (input 1) and zero point (input 2) against input 0: per tensor, per axis or per block.
void check_scales(const InferContext& c);
/// Attribute output_dtype; undefined when it is absent or 0.
DType output_dtype(const InferContext& c);

/// The axis along which scales vary, counted from the front, 0 where there is but one; nothing: ranks that spread()
/// needs are not known or do not fit.
std::optional<std::int64_t> spread_axis(const DecomposeContext& c);
/// The scale or zero point, given per tensor, axis or block, in a shape that broadcasts against input 0.
Value* spread(DecomposeContext& c, Value* parameter, std::int64_t axis);

/// Which scale and zero point belong to an element: checked against input 0, all the same or varying along an axis or
/// per block of it.
struct ScaleMap {
  Lanes lanes;              // of input 0 along the axis
  bool is_one = false;      // one for all
  std::int64_t block = 0;   // elements that share one along the axis; 0: each place has one for all lanes
  std::int64_t blocks = 0;  // scales along the axis

  /// From inputs 0, 1 and 2 and the attributes axis and block_size.
  static ScaleMap of(KernelContext& c);

  /// Calls f(element, scale) for each element of input 0, in order.
  template <class F> void each(KernelContext& c, F f) const {
    Pace pace(c.host().budget());
    std::size_t element = 0;
    for (std::int64_t o = 0; o < lanes.outer; ++o)
      for (std::int64_t a = 0; a < lanes.size; ++a) {
        for (std::int64_t i = 0; i < lanes.inner; ++i, ++element) {
          const std::int64_t scale = is_one ? 0 : block == 0 ? a : (o * blocks + a / block) * lanes.inner + i;
          f(element, static_cast<std::size_t>(scale));
        }
        pace.step(lanes.inner);
      }
  }
};

/// The numbers that a type of integers can hold.
struct IntegerRange {
  double least, most;
};
IntegerRange range_of(DType integer);

/// The scale's type, or float for types that nothing is computed in.
DType arithmetic_type(DType scale);

}  // namespace ingot::ops
