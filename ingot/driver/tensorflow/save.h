#pragma once
#include <string>
#include <vector>

#include "ingot/driver/format.h"

namespace ingot::driver::tensorflow {

/// A frozen graph: one file.
std::vector<std::string> save_graph(const Model& model, const std::string& path, const SaveOptions& options);
/// A SavedModel: a directory.
std::vector<std::string> save_saved_model(const Model& model, const std::string& path, const SaveOptions& options);
/// A TF.js graph-model: a directory, or the model.json in it.
std::vector<std::string> save_tfjs(const Model& model, const std::string& path, const SaveOptions& options);

/// What TensorFlow has for each ONNX operator, and all that stands in the way of a model.
std::vector<ExportLine> exported_operators();
std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions& options);
std::vector<ExportLine> exported_operators_of_tfjs();
std::vector<ExportObstacle> obstacles_of_tfjs(const Model& model, const SaveOptions& options);

}  // namespace ingot::driver::tensorflow
