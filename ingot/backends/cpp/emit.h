#pragma once
#include <string>
#include <vector>

#include "ingot/ir/array.h"
#include "ingot/lower/program.h"

namespace ingot::backends::cpp {

struct Options {
  bool is_c = false;             // C99; else C++17
  bool weights_in_file = false;  // NAME.bin, else in the source
  std::string target =
      "";  // avx2, avx512, neon, scalar: what matrices are multiplied with; empty: what the compiler is told
  bool has_entry = false;     // a function that takes arrays of pointers, for callers that know no types
  bool no_alloc = false;      // the code asks for no memory: sizes must be known, weights are handed to it
  bool half_weights = false;  // weights of float are stored as float16
  bool has_profile = false;   // a hook before and after each step
  bool has_threads = false;   // C++: products and convolutions are shared among threads
  bool has_test = false;      // NAME_test.cpp or NAME_test.c, which reads test_data(), and NAME.cmake
};

struct File {
  std::string name, content;
};

struct Sizes {
  std::int64_t weights = 0, arena = 0;  // bytes; arena without what is sized at run time
};

/// NAME.h and NAME.cpp or NAME.c, the weights' file, where NAME is the program's name as an identifier.
std::vector<File> emit(const lower::Program& program, const Options& options, Sizes* sizes = nullptr);

/// Tensors as the code takes and gives them: strings are two, their bytes and where each ends.
std::vector<Array> as_passed(const std::vector<Array>& arrays);

/// What the test program reads from NAME_test.bin: inputs, and what the model gives for them. A model that rounds to
/// half precision or to steps may give other roundings: `steps`, of outputs that were steps just before, are how far apart
/// neighbours are.
std::string test_data(const std::vector<Array>& inputs, const std::vector<Array>& outputs, bool rounds_coarsely,
                      const std::vector<double>& steps = {});

/// The program's name as it stands in the code.
std::string identifier_of(const lower::Program& program);

}  // namespace ingot::backends::cpp
