#pragma once
#include <string>
#include <vector>

#include "ingot/formats/torch/safetensors.h"
#include "ingot/formats/torch/script_archive.h"
#include "ingot/ir/model.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::backends::torch {

using ExportOptions = passes::legalize::Options;

struct Exported {
  formats::torch::ScriptArchive archive;
  std::vector<std::string> notes;  // what a reader of a report should know, a line each
};

/// Expresses an ONNX model as a TorchScript module: its floating-point initializers are parameters by their names,
/// running statistics and integers buffers, its inputs the arguments of forward. Throws one Error that lists everything
/// that PyTorch cannot express.
Exported to_torch(const Model& model, const ExportOptions& options = {});

/// A Python module and what it loads.
struct Source {
  std::string code;
  formats::torch::Safetensors weights;
  std::vector<std::string> notes;
};

/// The same as a Python module in which nodes are torch.nn's layers where they are one.
Source to_source(const Model& model, const ExportOptions& options = {});

/// What changes from step to step: an input of the step's graph, the output that it becomes, its first value.
struct StepState {
  std::string name, next;
  Tensor value;
};
/// A training step as a Python module; the other outputs are what it returns. The state stands in the weights.
Source to_train_step(const Model& step, const std::vector<StepState>& state, const ExportOptions& options = {});

using passes::legalize::Obstacle;
/// All that PyTorch cannot express, without writing anything.
std::vector<Obstacle> find_obstacles(const Model& model, const ExportOptions& options = {});

/// What PyTorch has for one ONNX operator, for `ingot ops --to torch`.
struct OperatorSupport {
  std::string op, domain;
  bool is_native = false, decomposes = false;
};
std::vector<OperatorSupport> supported_operators();

}  // namespace ingot::backends::torch
