#pragma once
#include <set>
#include <string>
#include <string_view>

namespace ingot::backends::cpp {

/// A model's name as words that can stand in a comment: nothing in it ends the comment or continues the line.
std::string comment(std::string_view name);

/// Identifiers made of a model's names: letters, digits and underscores, no words of C or C++, each given once.
class Names {
 public:
  std::string identifier(std::string_view name, std::string_view fallback = "value");

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace ingot::backends::cpp
