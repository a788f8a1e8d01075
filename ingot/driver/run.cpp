// A model file run once.
#include "ingot/driver/run.h"

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::driver {

std::optional<Model> runnable_form(const Model& model) {
  if (!train::has_gradients(model)) return std::nullopt;
  Model made = model.clone();
  train::expand_gradients(made);
  return made;
}

RunResult run(const RunRequest& request) try {
  RunResult result;
  result.model = load(request.model, request.load).model;
  set_input_shapes(result.model, request.input_shapes);
  Inputs inputs = load_inputs(result.model, request.inputs, request.load);
  result.form = inputs.form;
  if (request.seed)
    for (NamedDatum& drawn : random_inputs(result.model, *request.seed, inputs.values))
      inputs.values.push_back(std::move(drawn));
  engine::SessionOptions options;
  options.budget = request.load.budget;
  options.threads = request.threads;
  options.is_fast = request.is_fast;
  const std::optional<Model> form = runnable_form(result.model);
  const engine::Session session(form ? *form : result.model, options);
  engine::RunOptions run_options;
  result.profile = {};
  if (request.wants_profile) run_options.profile = &result.profile;
  result.outputs = session.run(inputs.values, run_options);
  result.kernels = session.kernels();
  return result;
} catch (Error& error) {
  error.in_file(request.model);
  throw;
}

}  // namespace ingot::driver
