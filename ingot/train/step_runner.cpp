// Runs training steps in the engine.
#include "ingot/train/step_runner.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"

namespace ingot::train {
namespace {

template <class T> bool all_finite_of(const Array& array) {
  return std::ranges::all_of(array.data<T>(), [](T v) { return std::isfinite(v); });
}

bool all_finite(const Array& array) {
  if (array.dtype() == DType::f32) return all_finite_of<float>(array);
  if (array.dtype() == DType::f64) return all_finite_of<double>(array);
  if (!is_float(array.dtype())) return true;
  return std::ranges::all_of(array.to_doubles(), [](double v) { return std::isfinite(v); });
}

}  // namespace

StepRunner::StepRunner(const TrainingGraph& training, const engine::SessionOptions& options)
    : StepRunner(
          [&] {
            std::vector<TrainingGraph> one(1);
            one[0].model = training.model.clone();
            one[0].state = training.state;
            one[0].parameter_count = training.parameter_count;
            one[0].loss = training.loss;
            one[0].norm = training.norm;
            one[0].lr = training.lr;
            one[0].shared = training.shared;
            one[0].owners = training.owners;
            one[0].own_rank = training.own_rank;
            return one;
          }(),
          options) {}

StepRunner::StepRunner(const std::vector<TrainingGraph>& trainings, const engine::SessionOptions& options)
    : options_(options), losses_(trainings.size()) {
  std::vector<std::string> others;
  for (const TrainingGraph& training : trainings) {
    Part part;
    part.step = step_graph(training);
    for (const Value* v : part.step.graph->inputs()) {
      part.inputs.insert(v->name());
      const Value* variable = training.model.graph->find(v->name());
      if (variable && variable->initializer && !state_.contains(v->name()))
        state_[v->name()] = Array::from(*variable->initializer);
    }
    engine::SessionOptions own = options;
    // The state is what the graph gives last; a name may have been taken.
    const auto moved = std::ranges::count_if(
        training.state, [&](const TrainingGraph::State& state) { return moves(training, state.name); });
    const std::size_t first = part.step.graph->output_count() - static_cast<std::size_t>(moved);
    for (std::size_t i = 0; i < training.state.size(); ++i) {
      const std::string& name = training.state[i].name;
      const bool is_moved = moves(training, name);
      if (is_moved) part.changes.push_back(name);
      if (std::ranges::find(training.passing, name) != training.passing.end()) continue;
      auto& list = i < training.parameter_count ? parameters_ : others;
      if (std::ranges::find(list, name) == list.end()) list.push_back(name);
      if (!is_moved) continue;
      const Value* next = part.step.graph->output(first + part.changes.size() - 1);
      own.updates.push_back({name, next->name(), i < training.parameter_count});
    }
    part.lr = training.lr;
    part.loss = training.loss;
    part.norm = training.norm;
    part.session = std::make_unique<engine::Session>(part.step, own);
    if (!part.loss.empty()) loss_part_ = parts_.size();
    parts_.push_back(std::move(part));
  }
  names_ = parameters_;
  for (const std::string& name : others)
    if (std::ranges::find(parameters_, name) == parameters_.end()) names_.push_back(name);
  for (const std::string& name : names_)
    if (const auto it = state_.find(name); it != state_.end()) adopt(name, it->second);
}

void StepRunner::adopt(const std::string& name, const Array& value) {
  if (value.dtype() == DType::string) {
    state_.at(name) = value;
    return;
  }
  const auto own = std::make_shared<Array>(value.dtype(), value.dims());
  std::copy_n(value.bytes(), value.byte_size(), own->bytes());
  state_.at(name) = Array::view(own->dtype(), own->dims(), own->bytes(), own);
  owned_[name] = own;
}

void StepRunner::allow_writing(engine::InPlace& in_place) {
  constexpr long kOwners = 2;  // the list of what is owned, and the state
  for (auto& [name, own] : owned_) {
    if (state_.at(name).bytes() != own->bytes()) {
      own = nullptr;
      continue;
    }
    if (own.use_count() > kOwners) adopt(name, Array(state_.at(name)));
    in_place.memory.insert(own->bytes());
  }
  std::erase_if(owned_, [](const auto& entry) { return !entry.second; });
}

std::vector<engine::NamedDatum> StepRunner::feed(const Part& part, const std::vector<engine::NamedDatum>& batch,
                                                 const State& state) {
  std::vector<engine::NamedDatum> inputs;
  for (const engine::NamedDatum& datum : batch)
    if (part.inputs.contains(datum.name)) inputs.push_back(datum);
  for (const auto& [name, value] : state)
    if (part.inputs.contains(name)) inputs.push_back({name, value});
  return inputs;
}

std::vector<engine::NamedDatum> StepRunner::step(const std::vector<engine::NamedDatum>& batch) {
  std::vector<engine::NamedDatum> results;
  before_.clear();
  engine::InPlace in_place;
  engine::RunOptions how;
  how.profile = profile_;
  how.draw = draw_;
  // With several algorithms, one that goes wrong could not be run again.
  if (parts_.size() == 1) {
    allow_writing(in_place);
    how.in_place = &in_place;
  }
  written_.clear();
  before_ = state_;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    how.on_output = nullptr;
    if (watch_ && p == 0) {
      const std::size_t before = part.step.graph->output_count() - part.changes.size();
      how.on_output = [&, before](std::size_t i, const Datum& value) {
        if (i >= before && value.array()) watch_(part.changes[i - before], *value.array());
      };
    }
    results = part.session->run(feed(part, batch, state_), how);
    const std::size_t first = results.size() - part.changes.size();
    for (std::size_t i = 0; i < part.changes.size() && !in_place.was_refused; ++i) {
      const Array& next = *results[first + i].value.array();
      Array& now = state_[part.changes[i]];
      if (next.bytes() == now.bytes())
        written_.insert(part.changes[i]);
      else
        now = next;
    }
    results.resize(first);
    for (const engine::NamedDatum& result : results) {
      if (result.name == part.loss) losses_[p] = result.value.array()->to_doubles().front();
      if (!part.norm.empty() && result.name == part.norm) norm_ = result.value.array()->to_doubles().front();
    }
    if (exchange_ && p + 1 < parts_.size()) exchange_();
  }
  if (after_) after_();
  ++draw_;
  was_refused_ = in_place.was_refused;
  has_written_well_ = in_place.is_finite;
  return results;
}

