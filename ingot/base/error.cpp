// Error: composing the text that users read, and the table of codes.
#include "ingot/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

namespace ingot {
namespace {

constexpr CodeInfo kCodes[] = {
#define INGOT_CODE(number, name, meaning, exit_code) {Code::name, #name, meaning, exit_code},
#include "ingot/base/error_codes.def"
#undef INGOT_CODE
};
static_assert(std::ranges::adjacent_find(kCodes, std::ranges::greater_equal{}, &CodeInfo::code) == std::end(kCodes),
              "keep error_codes.def sorted and free of repetitions");

constexpr std::size_t kLongestName = 300;
constexpr std::size_t kLongestMessage = 20000;

// A name out of a hostile file must not steer the terminal or fill it.
void append_printable(std::string& out, std::string_view text, std::size_t longest, bool keep_newlines) {
  const bool cut = text.size() > longest;
  if (cut) {
    const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
    for (int i = 0; i < 3 && continues(longest); ++i) --longest;  // not in the middle of a UTF-8 character
    text = text.substr(0, longest);
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F)
      out += c;
    else if (keep_newlines && (c == '\n' || c == '\t'))
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
  }
  if (cut) out += "...";
}

}  // namespace

std::span<const CodeInfo> all_codes() { return kCodes; }

std::string code_name(Code code) { return fmt::format("IG{:04d}", static_cast<int>(code)); }

Error::Error(Code code, std::string message) : code_(code), message_(std::move(message)) { compose(); }

Error& Error::hint(std::string text) {
  if (hint_.empty()) hint_ = std::move(text);
  compose();
  return *this;
}

Error& Error::in_node(std::string_view name, std::string_view op) {
  if (!has_node_) {
    has_node_ = true;
    node_ = name;
    op_ = op;
    compose();
  }
  return *this;
}

Error& Error::in_file(std::string path) {
  if (file_.empty()) file_ = std::move(path);
  compose();
  return *this;
}

int Error::exit_code() const {
  const auto* info = std::ranges::lower_bound(kCodes, code_, {}, &CodeInfo::code);
  return info != std::end(kCodes) && info->code == code_ ? info->exit_code : 70;
}

void Error::compose() {
  text_.clear();
  if (!file_.empty()) {
    append_printable(text_, file_, kLongestMessage, false);
    text_ += ": ";
  }
  if (has_node_) {
    text_ += "node '";
    append_printable(text_, node_, kLongestName, false);
    text_ += "' (";
    append_printable(text_, op_, kLongestName, false);
    text_ += "): ";
  }
  append_printable(text_, message_, kLongestMessage, true);
  text_ += " [" + code_name(code_) + "]";
  if (!hint_.empty()) {
    text_ += "\n  hint: ";
    append_printable(text_, hint_, kLongestMessage, true);
  }
}

Error system_error(Code code, std::string_view doing, const std::string& path, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  Error error(full ? Code::disk_full : code,
              fmt::format("{}: {}", doing, std::generic_category().message(error_number)));
  error.in_file(path);
  return error;
}

}  // namespace ingot
