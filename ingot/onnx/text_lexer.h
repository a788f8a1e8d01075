#pragma once
#include <string>
#include <string_view>

#include "ingot/base/error.h"

namespace ingot::onnx {

/// A word of the text; `text` is a view into it.
struct Token {
  enum class Kind {
    end,
    identifier,
    integer,  // digits, with a sign at most
    decimal,  // with a point or an exponent, or a negative infinity or NaN
    string,   // what stands between the quotes, escapes and all
    bytes,    // the digits after 0x
    mark,     // one character, "=>" or "..."
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::size_t position = 0;
};

/// Cuts a text into words, one ahead of the parser. Blanks separate, # begins a comment up to the end of the line.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { take(); }

  const Token& peek() const { return next_; }
  /// The word ahead, and goes on to the one after.
  Token take();

  /// Whether the word ahead is this mark.
  bool is(std::string_view mark) const { return next_.kind == Token::Kind::mark && next_.text == mark; }
  /// Takes the word ahead if it is this mark.
  bool accept(std::string_view mark);
  void expect(std::string_view mark, std::string_view where);

  /// Line, column and the line itself are added to the message.
  [[noreturn]] void fail(Code code, std::size_t position, const std::string& message) const;
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  Token scan();
  void skip_blanks();
  Token number(std::size_t start);
  Token quoted(std::size_t start);
  Token make(Token::Kind kind, std::size_t start, std::size_t end);
  bool at(std::size_t position, char c) const { return position < text_.size() && text_[position] == c; }

  std::string_view text_;
  std::size_t position_ = 0;
  Token next_;
};

}  // namespace ingot::onnx
