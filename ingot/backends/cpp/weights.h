#pragma once
#include <string>
#include <vector>

#include "ingot/backends/cpp/printer.h"

namespace ingot::backends::cpp {

struct WeightTable {
  std::vector<std::int64_t> offsets;  // of each buffer in the file; -1: no weight
  std::int64_t bytes = 0;
};

/// The weights whose names are words of the code, as arrays in the source (`text`), or as the bytes of a file.
WeightTable make_weights(const lower::Program& program, const Printer& printer,
                         const std::unordered_set<std::string>& words, bool in_file, std::string& text,
                         std::string& bytes);

/// Functions `set` and `load` that say where the bytes of the file are. `may_map`: the file is mapped where there is a
/// system that can, for which mapping_headers() stand before.
std::string weight_functions(const std::string& set, const std::string& load, std::int64_t bytes, bool may_map);
std::string_view mapping_headers();

}  // namespace ingot::backends::cpp
