// Words of the text syntax, and errors that show their place.
#include "ingot/onnx/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ingot::onnx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// The line around a position, cut to what fits a terminal, with a mark below the position.
std::string snippet(std::string_view text, std::size_t position) {
  constexpr std::size_t kBefore = 60, kAfter = 40;
  const std::size_t before = text.substr(0, position).rfind('\n');
  std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  std::size_t end = std::min(text.find('\n', position), text.size());
  const bool cut_front = position - start > kBefore, cut_back = end - position > kAfter;
  if (cut_front) start = position - kBefore;
  if (cut_back) end = position + kAfter;
  // Only plain characters keep the mark below its place.
  std::string line(text.substr(start, end - start));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = c == '\t' ? ' ' : '?';
  const std::string front = cut_front ? "..." : "";
  return fmt::format("    {}{}{}\n    {:>{}}", front, line, cut_back ? "..." : "", "^",
                     front.size() + position - start + 1);
}

}  // namespace

void Lexer::fail(Code code, std::size_t position, const std::string& message) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? position + 1 : position - newline;
  throw Error(code, fmt::format("line {}, column {}: {}\n{}", line, column, message, snippet(text_, position)));
}

void Lexer::fail_expected(std::string_view what) const {
  constexpr std::size_t kLongest = 40;
  const std::string found = next_.kind == Token::Kind::end      ? "the end of the text"
                            : next_.kind == Token::Kind::string ? "a string"
                            : next_.kind == Token::Kind::bytes  ? "bytes"
                                                                : fmt::format("'{}'", next_.text.substr(0, kLongest));
  fail(Code::text_syntax, next_.position, fmt::format("expected {}, found {}", what, found));
}

Token Lexer::take() {
  Token next = scan();
  return std::exchange(next_, next);
}

bool Lexer::accept(std::string_view mark) {
  if (!is(mark)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view mark, std::string_view where) {
  if (!accept(mark)) fail_expected(fmt::format("'{}' {}", mark, where));
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#')
      position_ = std::min(text_.find('\n', position_), text_.size());
    else if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++position_;
    else
      return;
  }
}

Token Lexer::make(Token::Kind kind, std::size_t start, std::size_t end) {
  position_ = end;
  return {kind, text_.substr(start, end - start), start};
}

Token Lexer::scan() {
  skip_blanks();
  const std::size_t start = position_;
  if (start == text_.size()) return {Token::Kind::end, {}, start};
  const char c = text_[start];
  const auto run = [&](std::size_t from, auto&& belongs) {
    while (from < text_.size() && belongs(text_[from])) ++from;
    return from;
  };
  const auto word = [](char x) { return is_letter(x) || is_digit(x); };
  if (is_letter(c)) return make(Token::Kind::identifier, start, run(start, word));
  if (c == '"') return quoted(start);
  if (c == '0' && (at(start + 1, 'x') || at(start + 1, 'X'))) {
    Token token = make(Token::Kind::bytes, start + 2, run(start + 2, is_hex_digit));
    token.position = start;
    if (position_ < text_.size() && word(text_[position_]))
      fail(Code::text_bad_literal, position_, "not a hexadecimal digit");
    return token;
  }
  if (c == '-' && start + 1 < text_.size() && is_letter(text_[start + 1]))
    return make(Token::Kind::decimal, start, run(start + 1, word));
  if (is_digit(c) || (c == '-' && start + 1 < text_.size() && is_digit(text_[start + 1]))) return number(start);
  if (text_.substr(start, 2) == "=>") return make(Token::Kind::mark, start, start + 2);
  if (text_.substr(start, 3) == "...") return make(Token::Kind::mark, start, start + 3);
  if (std::string_view("<>()[]{}=,.:?@%").find(c) != std::string_view::npos)
    return make(Token::Kind::mark, start, start + 1);
  fail(Code::text_syntax, start, "this character has no meaning here");
}

Token Lexer::number(std::size_t start) {
  std::size_t end = start + (text_[start] == '-');
  const auto digits = [&] {
    while (end < text_.size() && is_digit(text_[end])) ++end;
  };
  Token::Kind kind = Token::Kind::integer;
  digits();
  if (at(end, '.') && !at(end + 1, '.')) {
    kind = Token::Kind::decimal;
    ++end;
    digits();
  }
  if (at(end, 'e') || at(end, 'E')) {
    kind = Token::Kind::decimal;
    ++end;
    if (at(end, '+') || at(end, '-')) ++end;
    digits();
  }
  if (end < text_.size() && is_letter(text_[end])) fail(Code::text_bad_literal, start, "this is not a number");
  return make(kind, start, end);
}

Token Lexer::quoted(std::size_t start) {
  std::size_t end = start + 1;
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) fail(Code::text_syntax, start, "this string does not end");
  Token token = make(Token::Kind::string, start + 1, end);
  token.position = start;
  ++position_;
  return token;
}

}  // namespace ingot::onnx
