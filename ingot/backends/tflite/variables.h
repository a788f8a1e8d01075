#pragma once
#include <string>
#include <vector>

#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// A variable of the source: in ONNX an input with its first value as default, and an output with its next one.
struct State {
  std::string input, output;
  ingot::Tensor first;
};

/// The states that a frontend noted; they are plain inputs after that.
std::vector<State> take_states(Graph& graph, std::vector<std::string>& notes);
/// Makes variables of them again, in the file and in its signature: read at the beginning of a run, written at its end,
/// and set to their first values once.
void keep_states(Output& output, const std::vector<State>& states);

}  // namespace ingot::backends::tflite
