// A Python program as words and signs.
#include "ingot/formats/python/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/base/utf8.h"

namespace ingot::formats::python {
namespace {

constexpr std::size_t kMostTokens = 100'000, kMostNested = 100;
constexpr std::array<std::string_view, 14> kLongSigns = {
    "**=", "//=", "**", "//", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "->"};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> take() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    begin_line();
    while (at_ < text_.size()) step();
    if (!open_.empty()) refuse(open_.back(), "a bracket is never closed");
    if (!made_.empty() && made_.back().kind != Token::Kind::newline) add(Token::Kind::newline, "");
    while (indents_.size() > 1) {
      indents_.pop_back();
      add(Token::Kind::dedent, "");
    }
    add(Token::Kind::end, "");
    return std::move(made_);
  }

 private:
  Place here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void add(Token::Kind kind, std::string text) {
    if (made_.size() >= kMostTokens) refuse(here(), "the program is too long");
    made_.push_back({kind, std::move(text), here()});
  }

  void new_line() {
    ++line_;
    line_start_ = at_;
  }

  /// Blanks at the beginning of a line that holds something.
  void begin_line() {
    for (;;) {
      std::size_t depth = 0;
      while (peek() == ' ' || peek() == '\t') {
        depth = peek() == '\t' ? (depth / 8 + 1) * 8 : depth + 1;
        ++at_;
      }
      if (peek() == '#')
        while (at_ < text_.size() && peek() != '\n') ++at_;
      if (peek() == '\r') ++at_;
      if (peek() == '\n') {
        ++at_;
        new_line();
        continue;
      }
      if (at_ >= text_.size()) return;
      if (depth > indents_.back()) {
        if (indents_.size() > kMostNested) refuse(here(), "it is nested too deeply");
        indents_.push_back(depth);
        add(Token::Kind::indent, "");
      }
      while (depth < indents_.back()) {
        indents_.pop_back();
        add(Token::Kind::dedent, "");
      }
      if (depth != indents_.back()) refuse(here(), "the indentation fits no line above");
      return;
    }
  }

  void step() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '#') {
      while (at_ < text_.size() && peek() != '\n') ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
      new_line();
    } else if (c == '\n') {
      if (open_.empty()) add(Token::Kind::newline, "");
      ++at_;
      new_line();
      if (open_.empty()) begin_line();
    } else if (c == '"' || c == '\'') {
      text_token("");
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (begins_word(c)) {
      word();
    } else {
      sign();
    }
  }

  void word() {
    const std::size_t start = at_;
    while (begins_word(peek()) || is_digit(peek())) ++at_;
    const std::string found(text_.substr(start, at_ - start));
    if ((peek() == '"' || peek() == '\'') && found.size() <= 2) {
      text_token(found);
      return;
    }
    at_ = start;
    add(Token::Kind::word, found);
    at_ = start + found.size();
  }

  void number() {
    const std::size_t start = at_;
    const auto take = [&](auto fits) {
      while (fits(peek())) ++at_;
    };
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      take([](char c) { return std::isxdigit(static_cast<unsigned char>(c)) || c == '_'; });
    } else {
      take([](char c) { return is_digit(c) || c == '.' || c == '_'; });
      if (peek() == 'e' || peek() == 'E') {
        at_ += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
        take(is_digit);
      }
    }
    std::string digits;
    for (const char c : text_.substr(start, at_ - start))
      if (c != '_') digits += c;
    const std::size_t end = at_;
    at_ = start;
    add(Token::Kind::number, digits);
    at_ = end;
  }

  void text_token(const std::string& prefix) {
    const Place begin = {line_, static_cast<int>(at_ - line_start_) + 1 - static_cast<int>(prefix.size())};
    const bool is_raw = prefix.find_first_of("rR") != std::string::npos;
    const char quote = peek();
    const bool is_long = peek(1) == quote && peek(2) == quote;
    at_ += is_long ? 3 : 1;
    std::string value;
    for (;;) {
      if (at_ >= text_.size() || (!is_long && peek() == '\n')) refuse(begin, "a text is never closed");
      if (peek() == quote && (!is_long || (peek(1) == quote && peek(2) == quote))) break;
      if (peek() == '\\' && !is_raw)
        escape(value);
      else if (peek() == '\\' && at_ + 1 < text_.size())
        value += {text_[at_], text_[at_ + 1]}, at_ += 2;
      else
        plain(value);
    }
    at_ += is_long ? 3 : 1;
    if (made_.size() >= kMostTokens) refuse(begin, "the program is too long");
    const bool is_format = prefix.find_first_of("fFbB") != std::string::npos;
    made_.push_back({Token::Kind::text, std::move(value), begin, is_format});
  }

  void plain(std::string& value) {
    value += peek();
    ++at_;
    if (value.back() == '\n') new_line();
  }

  void escape(std::string& value) {
    constexpr std::string_view kFrom = "nrt\\'\"0abfv", kTo("\n\r\t\\'\"\0\a\b\f\v", 11);
    const char c = peek(1);
    at_ += 2;
    if (c == '\n') return new_line();
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (const std::size_t i = kFrom.find(c); i != std::string_view::npos && c != '\0')
      value += kTo[i];
    else if (digits)
      character(value, digits);
    else if (is_digit(c) || c == 'N')
      refuse(here(), "a character is written in a way that is not read");
    else
      value += {'\\', c};
  }

  /// A character by its number, as UTF-8.
  void character(std::string& value, std::size_t digits) {
    std::uint32_t code = 0;
    const std::string_view text = text_.substr(std::min(at_, text_.size()), digits);
    const auto done = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() != digits || done.ptr != text.data() + digits || code > 0x10ffff || (code >> 11) == 0x1b)
      refuse(here(), "a character has a number that none has");
    at_ += digits;
    append_utf8(value, code);
  }

  void sign() {
    const Place place = here();
    std::string found(1, peek());
    for (const std::string_view known : kLongSigns)
      if (text_.substr(at_).starts_with(known)) {
        found = known;
        break;
      }
    if (std::string_view("+-*/%@&|^~<>=!()[]{},.:;").find(found[0]) == std::string_view::npos)
      refuse(place, "the character '" + found + "' stands where none should");
    if (std::string_view("([{").find(found[0]) != std::string_view::npos) {
      if (open_.size() >= kMostNested) refuse(place, "it is nested too deeply");
      open_.push_back(place);
    }
    if (std::string_view(")]}").find(found[0]) != std::string_view::npos) {
      if (open_.empty()) refuse(place, "a bracket is closed that was never opened");
      open_.pop_back();
    }
    add(Token::Kind::sign, found);
    at_ += found.size();
  }

  std::string_view text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  std::vector<std::size_t> indents_ = {0};
  std::vector<Place> open_;
  std::vector<Token> made_;
};

}  // namespace

void refuse(const Place& place, const std::string& what) {
  throw Error(Code::bad_source_graph,
              "line " + std::to_string(place.line) + ", column " + std::to_string(place.column) + ": " + what);
}

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).take(); }

}  // namespace ingot::formats::python
