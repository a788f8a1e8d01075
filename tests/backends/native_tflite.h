#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::test {

/// The TFLite C library of the npm package tfjs-tflite-node, in a process of its own for each run: a crash is an
/// answer.
class NativeTflite {
 public:
  /// Nothing where the package is not installed.
  static std::optional<NativeTflite> find();

  struct Result {
    std::string failure;  // empty: it ran
    std::vector<Tensor> outputs;
  };
  /// Runs a model's bytes on inputs in the order of the file.
  Result run(const std::string& model, const std::vector<Tensor>& inputs) const;

 private:
  std::string library_;
};

}  // namespace ingot::test
