#pragma once
#include <optional>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

// ONNX's runtimes have no complex numbers: a complex tensor is its pairs of reals along one more axis, the last.

Item complex_item(Value* pairs);
bool is_complex_item(const Item& item);
bool has_complex(const std::vector<Item>& args);
/// The argument as pairs, also if it is real.
Value* pairs_of(const Call& c, std::size_t i);
Value* real_part(GraphBuilder& g, Value* pairs);
Value* imaginary_part(GraphBuilder& g, Value* pairs);
Value* joined_parts(GraphBuilder& g, Value* real, Value* imaginary);

/// Of an operator that only moves elements: the call that moves pairs the same way.
std::optional<Call> call_of_pairs(const Call& c);
/// What call_of_pairs() gave.
void mark_complex(const Item& result);
/// Translates another call with complex tensors; refuses operators that it does not know.
Item translate_complex(const Call& c);

}  // namespace ingot::frontends::torch
