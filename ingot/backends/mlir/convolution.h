#pragma once
#include "ingot/backends/mlir/printer.h"

namespace ingot::backends::mlir {

/// A convolution as loops around tiles of a product.
void print_convolution(Printer& p, const lower::Convolution& s);
/// One of each channel by itself; false, and nothing is printed, if it is another or its sizes are not known.
bool print_by_channel(Printer& p, const lower::Convolution& s);

}  // namespace ingot::backends::mlir
