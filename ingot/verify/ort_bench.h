#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"

namespace ingot::verify {

/// Where ONNX Runtime is found: the program `node`, and the folder of npm's packages that holds onnxruntime-node.
struct OrtPackage {
  std::string node, packages;
};

/// Looks `node` up in the PATH. Throws, and says what to do, where one of the two is missing.
OrtPackage find_ort(const std::string& packages);

/// One model in ONNX Runtime, in a process of its own that is timed from inside.
class OrtBench {
 public:
  /// Loads the model and runs it once.
  OrtBench(const OrtPackage& place, const std::string& model, const std::vector<engine::NamedDatum>& inputs,
           int threads);
  ~OrtBench();

  /// Runs that many times; milliseconds of each.
  std::vector<double> run(std::size_t count);

  std::string version;
  double load_ms = 0, first_ms = 0;              // until the model is loaded; until the first result is there
  std::uint64_t base_bytes = 0, peak_bytes = 0;  // memory of the process before it loaded the model; and at most
  std::vector<engine::NamedDatum> outputs;       // of the first run
  std::vector<std::string> outputs_not_passed;   // those that are no tensors

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::verify
