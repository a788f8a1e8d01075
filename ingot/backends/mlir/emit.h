#pragma once
#include <string>
#include <vector>

#include "ingot/lower/program.h"

namespace ingot::backends::mlir {

struct File {
  std::string name, content;
};

struct Sizes {
  std::int64_t weights = 0, arena = 0;  // bytes; arena without what is sized at run time
};

/// NAME.mlir; NAME.h and NAME.c, which give it an interface in C; NAME.bin and NAME_weights.s if weights are large.
std::vector<File> emit(const lower::Program& program, Sizes* sizes = nullptr);

}  // namespace ingot::backends::mlir
