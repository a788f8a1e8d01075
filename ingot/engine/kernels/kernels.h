#pragma once
#include "ingot/engine/fast_kernel.h"

namespace ingot::engine {

std::unique_ptr<PreparedNode> prepare_gemm(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_matmul(PrepareContext& c);

}  // namespace ingot::engine
