#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/backends/torch/forward.h"

namespace ingot::backends::torch {

/// A Python file while it is written.
class PythonFile {
 public:
  explicit PythonFile(const std::string& title);

  void add_functions(const std::string& functions) { text_ += functions; }
  /// class Model, with the statements of its constructor and the code of its forward.
  void add_module(const std::vector<std::string>& statements, const Signature& signature, const std::string& forward);
  /// What ONNX calls the weights that have another name here.
  void add_names(const std::map<std::string, std::string>& names);
  /// Functions that read and write weights, and one that makes the model with its own.
  void add_loading();
  /// class TrainStep, which is called with `arguments`.
  void add_step(const std::vector<std::string>& constants, const Signature& signature, const std::string& body);

  const std::string& text() const { return text_; }

 private:
  void add_weights();

  std::string text_;
};

}  // namespace ingot::backends::torch
