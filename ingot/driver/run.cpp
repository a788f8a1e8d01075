// A model file run once.
#include "ingot/driver/run.h"

#include <algorithm>

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

/// Runs that find everything warm, ten of them or as many as a second holds; the one of median length counts, since
/// others may have had to wait for other programs.
void measure(const engine::Session& session, const std::vector<NamedDatum>& inputs, RunResult& result) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kMost = 10;
  const auto end = Clock::now() + std::chrono::seconds(1);
  std::vector<std::pair<Clock::duration, engine::Profile>> runs;
  do {
    engine::Profile profile;
    engine::RunOptions options;
    options.profile = &profile;
    const auto start = Clock::now();
    session.run(inputs, options);
    runs.emplace_back(Clock::now() - start, std::move(profile));
  } while (runs.size() < kMost && Clock::now() < end);
  result.measured_runs = runs.size();
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::nth_element(runs.begin(), middle, runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  result.profile = std::move(middle->second);
  result.nodes = node_times(result.profile);
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
