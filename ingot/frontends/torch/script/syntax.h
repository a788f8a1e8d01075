#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The language of the code in TorchScript archives: the part of Python that PyTorch's printer writes, and what people
/// and Ingot itself write beside it.
namespace ingot::frontends::torch::script {

struct Expr;
struct Statement;
using ExprPtr = std::shared_ptr<const Expr>;
using Block = std::vector<std::unique_ptr<const Statement>>;

struct Expr {
  enum class Kind : std::uint8_t {
    name,       // text
    integer,    // integer
    real,       // real
    imaginary,  // real, times i
    text,       // text
    none,
    boolean,    // integer: 0 or 1
    attribute,  // parts[0] . text
    call,       // parts[0] is called; the last keywords.size() of the others are given by name
    subscript,  // parts[0] [ parts[1] ], of several indices a tuple
    slice,      // parts: begin, end, step; null where left out
    list,       // parts
    tuple,      // parts
    dict,       // parts: key, value, key, value ...
    negate,     // - parts[0]
    both,       // parts[0] and parts[1], which is not looked at where the first decides
    either,     // parts[0] or parts[1], likewise
    choice,     // parts[1] if parts[0] else parts[2]; `decision` does it as a statement
    ellipsis,
  };
  Kind kind = Kind::none;
  int line = 0;
  std::string text{};
  std::int64_t integer = 0;
  double real = 0;
  std::vector<ExprPtr> parts{};
  std::vector<std::string> keywords{};
  std::shared_ptr<const Statement> decision{};  // of a choice: assigns its value to the variable `text`
};

/// "a.b.c" of names and attributes; empty for anything else.
std::string dotted(const Expr& expr);

struct Statement {
  enum class Kind : std::uint8_t {
    assign,      // targets = value
    expression,  // value
    choice,      // if value: body, else: otherwise
    loop,        // while value: body
    count,       // for targets in value: body
    change,      // targets[0] op= value; `op` is what it is without =
    give_back,   // return value, which may be null
    within,      // with value as targets[0]: body
    define,      // def targets[0](): body
  };
  Kind kind = Kind::expression;
  int line = 0;
  std::vector<ExprPtr> targets{};
  ExprPtr value{};
  Block body{}, otherwise{};
  bool unpacks = false;  // assign, count: the value's parts go to the targets
  std::string op{};
};

struct Parameter {
  std::string name;
  ExprPtr type{}, otherwise{};  // null: not stated
};

struct Function {
  std::string name;
  std::vector<Parameter> parameters{};
  ExprPtr result{};
  Block body{};
};

struct Field {
  std::string name;
  ExprPtr type{}, value{};  // the value of a Final one
};

struct Class {
  std::string name, base;
  std::vector<Field> fields{};
  std::vector<Function> methods{};
  std::vector<std::string> parameters{}, buffers{};
};

/// One file of the archive's code.
struct Module {
  std::vector<Class> classes{};
  std::vector<Function> functions{};
};

/// Refuses what is not of the language, with the line.
Module parse(std::string_view source);

}  // namespace ingot::frontends::torch::script
