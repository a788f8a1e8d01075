#pragma once
#include <string>
#include <vector>

#include "ingot/backends/cpp/printer.h"

namespace ingot::backends::cpp {

struct WeightTable {
  std::vector<std::int64_t> offsets;  // of each buffer in the file; -1: no weight
  std::int64_t bytes = 0;
};

/// The weights as arrays in the source (`text`), or as the bytes of a file and the text that reads it.
WeightTable make_weights(const lower::Program& program, const Printer& printer, bool in_file, std::string& text,
                         std::string& bytes);

/// Functions `set` and `load` that say where the bytes of the file are.
std::string weight_functions(const std::string& set, const std::string& load, std::int64_t bytes);

}  // namespace ingot::backends::cpp
