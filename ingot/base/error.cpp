// Error: composing the text that users read, and the table of codes.
#include "ingot/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "ingot/base/printable.h"

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

}  // namespace

std::span<const CodeInfo> all_codes() { return kCodes; }

std::string code_name(Code code) { return fmt::format("IG{:04d}", static_cast<int>(code)); }

Error::Error(Code code, std::string message) : code_(code), message_(std::move(message)) { compose(); }

Error& Error::hint(std::string text) {
  if (hint_.empty()) hint_ = std::move(text);
  compose();
  return *this;
}

Error& Error::in_node(std::string_view name, std::string_view op, std::string_view label) {
  if (!has_node_) {
    has_node_ = true;
    is_label_ = name.empty() && !label.empty();
    node_ = is_label_ ? label : name;
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
    text_ += printable(file_, false, kLongestMessage);
    text_ += ": ";
  }
  if (has_node_) {
    text_ += is_label_ ? printable(node_, false, kLongestName) : "node '" + printable(node_, false, kLongestName) + "'";
    text_ += " (";
    text_ += printable(op_, false, kLongestName);
    text_ += "): ";
  }
  text_ += printable(message_, true, kLongestMessage);
  text_ += " [" + code_name(code_) + "]";
  if (!hint_.empty()) {
    text_ += "\n  hint: ";
    text_ += printable(hint_, true, kLongestMessage);
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
