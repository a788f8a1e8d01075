#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/formats/keras/model_file.h"
#include "ingot/ir/model.h"

namespace ingot::frontends::keras {

struct ImportOptions {
  /// Names of layers to cut the model at; empty: its own inputs and outputs.
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, Shape>> input_shapes;
  /// "Layer" or "Layer:domain": layers that stay as custom nodes.
  std::vector<std::string> allow_custom;
  /// What is random while training (Dropout, noise) is kept as operators that can learn.
  bool is_training = false;
  Budget* budget = nullptr;
};

/// A parameter of the model.
struct Parameter {
  std::string name;  // of the initializer
  bool is_trainable = true;
  formats::json::Value regularizer{}, constraint{};  // as the layer states them; null: none
  std::size_t place = 0;                             // of its layer in the file
};

/// What a layer gives, where its size is a part of the loss.
struct Activity {
  std::string value;
  formats::json::Value regularizer;
  bool is_mean = true;  // over the batch; Keras 3 before 3.14 takes the sum
};

struct Imported {
  Model model;
  std::vector<std::string> notes;     ///< what the reader of a report should know, a line each
  std::vector<Parameter> parameters;  ///< those that layers call trainable, whether they are or not; in the order in
                                      ///< which optimizers number them
  std::vector<Activity> activities;   ///< with regularizers
};

/// Translates a Keras model into the newest ONNX operator sets. Spatial operators stand between transposes from and to
/// channels last. Throws one Error that lists every layer that has no translation, with its reason.
Imported import_model(const formats::keras::ModelFile& source, const ImportOptions& options = {});

/// The layers and operations that have a translation, sorted by name.
std::vector<std::string> translated_layers();

}  // namespace ingot::frontends::keras
