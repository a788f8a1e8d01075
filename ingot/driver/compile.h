#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::driver {

struct CompileRequest {
  std::string output;        // files are named after it: out/net gives out/net.h, out/net.cpp
  std::string emit = "cpp";  // one of compile_targets()
  std::string target = "";   // avx2, avx512, neon, scalar: the processor of the matrix kernels; empty: the compiler's
  std::string weights = "";  // embed, file; empty: embed what is small
  bool no_alloc = false, half_weights = false, has_profile = false, has_threads = false;  // backends/cpp/emit.h
  bool has_test = true;      // C++ and C: a program with inputs and results to compare with, and a file for CMake
};

struct CompileReport {
  std::vector<std::string> files;  // as written
  std::int64_t weight_bytes = 0, arena_bytes = 0;
  bool is_static = true;    // every size is known before it runs
  std::string why_no_test;  // where one was asked for and could not be made
};

/// Words for --emit.
std::vector<std::string> compile_targets();

/// Writes the model as source code. Everything that cannot be is listed in one error.
CompileReport compile(Model& model, const CompileRequest& request);

}  // namespace ingot::driver
