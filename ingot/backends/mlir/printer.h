#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/backends/mlir/support.h"
#include "ingot/lower/program.h"

namespace ingot::backends::mlir {

/// Prints expressions and statements in the dialects scf, arith, math, memref and vector. What is asked for goes to the
/// function that is being written.
class Printer {
 public:
  Printer(const lower::Program& program, Support& support);

  /// A function of these parameters ("%x: f32, ..."), whose statements `fill` writes.
  std::string function(const std::string& head, const lower::Body* lets, const std::function<void()>& fill);
  void body(const lower::Body& body);
  /// The functions that groups became.
  const std::string& functions() const { return functions_; }

  // What buffers and variables are called in the function at hand.
  void set_buffer(int tensor, std::string name) { buffers_[static_cast<std::size_t>(tensor)] = std::move(name); }
  void set_variable(int id, std::string name) { variables_[static_cast<std::size_t>(id)] = std::move(name); }
  /// A buffer whose memory changes: what holds it is made by the function.
  void add_slot(int tensor);
  /// The memref of a buffer as it is now.
  std::string buffer(int tensor);

  // Parts of text.
  std::string expr(const lower::Expr& e);
  std::string place(const lower::Exprs& at, const lower::Exprs& dims);
  /// "%v7 = text"
  std::string value(const std::string& text);
  std::string index(std::int64_t number);
  std::string constant(const std::string& literal, const std::string& type);
  void line(const std::string& text);
  void open(const std::string& text);   // a line, and what follows is inside
  void close(const std::string& text);  // "}"
  /// Memory of the function itself, made at its beginning.
  std::string local(const std::string& type);
  std::string loaded(int tensor, const std::string& place);
  void store(int tensor, const std::string& place, const std::string& value);
  /// Loops over the axes, opened; their number, for close_loops.
  int open_loops(const lower::Axes& axes);
  void close_loops(int count);
  /// Calls `fill` with names of parts that hold only there.
  void scope(const std::function<void()>& fill);

  const lower::Program& program() const { return program_; }
  Support& support() { return support_; }
  std::string type_of(const lower::Expr& e) const;

 private:
  friend struct StatementPrinter;

  std::string variable(int id);
  std::string constant(const lower::Expr& e);
  std::string load(const lower::Expr& e);
  std::string made(const lower::Expr& e);
  std::string of_indices(const lower::Expr& e, const std::string& a, const std::string& b);
  std::string of_integers(const lower::Expr& e, const std::string& a, const std::string& b);
  std::string of_floats(const lower::Expr& e, const std::string& a, const std::string& b);
  std::string unary(const lower::Expr& e);
  std::string hyperbolic_tangent(const std::string& x);
  std::string test(const lower::Expr& e);
  std::string power(const lower::Expr& e);
  std::string chosen(const lower::Expr& e);
  std::string cast(const lower::Expr& e);
  std::string to_integer(const lower::Expr& e, const std::string& x);
  std::string bits(const lower::Expr& e);
  std::string rounded(const std::string& x, DType type, std::int64_t how);
  std::string stored(const lower::Expr& value, DType type);
  std::string helper(const std::string& name, const std::vector<std::string>& args,
                     const std::vector<std::string>& types, const std::string& result);
  /// Whether it can be computed although it may not be wanted.
  bool is_harmless(const lower::Expr& e);
  void group(const lower::Group& group);

  using Memo = std::vector<std::unordered_map<const lower::ExprNode*, std::pair<lower::Expr, std::string>>>;
  struct Function {
    std::map<std::string, std::string> constants;  // by their text
    std::string head, text;
    int depth = 2;
  };

  const lower::Program& program_;
  Support& support_;
  std::vector<std::string> buffers_, variables_;
  std::set<int> slots_, changed_;  // buffers and variables that are read from memory
  Memo memo_;
  std::unordered_map<const lower::ExprNode*, bool> harmless_;
  std::vector<lower::Expr> kept_;  // what the keys of harmless_ belong to
  Function* function_ = nullptr;
  std::string functions_;
  std::string flat_;  // the counter of loops that are printed as one
  int next_value_ = 0, next_function_ = 0;
};

}  // namespace ingot::backends::mlir
