#pragma once
#include <memory>
#include <string>

#include "ingot/ops/kernel.h"

namespace re2 {
class RE2;
}

namespace ingot::ops {

/// A compiled expression of RE2, which needs time linear in the text and limited memory. Refuses what it does not
/// understand.
std::shared_ptr<re2::RE2> compiled_regex(const KernelContext& c, const std::string& pattern, bool ignore_case = false,
                                         bool is_bytes = false);

}  // namespace ingot::ops
