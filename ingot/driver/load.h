#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/driver/format.h"
#include "ingot/driver/options.h"
#include "ingot/ir/opaque_model.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

/// What the reader of a model may have to be told. A format refuses what it does not take.
struct ImportOptions {
  std::string signature{};                       // which of several entry points
  std::string tag{};                             // which of several graphs of a SavedModel
  std::vector<std::string> inputs{}, outputs{};  // where to cut, by name
  InputShapes input_shapes{};
  InputTypes input_types{};                 // where the source does not say them
  InputValues input_values{};               // numbers that the source leaves to its caller, fixed here
  std::vector<std::string> allow_custom{};  // "Op" or "Op:domain": stays as a custom node
  std::string functions{};                  // an ONNX file whose functions give custom nodes of their names a meaning
  std::string map_ops{};                    // a file that says what operators are to be called
  std::string weights_from{};               // a file with the weights, where the source only describes the model
  bool keep_state = false;                  // buffers that the source changes go in and out
  std::string loss{}, optimizer{};          // of what the source itself does not say, to train it
  std::string optimizer_state{};            // a file with the state of the optimizer that trained the source
  bool dequantize = false;                  // quantised tensors become float
  std::optional<Precision> precision{};     // nothing: as the library computes
  bool raw_scores = false;                  // decision functions in place of probabilities
  bool zipmap = false;                      // probabilities as maps from class to number
  bool decision_path = false;               // the nodes of trees that rows pass, as a further output
  std::string data{};                       // CSV: a sample of the frame that a program works on
  std::string schema{};                     // "age:int,name:text": its columns
  std::string strings{};                    // "contrib": texts in the operators of ONNX Runtime's extensions
  bool keep_functions = false;              // functions of the source become functions of the model
  bool keep_nhwc = false;                   // spatial operators become functions whose channels come last
  LayoutWish layout{};                      // of inputs and outputs
  std::optional<Mode> mode{};               // nothing: inference
};
OptionSet given(const ImportOptions& options);

struct LoadOptions {
  const Format* from = nullptr;  // null: the file tells
  ImportOptions import{};
  bool allow_links = false;
  Budget* budget = nullptr;
  /// What `check` refuses is refused. A model that an import made must pass: if it does not, that is a bug.
  bool requires_valid = false;
  /// Weights in files that are not there are read as zeros, with a note: for those who look at the graph alone.
  bool allow_missing_data = false;
};

/// What a format's reader gives. The rest happens in load(), for all formats in one order: recurrent loops become
/// operators, constants are folded, the layout is settled, convolutions take in what is beside them, variables get
/// their first values, the user's own functions come in.
struct Imported {
  Model model;
  std::vector<std::string> notes{};
  const Format* format = nullptr;  // where the source turns out to be of another one than was named
  /// It answers and is not trained: what is constant is computed once, but for what is quantised, and convolutions and
  /// pools take in what stands beside them (normalisation, bias, padding).
  bool folds_constants = false;
  /// Spatial operators stand between transposes from and to channels last.
  bool is_channels_last = false;
  /// Recurrent cells may be written out as loops over steps.
  bool spells_out_cells = false;
  std::vector<std::string> blank{};  // variables that no file holds a value of
  LayoutWish written_as{};           // how the file says that its inputs and outputs were moved when it was written
};

struct Loaded {
  Model model;
  const Format* format = nullptr;
  std::vector<std::string> notes{};  // what a reader of a report should know about the import, a line each
  LayoutWish written_as{};           // as in Imported
};

/// Reads a model of any format that Ingot knows. Errors name the file.
Loaded load(const std::string& path, const LoadOptions& options = {});
/// The same where source and format are at hand; `options.from` does not matter.
Loaded load(const Source& source, const Format& format, const LoadOptions& options);

/// What a file itself holds; nothing where its format has no other words than ONNX's. Errors name the file.
std::optional<FileContents> describe(const std::string& path, const LoadOptions& options = {});

/// The same of a file that is in memory. What such a file says of others beside it is refused.
Loaded load_memory(const Bytes& contents, const LoadOptions& options = {});

/// What decides how a model is written. A format refuses what it does not take.
struct SaveOptions {
  const Format* to = nullptr;  // null: the extension tells
  bool external_data = false;
  std::optional<std::uint64_t> external_threshold{};  // nothing: 1024 bytes
  std::optional<AutoCast> auto_cast{};                // nothing: none
  std::optional<WeightForm> weights{};                // nothing: as they are
  bool native_lstm = false;                           // TFLite: LSTM as one operator, which LiteRT does not load
  std::optional<Quantize> quantize{};                 // TF.js: nothing: weights as they are
  bool variables = false;                             // SavedModels: parameters stay variables
  std::optional<Sequences> sequences{};               // TensorFlow: nothing: lists, which cannot be inputs or outputs
  LayoutWish layout{};                                // of inputs and outputs
  std::vector<std::string> allow_custom{};            // "Op" or "Op:domain": the runtime must bring it
};
OptionSet given(const SaveOptions& options);

/// The format that a file is written in; refuses a path that does not tell, and formats that cannot be written.
const Format& format_to_write(const std::string& path, const Format* to);

/// Refuses an output that is the input itself, or lies in it: a conversion that fails or differs would have no source.
void refuse_overwriting(const std::string& input, const std::string& output);

/// The writing half of save(), for a format and options that are known to fit.
std::vector<std::string> write(const Format& format, const Model& model, const std::string& path,
                               const SaveOptions& options);
/// Writes a model, whole or not at all. Returns what a reader of a report should know, a line each.
std::vector<std::string> save(const Model& model, const std::string& path, const SaveOptions& options = {});

}  // namespace ingot::driver
