#pragma once
#include <cstddef>
#include <string>

#include "ingot/backends/cpp/emit.h"

namespace ingot::backends::cpp {

/// A program that calls `call`, whose text is `entry`, with stored inputs and compares what it gives with what is
/// stored. `load` stands before the call.
std::string test_source(const std::string& name, bool is_c, const std::string& entry, const std::string& load,
                        std::size_t inputs, std::size_t outputs);

/// NAME.cmake: the code as a library and the test program, for include() or by itself.
std::string cmake_file(const std::string& name, const Options& options);

}  // namespace ingot::backends::cpp
