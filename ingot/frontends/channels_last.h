#pragma once
#include "ingot/ops/builder.h"

namespace ingot::frontends {

// Frameworks that keep channels last: translators work channels first, as ONNX does, and put the obvious transposes
// around; passes/layout takes them out again.

/// Between [batch, spatial..., channels] and [batch, channels, spatial...], for a tensor of this rank.
Value* channels_first(GraphBuilder& g, Value* x, std::size_t rank);
Value* channels_last(GraphBuilder& g, Value* x, std::size_t rank);

/// Weights [spatial..., in, out] as [out, in, spatial...].
Value* filter_channels_first(GraphBuilder& g, Value* weights, std::size_t spatial);

}  // namespace ingot::frontends
