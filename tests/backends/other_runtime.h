#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"
#include "ingot/verify/runtime.h"

namespace ingot::test {

/// TFLite or LiteRT as ingot verify drives them: in a process of its own, so that a crash is an answer.
class OtherRuntime {
 public:
  /// Nothing where the runtime is not installed.
  static std::unique_ptr<OtherRuntime> find(verify::Runtime runtime);
  ~OtherRuntime();

  struct Result {
    std::string failure;  // empty: it ran
    std::vector<std::string> names;
    std::vector<Tensor> outputs;
  };
  /// Runs a model's bytes on inputs in the order of the file. `runs`: TFLite does it that often, and what variables
  /// hold stays from run to run.
  Result run(const std::string& model, const std::vector<Tensor>& inputs, int runs = 1);

 private:
  struct State;
  explicit OtherRuntime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ingot::test
