#pragma once
#include <optional>
#include <vector>

#include "ingot/passes/recurrent_loops/sequence_loop.h"

namespace ingot::passes::recurrent_loops {

/// x * weights + h * recurrent + bias, as one product of both or as two.
struct Linear {
  Value *joint = nullptr, *weights = nullptr, *recurrent = nullptr;  // joint: [x, h] along axis 1
  Value* bias = nullptr;
};

/// v as a linear form of x and of `h`, which need not be the state itself: the terms of a sum in any order.
std::optional<Linear> linear(const SequenceLoop& loop, Value* v, const Value* h);

struct Matrices {
  Value *weights, *recurrent;  // [1, gates * units, ...]
  std::int64_t units;
};

/// Both matrices in ONNX's form, with as many gates as `order` has entries; nothing: they do not divide by them.
std::optional<Matrices> onnx_matrices(GraphBuilder& g, const Linear& form, const std::vector<std::int64_t>& order);

}  // namespace ingot::passes::recurrent_loops
