// From tokens to statements.
#include "ingot/frontends/torch/script/expressions.h"

namespace ingot::frontends::torch::script {
namespace {

using ExprKind = Expr::Kind;

class Parser : ExpressionParser {
 public:
  explicit Parser(std::string_view source) : ExpressionParser(source) {}

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
  void end_line() { expect(Token::Kind::newline, "the end of the line"); }

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
    if (peek().is("for")) return count();
    if (peek().is("assert")) return check();
    if (peek().is("raise")) {
      auto made = started(Statement::Kind::expression);
      next();
      made->value = raised(expression());
      end_line();
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
      if (peek().kind != Token::Kind::newline) made->value = expression_or_tuple();
      end_line();
      return made;
    }
    if (peek().is("def")) {  // what fork() is given
      auto made = started(Statement::Kind::define);
      next();
      const ExprPtr head = operand();
      if (head->kind != ExprKind::call || head->parts.size() != 1 || head->parts[0]->kind != ExprKind::name)
        refuse("a function inside another one takes no arguments");
      made->targets.push_back(head->parts[0]);
      made->body = block();
      return made;
    }
    if (peek().is("break") || peek().is("continue")) refuse("rounds of loops that are left early have no translation");
    return assignment();
  }

  std::unique_ptr<const Statement> count() {
    auto made = started(Statement::Kind::count);
    next();
    const bool is_bracketed = accept("(");
    made->targets.push_back(operand());
    while (accept(",")) made->targets.push_back(operand());
    if (is_bracketed) expect(")");
    made->unpacks = made->targets.size() > 1;
    expect("in");
    made->value = expression_or_tuple();
    made->body = block();
    return made;
  }

  /// ops.prim.RaiseException(what), of an exception's message where it has one.
  ExprPtr raised(ExprPtr what) const {
    auto ops = made(ExprKind::name), prim = made(ExprKind::attribute), callee = made(ExprKind::attribute);
    auto call = made(ExprKind::call);
    ops->text = "ops";
    prim->text = "prim";
    prim->parts.push_back(std::move(ops));
    callee->text = "RaiseException";
    callee->parts.push_back(std::move(prim));
    const bool has_message = what->kind == ExprKind::call && what->parts.size() > 1;
    call->parts = {std::move(callee), has_message ? what->parts[1] : std::move(what)};
    return call;
  }

  /// assert condition, message: a choice that raises an exception.
  std::unique_ptr<const Statement> check() {
    auto made = started(Statement::Kind::choice);
    auto message = this->made(ExprKind::text);
    message->text = "an assertion does not hold";
    next();
    made->value = expression();
    auto failed = started(Statement::Kind::expression);
    failed->value = raised(accept(",") ? expression() : std::move(message));
    made->otherwise.push_back(std::move(failed));
    end_line();
    return made;
  }

  std::unique_ptr<const Statement> choice() {
    const Nesting nesting(*this);
    auto made = started(Statement::Kind::choice);
    next();
    made->value = expression();
    made->body = block();
    if (peek().is("elif"))
      made->otherwise.push_back(choice());
    else if (accept("else"))
      made->otherwise = block();
    return made;
  }

  std::unique_ptr<const Statement> assignment() {
    auto made = started(Statement::Kind::expression);
    std::vector<ExprPtr> listed = expressions();
    if (accept(":")) (void)expression();  // a type
    for (const auto& [symbol, op] : kChanges)
      if (peek().is(symbol)) {
        next();
        if (listed.size() != 1) refuse("several things are changed at once");
        made->kind = Statement::Kind::change;
        made->op = op;
        made->targets = std::move(listed);
        made->value = expression_or_tuple();
        end_line();
        return made;
      }
    if (accept("=")) {
      made->kind = Statement::Kind::assign;
      made->unpacks = listed.size() > 1 || ended_in_comma_;
      made->targets = std::move(listed);
      made->value = expression_or_tuple();
    } else if (listed.size() == 1) {
      made->value = std::move(listed[0]);
    } else {
      refuse("'=' is expected");
    }
    end_line();
    return made;
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

  static constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {"+=", "add"},       {"-=", "sub"},         {"*=", "mul"},        {"/=", "div"},     {"//=", "floordiv"},
      {"%=", "remainder"}, {"**=", "pow"},        {"@=", "matmul"},     {"&=", "__and__"}, {"|=", "__or__"},
      {"^=", "__xor__"},   {"<<=", "__lshift__"}, {">>=", "__rshift__"}};
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
