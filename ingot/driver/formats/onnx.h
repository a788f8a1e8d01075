#pragma once
#include "ingot/driver/load.h"
#include "ingot/onnx/reader.h"

/// What the formats that hold ONNX have in common.
namespace ingot::driver::rows {

extern const Vocabulary kOnnxOperators;
extern const std::string_view kOnnxRuntimes[1];

inline constexpr OptionSet kOnnxImportOptions = {Option::inputs,  Option::outputs,   Option::functions,
                                                 Option::map_ops, Option::inputs_as, Option::outputs_as};
inline constexpr OptionSet kOnnxExportOptions = {Option::opset,       Option::target, Option::auto_cast,
                                                 Option::infer_types, Option::half,   Option::standard};

inline onnx::ReadOptions read_options(const LoadOptions& options) {
  return {
      .allow_links = options.allow_links, .budget = options.budget, .allow_missing_data = options.allow_missing_data};
}

}  // namespace ingot::driver::rows
