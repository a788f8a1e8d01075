#pragma once
#include <string>
#include <vector>

#include "ingot/driver/format.h"

namespace ingot::driver::keras {

/// A TF.js layers-model: a directory, or the model.json in it. Keras reads it through the converter of TF.js.
std::vector<std::string> save_layers(const Model& model, const std::string& path, const SaveOptions& options);

std::vector<ExportLine> exported_operators();
std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions& options);

}  // namespace ingot::driver::keras
