#pragma once
#include "ingot/driver/format.h"

/// What TensorFlow's formats have in common.
namespace ingot::driver::rows {

extern const Vocabulary kTensorflowOperators;
extern const std::string_view kTensorflowRuntimes[1];

inline constexpr OptionSet kTensorflowImportOptions = {
    Option::inputs,         Option::outputs, Option::functions,    Option::map_ops,   Option::keep_nhwc, Option::mode,
    Option::keep_functions, Option::strings, Option::allow_custom, Option::inputs_as, Option::outputs_as};
inline constexpr OptionSet kTensorflowExportOptions = {Option::auto_cast, Option::inputs_as, Option::outputs_as,
                                                       Option::sequences};

}  // namespace ingot::driver::rows
