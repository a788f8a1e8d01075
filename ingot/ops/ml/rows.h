#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// The number of examples in input 0, which is [N, C], or [C] for one example; refuses other ranks.
Dim rows(const InferContext& c);

/// Labels are strings if those are given, else integers.
DType label_type(const Attributes& attributes, std::string_view strings);
std::size_t label_count(const Attributes& attributes, std::string_view strings, std::string_view ints);

}  // namespace ingot::ops
