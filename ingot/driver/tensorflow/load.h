#pragma once
#include "ingot/driver/load.h"

namespace ingot::driver::tensorflow {

/// A graph (.pb, .pbtxt) or a meta graph with the checkpoint beside it; where it turns out to be a SavedModel or a
/// TF.js model, that.
Imported load_graph(const Source& source, const LoadOptions& options);
/// A SavedModel, by its directory or the file in it.
FileContents describe_saved_model(const Source& source, const LoadOptions& options);
Imported load_saved_model(const Source& source, const LoadOptions& options);
/// A TF.js graph-model, by its directory or its file.
Imported load_tfjs(const Source& source, const LoadOptions& options);

/// The operators that have a translation (those whose values are compared by tests), sorted.
std::vector<std::string> translated_operators();

}  // namespace ingot::driver::tensorflow
