// The table of fast kernels.
#include "ingot/engine/fast_kernel.h"

#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {

bool PrepareContext::all_floats() const {
  for (const Value* input : node.inputs())
    if (input && input->type.elem != DType::f32) return false;
  return true;
}

std::span<const FastKernel> fast_kernels() {
  static constexpr FastKernel kKernels[] = {
      {"Gemm", "gemm", prepare_gemm},
      {"MatMul", "gemm", prepare_matmul},
  };
  return kKernels;
}

}  // namespace ingot::engine
