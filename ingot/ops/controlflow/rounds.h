#pragma once
#include "ingot/ops/infer.h"

namespace ingot::ops {

/// Infers attribute "body" of a loop. Of the body's input types, the `count` from `first` on are those of what is
/// carried from round to round: they start as given and are generalised until all rounds fit them. `first_output` is
/// the body's output that becomes input `first` of the next round. Returns the types of the body's outputs.
std::vector<Type> infer_rounds(InferContext& c, std::vector<Type>& inputs, std::size_t first, std::size_t count,
                               std::size_t first_output);

/// The type of a carried value after the last round, when there may have been none.
Type after_rounds(const InferContext& c, const Type& carried, const Type& output);

/// The body; null where it is not there, as in the body of a function that is not instantiated.
const Graph* body_of(const InferContext& c);

}  // namespace ingot::ops
