#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "ingot/frontends/torch/script/lexer.h"
#include "ingot/frontends/torch/script/syntax.h"

namespace ingot::frontends::torch::script {

/// Walks through tokens and reads the expressions among them.
class ExpressionParser {
 protected:
  explicit ExpressionParser(std::string_view source) : tokens_(tokens_of(source)) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next();
  [[noreturn]] void refuse(const std::string& why) const;
  bool accept(std::string_view what);
  void expect(std::string_view what);
  void expect(Token::Kind kind, const char* what);
  std::string name();

  /// Counts how deep the code is nested while it lives.
  struct Nesting {
    explicit Nesting(ExpressionParser& p);
    Nesting(const Nesting&) = delete;
    ~Nesting() { --parser.nesting_; }
    ExpressionParser& parser;
  };

  std::shared_ptr<Expr> made(Expr::Kind kind) const;
  /// torch.function(), to which arguments are added.
  std::shared_ptr<Expr> call_of_torch(std::string_view function) const;

  ExprPtr expression();
  /// Without operators between operands.
  ExprPtr operand();
  /// Several become a tuple.
  ExprPtr expression_or_tuple();
  /// Separated by commas; `ended_in_comma_` tells of a last one.
  std::vector<ExprPtr> expressions();

  bool ended_in_comma_ = false;

 private:
  ExprPtr choice_from(ExprPtr value);
  ExprPtr infix(int least);
  ExprPtr prefixed();
  ExprPtr joined(Expr::Kind kind, ExprPtr left, ExprPtr right) const;
  std::pair<ExprPtr, ExprPtr> comparison(const ExprPtr& first, std::string_view function);
  ExprPtr call(ExprPtr callee);
  ExprPtr subscript(ExprPtr base);
  ExprPtr index();
  ExprPtr primary();
  ExprPtr named();
  ExprPtr number(Expr::Kind kind);
  ExprPtr format();
  ExprPtr bracketed(Expr::Kind kind, std::string_view close);
  ExprPtr dictionary();

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int choices_ = 0;
};

}  // namespace ingot::frontends::torch::script
