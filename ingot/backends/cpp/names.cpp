// Names of a model, which are anybody's, as harmless words of a program.
#include "ingot/backends/cpp/names.h"

#include <algorithm>

namespace ingot::backends::cpp {
namespace {

constexpr std::string_view kWords[] = {
    "INFINITY",  "NAN",      "NULL",      "alignas",   "alignof",  "and",      "arena",  "asm",     "auto",
    "bitand",    "bitor",    "bool",      "break",     "case",     "catch",    "char",   "class",   "compl",
    "concept",   "const",    "constexpr", "continue",  "decltype", "default",  "delete", "do",      "double",
    "else",      "enum",     "errno",     "explicit",  "export",   "extern",   "false",  "float",   "for",
    "friend",    "goto",     "if",        "inline",    "int",      "linux",    "long",   "main",    "mutable",
    "namespace", "new",      "noexcept",  "not",       "nullptr",  "operator", "or",     "private", "protected",
    "public",    "register", "requires",  "restrict",  "return",   "run",      "short",  "signed",  "sizeof",
    "static",    "std",      "struct",    "switch",    "template", "this",     "throw",  "true",    "try",
    "typedef",   "typeid",   "typename",  "union",     "unix",     "unsigned", "using",  "virtual", "void",
    "volatile",  "wchar_t",  "while",     "workspace", "xor",
};
static_assert(std::ranges::is_sorted(kWords), "keep the words sorted");

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::size_t kLongest = 60;

}  // namespace

std::string comment(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 2 * kLongest)) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || std::string_view(" _-.,:;()[]'=<>+").find(c) != std::string_view::npos;
    text += is_plain ? c : c == '/' ? '/' : '_';
  }
  return text;
}

std::string Names::identifier(std::string_view name, std::string_view fallback) {
  std::string base;
  for (const char c : name.substr(0, kLongest)) {
    const bool is_plain = is_letter(c) || is_digit(c);
    if (is_plain || (!base.empty() && base.back() != '_')) base += is_plain ? c : '_';
  }
  while (!base.empty() && base.back() == '_') base.pop_back();
  if (base.empty()) base = fallback;
  if (is_digit(base[0])) base = std::string(fallback) + "_" + base;
  if (std::ranges::binary_search(kWords, std::string_view(base))) base += "_";
  std::string unique = base;
  for (int i = 2; !taken_.insert(unique).second; ++i) unique = base + "_" + std::to_string(i);
  return unique;
}

}  // namespace ingot::backends::cpp
