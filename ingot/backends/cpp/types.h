#pragma once
#include <string>

#include "ingot/base/dtype.h"

namespace ingot::backends::cpp {

/// How an element type is spelt in C: `storage` in memory, `value` in expressions, `suffix` in names of functions.
struct CType {
  const char* suffix;
  const char* storage;
  const char* value;
};
CType c_type(DType type);
/// Types that are kept as bits and computed in float.
bool is_small_float(DType type);

}  // namespace ingot::backends::cpp
