// From text to tokens: indentation is a token of its own, as in Python.
#include "ingot/frontends/torch/script/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ingot/base/error.h"

namespace ingot::frontends::torch::script {
namespace {

constexpr std::size_t kMostIndents = 100;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      if (is_line_start_ && brackets_ == 0 && !read_indentation()) continue;
      read_token();
    }
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::newline) add(Token::Kind::newline, at_);
    for (; indents_.size() > 1; indents_.pop_back()) add(Token::Kind::dedent, at_);
    add(Token::Kind::end, at_);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::text_syntax, fmt::format("the archive's code, line {}: {}", line_, why));
  }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  void add(Token::Kind kind, std::size_t from, std::string text = {}) {
    tokens_.push_back({kind, line_, source_.substr(from, at_ - from), std::move(text)});
  }

  /// False: the line is empty.
  bool read_indentation() {
    std::size_t width = 0;
    while (peek() == ' ') ++at_, ++width;
    if (peek() == '#') skip_comment();
    if (peek() == '\r') ++at_;
    if (peek() == '\n' || at_ >= source_.size()) {
      if (at_ < source_.size()) ++at_;
      ++line_;
      return false;
    }
    is_line_start_ = false;
    if (width > indents_.back()) {
      if (indents_.size() > kMostIndents) refuse("blocks are nested too deeply");
      indents_.push_back(width);
      add(Token::Kind::indent, at_);
    }
    for (; width < indents_.back(); indents_.pop_back()) add(Token::Kind::dedent, at_);
    if (width != indents_.back()) refuse("the indentation fits no block");
    return true;
  }

  void skip_comment() {
    while (at_ < source_.size() && peek() != '\n') ++at_;
  }

  void read_token() {
    const char c = peek();
    if (c == '\n') {
      ++at_;
      if (brackets_ == 0) {
        add(Token::Kind::newline, at_);
        is_line_start_ = true;
      }
      ++line_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      skip_comment();
    } else if ((c == 'f' || c == 'F') && (peek(1) == '"' || peek(1) == '\'')) {
      ++at_;
      read_text(peek());
      tokens_.back().kind = Token::Kind::format;
    } else if (starts_name(c)) {
      const std::size_t from = at_;
      while (continues_name(peek())) ++at_;
      add(Token::Kind::name, from);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      read_number();
    } else if (c == '"' || c == '\'') {
      read_text(c);
    } else {
      read_symbol();
    }
  }

  void read_number() {
    const std::size_t from = at_;
    bool is_real = false;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      is_real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      is_real = true;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      while (is_digit(peek())) ++at_;
    }
    add(is_real ? Token::Kind::real : Token::Kind::integer, from);
    if (peek() == 'j') {
      tokens_.back().kind = Token::Kind::imaginary;
      ++at_;
    }
  }

  void read_text(char quote) {
    const std::size_t from = at_++;
    std::string text;
    while (peek() != quote) {
      if (at_ >= source_.size() || peek() == '\n') refuse("a text has no end");
      text += peek() == '\\' ? read_escape() : source_[at_++];
    }
    ++at_;
    add(Token::Kind::text, from, std::move(text));
  }

  char read_escape() {
    ++at_;
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'a':
        return '\a';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'x':
        return read_digits(2, 16);
      default:
        break;
    }
    if (c < '0' || c > '7') return c;
    --at_;
    return read_digits(3, 8);
  }

  char read_digits(int most, int base) {
    int value = 0;
    for (int i = 0; i < most; ++i, ++at_) {
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(peek())));
      const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;
      if (digit >= base) break;
      value = value * base + digit;
    }
    return static_cast<char>(value & 0xff);
  }

  void read_symbol() {
    const std::size_t from = at_;
    constexpr std::string_view kLong[] = {"...", "**=", "//=", "<<=", ">>=", "->", "**", "==", "!=", "<=", ">=", "//",
                                          "<<",  ">>",  "+=",  "-=",  "*=",  "/=", "%=", "@=", "&=", "|=", "^="};
    const auto* found =
        std::ranges::find_if(kLong, [&](std::string_view s) { return source_.substr(at_).starts_with(s); });
    at_ += found != std::end(kLong) ? found->size() : 1;
    const std::string_view one = source_.substr(from, at_ - from);
    constexpr std::string_view kKnown = "()[]{}.,:=-+*/%<>@&|^~";
    if (one.size() == 1 && kKnown.find(one[0]) == std::string_view::npos)
      refuse(fmt::format("the character {:#x} has no meaning", static_cast<unsigned char>(one[0])));
    if (one == "(" || one == "[" || one == "{") ++brackets_;
    if ((one == ")" || one == "]" || one == "}") && --brackets_ < 0) refuse("a bracket is closed that is not open");
    add(Token::Kind::symbol, from);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1, brackets_ = 0;
  bool is_line_start_ = true;
  std::vector<std::size_t> indents_{0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).run(); }

}  // namespace ingot::frontends::torch::script
