#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::tensorflow {

namespace tf = formats::tensorflow;
class Translation;
struct Scope;

/// What a handle stands for: a variable or a table, by name.
struct Resource {
  enum class Kind { variable, table, other };
  Kind kind = Kind::other;
  std::string name;         // of its node
  std::string shared_name;  // what checkpoints may call it
};

/// What a tensor of TensorFlow has become.
struct Operand {
  Value* value = nullptr;
  std::shared_ptr<const Resource> resource = nullptr;
  bool is_missing = false;  // its node could not be translated
};
using Operands = std::vector<Operand>;

/// A node of TensorFlow as its translator sees it: inputs translated, attributes with their defaults.
class TfNode {
 public:
  TfNode(const tf::NodeDef& def, Operands inputs, Translation& translation, Scope& scope)
      : def_(def), inputs_(std::move(inputs)), translation_(translation), scope_(scope) {}

  const std::string& name() const { return def_.name; }
  const std::string& op() const { return def_.op; }
  const tf::NodeDef& def() const { return def_; }
  Translation& translation() const { return translation_; }
  Scope& scope() const { return scope_; }

  std::size_t input_count() const { return inputs_.size(); }
  /// Refuses absent inputs, handles and complex numbers.
  Value* input(std::size_t i) const;
  /// Complex numbers: pairs along a last axis of size 2.
  bool is_complex(std::size_t i) const;
  Value* complex_input(std::size_t i) const;
  Value* any_input(std::size_t i) const;
  const Operand& operand(std::size_t i) const;
  Values inputs(std::size_t from = 0) const;
  const Operands& operands() const { return inputs_; }

  DType elem(std::size_t i) const { return input(i)->type.elem; }
  /// Refuses an unknown rank, which the operator needs.
  std::int64_t rank(std::size_t i) const;
  /// The elements of an integer input, when all are known.
  std::optional<std::vector<std::int64_t>> known_ints(std::size_t i) const;
  /// The same where the translation needs them.
  std::vector<std::int64_t> need_ints(std::size_t i) const;
  std::int64_t need_int(std::size_t i) const;
  const Tensor* constant(std::size_t i) const;

  // Attributes; the fallback is TensorFlow's default. One of another kind is refused.
  const tf::AttrValue* attr(std::string_view name) const;
  bool has(std::string_view name) const { return attr(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> ints(std::string_view name, std::vector<std::int64_t> fallback = {}) const;
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  DType dtype(std::string_view name, DType fallback = DType::undefined) const;
  tf::TensorShape shape(std::string_view name) const;

  [[noreturn]] void unsupported(const std::string& why) const;

 private:
  const tf::NodeDef& def_;
  Operands inputs_;
  Translation& translation_;
  Scope& scope_;
};

Shape to_shape(const tf::TensorShape& shape);

}  // namespace ingot::frontends::tensorflow
