#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ingot/lower/program.h"

namespace ingot::backends::matlab {

struct File {
  std::string name, content;
};

/// The name, if a function can have it, or one like it.
std::string function_name(std::string_view name);

/// NAME.m, a function with the model's inputs and outputs, and NAME.mat with its weights, where there are any. Arrays
/// have the model's dimension order; the code needs no toolbox and runs in MATLAB R2018a and in Octave 7.
std::vector<File> emit(const lower::Program& program);

}  // namespace ingot::backends::matlab
