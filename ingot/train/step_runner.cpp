// Runs training steps in the engine.
#include "ingot/train/step_runner.h"

namespace ingot::train {

StepRunner::StepRunner(const TrainingGraph& training, const engine::SessionOptions& options)
    : session_(std::make_unique<engine::Session>(step_graph(training), options)),
      lr_(training.lr),
      loss_name_(training.loss),
      norm_name_(training.norm) {
  const auto add = [&](const std::string& name) {
    if (state_.contains(name)) return;
    state_[name] = Array::from(*training.model.graph->find(name)->initializer);
  };
  for (const TrainingGraph::State& s : training.state) {
    names_.push_back(s.name);
    add(s.name);
  }
  if (!lr_.empty()) add(lr_);
}

std::vector<engine::NamedDatum> StepRunner::step(const std::vector<engine::NamedDatum>& batch) {
  std::vector<engine::NamedDatum> inputs = batch;
  for (const auto& [name, value] : state_) inputs.push_back({name, value});
  std::vector<engine::NamedDatum> results = session_->run(inputs);
  const std::size_t first = results.size() - names_.size();
  for (std::size_t i = 0; i < names_.size(); ++i) state_[names_[i]] = *results[first + i].value.array();
  results.resize(first);
  for (const engine::NamedDatum& result : results) {
    if (result.name == loss_name_) loss_ = result.value.array()->to_doubles().front();
    if (!norm_name_.empty() && result.name == norm_name_) norm_ = result.value.array()->to_doubles().front();
  }
  return results;
}

void StepRunner::set_learning_rate(double lr) {
  if (lr_.empty()) return;
  Array& variable = state_.at(lr_);
  variable = variable.dtype() == DType::f64 ? Array::scalar(lr) : Array::scalar(static_cast<float>(lr));
}

}  // namespace ingot::train
