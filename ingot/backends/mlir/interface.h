#pragma once
#include <string>

#include "ingot/lower/plan.h"
#include "ingot/lower/program.h"

namespace ingot::backends::mlir {

/// The interface of a program in C: NAME.h, and NAME.c which calls what MLIR made.
std::string header_text(const lower::Program& program, const lower::MemoryPlan& plan);
std::string interface_text(const lower::Program& program, const lower::MemoryPlan& plan);

}  // namespace ingot::backends::mlir
