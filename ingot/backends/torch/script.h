#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingot/formats/torch/script_archive.h"
#include "ingot/ir/graph.h"

namespace ingot::backends::torch {

using Ints = std::vector<std::int64_t>;

/// The code is written in what both have alike; they differ in a few words.
enum class Dialect : std::uint8_t {
  archive,  // TorchScript as it stands in archives
  source,   // a Python module
};

// Literals that both dialects have.
std::string text_of(std::int64_t value);
std::string text_of(double value);
/// The shortest number that is this float.
std::string text_of(float value);
std::string text_of(const Ints& values);
std::string_view text_of_flag(bool value);
std::string joined(const std::vector<std::string>& words);
/// "[a, b]"
std::string listed(const std::vector<std::string>& words);
/// In parentheses, if it is more than a name or a call.
std::string grouped(const std::string& expression);
/// "Tensor", "List[Tensor]", "Optional[Tensor]"
std::string annotation_of(const Type& type);
/// A name as both languages allow it, without what they reserve.
std::string identifier(std::string_view name);
/// 'a', or "a" with escapes.
std::string quoted(std::string_view text);

struct NodeOut;

/// The code of a module's forward while it is written, and what it needs beside it.
class Script {
 public:
  /// How the code names an initializer that is part of the module; empty: it is a constant of the code.
  using Own = std::function<std::string(const Value&)>;

  /// Writes a node as a layer of the module; false: it is none.
  using Layer = std::function<bool(const NodeOut&)>;

  Script(Dialect dialect, Own own) : dialect_(dialect), own_(std::move(own)) {}
  Layer layer;  // empty: there are no layers
  bool is_source() const { return dialect_ == Dialect::source; }

  /// What the code calls a value: a variable, an attribute of the module, a constant.
  std::string name(const Value* value);
  /// The value is called so from now on.
  void bind(const Value* value, std::string expression) { names_[value] = std::move(expression); }
  /// Whether the value is a tensor of the module.
  bool is_own(const Value* value);
  /// A variable that nothing else has, after this name.
  std::string fresh(std::string_view base);

  void line(const std::string& text);
  void indent() { ++depth_; }
  void dedent() { --depth_; }
  const std::string& code() const { return code_; }

  /// A tensor that is no part of the module.
  std::string constant(const Tensor& tensor);
  const std::vector<formats::torch::StoredTensor>& constants() const { return constants_; }

  /// An element type as an argument.
  std::string type(DType dtype) const;
  /// A function of neural networks that Python has in torch.nn.functional.
  std::string nn(std::string_view name) const { return (is_source() ? "F." : "torch.") + std::string(name); }
  /// The name of one of the functions beside the class, which is written there then, with those that it calls.
  std::string function(std::string_view name);
  static bool is_function(std::string_view name);
  std::string functions() const;

 private:
  Dialect dialect_;
  Own own_;
  std::string code_;
  int depth_ = 2;
  std::unordered_map<const Value*, std::string> names_;
  std::set<std::string, std::less<>> taken_;
  std::unordered_map<std::string, int> numbers_;  // by which names were told apart, per name
  std::vector<formats::torch::StoredTensor> constants_;
  std::set<std::string, std::less<>> functions_;
};

/// A node while it is written.
struct NodeOut {
  Script& s;
  const Node& node;
  DType wide = DType::undefined;  // inputs are read and outputs computed in this type, as PyTorch lacks theirs

  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  std::string in(std::size_t i) const;
  /// The input, or its number where it is a constant that spreads over the other input.
  std::string operand(std::size_t i) const;
  std::vector<std::string> all_inputs() const;
  DType elem(std::size_t i = 0) const { return node.input(i)->type.elem; }
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  bool flag(std::string_view name, bool fallback = false) const { return attr(name, fallback) != 0; }
  std::string word(std::string_view name, std::string_view fallback) const {
    return node.attributes.string_or(name, fallback);
  }
  /// A number of the operator's, as elements of its type need it.
  std::string real(std::string_view name, float fallback) const;
  /// Elements of a constant input.
  std::optional<Ints> known(std::size_t i) const;
  /// A list of integers, whether they are known or not.
  std::string ints(std::size_t i) const;
  /// One number.
  std::string integer(std::size_t i) const;
  /// One number of the input's own kind.
  std::string number(std::size_t i) const;
  bool has_rank(std::size_t i = 0) const { return node.input(i)->type.shape.has_value(); }
  std::int64_t rank(std::size_t i = 0) const { return static_cast<std::int64_t>(node.input(i)->type.shape->size()); }
  /// Attribute axis; from the front where the rank is known.
  std::int64_t axis(std::int64_t fallback, std::size_t input = 0) const;
  std::string type(DType dtype) const { return s.type(dtype); }
  /// "f(a, b)"
  static std::string call(std::string_view function, const std::vector<std::string>& args);
  /// A call of a function that stands beside the class.
  std::string helped(std::string_view function, const std::vector<std::string>& args) const {
    return call(s.function(function), args);
  }
  /// The output's variable; made for one that nobody wants.
  std::string out(std::size_t i) const;
  void set(const std::string& expression, std::size_t i = 0) const;
};

/// A number of the tensor's own kind.
std::string literal(const Tensor& tensor, std::size_t at = 0);

/// Writes the graph's nodes in their order.
void write_nodes(Script& script, const Graph& graph);

}  // namespace ingot::backends::torch
