#pragma once
#include <string>

#include "ingot/base/dtype.h"

namespace ingot::backends::mlir {

/// An element type in MLIR. Integers have no sign there; small floats are kept as their bits and computed in f32.
struct MType {
  const char* suffix;   // in names of functions
  const char* storage;  // in memory
  const char* value;    // of an expression
};
MType m_type(DType type);

bool is_small_float(DType type);
/// Of integers, bool included.
bool is_unsigned(DType type);
std::string memref_of(DType type);

}  // namespace ingot::backends::mlir
