#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/passes/half.h"

namespace ingot::driver {

struct AdjustOptions;

/// Source and result of a conversion, as they can be run beside each other.
struct Comparison {
  std::string source{}, result{};
  LoadOptions load_source{}, load_result{};
  InputShapes input_shapes{};  // of the source
  /// What weights or results were rounded to because that was asked for.
  DType rounded_to = DType::undefined;
};
/// Compares the two and keeps the answer to itself; returns why there is none, empty if there is one.
using Verifier = std::function<std::string(const Comparison&)>;

/// Everything that can be asked of a conversion. What the formats at hand do not take is refused, never ignored.
struct ConvertRequest {
  std::string input{}, output{};
  const Format* from = nullptr;  // null: the file tells
  const Format* to = nullptr;    // null: the extension tells

  // Of the model. Without `opset` and `target` an ONNX model keeps its operator sets, and one of another framework that
  // becomes ONNX gets opset 21.
  std::optional<std::int64_t> opset{};  // of ai.onnx; the other standard domains follow the release that brought it
  std::string target{};                 // "ort-1.15", "onnx-1.12": opsets and IR version of that program
  std::optional<AutoCast> auto_cast{};
  InputShapes input_shapes{};
  std::optional<Dim> batch{};  // a number or a name: the first dimension of the inputs, and what follows from it
  Renames renames{};
  bool infer_types = false;  // write the types of all values
  LayoutWish layout{};
  std::vector<std::string> allow_custom{};

  // Of the source: see ImportOptions.
  std::string signature{}, tag{};
  std::vector<std::string> inputs{}, outputs{};
  std::string functions{}, map_ops{}, weights_from{}, data{}, schema{};
  std::string loss{}, optimizer{}, optimizer_state{};
  InputTypes input_types{};
  InputValues input_values{};
  std::optional<Mode> mode{};
  std::string strings{};  // "contrib": texts in the operators of ONNX Runtime's extensions
  bool keep_functions = false, keep_nhwc = false, keep_state = false, dequantize = false;
  std::optional<Precision> precision{};
  bool raw_scores = false, zipmap = false, decision_path = false;

  // Of the result: see SaveOptions.
  std::optional<WeightForm> weights{};
  std::optional<Quantize> quantize{};
  std::optional<Sequences> sequences{};
  bool native_lstm = false, variables = false, external_data = false;
  std::optional<std::uint64_t> external_threshold{};

  // Of a result that is ONNX: see AdjustOptions.
  std::optional<passes::HalfOptions> half{};
  bool standard = false;

  bool allow_links = false;
  Budget* budget = nullptr;
  /// A source that `check` refuses is refused, and so is a result, which is a bug then: nothing is written.
  bool requires_valid = true;

  /// Called where source and result can be compared; empty: nobody wants to know.
  Verifier verify{};
  bool verifies_onnx = false;  // also where both are ONNX
  bool allow_runtimes = true;  // off: no other program may see the files
  /// Told what begins: "read", "convert", "write", "verify". What it throws ends the conversion.
  std::function<void(std::string_view)> on_stage{};
};

/// What of a request the reader of a file, who changes the model, and the writer is told; for those who do one alone.
ImportOptions import_part(const ConvertRequest& request);
AdjustOptions adjust_part(const ConvertRequest& request);
SaveOptions save_part(const ConvertRequest& request);
/// All that is asked for.
OptionSet given(const ConvertRequest& request);

/// What a conversion did.
struct ConvertReport {
  const Format *from = nullptr, *to = nullptr;
  Model model;                       // as it was written, or handed to the writer of another framework's format
  std::vector<std::string> notes{};  // every change that was not asked for by name, a line each
  std::size_t nodes_changed = 0, nodes_added = 0;
  std::optional<passes::HalfReport> half{};  // where half precision was asked for
  bool is_translated = false;                // one of the two formats is another framework's
  std::string not_verified{};                // why source and result were not compared; empty: `verify` gave an answer
  double load_seconds = 0, convert_seconds = 0, write_seconds = 0;
};

/// From one file to another. Errors name the file; nothing is written then, except that an error of `verify` comes
/// after writing.
ConvertReport convert(const ConvertRequest& request);

}  // namespace ingot::driver
