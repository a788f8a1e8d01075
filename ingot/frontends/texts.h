#pragma once
#include <string>

#include "ingot/frontends/values.h"

namespace ingot::frontends {

/// Every place where `what` stands in the texts, or the first alone, replaced. A Loop over the parts between.
Value* with_replaced(GraphBuilder& g, Value* x, const std::string& what, const std::string& by,
                     bool only_first = false);

/// In "LOWER" or "UPPER" case; ONNX changes that of lists alone.
Value* with_case(GraphBuilder& g, Value* x, const char* which);

}  // namespace ingot::frontends
