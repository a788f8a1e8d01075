#pragma once
#include <string>

#include "ingot/driver/load.h"

namespace ingot::driver {

/// A graph (.pb, .pbtxt), a meta graph with the checkpoint beside it, a saved_model.pb, or a TF.js graph-model.
Loaded load_tensorflow(const std::string& path, const Bytes& contents, Format format, const LoadOptions& options);
/// A SavedModel, or a TF.js model by its directory.
Loaded load_tensorflow_directory(const std::string& path, const LoadOptions& options);

}  // namespace ingot::driver
