#pragma once
#include <string>

namespace ingot::driver {

/// Where one of several processes writes the rows that it scored, beside the file that they become together.
std::string part_name(const std::string& out, int part);

/// Puts the parts of a .csv file after each other, each column named once, and removes them. Parts that have no rows
/// have no file.
void join_parts(const std::string& out, int parts);

}  // namespace ingot::driver
