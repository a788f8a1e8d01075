// A model file run once.
#include "ingot/driver/run.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/array_file.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/native_model.h"
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

/// Tells a format that leaves it open which shapes and types the given arrays have.
void tell_inputs(const RunRequest& request, ImportOptions& import) {
  import.input_shapes = request.load.import.input_shapes;
  import.input_shapes.insert(import.input_shapes.end(), request.input_shapes.begin(), request.input_shapes.end());
  for (const std::string& given : request.inputs) {
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos || !given.ends_with(".npy")) continue;
    const std::string name = given.substr(0, equals);
    const Array array = load_npy(given.substr(equals + 1));
    if (std::ranges::find(import.input_types, name, &std::pair<std::string, DType>::first) == import.input_types.end())
      import.input_types.emplace_back(name, array.dtype());
    if (std::ranges::find(import.input_shapes, name, &std::pair<std::string, Shape>::first) ==
        import.input_shapes.end())
      import.input_shapes.emplace_back(name, Shape(array.dims().begin(), array.dims().end()));
  }
}

Model load_to_run(const RunRequest& request) {
  const Source source = open_source(request.model);
  const Format& format = format_to_read(source, request.load.from);
  LoadOptions options = request.load;
  if (format.leaves_inputs_open) tell_inputs(request, options.import);
  Model model = load(source, format, options).model;
  if (model.graph->output_count() == 0)
    throw Error(Code::bad_input, "there is nothing to run: the model has no outputs")
        .hint("weights alone are no model: --weights-from of 'ingot convert' takes them with an architecture");
  set_input_shapes(model, request.input_shapes);
  return model;
}

}  // namespace

RunResult run(const RunRequest& request) try {
  RunResult result;
  std::unique_ptr<NativeModel> native;
  if (request.is_native) native = std::make_unique<NativeModel>(request.model);
  result.model = native ? native->ports().clone() : load_to_run(request);
  const train::Preparation prepared = known_to(result.model, request.dataset).preparation();
  train::store(prepared, result.model);
  Inputs inputs = load_inputs(result.model, request.inputs, request.load);
  result.form = inputs.form;
  result.notes = inputs.notes;
  if (request.seed)
    for (NamedDatum& drawn : random_inputs(result.model, *request.seed, inputs.values))
      inputs.values.push_back(std::move(drawn));
  if (request.is_compiled) native = NativeModel::of(result.model);
  if (native) {
    result.outputs = native->run(inputs.values);
    if (request.is_compiled) result.outputs = with_strings(std::move(result.outputs), result.model);
    return result;
  }
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
