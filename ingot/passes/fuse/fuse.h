#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::passes {

/// Puts operators of com.microsoft, which ONNX Runtime has kernels for, in place of what spells them out. The graph is
/// of the newest operator sets, with types inferred, and optimized; constants that nothing reads are left to the
/// caller. Returns how often each operator was made.
std::vector<std::pair<std::string, std::size_t>> fuse_for_onnx_runtime(Model& model, Budget* budget = nullptr);

}  // namespace ingot::passes
