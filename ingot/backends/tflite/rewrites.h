#pragma once
#include "ingot/ops/builder.h"

namespace ingot::backends::tflite {

// Each builds what takes the node's place from operators that TFLite has in the node's own type, where the operator's
// decomposition would need a type that TFLite lacks; nothing: not for this node.

/// ReduceL2, ReduceLogSum and ReduceLogSumExp of float, in float.
Values float_reduction(Node& node, GraphBuilder& g);
/// Range of int64 by 1 or -1: counted in int32, which is what TFLite's sizes are, and moved to its place in int64.
Values counted_range(Node& node, GraphBuilder& g);

}  // namespace ingot::backends::tflite
