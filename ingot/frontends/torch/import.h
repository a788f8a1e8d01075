#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/formats/torch/archive.h"
#include "ingot/ir/model.h"

namespace ingot::frontends::torch {

struct ImportOptions {
  /// The method that is followed; empty: forward.
  std::string method{};
  /// TorchScript does not tell the shapes of its inputs: what is not said here is found out where operators tell.
  std::vector<std::pair<std::string, Shape>> input_shapes{};
  std::vector<std::pair<std::string, DType>> input_types{};
  /// Numbers that the method takes: with a value of their own they are no inputs.
  std::vector<std::pair<std::string, double>> input_values{};
  /// "op" or "op:domain": operators that stay as custom nodes.
  std::vector<std::string> allow_custom{};
  /// The model is to be trained: normalisation by running statistics and dropout stay what they are.
  bool is_trainable = false;
  /// Buffers that the code changes are inputs, with the file's value as their default, and outputs "NAME.next".
  bool keeps_state = false;
  Budget* budget = nullptr;
};

/// A parameter in the order in which PyTorch's optimizers number them.
struct Parameter {
  std::string name;  ///< the initializer's, which the model lacks where nothing reads it
  bool requires_grad = false;
};

struct Imported {
  Model model;
  std::vector<Parameter> parameters{};
  std::vector<std::string> notes;  ///< what the reader of a report should know, a line each
};

/// Follows the code of a TorchScript archive and translates what it does into the newest ONNX operator sets. Throws one
/// Error that lists every operator that has no translation, with its reason.
Imported import_script(const formats::torch::Archive& archive, const ImportOptions& options = {});

/// The same of a graph of torch.export, in either form of its archives.
Imported import_exported(const formats::torch::Archive& archive, const ImportOptions& options = {});

/// The operators of ATen that have a translation, sorted by name.
std::vector<std::string> translated_operators();

}  // namespace ingot::frontends::torch
