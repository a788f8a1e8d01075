#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::ops {

/// SentencePiece's precompiled rules of normalisation: what a text begins with is replaced by something else.
class Charsmap {
 public:
  Charsmap() = default;
  /// Throws Error(bad_attribute) for bytes that are no such rules.
  explicit Charsmap(std::string_view bytes);

  struct Rule {
    std::size_t length = 0;  // of what is replaced; 0: no rule fits
    std::string_view by;
  };
  /// The rule for the longest prefix.
  Rule longest(std::string_view text) const;

 private:
  std::uint32_t unit(std::uint32_t at) const;

  std::vector<std::uint32_t> units_;  // a double array of bytes
  std::string replacements_;          // each with a 0 behind it
};

}  // namespace ingot::ops
