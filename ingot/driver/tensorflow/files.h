#pragma once
#include <optional>
#include <string>

#include "ingot/driver/load.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::driver::tensorflow {

/// A graph of a SavedModel, a checkpoint or by itself, and the files that it refers to.
struct MetaSource {
  formats::tensorflow::MetaGraph meta;
  frontends::tensorflow::ModelFiles files;
};

/// `contents` are those of the saved_model.pb in the directory.
MetaSource open_saved_model(const std::string& directory, const Bytes& contents, const LoadOptions& options);
/// A .meta file: the checkpoint of the same name lies beside it.
MetaSource open_meta_graph(const std::string& path, const Bytes& contents, const LoadOptions& options);
MetaSource open_graph(const std::string& path, const Bytes& contents, const LoadOptions& options);

/// The old form of TF.js graph-models: a binary graph whose weights lie beside it.
bool has_old_weights(const std::string& path);

/// What a file holds, in either syntax.
std::optional<formats::tensorflow::FileKind> kind_of(const Bytes& contents);

/// The file of a SavedModel in its directory, or the model.json of TF.js; empty if there is none.
std::string saved_model_file(const std::string& directory);
std::string tfjs_file(const std::string& directory);

}  // namespace ingot::driver::tensorflow
