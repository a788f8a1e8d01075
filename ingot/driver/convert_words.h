#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/driver/convert.h"

namespace ingot::driver {

struct ConvertWish;

/// An option of a conversion in words: what the command line, C and scripts say in place of a ConvertRequest.
struct ConvertWord {
  enum class Takes : std::uint8_t {
    nothing,  // it is a switch
    one,      // one value, given once
    several,  // a value each time it is given
    names,    // the same, and commas divide what a person types
  };
  std::string_view name;  // "input-shape": --input-shape
  Takes takes;
  std::string_view help;
  void (*set)(ConvertWish&, const std::string& value);
  std::string (*known)() = nullptr;  // the values that there are, to follow the help
};

/// All of them, in the order in which help lists them.
std::span<const ConvertWord> convert_words();
/// Refuses an unknown one with the list of those known.
const ConvertWord& convert_word(std::string_view name);

struct WordGiven {
  std::string name, value{};  // the value of a switch is empty
};
/// Sets what the words say. Refuses values that are not understood, and words that mean nothing without others.
void set_words(ConvertRequest& request, const std::vector<WordGiven>& words);

}  // namespace ingot::driver
