#pragma once
#include <string>
#include <vector>

#include "ingot/lower/program.h"

namespace ingot::backends::matlab {

struct File {
  std::string name, content;
};

/// NAME.m, a function with the model's inputs and outputs, and NAME.mat with its weights, where there are any. Arrays
/// have the model's dimension order; the code needs no toolbox and runs in MATLAB R2018a and in Octave 7.
std::vector<File> emit(const lower::Program& program);

}  // namespace ingot::backends::matlab
