#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::formats::npy {

/// The dictionary at the head of a .npy file.
struct Header {
  std::string descr;  // "<f4"
  bool is_fortran = false;
  std::vector<std::int64_t> dims;
};

/// Reads a Python dictionary with exactly the keys descr, fortran_order and shape; refuses everything else.
Header parse_header(std::string_view text);
std::string header_text(const Header& header);

}  // namespace ingot::formats::npy
