#pragma once
#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// Gives every output of the main graph a tensor that runtimes fill in each run: LiteRT hands out memory of its own for
/// outputs, which stays as it was where one tensor is two outputs, or where an output is made before the run, from sizes
/// and constants alone. Constants are outputs as they stand.
void settle_outputs(Output& output);

}  // namespace ingot::backends::tflite
