#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::backends::keras {

/// A model as layers of Keras 2, in the words that TF.js has too.
struct LayersModel {
  std::string config;                                   // JSON: {"class_name": "Functional", "config": ...}
  std::vector<std::pair<std::string, Tensor>> weights;  // "layer/kernel", in the order of the layers
  std::vector<std::string> notes;
};

/// Expresses an ONNX model by layers. Throws one Error that lists everything that is no layer.
LayersModel to_layers(const Model& model, const passes::legalize::Options& options = {});

using passes::legalize::Obstacle;
std::vector<Obstacle> find_obstacles(const Model& model, const passes::legalize::Options& options = {});

/// The ONNX operators that layers are made of, sorted.
std::vector<std::string> written_operators();

}  // namespace ingot::backends::keras
