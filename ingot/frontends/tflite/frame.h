#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/frontends/notes.h"
#include "ingot/frontends/problems.h"
#include "ingot/frontends/tflite/constants.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/frontends/tflite/operator_table.h"
#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::tflite {

namespace tfl = formats::tflite;
using Ints = std::vector<std::int64_t>;

/// A lookup table of the source, filled by HASHTABLE_IMPORT.
struct LookupTable {
  Tensor keys, values;
};

/// A variable of the source. One that the graph writes becomes an input with its first value as default, and an output
/// with its last.
struct Variable {
  std::string name;
  std::optional<Tensor> initial;
  Value* first = nullptr;    ///< its value when a run starts, once something has asked for it
  Value* current = nullptr;  ///< its value at this place of the graph
  bool is_written = false;
};

/// What all subgraphs of one model share while they are translated.
struct Import {
  const tfl::Model& source;
  const ImportOptions& options;
  Notes notes{};
  Problems problems{};
  std::map<std::string, Variable> variables{};
  std::map<std::string, LookupTable> lookup_tables{};
  std::vector<std::unique_ptr<Function>> functions{};  ///< of operators that ONNX has no words for
  std::unordered_map<std::string, int> function_names{};
  std::unordered_set<const Value*> named{};  ///< values that have got the name of a tensor
  Graph* main = nullptr;                     ///< the model's own
  std::map<std::string, Value*> shared{};    ///< constants of it that many operators use
  int depth = 0;                             ///< of subgraphs within subgraphs
  std::vector<std::size_t> open{};           ///< subgraphs that are being translated, each inside of those before it
  std::size_t translated = 0;                ///< operators, as often as they were

  void note(std::string text) { notes.add(std::move(text)); }
  /// The value that a variable has at this place, from `graph` or one inside of it.
  Value* read(Variable& variable, Graph& graph);
};

/// The graph that is not inside of another: the model's own, or the body of a function.
Graph& outermost_of(Graph& graph);

/// Makes inputs and outputs of the variables that were read and then written.
void finish_variables(Import& import, Graph& graph);

/// One subgraph of the source on its way into a graph. Each tensor has a value in the form in which TFLite stores it:
/// of a quantised tensor the integers. Its real form is made when asked for.
class Frame {
 public:
  Frame(Import& import, std::size_t subgraph, Graph& graph);

  Import& import() { return import_; }
  const tfl::SubGraph& source() const { return source_; }
  const tfl::Tensor& tensor(std::int32_t index) const { return source_.tensors.at(static_cast<std::size_t>(index)); }
  GraphBuilder& builder() { return builder_; }

  /// Translates those operators for which `wanted` holds (all if it is empty), in order.
  void translate(const std::vector<bool>& wanted = {});

  bool has_value(std::int32_t index) const { return values_.at(static_cast<std::size_t>(index)) != nullptr; }
  /// As stored; constants become initializers when first asked for.
  Value* stored(std::int32_t index);
  /// As real numbers: dequantised where the tensor is quantised.
  Value* real(std::int32_t index);
  void set(std::int32_t index, Value* value);
  /// Gives a value another name than a fresh one: the tensor's.
  void name(Value* value, const std::string& wanted);

  /// The data of a constant, as stored; also of one that only passes a DEQUANTIZE or DENSIFY.
  std::optional<Tensor> constant(std::int32_t index) const;
  /// A constant's real form, with its dimensions in another order; of other tensors, a transposed value.
  Value* weights(std::int32_t index, const Ints& perm);
  /// The output of a DEQUANTIZE or DENSIFY of a constant stands for that constant.
  void set_alias(std::int32_t index, std::int32_t constant);
  std::int32_t resolved(std::int32_t index) const;

  bool is_quantized(const tfl::Tensor& tensor) const;
  /// The element type of the stored form.
  DType dtype(const tfl::Tensor& tensor) const;
  Type type_of(const tfl::Tensor& tensor) const;
  Value* dequantize(Value* stored, const tfl::Tensor& tensor, std::optional<std::size_t> axis);
  Value* quantize(Value* real, const tfl::Tensor& tensor);

  /// The variable that a tensor is which keeps its value from run to run; zero at first.
  Variable& state(std::int32_t index);

  /// A constant of the whole model that many operators use; inside of a function it becomes one of its inputs.
  Value* shared(const std::string& name, const std::function<Tensor()>& make);

  /// Names of variables and tables that RESOURCE tensors stand for.
  std::unordered_map<std::int32_t, std::string> resources;
  /// Set while CALL_ONCE's subgraph is translated: assignments are first values.
  bool is_initializer = false;

 private:
  /// A constant of the file in the graph.
  Value* own_constant(const tfl::Tensor& source, Tensor data);
  void translate(const tfl::Operator& op);
  void translate(const tfl::Operator& op, const Row& row, const std::string& node_name);
  /// Whether integer weights meet a float input: TFLite then rounds it to 8 bits while it runs.
  bool rounds_activations(const tfl::Operator& op) const;
  /// Whether the operator can be an attribute: its tensors say all by themselves.
  bool can_be_described(const tfl::Operator& op) const;
  /// The operator's translation is the body of a function, and the operator itself an attribute of the call.
  void translate_as_function(const tfl::Operator& op, const Row& row, const std::string& node_name);
  /// Notes a custom operator's options where one node with its inputs and outputs says it.
  void note_custom(const tfl::Operator& op);
  void keep_as_custom(const tfl::Operator& op, const std::string& domain);

  Import& import_;
  std::size_t index_;  // of the subgraph
  const tfl::SubGraph& source_;
  GraphBuilder builder_;
  std::vector<Value*> values_, reals_;
  std::vector<std::pair<std::string, Value*>> shared_;  // of a function's body: its inputs
  std::unordered_map<std::int32_t, std::int32_t> aliases_;
  std::map<std::pair<std::int32_t, Ints>, Value*> weights_;
};

/// The scale and zero point that a constant or activation has in the file; false if it has none.
bool has_scale(const tfl::Tensor& tensor);
/// How a tensor that has scales for blocks of its last dimension is quantised; null: it has none.
const tfl::BlockwiseQuantization* blocks_of(const tfl::Tensor& tensor);

}  // namespace ingot::frontends::tflite
