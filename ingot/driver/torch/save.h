#pragma once
#include <string>
#include <vector>

#include "ingot/driver/format.h"

namespace ingot::driver::torch {

/// A TorchScript archive.
std::vector<std::string> save_script(const Model& model, const std::string& path, const SaveOptions& options);
/// A directory with model.py and its weights, and train_step.py with its state where the model has training
/// information.
std::vector<std::string> save_source(const Model& model, const std::string& path, const SaveOptions& options);

std::vector<ExportLine> exported_operators();
std::vector<ExportObstacle> obstacles_of(const Model& model, const SaveOptions& options);

}  // namespace ingot::driver::torch
