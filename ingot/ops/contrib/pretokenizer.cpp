// Expressions of tokenizers in RE2's words.
#include "ingot/ops/contrib/pretokenizer.h"

#include <re2/re2.h>

#include "ingot/base/error.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {
namespace {

/// White space as the extensions know it. RE2's own \s is ASCII's.
constexpr std::string_view kSpace = "\\t\\n\\v\\f\\r\\p{Z}";
/// Runs of white space leave their last character to what follows them.
constexpr std::string_view kRunAlternatives = "\\s+(?!\\S)|\\s+";
constexpr std::string_view kRunGroup = "(?P<space>\\s+)";

[[noreturn]] void refuse_pattern(std::string_view pattern, const std::string& why) {
  throw Error(Code::bad_attribute,
              "the expression '" + std::string(pattern.substr(0, 120)) + "' of a tokenizer cannot be done: " + why);
}

/// \s, \S, \d and \w as classes of Unicode; quantifiers that never give back as plain ones: in tokenizers' expressions
/// what follows them cannot match what they hold.
std::string in_words_of_re2(std::string_view pattern) {
  std::string text;
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char b = pattern[i], next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (b == '\\') {
      ++i;
      const std::string open = in_set ? "" : "[", close = in_set ? "" : "]";
      if (next == 's')
        text += open + std::string(kSpace) + close;
      else if (next == 'd')
        text += "\\p{Nd}";
      else if (next == 'w')
        text += open + "\\p{L}\\p{M}\\p{N}\\p{Pc}" + close;
      else if (next == 'S' && !in_set)
        text += "[^" + std::string(kSpace) + "]";
      else if (next == 'S')
        refuse_pattern(pattern, "\\S inside a set");
      else
        text.append({b, next});
      continue;
    }
    if (b == '[') in_set = true;
    if (b == ']') in_set = false;
    text += b;
    if (!in_set && (b == '+' || b == '*' || b == '?') && next == '+') ++i;
  }
  return text;
}

}  // namespace

PreTokenizer::PreTokenizer(std::string_view pattern) {
  std::string plain(pattern);
  if (const std::size_t at = plain.find(kRunAlternatives); at != std::string::npos)
    plain.replace(at, kRunAlternatives.size(), kRunGroup);
  if (plain.find("(?!") != std::string::npos || plain.find("(?=") != std::string::npos ||
      plain.find("(?<") != std::string::npos)
    refuse_pattern(pattern, "it looks ahead or behind");
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<RE2>(in_words_of_re2(plain), options);
  if (!regex->ok()) refuse_pattern(pattern, regex->error());
  const auto& names = regex->NamedCapturingGroups();
  if (const auto it = names.find("space"); it != names.end()) space_group_ = it->second;
  regex_ = std::move(regex);
}

void PreTokenizer::cut(std::string_view text, std::vector<std::string_view>& pieces) const {
  const re2::StringPiece whole(text.data(), text.size());
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(space_group_) + 1);
  for (std::size_t from = 0, done = 0; done < text.size();) {
    const bool is_found = from < text.size() && regex_->Match(whole, from, text.size(), RE2::UNANCHORED, groups.data(),
                                                              static_cast<int>(groups.size()));
    if (!is_found) {
      pieces.push_back(text.substr(done));
      return;
    }
    const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
    std::size_t end = begin + groups[0].size();
    if (end == begin) {
      from = begin + first_character(text.substr(begin)).bytes;
      continue;
    }
    if (space_group_ && groups.back().data() && end < text.size()) {
      std::size_t last = end - 1;
      while (last > begin && (static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
      if (last > begin) end = last;
    }
    if (begin > done) pieces.push_back(text.substr(done, begin - done));
    pieces.push_back(text.substr(begin, end - begin));
    from = done = end;
  }
}

}  // namespace ingot::ops
