// Protobuf's text syntax, read into the binary form.
#include "ingot/formats/tensorflow/text.h"

#include <algorithm>
#include <cctype>

#include "ingot/base/error.h"

namespace ingot::formats::tensorflow {
namespace {

constexpr int kMostNested = 64;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '+';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::string message(Message type, char close, int depth) {
    if (depth > kMostNested) fail(Code::too_deep, "messages are nested too deeply");
    MessageText out;
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) {
        if (close) fail(Code::text_syntax, std::string("'") + close + "' is missing at the end");
        return out.take();
      }
      if (text_[at_] == close) {
        ++at_;
        return out.take();
      }
      field(out, type, depth);
      skip_blanks();
      if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ';')) ++at_;
    }
  }

  std::string_view name() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') {
      const std::size_t end = text_.find(']', at_);
      if (end == text_.npos) fail(Code::text_syntax, "']' is missing");
      const std::string_view extension = text_.substr(at_, end + 1 - at_);
      at_ = end + 1;
      return extension;
    }
    return word();
  }

 private:
  void field(MessageText& out, Message type, int depth) {
    const std::string_view field_name = name();
    const FieldRow* row = find_field(type, field_name);
    skip_blanks();
    const bool has_colon = accept(':');
    skip_blanks();
    if (accept('[')) {
      for (skip_blanks(); !accept(']'); skip_blanks()) {
        value(out, row, depth, true);
        skip_blanks();
        accept(',');
      }
      return;
    }
    value(out, row, depth, has_colon);
  }

  void value(MessageText& out, const FieldRow* row, int depth, bool has_colon) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '{' || c == '<') {
      ++at_;
      const bool holds = row && (row->kind == FieldKind::message || row->kind == FieldKind::map);
      const std::string inner = message(holds ? row->type : Message::none, c == '{' ? '}' : '>', depth + 1);
      if (holds) out.bytes(row->number, inner);
      if (row && !holds) fail(Code::text_syntax, "field '" + std::string(row->name) + "' is no message");
      return;
    }
    if (!has_colon) fail(Code::text_syntax, "':' or '{' is missing");
    if (c == '"' || c == '\'') {
      const std::string text = strings();
      if (!row) return;
      if (row->kind != FieldKind::text && row->kind != FieldKind::bytes)
        fail(Code::text_syntax, "field '" + std::string(row->name) + "' is no text");
      out.bytes(row->number, text);
      return;
    }
    const std::string_view w = word();
    if (row) append_word(out, *row, w);
  }

  /// One literal after the other is one text.
  std::string strings() {
    std::string result;
    while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      for (;;) {
        if (at_ >= text_.size() || text_[at_] == '\n') fail(Code::text_bad_literal, "a text does not end");
        const char c = text_[at_++];
        if (c == quote) break;
        if (c == '\\')
          escape(result);
        else
          result += c;
      }
      skip_blanks();
    }
    return result;
  }

  void escape(std::string& out) {
    if (at_ >= text_.size()) fail(Code::text_bad_literal, "a text does not end");
    const char c = text_[at_++];
    constexpr std::string_view kLetters = "abfnrtv\\'\"?";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"?";
    if (const std::size_t i = kLetters.find(c); i != kLetters.npos) {
      out += kMeanings[i];
    } else if (c >= '0' && c <= '7') {
      int value = c - '0';
      for (int k = 0; k < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++k)
        value = value * 8 + (text_[at_++] - '0');
      out += static_cast<char>(value);
    } else if (c == 'x' || c == 'X') {
      int value = 0, digits = 0;
      for (; digits < 2 && at_ < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[at_])); ++digits) {
        const char d = text_[at_++];
        value = value * 16 + (d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
      }
      if (!digits) fail(Code::text_bad_literal, "'\\x' without digits");
      out += static_cast<char>(value);
    } else {
      fail(Code::text_bad_literal, std::string("there is no '\\") + c + "'");
    }
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start) fail(Code::text_syntax, "a name or value is missing");
    return text_.substr(start, at_ - start);
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else
        return;
    }
  }

  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(Code code, const std::string& what) const {
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Error(code, "line " + std::to_string(lines + 1) + ": " + what);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string binary_of_text(std::string_view text, Message message) { return Parser(text).message(message, '\0', 0); }

std::string first_field(std::string_view text) try {
  return std::string(Parser(text.substr(0, 4096)).name());
} catch (const Error&) {
  return {};
}

}  // namespace ingot::formats::tensorflow
