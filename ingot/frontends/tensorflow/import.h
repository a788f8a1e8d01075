#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingot/formats/tensorflow/saved_model.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::frontends::tensorflow {

/// An input or output of the model: the name that people see, and the tensor of the graph, "node" or "node:1".
struct Port {
  std::string name, tensor;
  DType dtype = DType::undefined;  // undefined: the graph tells
  std::optional<Shape> shape{};
};

/// What a graph refers to and does not hold.
struct ModelFiles {
  /// A variable's value by its node's or shared name; nothing if there is none.
  std::function<std::optional<Tensor>(const std::string&)> variable;
  /// The content of an asset by the node that holds its name, or by the file's name.
  std::function<std::optional<Bytes>(const std::string&)> asset{};
};

/// What of a graph is wanted: what answers, what learns, or both.
enum class ImportMode { inference, training, both };

struct ImportOptions {
  ImportMode mode = ImportMode::inference;
  /// Where training: the operations that make a step; empty: all that change variables. Of a signature that trains, its
  /// inputs and outputs: these are the losses.
  std::vector<std::string> train_operations;
  std::vector<Port> train_inputs, train_outputs;
  /// Cut the graph here: tensors that become inputs or outputs. Empty: found.
  std::vector<std::string> inputs, outputs;
  /// Of a signature; used where the lists above are empty.
  std::vector<Port> signature_inputs, signature_outputs;
  std::vector<std::pair<std::string, Shape>> input_shapes;
  /// Operators that stay as they are: "Op" or "Op:domain".
  std::vector<std::string> custom;
  /// Texts in the operators of ONNX Runtime's extensions, where they mean the same.
  bool strings_contrib = false;
  /// Calls of functions stay calls, of model-local functions, where the functions can be translated by themselves.
  bool keep_functions = false;
  Budget* budget = nullptr;
};

struct ImportResult {
  Model model;
  std::vector<std::string> notes;    // what was left out or assumed
  std::vector<std::string> blank{};  // variables that no file holds a value of: zeros
};

/// A graph as an ONNX model in the newest operator set. Throws one Error that lists every node without a translation.
ImportResult import_graph(const formats::tensorflow::GraphDef& graph, const ImportOptions& options,
                          const ModelFiles& files = {});

/// The operators that have a translation, sorted.
std::vector<std::string_view> supported_operators();

/// Those of them whose values the tests compare with a reference, sorted.
std::vector<std::string_view> covered_operators();

}  // namespace ingot::frontends::tensorflow
