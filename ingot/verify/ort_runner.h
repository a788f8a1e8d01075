#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"

namespace ingot::verify {

/// Where ONNX Runtime's Node package is; all of them absolute paths.
struct OrtPlace {
  std::string node;                                           // the program
  std::string script;                                         // ort_runner.mjs
  std::string peers;                                          // the directory with node_modules/onnxruntime-node
  std::chrono::milliseconds time = std::chrono::seconds(60);  // for one model
};

/// Runs models in ONNX Runtime, in a process of its own that is started again when it ends.
class OrtRunner {
 public:
  explicit OrtRunner(OrtPlace place);
  ~OrtRunner();

  struct Answer {
    std::vector<engine::NamedDatum> outputs;
    std::string error;  // empty: it ran
  };
  /// Tensors only: what the package cannot pass (sequences, 4-bit types, ...) is an error in the answer.
  Answer run(const std::string& model, const std::vector<engine::NamedDatum>& inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::verify
