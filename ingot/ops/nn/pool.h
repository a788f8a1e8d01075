#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Infers outputs 0 and, where there is one, 1 of a pool over windows of input 0.
void infer_pool(InferContext& c);
/// Where the rank of input 0 is not known: kernel_shape tells that of the outputs.
void rank_by_kernel(InferContext& c);
/// All spatial sizes become 1.
void infer_global_pool(InferContext& c);

/// Down to a version without dilations: those of 1 are dropped; with others the node is decomposed or refused.
void drop_dilations(StepContext& c);
/// The sum over each window of x, which has the shape of input 0 and counts as 0, or as 1, in explicit padding. Null
/// where the last windows may reach beyond the padding (ceil_mode) and how far is not known, or the rank is not known.
Value* window_sums(DecomposeContext& c, Value* x, DType elem, bool padding_is_one = false);
/// `p` was a float in LpPool-1 and GlobalLpPool-1.
void norm_order_to_int(StepContext& c);
void norm_order_to_float(StepContext& c);

/// Batch and channels of x, then the given sizes.
Dims pooled_dims(const Dims& x, const Dims& sizes);
/// Sets output 0 to value(plane, box) for each window over each plane of input 0, all in double.
template <class F> void pool_windows(KernelContext& c, const Sliding& s, F value) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  Array y = scratch(c, DType::f64, pooled_dims(x.dims(), s.windows));
  Pace pace(c.host().budget());
  const double* in = x.data<double>().data();
  const std::span<double> out = y.mutable_data<double>();
  for (std::size_t i = 0; i < out.size(); in += s.plane_size)
    for (Positions positions(s); positions.next(); ++i) {
      out[i] = value(in, positions.box());
      pace.step(positions.box().size + 1);
    }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace ingot::ops
