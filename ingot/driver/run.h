#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/driver/trace.h"
#include "ingot/engine/session.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {

using engine::KernelChoice;

/// One run of a model file, as a command asks for it.
struct RunRequest {
  std::string model;
  LoadOptions load;
  std::vector<std::string> inputs;    // see load_inputs
  std::optional<std::uint32_t> seed;  // draws the inputs that are not given
  InputShapes input_shapes;
  int threads = 0;
  bool is_fast = true;
  bool is_native = false;           // the file is a library that `ingot compile --emit so` made: its code is run
  bool is_compiled = false;         // to native code, which is run instead of our kernels
  bool wants_profile = false;       // the model runs once more than is measured, so that nothing is cold
  train::DatasetOptions dataset{};  // how pictures are prepared, where the model does not say or is to be overruled
};

struct RunResult {
  Model model;
  std::vector<NamedDatum> outputs;
  DataForm form = DataForm::npy;
  engine::Profile profile;      // of the median of the runs that were measured
  std::vector<NodeTime> nodes;  // of the same run
  std::size_t measured_runs = 0;
  std::vector<KernelChoice> kernels;
  std::vector<std::string> notes;  // what a user should know, a line each
};

/// A copy in which what the engine does not do itself is expressed by what it does: Gradient nodes by derivatives.
/// Nothing if the engine runs the model as it is.
std::optional<Model> runnable_form(const Model& model);

/// Loads, plans and runs. Errors name the file, and the node where it is one's.
RunResult run(const RunRequest& request);

}  // namespace ingot::driver
