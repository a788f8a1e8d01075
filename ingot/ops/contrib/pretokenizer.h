#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace ingot::ops {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlamaPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Cuts a text where a tokenizer's expression matches, in time linear in the text. The expression may use what such
/// expressions use: classes of Unicode, and "white space that no other follows" as its last but one alternative.
class PreTokenizer {
 public:
  /// Throws Error(bad_attribute) for an expression that it cannot do.
  explicit PreTokenizer(std::string_view pattern);

  /// Matches and what lies between them, in order. The text must be UTF-8.
  void cut(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  std::shared_ptr<const re2::RE2> regex_;
  int space_group_ = 0;  // the group that holds a run of white space; 0: none
};

}  // namespace ingot::ops
