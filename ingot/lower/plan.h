#pragma once
#include <vector>

#include "ingot/lower/program.h"

namespace ingot::lower {

/// Where the scratch buffers of constant size lie in one arena: those that are never needed at once share memory.
struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // of each buffer, in bytes; -1: not in the arena
  std::int64_t bytes = 0;
};
MemoryPlan plan_memory(const Program& program);

/// Bytes of one element in memory; elements of less than a byte take one.
std::int64_t element_bytes(DType type);

}  // namespace ingot::lower
