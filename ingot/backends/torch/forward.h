#pragma once
#include <string>
#include <vector>

#include "ingot/backends/torch/export.h"
#include "ingot/backends/torch/script.h"
#include "ingot/backends/torch/target.h"

namespace ingot::backends::torch {

/// A model that PyTorch has, ready to be written.
struct Prepared {
  Model model;
  Holdings holdings;
  std::vector<std::string> notes;
};
/// Throws one Error that lists everything that PyTorch cannot express.
Prepared prepare(const Model& source, const ExportOptions& options);

/// Arguments and result of a function, in both dialects.
struct Signature {
  std::vector<std::string> arguments;  // "x: Tensor"
  std::string result;                  // "Tensor", "Tuple[Tensor, Tensor]"
};
/// Names the inputs as arguments and writes the graph with its return.
Signature write_forward(Script& script, const Graph& graph);

}  // namespace ingot::backends::torch
