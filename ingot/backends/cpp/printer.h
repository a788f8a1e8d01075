#pragma once
#include <map>
#include <string>
#include <unordered_set>

#include "ingot/backends/cpp/names.h"
#include "ingot/backends/cpp/support.h"
#include "ingot/lower/program.h"

namespace ingot::backends::cpp {

/// Prints expressions and statements in what C99 and C++17 have in common.
class Printer {
 public:
  /// `weights_are_passed`: to functions; else they are arrays that all see.
  Printer(const lower::Program& program, Support& support, bool weights_are_passed = false);

  const std::string& buffer(int tensor) const { return buffers_[static_cast<std::size_t>(tensor)]; }
  const std::string& variable(int id) const { return variables_[static_cast<std::size_t>(id)]; }
  void set_variable(int id, std::string name) { variables_[static_cast<std::size_t>(id)] = std::move(name); }
  void set_buffer(int tensor, std::string name) { buffers_[static_cast<std::size_t>(tensor)] = std::move(name); }

  /// Steps call the function of this name, where it is set, before and after they run.
  void set_hook(std::string name) { hook_ = std::move(name); }

  std::string expr(const lower::Expr& e);
  /// The statements, indented. `after`: text that reads variables which they declare.
  std::string body(const lower::Body& body, int depth, const std::string& after = {});
  /// The functions that groups in printed bodies became, each once.
  const std::string& functions() const { return functions_; }

  /// A part of an expression with a name of its own, and the line that declares it.
  struct Named {
    const lower::ExprNode* node;
    std::string name, line;
  };

 private:
  friend struct StatementPrinter;

  std::string call(const char* c_function, const lower::Expr& e);
  std::string binary(const lower::Expr& e);
  std::string unary(const lower::Expr& e);
  std::string cast(const lower::Expr& e);
  std::string constant(const lower::Expr& e) const;
  std::string load(const lower::Expr& e);
  std::string stored(const lower::Expr& value, DType type);
  std::string group(const lower::Group& group, int depth);
  /// Names for parts of an expression that are read more than once.
  std::vector<Named> hoisted(const lower::Expr& e, int depth);
  void unname(const std::vector<Named>& made);

  const lower::Program& program_;
  Support& support_;
  bool weights_are_passed_;
  std::vector<std::string> buffers_, variables_;
  std::map<const lower::ExprNode*, std::string> named_;
  std::string functions_, hook_;
  int next_function_ = 0, next_part_ = 0;
  const lower::Axes* flat_axes_ = nullptr;  // loops that are printed as one
};

std::string indent(int depth);

/// The words of a text of code: what is none of them is not used there.
void add_words(const std::string& text, std::unordered_set<std::string>& words);

/// Whether each element is made of those at its own place, and of what is the same for all.
bool is_map_in_step(const lower::Map& map);

}  // namespace ingot::backends::cpp
