#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::passes {

struct StandardizeReport {
  std::vector<std::pair<std::string, std::size_t>> replaced;  // "com.microsoft.Gelu" and how many, by name
};

/// Says operators that ONNX does not define, and that are known here, in ONNX's own. The model is left in the newest
/// operator sets with types inferred, without the imports of domains that nothing uses any more. Functions that the
/// model has for such operators are left alone. Throws, with all of them, if one cannot be said.
StandardizeReport standardize(Model& model);

}  // namespace ingot::passes
