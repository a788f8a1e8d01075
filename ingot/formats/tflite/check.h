#pragma once
#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

/// Throws an Error that names the place if an index leads nowhere, a size contradicts another, or subgraphs call each
/// other in a circle. After this, indices need no more looking after. The reader and the writer call it.
void check(const Model& model);

/// The part of it that is about a sparse tensor whose shape is already known to be sound; `data_size` in bytes.
void check_sparsity(const Tensor& tensor, std::uint64_t data_size);

}  // namespace ingot::formats::tflite
