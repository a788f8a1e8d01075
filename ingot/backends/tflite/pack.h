#pragma once
#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// Tensors that get an axis each and are joined along it are a PACK; one that is cut into slices whose axis goes away
/// is an UNPACK. The reshapes that are left without a reader stay for the caller to drop.
void pack(fmt_tflite::SubGraph& graph);

}  // namespace ingot::backends::tflite
