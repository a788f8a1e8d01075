#pragma once
#include <optional>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

// What the definitions of other domains' operators by plain ONNX share.

namespace ingot::ops {

/// Inference of an operator that others define: what its decomposition gives for these inputs. Nothing is known where
/// the decomposition needs more than is known of them.
void infer_by_body(InferContext& c);

/// Elements along an axis that may be counted from the end, as a list of one number: known ones are a constant.
Value* size_of(GraphBuilder& g, Value* x, std::int64_t axis);
/// The same as a number of rank 0.
Value* count_of(GraphBuilder& g, Value* x, std::int64_t axis);

/// Elements along the last axis, where they are known and there is one.
std::optional<std::int64_t> last_size(const Value* x);

/// A part of an axis: from `begin` up to and without `end`.
Value* slice(GraphBuilder& g, Value* x, std::int64_t axis, std::int64_t begin, std::int64_t end);

/// x * sigmoid(alpha * x)
Value* swish(GraphBuilder& g, Value* x, double alpha = 1);
/// By the error function.
Value* gelu(GraphBuilder& g, Value* x);
/// By the hyperbolic tangent.
Value* gelu_tanh(GraphBuilder& g, Value* x);

/// The same attributes of a node for another, those named.
Attrs attributes_of(const Node& node, std::initializer_list<std::string_view> names);

/// x [.., channels last] -> channels behind the batch, and back; the rank must be known.
Value* channels_first(GraphBuilder& g, Value* x);
Value* channels_last(GraphBuilder& g, Value* x);

}  // namespace ingot::ops
