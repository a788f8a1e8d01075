#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/verify/test_case.h"
#include "tests/support/files.h"

namespace ingot::test {

/// A stored case on its way through generated code.
struct GeneratedCase {
  verify::TestCase test;
  std::string name;     // of the program
  std::string problem;  // why it failed; empty: so far so good
};

/// Compiles the cases' programs together, runs each in a process of its own and compares what it gives with what is
/// stored. `change`, if given, is applied to each model first.
void run_generated(std::vector<GeneratedCase>& cases, const std::function<void(Model&)>& change = {});

/// The same with generated MATLAB code in Octave.
void run_generated_matlab(std::vector<GeneratedCase>& cases);

/// The same with native code that LLVM makes.
void run_generated_native(std::vector<GeneratedCase>& cases);

}  // namespace ingot::test
