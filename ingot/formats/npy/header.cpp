// The head of a .npy file: a Python literal, read by a grammar of its own and never evaluated.
#include "ingot/formats/npy/header.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

namespace ingot::formats::npy {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      bool* const seen = key == "descr"           ? &has_descr
                         : key == "fortran_order" ? &has_order
                         : key == "shape"         ? &has_shape
                                                  : nullptr;
      if (!seen || *seen) refuse("an unknown or repeated key");
      *seen = true;
      if (seen == &has_descr)
        header.descr = descr();
      else if (seen == &has_order)
        header.is_fortran = boolean();
      else
        header.dims = tuple();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size() || !has_descr || !has_order || !has_shape) refuse("not the three keys that it must have");
    return header;
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    throw Error(Code::bad_array_file, fmt::format("the header of the array has {} (at character {})", why, at_));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse("something else than a dictionary");
  }
  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("no string where one must be");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a string without end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  std::string descr() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      throw Error(Code::unsupported_feature, "the array has elements of several fields")
          .hint("save each field as an array of its own");
    return string();
  }
  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    refuse("neither True nor False as fortran_order");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (values.size() > 64) refuse("more than 64 dimensions");
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return values;
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        refuse("a dimension that is too large");
    if (at_ == start) refuse("no number where one must be");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote it
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Header parse_header(std::string_view text) { return Parser(text).parse(); }

std::string header_text(const Header& header) {
  std::string dims;
  for (const std::int64_t d : header.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
  if (header.dims.size() == 1) dims += ",";
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", header.descr,
                     header.is_fortran ? "True" : "False", dims);
}

}  // namespace ingot::formats::npy
