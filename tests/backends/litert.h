#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::test {

/// LiteRT, the runtime after TFLite, as the npm package @litertjs/core brings it: WebAssembly in a Node process of its
/// own, which is started again when it ends.
class LiteRt {
 public:
  /// Nothing where Node or the package is not installed.
  static std::unique_ptr<LiteRt> find();
  ~LiteRt();

  struct Result {
    std::string failure;  // empty: it ran
    std::vector<Tensor> outputs;
  };
  /// Runs a model's bytes on inputs in the order of the signature. A result whose sizes the package does not tell (it
  /// does so after inputs were resized) has the elements that fit into the file's sizes, as a vector.
  Result run(const std::string& model, const std::vector<Tensor>& inputs);

 private:
  struct State;
  explicit LiteRt(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ingot::test
