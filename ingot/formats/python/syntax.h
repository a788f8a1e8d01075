#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::formats::python {

/// In a text, from 1.
struct Place {
  int line = 1, column = 1;
};

struct Expression;
using Expr = std::shared_ptr<const Expression>;

/// An expression. What `text`, `parts` and `names` hold follows from the kind.
struct Expression {
  enum class Kind : std::uint8_t {
    name,       // text
    integer,    // number
    real,       // number
    text,       // text
    constant,   // text: None, True, False
    list,       // parts
    tuple,      // parts
    dict,       // parts: keys and values in turn
    call,       // parts: what is called, arguments; names: of the arguments, empty where they have none
    attribute,  // parts: of what; text
    item,       // parts: of what, which
    slice,      // parts: begin, end, step; null where it is left out
    unary,      // text: - + ~ not; parts
    binary,     // text: the operator; parts
    compare,    // text: < <= == != > >= in, not in, is, is not; parts
    logic,      // text: and, or; parts
    choice,     // parts: condition, yes, no
    lambda,     // names: parameters; parts: the body
    other,      // text: what it is, which is not read
  };
  Kind kind = Kind::other;
  Place place{};
  std::string text{};
  double number = 0;
  std::vector<Expr> parts{};
  std::vector<std::string> names{};
  int depth = 1;  // of the tree, at most 400: whoever walks it may recurse

  bool is(Kind k) const { return kind == k; }
  bool is_name(std::string_view word) const { return kind == Kind::name && text == word; }
};

struct Statement {
  enum class Kind : std::uint8_t {
    assignment,  // targets, value; text: the operator of an augmented one
    expression,  // value
    function,    // text: its name; names: parameters; body
    result,      // value, null where there is none
    loop,        // names: what is bound in each round; value: over what; body
    import,      // text: the module; names: what is bound, as "pd"
    nothing,     // pass
    other,       // text: what it is
  };
  Kind kind = Kind::other;
  Place place{};
  std::string text{};
  std::vector<Expr> targets{};
  Expr value{};
  std::vector<std::string> names{};
  std::vector<Statement> body{};
};

/// Reads a Python program as far as data frames need it; what it does not read stands in `other`. Executes nothing.
/// Throws one Error with line and column for what is no Python.
std::vector<Statement> parse(std::string_view text);

}  // namespace ingot::formats::python
