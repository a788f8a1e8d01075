#pragma once
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace ingot::backends::cpp {

/// A model's name as words that can stand in a comment: nothing in it ends the comment or continues the line.
std::string comment(std::string_view name);

/// A name that stands beside those of the standard library: of a namespace, or before all that C code exports.
std::string global_identifier(std::string_view name, std::string_view fallback);

/// Identifiers made of a model's names: letters, digits and underscores, no words of C or C++, of the standard library
/// or of generated code itself, each given once.
class Names {
 public:
  /// `taken`: what else is no identifier.
  explicit Names(std::set<std::string, std::less<>> taken = {}) : taken_(std::move(taken)) {}

  /// One that is free with each of the prefixes as well.
  std::string identifier(std::string_view name, std::string_view fallback = "value",
                         std::initializer_list<std::string_view> prefixes = {});

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace ingot::backends::cpp
