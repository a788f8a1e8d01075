#pragma once

namespace ingot::driver {

/// Where the programs of LLVM are, and the C compiler: absolute paths that CMake was told.
extern const char* const kLlvmDirectory;
extern const char* const kCCompiler;

}  // namespace ingot::driver
