#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/backends/tensorflow/export.h"

namespace ingot::backends::tensorflow {

/// A SavedModel in the form of TensorFlow 2, and what its checkpoint holds.
struct SavedParts {
  formats::tensorflow::SavedModel model;
  std::vector<std::pair<std::string, formats::tensorflow::TensorProto>> checkpoint;
  std::vector<std::pair<std::string, std::string>> assets{};  // files, and what is in them
};

/// A variable, with the value that the checkpoint has of it.
struct SavedVariable {
  std::string name;
  Tensor value;
};

/// What one signature computes. An input of the graph that has a variable's name is read from the variable.
struct SignatureGraph {
  std::string key;
  Exported exported;
  /// Outputs of the graph that become the values of variables instead of being given out: output -> variable.
  std::vector<std::pair<std::string, std::string>> assigned{};
  /// Float constants that are lists or larger are variables too, so that TensorFlow can train them on.
  bool keeps_variables = false;
};

/// Each graph becomes the function of a signature; the first is the one that serves.
SavedParts to_saved_model(std::vector<SignatureGraph> graphs, const std::vector<SavedVariable>& variables = {});

}  // namespace ingot::backends::tensorflow
