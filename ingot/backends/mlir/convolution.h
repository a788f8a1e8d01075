#pragma once
#include "ingot/backends/mlir/printer.h"

namespace ingot::backends::mlir {

/// A convolution as loops around tiles of a product.
void print_convolution(Printer& p, const lower::Convolution& s);

}  // namespace ingot::backends::mlir
