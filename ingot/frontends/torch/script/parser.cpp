// From tokens to statements.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/frontends/torch/script/lexer.h"
#include "ingot/frontends/torch/script/syntax.h"

namespace ingot::frontends::torch::script {
namespace {

using ExprKind = Expr::Kind;
constexpr int kMostNesting = 200;

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokens_of(source)) {}

  Module module() {
    Module made;
    while (peek().kind != Token::Kind::end) {
      if (peek().is("class")) {
        made.classes.push_back(class_definition());
      } else if (peek().is("def")) {
        made.functions.push_back(function());
      } else if (peek().is("import") || peek().is("op_version_set")) {  // of old archives
        while (next().kind != Token::Kind::newline) {
        }
      } else if (peek().kind == Token::Kind::newline) {
        next();
      } else {
        refuse("a class or a function is expected");
      }
    }
    return made;
  }

 private:
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (token.kind == Token::Kind::end) refuse("the code ends in the middle of something");
    ++at_;
    return token;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::text_syntax, fmt::format("the archive's code, line {}: {}", peek().line, why));
  }
  bool accept(std::string_view what) {
    if (!peek().is(what)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) refuse(fmt::format("'{}' is expected", what));
  }
  std::string name() {
    if (peek().kind != Token::Kind::name) refuse("a name is expected");
    return std::string(next().spelling);
  }
  void expect(Token::Kind kind, const char* what) {
    if (peek().kind != kind) refuse(fmt::format("{} is expected", what));
    ++at_;
  }
  void end_line() { expect(Token::Kind::newline, "the end of the line"); }

  std::unique_ptr<Expr> made(ExprKind kind) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->line = peek().line;
    return expr;
  }

  // Expressions.

  struct Nesting {
    explicit Nesting(Parser& p) : parser(p) {
      if (++parser.nesting_ > kMostNesting) throw Error(Code::too_deep, "the archive's code is nested too deeply");
    }
    Nesting(const Nesting&) = delete;
    ~Nesting() { --parser.nesting_; }
    Parser& parser;
  };

  ExprPtr expression() { return infix(0); }

  /// PyTorch's printer writes calls only; what people and Ingot write has operators, which mean the same calls.
  struct Infix {
    std::string_view symbol, function;
    int binds;
  };
  static constexpr int kNot = 3, kMinus = 10;
  static constexpr Infix kInfixes[] = {
      {"or", "__or__", 1},   {"and", "__and__", 2}, {"==", "eq", 4},       {"!=", "ne", 4},    {"<", "lt", 4},
      {">", "gt", 4},        {"<=", "le", 4},       {">=", "ge", 4},       {"|", "__or__", 5}, {"^", "__xor__", 6},
      {"&", "__and__", 7},   {"+", "add", 8},       {"-", "sub", 8},       {"*", "mul", 9},    {"/", "div", 9},
      {"%", "remainder", 9}, {"@", "matmul", 9},    {"//", "floordiv", 9}, {"**", "pow", 11},
  };

  /// torch.function(), to which arguments are added.
  std::unique_ptr<Expr> call_of_torch(std::string_view function) const {
    auto torch = made(ExprKind::name), callee = made(ExprKind::attribute), call = made(ExprKind::call);
    torch->text = "torch";
    callee->text = function;
    callee->parts.push_back(std::move(torch));
    call->parts.push_back(std::move(callee));
    return call;
  }

  /// Operators that bind at least as strongly as `least`, from the left.
  ExprPtr infix(int least) {
    const Nesting nesting(*this);
    ExprPtr left;
    if (peek().is("not")) {
      auto call = call_of_torch("__not__");
      next();
      call->parts.push_back(infix(kNot));
      left = std::move(call);
    } else {
      left = operand();
    }
    for (int length = 0;; ++length) {
      if (length > kMostNesting) throw Error(Code::too_deep, "the archive's code is nested too deeply");
      const auto* found = std::ranges::find_if(kInfixes, [&](const Infix& i) { return peek().is(i.symbol); });
      if (found == std::end(kInfixes) || found->binds < least) return left;
      auto call = call_of_torch(found->function);
      next();
      call->parts.push_back(std::move(left));
      call->parts.push_back(infix(found->binds + 1));
      left = std::move(call);
    }
  }

  ExprPtr operand() {
    if (peek().is("-")) {
      auto negated = made(ExprKind::negate);
      next();
      negated->parts.push_back(infix(kMinus));
      return negated;
    }
    ExprPtr base = primary();
    for (int length = 0;; ++length) {
      if (length > kMostNesting) throw Error(Code::too_deep, "the archive's code is nested too deeply");
      if (peek().is(".")) {
        auto attribute = made(ExprKind::attribute);
        next();
        attribute->text = name();
        attribute->parts.push_back(std::move(base));
        base = std::move(attribute);
      } else if (peek().is("(")) {
        base = call(std::move(base));
      } else if (peek().is("[")) {
        base = subscript(std::move(base));
      } else {
        return base;
      }
    }
  }

  ExprPtr call(ExprPtr callee) {
    auto call = made(ExprKind::call);
    call->parts.push_back(std::move(callee));
    expect("(");
    while (!accept(")")) {
      if (peek().kind == Token::Kind::name && peek(1).is("=")) {
        call->keywords.push_back(name());
        next();
      } else if (!call->keywords.empty()) {
        refuse("an argument without a name follows one with a name");
      }
      call->parts.push_back(expression());
      if (!peek().is(")")) expect(",");
    }
    return call;
  }

  ExprPtr subscript(ExprPtr base) {
    auto subscript = made(ExprKind::subscript);
    subscript->parts.push_back(std::move(base));
    expect("[");
    subscript->parts.push_back(index());
    expect("]");
    return subscript;
  }

  /// What stands in brackets: one expression, several (of a type), or a slice.
  ExprPtr index() {
    auto slice = made(ExprKind::slice);
    ExprPtr first = peek().is(":") ? nullptr : expression();
    if (peek().is(",")) {
      auto several = made(ExprKind::tuple);
      several->parts.push_back(std::move(first));
      while (accept(","))
        if (!peek().is("]")) several->parts.push_back(expression());
      return several;
    }
    if (!peek().is(":")) return first;
    slice->parts.push_back(std::move(first));
    while (accept(":")) {
      if (slice->parts.size() > 2) refuse("a slice has at most three parts");
      slice->parts.push_back(peek().is("]") || peek().is(":") ? nullptr : expression());
    }
    slice->parts.resize(3);
    return slice;
  }

  ExprPtr primary() {
    const Token& token = next();
    --at_;
    switch (token.kind) {
      case Token::Kind::name:
        return named();
      case Token::Kind::integer:
        return number(ExprKind::integer);
      case Token::Kind::real:
        return number(ExprKind::real);
      case Token::Kind::imaginary:
        return number(ExprKind::imaginary);
      case Token::Kind::text: {
        auto text = made(ExprKind::text);
        text->text = next().text;
        while (peek().kind == Token::Kind::text) text->text += next().text;
        return text;
      }
      default:
        break;
    }
    if (token.is("(")) return bracketed(ExprKind::tuple, ")");
    if (token.is("[")) return bracketed(ExprKind::list, "]");
    if (token.is("{")) return dictionary();
    refuse("an expression is expected");
  }

  ExprPtr named() {
    auto expr = made(ExprKind::name);
    expr->text = name();
    if (expr->text == "None") {
      expr->kind = ExprKind::none;
    } else if (expr->text == "True" || expr->text == "False") {
      expr->kind = ExprKind::boolean;
      expr->integer = expr->text == "True";
    }
    return expr;
  }

  ExprPtr number(ExprKind kind) {
    auto expr = made(kind);
    const std::string_view digits = next().spelling;
    const char* end = digits.data() + digits.size();
    const auto result = kind == ExprKind::integer ? std::from_chars(digits.data(), end, expr->integer)
                                                  : std::from_chars(digits.data(), end, expr->real);
    // The smallest integer is written as the negative of a number that does not fit.
    if (kind == ExprKind::integer && digits == "9223372036854775808")
      expr->integer = INT64_MIN;
    else if (result.ec != std::errc() || result.ptr != end)
      refuse(fmt::format("the number {} cannot be read", digits));
    return expr;
  }

  ExprPtr bracketed(ExprKind kind, std::string_view close) {
    auto expr = made(kind);
    next();
    bool has_comma = false;
    while (!accept(close)) {
      expr->parts.push_back(expression());
      if (!peek().is(close)) {
        expect(",");
        has_comma = true;
      }
    }
    // Brackets around one expression mean that expression.
    if (kind == ExprKind::tuple && expr->parts.size() == 1 && !has_comma) return std::move(expr->parts[0]);
    return expr;
  }

  ExprPtr dictionary() {
    auto expr = made(ExprKind::dict);
    next();
    while (!accept("}")) {
      expr->parts.push_back(expression());
      expect(":");
      expr->parts.push_back(expression());
      if (!peek().is("}")) expect(",");
    }
    return expr;
  }

  // Statements.

  Block block() {
    const Nesting nesting(*this);
    expect(":");
    end_line();
    expect(Token::Kind::indent, "a block");
    Block statements;
    while (peek().kind != Token::Kind::dedent) {
      if (accept("pass")) {
        end_line();
        continue;
      }
      statements.push_back(statement());
    }
    next();
    return statements;
  }

  std::unique_ptr<Statement> started(Statement::Kind kind) {
    auto made = std::make_unique<Statement>();
    made->kind = kind;
    made->line = peek().line;
    return made;
  }

  std::unique_ptr<const Statement> statement() {
    if (peek().is("if")) return choice();
    if (peek().is("while")) {
      auto made = started(Statement::Kind::loop);
      next();
      made->value = expression();
      made->body = block();
      return made;
    }
    if (peek().is("for")) {
      auto made = started(Statement::Kind::count);
      next();
      made->targets.push_back(expression());
      expect("in");
      made->value = expression();
      made->body = block();
      return made;
    }
    if (peek().is("with")) {
      auto made = started(Statement::Kind::within);
      next();
      made->value = expression();
      if (accept("as")) made->targets.push_back(expression());
      made->body = block();
      return made;
    }
    if (peek().is("return")) {
      auto made = started(Statement::Kind::give_back);
      next();
      if (peek().kind != Token::Kind::newline) made->value = expression();
      end_line();
      return made;
    }
    return assignment();
  }

  std::unique_ptr<const Statement> choice() {
    auto made = started(Statement::Kind::choice);
    next();
    made->value = expression();
    made->body = block();
    if (accept("else")) made->otherwise = block();
    return made;
  }

  std::unique_ptr<const Statement> assignment() {
    auto made = started(Statement::Kind::expression);
    std::vector<ExprPtr> listed = expressions();
    if (accept(":")) (void)expression();  // a type
    if (accept("=")) {
      made->kind = Statement::Kind::assign;
      made->unpacks = listed.size() > 1 || ended_in_comma_;
      made->targets = std::move(listed);
      std::vector<ExprPtr> values = expressions();
      if (values.size() == 1 && !ended_in_comma_) {
        made->value = std::move(values[0]);
      } else {
        auto tuple = this->made(ExprKind::tuple);
        tuple->parts = std::move(values);
        made->value = std::move(tuple);
      }
    } else if (listed.size() == 1) {
      made->value = std::move(listed[0]);
    } else {
      refuse("'=' is expected");
    }
    end_line();
    return made;
  }

  std::vector<ExprPtr> expressions() {
    std::vector<ExprPtr> listed;
    listed.push_back(expression());
    ended_in_comma_ = false;
    while (accept(",")) {
      ended_in_comma_ = peek().is("=") || peek().kind == Token::Kind::newline;
      if (!ended_in_comma_) listed.push_back(expression());
    }
    return listed;
  }

  // Definitions.

  Function function() {
    Function made;
    expect("def");
    made.name = name();
    expect("(");
    while (!accept(")")) {
      Parameter p;
      p.name = name();
      if (accept(":")) p.type = expression();
      if (accept("=")) p.otherwise = expression();
      made.parameters.push_back(std::move(p));
      if (!peek().is(")")) expect(",");
    }
    if (accept("->")) made.result = expression();
    made.body = block();
    return made;
  }

  Class class_definition() {
    Class made;
    expect("class");
    made.name = name();
    if (accept("(")) {
      if (!peek().is(")")) made.base = dotted(*expression());
      expect(")");
    }
    expect(":");
    end_line();
    expect(Token::Kind::indent, "a block");
    while (peek().kind != Token::Kind::dedent) member(made);
    next();
    return made;
  }

  void member(Class& owner) {
    if (peek().is("def")) return owner.methods.push_back(function());
    if (accept("pass")) return end_line();
    Field field;
    field.name = name();
    if (field.name == "__annotations__" && accept("[")) {  // a name that is none of Python's: __annotations__["0"] = T
      if (peek().kind != Token::Kind::text) refuse("a text is expected");
      field.name = next().text;
      expect("]");
      expect("=");
      field.type = expression();
    } else {
      if (accept(":")) field.type = expression();
      if (accept("=")) field.value = expression();
    }
    end_line();
    if (field.name == "__parameters__" || field.name == "__buffers__") {
      auto& names = field.name == "__parameters__" ? owner.parameters : owner.buffers;
      if (field.value)
        for (const ExprPtr& part : field.value->parts) names.push_back(part->text);
      return;
    }
    owner.fields.push_back(std::move(field));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool ended_in_comma_ = false;
};

}  // namespace

std::string dotted(const Expr& expr) {
  std::string path;
  const Expr* at = &expr;
  for (; at->kind == ExprKind::attribute; at = at->parts[0].get()) path = "." + at->text + path;
  return at->kind == ExprKind::name ? at->text + path : std::string();
}

Module parse(std::string_view source) { return Parser(source).module(); }

}  // namespace ingot::frontends::torch::script
