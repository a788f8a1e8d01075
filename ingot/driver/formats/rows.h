#pragma once
#include "ingot/driver/format.h"

/// The rows of the format table: kOnnxFormat, kKerasFormat, ..., a file each.
namespace ingot::driver::rows {

#define INGOT_FORMAT(name) extern const Format k##name##Format;
#include "ingot/driver/formats/formats.def"
#undef INGOT_FORMAT

}  // namespace ingot::driver::rows
