#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingot/frontends/torch/program.h"
#include "ingot/frontends/torch/translation.h"

namespace ingot::frontends::torch {

using NamedItems = std::vector<std::pair<std::string, Item>>;

/// What the code throws.
struct Raised {
  std::string message;
};

[[noreturn]] void refuse_code(int line, const std::string& why);

/// Follows the code of an archive and writes what it does to tensors into a graph. What is known before running is
/// computed: numbers, lists, branches that are not taken, rounds of loops.
class Interpreter {
 public:
  Interpreter(Translation& translation, Program& program, std::vector<Item> constants)
      : t_(translation), program_(program), constants_(std::move(constants)) {}

  Item call_method(const ObjectRef& object, std::string_view method, std::vector<Item> args, const NamedItems& named);

 private:
  struct Frame {
    std::map<std::string, Item, std::less<>> variables;
    std::string path;  // of the module whose method this is
    std::optional<Item> returned;
  };
  /// What an index makes of a tensor: a view, of which tensors pick.
  struct Picked {
    Item view;
    std::vector<Item> by;
  };
  class Merger;
  struct Branch;
  struct LoopState;
  struct LoopRound;

  Item call_function(const script::Function& function, std::vector<Item> args, const NamedItems& named,
                     const std::string& path);
  /// Of a function: what it gives back.
  Item run_body(const script::Block& body, Frame& frame);

  // Statements.
  void run(const script::Block& block, Frame& frame);
  void run(const script::Statement& statement, Frame& frame);
  void assign(const script::Expr& target, Item value, Frame& frame);
  void assign_at(const script::Expr& target, const Item& value, Frame& frame);
  void unpack(const script::Statement& statement, const Item& value, Frame& frame);
  void change(const script::Statement& statement, Frame& frame);

  // Expressions.
  Item evaluate(const script::Expr& expr, Frame& frame);
  Item name(const script::Expr& expr, const Frame& frame);
  Item attribute(const script::Expr& expr, Frame& frame);
  Item subscript(const script::Expr& expr, Frame& frame);
  Picked picked(const Item& base, const script::Expr& index, Frame& frame);
  Item decided(const script::Expr& expr, Frame& frame);
  Item joined(const script::Expr& expr, Frame& frame);
  Item call(const script::Expr& expr, Frame& frame);
  Item call_named(const std::string& callee, const script::Expr& expr, Frame& frame);
  std::optional<Item> builtin(const std::string& callee, const script::Expr& expr, Frame& frame);
  std::optional<Item> python_builtin(const std::string& callee, const std::vector<Item>& args);
  Item primitive(std::string_view name, std::vector<Item> args);
  Item construct(const script::Class& type, const std::string& name, std::vector<Item> args, const NamedItems& named,
                 Frame& frame);
  std::pair<std::vector<Item>, NamedItems> arguments(const script::Expr& call, Frame& frame);
  Item converted(std::string_view to, const Item& item);

  // Branches and loops.
  void choose(const script::Statement& statement, Frame& frame);
  void choose_at_run_time(const script::Statement& statement, Value* condition, Frame& frame);
  Branch follow(const script::Block& block, const Frame& frame);
  void count(const script::Statement& statement, Frame& frame);
  void count_range(const script::Statement& statement, const std::vector<Item>& bounds, Frame& frame);
  void begin_round(const script::Statement& statement, const Item& element, Frame& frame);
  void loop(const script::Statement& statement, Frame& frame);
  /// Of a loop that counts: `bounds` are its range's begin and step.
  void loop_at_run_time(const script::Statement& statement, Value* rounds, Value* condition, Frame& frame,
                        const std::vector<Item>& bounds = {});
  bool try_loop(const script::Statement& statement, LoopState& state, const Frame& frame);
  /// A frame in which the state is the body's inputs; leave_loop() puts the places back.
  Frame enter_loop(LoopState& state, const Frame& frame);
  void leave_loop(const LoopState& state);
  void run_round(const script::Statement& statement, LoopState& state, Frame& inner, LoopRound& round);
  /// The item with its tensors as they are now, and no longer views of others.
  Item settled(const Item& item);

  Translation& t_;
  Program& program_;
  std::vector<Item> constants_;
  int depth_ = 0;
  std::int64_t unrolled_ = 0;
};

}  // namespace ingot::frontends::torch
