#pragma once
#include <string>
#include <vector>

#include "ingot/formats/pickle/document.h"

namespace ingot::formats::pickle {

/// A pickle for people: its classes, their attributes, the libraries it was written with, and what it names.
struct Description {
  std::vector<std::string> tree;      // lines, indented
  std::vector<std::string> versions;  // "scikit-learn 1.2.1"
  std::vector<std::string> called;    // what Python would have called, sorted
  std::vector<std::string> imported;  // what it would only have looked up
  bool is_cut = false;                // the tree goes on
};

/// At most so many lines; what is shared is printed once.
Description describe(const Document& document, std::size_t most_lines = 400);

}  // namespace ingot::formats::pickle
