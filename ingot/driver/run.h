#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/driver/trace.h"
#include "ingot/engine/session.h"

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
  bool wants_profile = false;
};

struct RunResult {
  Model model;
  std::vector<NamedDatum> outputs;
  DataForm form = DataForm::npy;
  engine::Profile profile;
  std::vector<KernelChoice> kernels;
};

/// A copy in which what the engine does not do itself is expressed by what it does: Gradient nodes by derivatives.
/// Nothing if the engine runs the model as it is.
std::optional<Model> runnable_form(const Model& model);

/// Loads, plans and runs. Errors name the file, and the node where it is one's.
RunResult run(const RunRequest& request);

}  // namespace ingot::driver
