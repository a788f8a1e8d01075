#pragma once
#include <string>

#include "ingot/ir/tensor.h"

// Element types that PyTorch lacks travel in others that have each of their numbers: uint16 in int32, uint32 in int64,
// uint64 in int64 with the same bits, integers of 4 and 2 bits in bytes, small floats in float32.
namespace ingot::backends::torch {

/// The type itself where PyTorch since 1.8 has it; undefined: nothing carries it.
DType carrier_of(DType dtype);
Tensor carried(const Tensor& tensor);

bool is_carried(DType dtype);
/// The mask of the bits that an unsigned type has in a wider carrier; empty: none is needed.
std::string mask_of(DType dtype);

}  // namespace ingot::backends::torch
