#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/backends/tensorflow/export.h"
#include "ingot/ir/tensor.h"

namespace ingot::test {

/// What came out of a model that was written for TensorFlow; a failure in words, or the outputs.
struct TensorflowResult {
  std::string failure{};
  std::vector<Tensor> outputs{};
};

/// A graph as a TF.js model in the real TF.js, in a process of its own.
class Tfjs {
 public:
  /// Nothing where it is not installed.
  static std::unique_ptr<Tfjs> find();
  ~Tfjs();
  TensorflowResult run(const backends::tensorflow::Exported& model, const std::vector<Tensor>& inputs);

 private:
  struct State;
  explicit Tfjs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The same graph as a frozen file, read again by Ingot and run by its engine.
TensorflowResult run_read_again(const backends::tensorflow::Exported& model, const std::vector<Tensor>& inputs);

/// Like difference(), of results that hold integers and floats in other types than the model states them.
std::string difference_in_value(const std::vector<Tensor>& got, const std::vector<Tensor>& expected);

}  // namespace ingot::test
