// A model file run once.
#include "ingot/driver/run.h"

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/dataset.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::driver {

std::optional<Model> runnable_form(const Model& model) {
  if (!train::has_gradients(model)) return std::nullopt;
  Model made = model.clone();
  train::expand_gradients(made);
  return made;
}

namespace {

/// Runs that find everything warm: ten of them, or as many as a second holds.
void measure(const engine::Session& session, const std::vector<NamedDatum>& inputs, RunResult& result) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kMost = 10;
  const auto end = Clock::now() + std::chrono::seconds(1);
  engine::Profile all;
  do {
    result.profile = {};
    engine::RunOptions options;
    options.profile = &result.profile;
    session.run(inputs, options);
    all.events.insert(all.events.end(), result.profile.events.begin(), result.profile.events.end());
    ++result.measured_runs;
  } while (result.measured_runs < kMost && Clock::now() < end);
  result.nodes = node_times(all);
}

}  // namespace

RunResult run(const RunRequest& request) try {
  RunResult result;
  result.model = load(request.model, request.load).model;
  set_input_shapes(result.model, request.input_shapes);
  const train::Preparation prepared = known_to(result.model, request.dataset).preparation();
  train::store(prepared, result.model);
  Inputs inputs = load_inputs(result.model, request.inputs, request.load);
  result.form = inputs.form;
  result.notes = inputs.notes;
  if (request.seed)
    for (NamedDatum& drawn : random_inputs(result.model, *request.seed, inputs.values))
      inputs.values.push_back(std::move(drawn));
  engine::SessionOptions options;
  options.budget = request.load.budget;
  options.threads = request.threads;
  options.is_fast = request.is_fast;
  const std::optional<Model> form = runnable_form(result.model);
  const engine::Session session(form ? *form : result.model, options);
  result.outputs = session.run(inputs.values);
  if (request.wants_profile) measure(session, inputs.values, result);
  result.kernels = session.kernels();
  return result;
} catch (Error& error) {
  error.in_file(request.model);
  throw;
}

}  // namespace ingot::driver