bool StepRunner::is_finite() const {
  if (was_refused_ || !has_written_well_ || !std::isfinite(norm_)) return false;
  for (const double loss : losses_)
    if (!std::isfinite(loss)) return false;
  return std::ranges::all_of(
      parameters_, [&](const std::string& name) { return written_.contains(name) || all_finite(state_.at(name)); });
}

std::string StepRunner::first_not_finite(const std::vector<engine::NamedDatum>& batch) const {
  if (!has_written_well_)
    for (const std::string& name : parameters_)
      if (!all_finite(state_.at(name))) return "the update of parameter '" + name + "'";
  State state = before_;
  for (const Part& part : parts_) {
    Model watched = part.step.clone();
    Graph& graph = *watched.graph;
    const std::size_t first = graph.output_count();
    const auto order = topological_order(graph);
    if (!order) return {};
    for (const Node* node : *order)
      for (Value* v : node->outputs())
        if (v && v->type.is_tensor() && is_float(v->type.elem)) graph.add_output(v);
    std::unordered_map<std::string, bool> is_good;
    std::vector<engine::NamedDatum> results;
    try {
      results =
          engine::Session(watched, options_).run(feed(part, batch, state), {.profile = nullptr, .draw = draw_ - 1});
    } catch (const Error&) {
      return {};  // all values at once may need more memory than there is
    }
    for (std::size_t i = first; i < results.size(); ++i)
      if (const Array* array = results[i].value.array()) is_good[results[i].name] = all_finite(*array);
    for (const auto& [name, array] : state) is_good[name] = all_finite(array);
    for (const Value* v : graph.initializers())
      if (v->initializer) is_good[v->name()] = all_finite(Array::from(*v->initializer));
    const auto is_fine = [&](const Value* v) {
      const auto found = v ? is_good.find(v->name()) : is_good.end();
      return found == is_good.end() || found->second;
    };
    for (const engine::NamedDatum& datum : batch)
      if (const Array* array = datum.value.array(); array && !all_finite(*array))
        return "the data: input '" + datum.name + "' holds numbers that are not finite";
    for (const Node* node : *order) {
      const Values inputs = node->inputs(), outputs = node->outputs();
      if (!std::ranges::all_of(outputs, is_fine) && std::ranges::all_of(inputs, is_fine))
        return node->label() + " (" + node->op + ")";
    }
    const std::size_t from = first - part.changes.size();
    for (std::size_t i = 0; i < part.changes.size(); ++i) state[part.changes[i]] = *results[from + i].value.array();
  }
  return {};
}

bool StepRunner::has_learning_rate() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return !part.lr.empty(); });
}

void StepRunner::set_learning_rate(double lr) {
  for (const Part& part : parts_) {
    if (part.lr.empty()) continue;
    Array& variable = state_.at(part.lr);
    variable = variable.dtype() == DType::f64 ? Array::scalar(lr) : Array::scalar(static_cast<float>(lr));
  }
}

}  // namespace ingot::train
