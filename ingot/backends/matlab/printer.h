#pragma once
#include <set>
#include <string>

#include "ingot/lower/program.h"

namespace ingot::backends::matlab {

/// The class that holds an element type.
std::string class_of(DType type);

/// Prints a program as whole-array code. Every buffer is a column of its elements in row-major order; the counters of a
/// statement's loops are arrays along a dimension each, so that expressions of them stretch to all places at once.
class Printer {
 public:
  explicit Printer(const lower::Program& program);

  std::string expr(const lower::Expr& e);
  std::string body(const lower::Body& body, int depth);
  void set_buffer(int tensor, std::string name) { buffers_[static_cast<std::size_t>(tensor)] = std::move(name); }
  void set_variable(int id, std::string name) { variables_[static_cast<std::size_t>(id)] = std::move(name); }
  const std::string& buffer(int tensor) const { return buffers_[static_cast<std::size_t>(tensor)]; }
  const std::string& variable(int id) const { return variables_[static_cast<std::size_t>(id)]; }
  /// Names of the functions that the printed code calls.
  const std::set<std::string>& used() const { return used_; }
  /// The name of a function that is called.
  const std::string& use(const std::string& function) { return *used_.insert(function).first; }
  std::string empty_array(int tensor, const std::string& elements);

 private:
  friend struct StatementPrinter;
  std::string call(const std::string& function, const std::string& arguments);
  std::string binary(const lower::Expr& e);
  std::string unary(const lower::Expr& e);
  std::string cast(const lower::Expr& e);
  std::string constant(const lower::Expr& e);
  std::string load(const lower::Expr& e);
  std::string slice(const lower::Expr& e);
  std::string rounded(const std::string& text, DType type, std::int64_t how);

  const lower::Program& program_;
  std::vector<std::string> buffers_, variables_;
  std::set<std::string> used_;
  const lower::Axes* axes_ = nullptr;  // of the statement at hand
  bool is_flat_ = false;               // all operands are columns in step
  int guarded_ = 0;                    // depth of choices whose parts are all evaluated
};

}  // namespace ingot::backends::matlab
