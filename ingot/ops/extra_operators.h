#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "ingot/ops/op_def.h"

// Operators that are added while the program runs: those of plug-ins.

namespace ingot::ops {

struct ExtraOperator {
  std::string domain, name;
  std::function<void(InferContext&)> infer;
  std::function<void(KernelContext&)> run;  // empty: there is no kernel
};

/// Adds an operator, for all that happens from now on. Refuses a name that is taken. Not while others look for
/// operators.
void add_operator(ExtraOperator op);

/// Whether it was added so.
bool is_extra_operator(std::string_view domain, std::string_view name);

}  // namespace ingot::ops
