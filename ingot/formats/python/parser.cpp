// A Python program as statements and expressions, by recursive descent with a limit.
#include <algorithm>
#include <array>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/formats/python/lexer.h"

namespace ingot::formats::python {
namespace {

using Kind = Expression::Kind;
constexpr int kMostDepth = 200, kMostTreeDepth = 400;

struct Level {
  std::array<std::string_view, 5> signs;
};
// From the loosest to the tightest, above comparisons.
constexpr Level kLevels[] = {{{"|"}}, {{"^"}}, {{"&"}}, {{"<<", ">>"}}, {{"+", "-"}}, {{"*", "/", "//", "%", "@"}}};
constexpr std::array<std::string_view, 18> kUnread = {"if",    "for",    "while",  "with",     "try",      "class",
                                                      "async", "raise",  "assert", "del",      "global",   "match",
                                                      "yield", "except", "elif",   "continue", "nonlocal", "break"};

/// Long chains are deep too: a.b.c, 1 + 2 + 3.
Expr measured(std::shared_ptr<Expression> made) {
  for (const Expr& part : made->parts)
    if (part) made->depth = std::max(made->depth, part->depth + 1);
  if (made->depth > kMostTreeDepth) refuse(made->place, "it is nested too deeply");
  return made;
}

Expr make(Kind kind, const Place& place, std::string text = {}, std::vector<Expr> parts = {}) {
  auto made = std::make_shared<Expression>();
  made->kind = kind;
  made->place = place;
  made->text = std::move(text);
  made->parts = std::move(parts);
  return measured(std::move(made));
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Statement> program() {
    std::vector<Statement> all;
    while (now().kind != Token::Kind::end) statement(all);
    return all;
  }

 private:
  struct Deeper {
    Deeper(int& counter, const Place& place) : depth(counter) {
      if (++depth > kMostDepth) refuse(place, "it is nested too deeply");
    }
    ~Deeper() { --depth; }
    int& depth;
  };

  const Token& now(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool accept(std::string_view sign) {
    if (!now().is(sign)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) refuse(now().place, "'" + std::string(sign) + "' is missing");
  }
  std::string word() {
    if (now().kind != Token::Kind::word) refuse(now().place, "a name is missing");
    return tokens_[at_++].text;
  }
  void end_of_statement() {
    if (accept(";")) {
      if (now().kind == Token::Kind::newline) ++at_;
      return;
    }
    if (now().kind != Token::Kind::newline && now().kind != Token::Kind::end)
      refuse(now().place, "'" + now().text + "' stands where the statement should end");
    if (now().kind == Token::Kind::newline) ++at_;
  }

  std::vector<Statement> block() {
    std::vector<Statement> body;
    expect(":");
    if (now().kind != Token::Kind::newline) {
      statement(body);
      return body;
    }
    ++at_;
    if (now().kind != Token::Kind::indent) refuse(now().place, "a block is missing");
    ++at_;
    while (now().kind != Token::Kind::dedent && now().kind != Token::Kind::end) statement(body);
    if (now().kind == Token::Kind::dedent) ++at_;
    return body;
  }

  /// Passes over a statement with all of its block.
  void skip() {
    int depth = 0;
    bool was_newline = false;
    for (; now().kind != Token::Kind::end; ++at_) {
      if (now().kind == Token::Kind::indent) ++depth;
      if (now().kind == Token::Kind::dedent && --depth <= 0) {
        ++at_;
        return;
      }
      if (was_newline && depth == 0 && now().kind != Token::Kind::indent) return;
      was_newline = now().kind == Token::Kind::newline;
    }
  }

  void statement(std::vector<Statement>& into) {
    const Deeper deeper(depth_, now().place);
    Statement made;
    made.place = now().place;
    const Token& first = now();
    if (first.kind == Token::Kind::newline) {
      ++at_;
      return;
    }
    if (first.kind == Token::Kind::indent) refuse(first.place, "the line is indented without reason");
    if (is_loop_of_names()) {
      loop(made);
      into.push_back(std::move(made));
      return;
    }
    if (first.is("@") || std::ranges::find(kUnread, first.text) != kUnread.end()) {
      made.text = first.is("@") ? "a decorator" : "'" + first.text + "'";
      skip();
      into.push_back(std::move(made));
      return;
    }
    if (first.is("def"))
      function(made);
    else if (first.is("import") || first.is("from"))
      import(made);
    else
      simple(made);
    into.push_back(std::move(made));
  }

  /// for a in ..., for a, b in ...; other targets are not read.
  bool is_loop_of_names() const {
    if (!now().is("for")) return false;
    std::size_t ahead = 1;
    for (; now(ahead).kind == Token::Kind::word && now(ahead + 1).is(","); ahead += 2) continue;
    return now(ahead).kind == Token::Kind::word && now(ahead + 1).is("in");
  }

  void loop(Statement& made) {
    made.kind = Statement::Kind::loop;
    do {
      ++at_;
      made.names.push_back(word());
    } while (now().is(","));
    expect("in");
    made.value = expressions();
    made.body = block();
  }

  void function(Statement& made) {
    made.kind = Statement::Kind::function;
    ++at_;
    made.text = word();
    expect("(");
    while (!accept(")")) {
      made.names.push_back(word());
      if (accept(":")) (void)expression();
      if (accept("=")) refuse(now().place, "parameters with defaults are not read");
      if (!now().is(")")) expect(",");
    }
    if (accept("->")) (void)expression();
    made.body = block();
  }

  std::string dotted() {
    std::string name = word();
    while (accept(".")) name += "." + word();
    return name;
  }

  void import(Statement& made) {
    made.kind = Statement::Kind::import;
    const bool is_from = accept("from");
    if (!is_from) ++at_;
    made.text = dotted();
    if (is_from) {
      expect("import");
      const bool has_bracket = accept("(");
      do {
        const std::string name = word();
        made.names.push_back(accept("as") ? word() : name);
        made.targets.push_back(make(Kind::name, made.place, name));
      } while (accept(",") && !now().is(")"));
      if (has_bracket) expect(")");
    } else {
      made.names.push_back(accept("as") ? word() : made.text.substr(0, made.text.find('.')));
      if (now().is(",")) refuse(now().place, "one import to a line is read");
    }
    end_of_statement();
  }

  void simple(Statement& made) {
    if (accept("pass")) {
      made.kind = Statement::Kind::nothing;
      return end_of_statement();
    }
    if (accept("return")) {
      made.kind = Statement::Kind::result;
      if (now().kind != Token::Kind::newline && now().kind != Token::Kind::end) made.value = expressions();
      return end_of_statement();
    }
    made.value = expressions();
    made.kind = Statement::Kind::expression;
    if (accept(":")) (void)expression();  // an annotation
    while (accept("=")) {
      made.kind = Statement::Kind::assignment;
      made.targets.push_back(made.value);
      made.value = expressions();
    }
    constexpr std::string_view kAugmented[] = {"+=", "-=", "*=", "/=", "//=", "%=", "**="};
    for (const std::string_view sign : kAugmented)
      if (made.kind == Statement::Kind::expression && accept(sign)) {
        made.kind = Statement::Kind::assignment;
        made.text = sign.substr(0, sign.size() - 1);
        made.targets.push_back(made.value);
        made.value = expressions();
      }
    end_of_statement();
  }

  /// Several between commas are a tuple.
  Expr expressions() {
    const Place place = now().place;
    Expr first = expression();
    if (!now().is(",")) return first;
    std::vector<Expr> all = {first};
    while (accept(",")) {
      if (now().kind == Token::Kind::newline || now().is("=") || now().is("]") || now().is(")")) break;
      all.push_back(expression());
    }
    return make(Kind::tuple, place, {}, std::move(all));
  }

  Expr expression() {
    const Deeper deeper(depth_, now().place);
    if (now().is("lambda")) return lambda();
    const Place place = now().place;
    Expr yes = logic_or();
    if (!accept("if")) return yes;
    Expr condition = logic_or();
    expect("else");
    return make(Kind::choice, place, {}, {condition, yes, expression()});
  }

  Expr lambda() {
    auto made = std::make_shared<Expression>();
    made->kind = Kind::lambda;
    made->place = now().place;
    ++at_;
    while (!accept(":")) {
      made->names.push_back(word());
      if (!now().is(":")) expect(",");
    }
    made->parts.push_back(expression());
    return measured(std::move(made));
  }

  Expr logic_or() {
    Expr left = logic_and();
    while (now().is("or")) {
      const Place place = tokens_[at_++].place;
      left = make(Kind::logic, place, "or", {left, logic_and()});
    }
    return left;
  }
  Expr logic_and() {
    Expr left = logic_not();
    while (now().is("and")) {
      const Place place = tokens_[at_++].place;
      left = make(Kind::logic, place, "and", {left, logic_not()});
    }
    return left;
  }
  Expr logic_not() {
    const Deeper deeper(depth_, now().place);
    if (!now().is("not")) return comparison();
    const Place place = tokens_[at_++].place;
    return make(Kind::unary, place, "not", {logic_not()});
  }

  std::string comparison_sign() {
    for (const std::string_view sign : {"<", "<=", "==", "!=", ">", ">=", "in"})
      if (now().is(sign)) return std::string(sign);
    if (now().is("not") && now(1).is("in")) return "not in";
    if (now().is("is")) return now(1).is("not") ? "is not" : "is";
    return {};
  }

  /// a < b < c is (a < b) and (b < c).
  Expr comparison() {
    Expr left = binary(0), all;
    for (std::string sign = comparison_sign(); !sign.empty(); sign = comparison_sign()) {
      const Place place = now().place;
      at_ += sign == "not in" || sign == "is not" ? 2 : 1;
      Expr right = binary(0);
      Expr one = make(Kind::compare, place, sign, {left, right});
      all = all ? make(Kind::logic, place, "and", {all, one}) : one;
      left = right;
    }
    return all ? all : left;
  }

  Expr binary(std::size_t level) {
    if (level == std::size(kLevels)) return unary();
    Expr left = binary(level + 1);
    for (;;) {
      const auto& signs = kLevels[level].signs;
      const bool fits = now().kind == Token::Kind::sign && std::ranges::find(signs, now().text) != signs.end();
      if (!fits) return left;
      const Token& sign = tokens_[at_++];
      left = make(Kind::binary, sign.place, sign.text, {left, binary(level + 1)});
    }
  }

  Expr unary() {
    const Deeper deeper(depth_, now().place);
    for (const char* sign : {"-", "+", "~"})
      if (now().is(sign)) {
        const Place place = tokens_[at_++].place;
        return make(Kind::unary, place, sign, {unary()});
      }
    Expr base = postfix();
    if (!now().is("**")) return base;
    const Place place = tokens_[at_++].place;
    return make(Kind::binary, place, "**", {base, unary()});
  }

  Expr postfix() {
    Expr made = atom();
    for (;;) {
      const Place place = now().place;
      if (accept(".")) {
        const Place at = now().place;
        made = make(Kind::attribute, at, word(), {made});
      } else if (accept("(")) {
        made = call(made, made->place);
      } else if (accept("[")) {
        made = make(Kind::item, place, {}, {made, index()});
        expect("]");
      } else {
        return made;
      }
    }
  }

  Expr call(const Expr& function, const Place& place) {
    auto made = std::make_shared<Expression>();
    made->kind = Kind::call;
    made->place = place;
    made->parts.push_back(function);
    while (!accept(")")) {
      if (now().is("*") || now().is("**")) refuse(now().place, "arguments behind stars are not read");
      std::string name;
      if (now().kind == Token::Kind::word && now(1).is("=")) {
        name = word();
        ++at_;
      }
      made->parts.push_back(expression());
      made->names.push_back(std::move(name));
      if (!now().is(")")) expect(",");
    }
    return measured(std::move(made));
  }

  Expr index_part() {
    const Place place = now().place;
    const auto ends = [&] { return now().is(":") || now().is("]") || now().is(","); };
    Expr first = ends() ? nullptr : expression();
    if (!now().is(":")) return first ? first : make(Kind::other, place, "an empty index");
    std::vector<Expr> parts = {first};
    while (accept(":")) parts.push_back(ends() ? nullptr : expression());
    parts.resize(3);
    return make(Kind::slice, place, {}, std::move(parts));
  }

  Expr index() {
    const Place place = now().place;
    std::vector<Expr> all = {index_part()};
    while (accept(",") && !now().is("]")) all.push_back(index_part());
    return all.size() == 1 ? all[0] : make(Kind::tuple, place, {}, std::move(all));
  }

  Expr number(const Token& token) {
    auto made = std::make_shared<Expression>();
    made->place = token.place;
    const std::string& text = token.text;
    const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
    const bool is_real = !is_hex && text.find_first_of(".eE") != std::string::npos;
    made->kind = is_real ? Kind::real : Kind::integer;
    const char* begin = text.data() + (is_hex ? 2 : 0);
    const char* end = text.data() + text.size();
    std::from_chars_result done{};
    if (is_hex) {
      std::int64_t whole = 0;
      done = std::from_chars(begin, end, whole, 16);
      made->number = static_cast<double>(whole);
    } else {
      done = std::from_chars(begin, end, made->number);
    }
    if (done.ec != std::errc() || done.ptr != end) refuse(token.place, "'" + text + "' is no number");
    if (!is_real && made->number > 9007199254740992.0) refuse(token.place, "'" + text + "' is too large");
    return made;
  }

  Expr atom() {
    const Token token = now();
    if (token.kind == Token::Kind::number) {
      ++at_;
      return number(token);
    }
    if (token.kind == Token::Kind::text) {
      std::string value;
      bool is_format = false;
      while (now().kind == Token::Kind::text) {
        value += now().text;
        is_format |= now().is_format;
        ++at_;
      }
      return is_format ? make(Kind::other, token.place, "a text that has to be computed")
                       : make(Kind::text, token.place, std::move(value));
    }
    if (token.kind == Token::Kind::word) {
      ++at_;
      const bool is_constant = token.text == "None" || token.text == "True" || token.text == "False";
      return make(is_constant ? Kind::constant : Kind::name, token.place, token.text);
    }
    if (accept("(")) return bracketed(token.place, ")", Kind::tuple);
    if (accept("[")) return bracketed(token.place, "]", Kind::list);
    if (accept("{")) return braces(token.place);
    refuse(token.place, token.text.empty() ? "an expression is missing" : "'" + token.text + "' begins no expression");
  }

  Expr comprehension(const Place& place, std::string_view end) {
    int depth = 0;
    while (now().kind != Token::Kind::end && (depth > 0 || !now().is(end))) {
      depth += now().is("(") || now().is("[") || now().is("{") ? 1 : 0;
      depth -= now().is(")") || now().is("]") || now().is("}") ? 1 : 0;
      ++at_;
    }
    expect(end);
    return make(Kind::other, place, "a comprehension");
  }

  Expr bracketed(const Place& place, std::string_view end, Kind kind) {
    std::vector<Expr> all;
    bool has_comma = false;
    while (!accept(end)) {
      all.push_back(expression());
      if (now().is("for")) return comprehension(place, end);
      if (now().is(end)) continue;
      expect(",");
      has_comma = true;
    }
    return kind == Kind::tuple && all.size() == 1 && !has_comma ? all[0] : make(kind, place, {}, std::move(all));
  }

  Expr braces(const Place& place) {
    std::vector<Expr> all;
    bool is_set = false;
    while (!accept("}")) {
      all.push_back(expression());
      if (accept(":"))
        all.push_back(expression());
      else
        is_set = true;
      if (now().is("for")) return comprehension(place, "}");
      if (!now().is("}")) expect(",");
    }
    return is_set ? make(Kind::list, place, {}, std::move(all)) : make(Kind::dict, place, {}, std::move(all));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<Statement> parse(std::string_view text) { return Parser(tokens_of(text)).program(); }

}  // namespace ingot::formats::python
