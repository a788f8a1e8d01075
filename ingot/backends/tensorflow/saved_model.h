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
};

/// The graph becomes the function of a signature. `keeps_variables`: float constants that are lists or larger are
/// variables, so that TensorFlow can train them on; else all stay constants.
SavedParts to_saved_model(Exported exported, bool keeps_variables);

}  // namespace ingot::backends::tensorflow
