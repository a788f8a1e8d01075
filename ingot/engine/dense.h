#pragma once
#include "ingot/engine/ledger.h"
#include "ingot/ir/tensor.h"

namespace ingot::engine {

/// The tensor that a sparse one stands for: zeros but for the stored values. Refuses indices that do not fit.
Array dense(const SparseTensor& sparse, Ledger& ledger);

}  // namespace ingot::engine
