#pragma once
#include <string>
#include <vector>

#include "ingot/backends/mlir/emit.h"

namespace ingot::driver {

/// What LLVM makes of a module: "llvm" (NAME.ll beside the interface in C), "object" (NAME.o with everything in it) or
/// "so" (NAME.so). Debian's tools of LLVM and the C compiler do it, in a directory of their own; Error says which
/// packages are missing. `target`: avx2, avx512; empty: the processor at hand.
std::vector<backends::mlir::File> make_native(std::vector<backends::mlir::File> files, const std::string& name,
                                              const std::string& kind, const std::string& target);

/// Why there is no native code here; empty: there is.
std::string why_no_native_code();

}  // namespace ingot::driver
