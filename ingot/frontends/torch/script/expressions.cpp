// From tokens to expressions.
#include "ingot/frontends/torch/script/expressions.h"

#include <fmt/format.h>

#include <charconv>

#include "ingot/base/error.h"

namespace ingot::frontends::torch::script {
namespace {

using ExprKind = Expr::Kind;
constexpr int kMostNesting = 200;

[[noreturn]] void refuse_depth() { throw Error(Code::too_deep, "the archive's code is nested too deeply"); }

/// PyTorch's printer writes calls only; what people and Ingot write has operators, which mean the same calls.
struct Infix {
  std::string_view symbol, function;
  int binds;
};
constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kMinus = 11, kPower = 12;
constexpr Infix kInfixes[] = {
    {"or", {}, kOr},        {"and", {}, kAnd},      {"==", "eq", kCompare},   {"!=", "ne", kCompare},
    {"<", "lt", kCompare},  {">", "gt", kCompare},  {"<=", "le", kCompare},   {">=", "ge", kCompare},
    {"in", "in", kCompare}, {"is", "is", kCompare}, {"not", "not", kCompare}, {"|", "__or__", 5},
    {"^", "__xor__", 6},    {"&", "__and__", 7},    {"<<", "__lshift__", 8},  {">>", "__rshift__", 8},
    {"+", "add", 9},        {"-", "sub", 9},        {"*", "mul", 10},         {"/", "div", 10},
    {"%", "remainder", 10}, {"@", "matmul", 10},    {"//", "floordiv", 10},   {"**", "pow", kPower},
};

}  // namespace

const Token& ExpressionParser::next() {
  const Token& token = peek();
  if (token.kind == Token::Kind::end) refuse("the code ends in the middle of something");
  ++at_;
  return token;
}

void ExpressionParser::refuse(const std::string& why) const {
  throw Error(Code::text_syntax, fmt::format("the archive's code, line {}: {}", peek().line, why));
}

bool ExpressionParser::accept(std::string_view what) {
  if (!peek().is(what)) return false;
  ++at_;
  return true;
}

void ExpressionParser::expect(std::string_view what) {
  if (!accept(what)) refuse(fmt::format("'{}' is expected", what));
}

void ExpressionParser::expect(Token::Kind kind, const char* what) {
  if (peek().kind != kind) refuse(fmt::format("{} is expected", what));
  ++at_;
}

std::string ExpressionParser::name() {
  if (peek().kind != Token::Kind::name) refuse("a name is expected");
  return std::string(next().spelling);
}

ExpressionParser::Nesting::Nesting(ExpressionParser& p) : parser(p) {
  if (++parser.nesting_ > kMostNesting) refuse_depth();
}

std::shared_ptr<Expr> ExpressionParser::made(ExprKind kind) const {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->line = peek().line;
  return expr;
}

std::shared_ptr<Expr> ExpressionParser::call_of_torch(std::string_view function) const {
  auto torch = made(ExprKind::name), callee = made(ExprKind::attribute), call = made(ExprKind::call);
  torch->text = "torch";
  callee->text = function;
  callee->parts.push_back(std::move(torch));
  call->parts.push_back(std::move(callee));
  return call;
}

ExprPtr ExpressionParser::expression() {
  const Nesting nesting(*this);
  ExprPtr value = infix(0);
  return peek().is("if") ? choice_from(std::move(value)) : value;
}

/// value if condition else another: as a statement too, for conditions that only the run knows.
ExprPtr ExpressionParser::choice_from(ExprPtr value) {
  auto choice = made(ExprKind::choice);
  choice->text = fmt::format("<choice {}>", choices_++);  // no name that code could have
  expect("if");
  ExprPtr condition = infix(0);
  expect("else");
  choice->parts = {condition, std::move(value), expression()};
  auto decision = std::make_shared<Statement>();
  decision->kind = Statement::Kind::choice;
  decision->line = choice->line;
  decision->value = std::move(condition);
  for (std::size_t i = 1; i < 3; ++i) {
    auto variable = made(ExprKind::name);
    variable->text = choice->text;
    auto assignment = std::make_unique<Statement>();
    assignment->kind = Statement::Kind::assign;
    assignment->line = choice->line;
    assignment->targets = {std::move(variable)};
    assignment->value = choice->parts[i];
    (i == 1 ? decision->body : decision->otherwise).push_back(std::move(assignment));
  }
  choice->decision = std::move(decision);
  return choice;
}

ExprPtr ExpressionParser::expression_or_tuple() {
  std::vector<ExprPtr> values = expressions();
  if (values.size() == 1 && !ended_in_comma_) return values[0];
  auto tuple = made(ExprKind::tuple);
  tuple->parts = std::move(values);
  return tuple;
}

std::vector<ExprPtr> ExpressionParser::expressions() {
  std::vector<ExprPtr> listed;
  listed.push_back(expression());
  bool ended = false;
  while (accept(",")) {
    ended = peek().is("=") || peek().kind == Token::Kind::newline;
    if (!ended) listed.push_back(expression());
  }
  ended_in_comma_ = ended;
  return listed;
}

/// Operators that bind at least as strongly as `least`, from the left; comparisons may be chained.
ExprPtr ExpressionParser::infix(int least) {
  const Nesting nesting(*this);
  ExprPtr left = prefixed(), compared;
  for (int length = 0;; ++length) {
    if (length > kMostNesting) refuse_depth();
    const auto* found = std::ranges::find_if(kInfixes, [&](const Infix& i) { return peek().is(i.symbol); });
    if (found == std::end(kInfixes) || found->binds < least) return left;
    if (found->binds == kCompare) {
      const ExprPtr first = compared ? compared : left;
      auto [outcome, second] = comparison(first, found->function);
      if (compared) outcome = joined(ExprKind::both, std::move(left), std::move(outcome));  // a < b < c
      left = std::move(outcome);
      compared = std::move(second);
      continue;
    }
    next();
    // A power binds to its right.
    ExprPtr right = infix(found->binds == kPower ? kMinus : found->binds + 1);
    if (found->binds == kOr || found->binds == kAnd) {
      left = joined(found->binds == kAnd ? ExprKind::both : ExprKind::either, std::move(left), std::move(right));
    } else {
      auto call = call_of_torch(found->function);
      call->parts.insert(call->parts.end(), {std::move(left), std::move(right)});
      left = std::move(call);
    }
    compared = nullptr;
  }
}

ExprPtr ExpressionParser::joined(ExprKind kind, ExprPtr left, ExprPtr right) const {
  auto expr = made(kind);
  expr->parts = {std::move(left), std::move(right)};
  return expr;
}

/// The comparison of `first` with what follows, and that.
std::pair<ExprPtr, ExprPtr> ExpressionParser::comparison(const ExprPtr& first, std::string_view function) {
  next();
  const bool is_negated = function == "not";
  if (is_negated) expect("in");
  const bool is_search = is_negated || function == "in";
  if (function == "is") function = accept("not") ? "__isnot__" : "__is__";
  ExprPtr second = infix(kCompare + 1);
  std::shared_ptr<Expr> call = call_of_torch(is_search ? "__contains__" : function);
  call->parts.push_back(is_search ? second : first);
  call->parts.push_back(is_search ? first : second);
  if (is_negated) {
    auto negated = call_of_torch("__not__");
    negated->parts.push_back(std::move(call));
    call = std::move(negated);
  }
  return {std::move(call), std::move(second)};
}

ExprPtr ExpressionParser::prefixed() {
  if (peek().is("not")) {
    auto call = call_of_torch("__not__");
    next();
    call->parts.push_back(infix(kNot));
    return call;
  }
  if (peek().is("~")) {
    auto call = call_of_torch("bitwise_not");
    next();
    call->parts.push_back(infix(kMinus));
    return call;
  }
  if (peek().is("-")) {
    auto negated = made(ExprKind::negate);
    next();
    negated->parts.push_back(infix(kMinus));
    return negated;
  }
  if (accept("+")) return infix(kMinus);
  return operand();
}

ExprPtr ExpressionParser::operand() {
  ExprPtr base = primary();
  for (int length = 0;; ++length) {
    if (length > kMostNesting) refuse_depth();
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

ExprPtr ExpressionParser::call(ExprPtr callee) {
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

ExprPtr ExpressionParser::subscript(ExprPtr base) {
  auto subscript = made(ExprKind::subscript);
  expect("[");
  ExprPtr first = index();
  if (peek().is(",")) {
    auto several = made(ExprKind::tuple);
    several->parts.push_back(std::move(first));
    while (accept(","))
      if (!peek().is("]")) several->parts.push_back(index());
    first = std::move(several);
  }
  expect("]");
  subscript->parts = {std::move(base), std::move(first)};
  return subscript;
}

/// One index, which may be a slice.
ExprPtr ExpressionParser::index() {
  auto slice = made(ExprKind::slice);
  ExprPtr first = peek().is(":") ? nullptr : expression();
  if (!peek().is(":")) return first;
  slice->parts.push_back(std::move(first));
  while (accept(":")) {
    if (slice->parts.size() > 2) refuse("a slice has at most three parts");
    const bool is_left_out = peek().is("]") || peek().is(":") || peek().is(",");
    slice->parts.push_back(is_left_out ? nullptr : expression());
  }
  slice->parts.resize(3);
  return slice;
}

ExprPtr ExpressionParser::primary() {
  const Token& token = peek();
  switch (token.kind) {
    case Token::Kind::name:
      return named();
    case Token::Kind::integer:
      return number(ExprKind::integer);
    case Token::Kind::real:
      return number(ExprKind::real);
    case Token::Kind::imaginary:
      return number(ExprKind::imaginary);
    case Token::Kind::format:
      return format();
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
  if (token.is("...")) {
    auto rest = made(ExprKind::ellipsis);
    next();
    return rest;
  }
  refuse("an expression is expected");
}

ExprPtr ExpressionParser::named() {
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

ExprPtr ExpressionParser::number(ExprKind kind) {
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

/// f"{x} of {y:.2f}" is "{} of {}".format(x, y): how numbers are shown matters to nobody.
ExprPtr ExpressionParser::format() {
  const Nesting nesting(*this);
  auto call = call_of_torch("format");
  auto pattern = made(ExprKind::text);
  std::vector<ExprPtr> values;
  const std::string text = next().text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    pattern->text += c;
    if ((c != '{' && c != '}') || (i + 1 < text.size() && text[i + 1] == c)) {
      i += c == '{' || c == '}' ? 1 : 0;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(":!}", i), text.find('}', i));
    if (c == '}' || text.find('}', i) == std::string::npos) refuse("a brace of a text has no other");
    ExpressionParser inner(std::string_view(text).substr(i + 1, end - i - 1));
    inner.nesting_ = nesting_;
    values.push_back(inner.expression());
    pattern->text += '}';
    i = text.find('}', i);
  }
  call->parts.push_back(std::move(pattern));
  call->parts.insert(call->parts.end(), values.begin(), values.end());
  return call;
}

ExprPtr ExpressionParser::bracketed(ExprKind kind, std::string_view close) {
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
  if (kind == ExprKind::tuple && expr->parts.size() == 1 && !has_comma) return expr->parts[0];
  return expr;
}

ExprPtr ExpressionParser::dictionary() {
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

}  // namespace ingot::frontends::torch::script
