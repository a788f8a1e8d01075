// Training information as signatures of a SavedModel, which work on its variables.
#include "ingot/driver/tensorflow/training.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::tensorflow {
namespace {

namespace back = backends::tensorflow;

/// The step alone, without the prediction that nobody asked for.
train::TrainingGraph step_of(const Model& model, std::size_t which) {
  train::TrainingGraph training = train::read_training_info(model, which);
  Graph& graph = *training.model.graph;
  Value* loss = graph.find(training.loss);
  graph.resize_outputs(0);
  graph.add_output(loss);
  training.prediction.clear();
  return training;
}

std::vector<std::string> variables_of(const train::TrainingGraph& training) {
  std::vector<std::string> names;
  for (const train::TrainingGraph::State& state : training.state) names.push_back(state.name);
  if (!training.lr.empty()) names.push_back(training.lr);
  names.insert(names.end(), training.shared.begin(), training.shared.end());
  return names;
}

back::Exported exported_beside(const Model& model, back::ExportOptions options,
                               const std::vector<back::SignatureGraph>& others, std::vector<std::string>& notes) {
  for (const back::SignatureGraph& other : others)
    for (const formats::tensorflow::FunctionDef& f : other.exported.graph.functions) options.taken.push_back(f.name);
  back::Exported made = back::to_tensorflow(model, options);
  for (std::string& note : made.notes)
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  made.notes.clear();
  return made;
}

/// The graph that gives variables their first values, as a model.
Model initialization_of(const Model& model, const TrainingInfo& info) {
  if (!info.initialization->inputs().empty())
    throw Error(Code::bad_training_info, "an initialization must not have inputs");
  Model begin;
  begin.ir_version = model.ir_version;
  begin.opsets = model.opsets;
  Graph::ValueMap map;
  begin.graph = info.initialization->clone(nullptr, map);
  return begin;
}

std::string numbered(const std::string& key, std::size_t which) {
  return which ? key + "_" + std::to_string(which + 1) : key;
}

}  // namespace

std::vector<back::SavedVariable> training_variables(const Model& model) {
  std::vector<back::SavedVariable> variables;
  std::unordered_set<std::string> known;
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    if (!model.training[i].algorithm) continue;
    const train::TrainingGraph training = train::read_training_info(model, i);
    for (const std::string& name : variables_of(training)) {
      const Value* v = training.model.graph->find(name);
      if (v && v->initializer && known.insert(name).second) variables.push_back({name, *v->initializer});
    }
  }
  return variables;
}

Model with_inputs_for(const Model& model, const std::vector<back::SavedVariable>& variables) {
  Model made = model.clone();
  made.training.clear();
  Graph& graph = *made.graph;
  std::unordered_set<const Value*> replaced;
  std::vector<std::pair<Value*, std::string>> inputs;
  for (const back::SavedVariable& variable : variables) {
    Value* v = graph.find(variable.name);
    if (!v || !v->initializer) continue;  // the algorithm's own
    if (v->is_input()) graph.set_is_input(v, false);
    inputs.emplace_back(graph.add_input(graph.fresh_name(variable.name), variable.value.type()), variable.name);
    graph.replace_all_uses(v, inputs.back().first);
    replaced.insert(v);
  }
  graph.erase_initializers_if([&](const Value& v) { return replaced.contains(&v); });
  for (const auto& [value, name] : inputs) graph.rename(value, name);
  return made;
}

void add_training(const Model& model, const back::ExportOptions& options, std::vector<back::SignatureGraph>& graphs,
                  std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    const TrainingInfo& info = model.training[i];
    if (!info.algorithm) continue;
    const train::TrainingGraph training = step_of(model, i);
    back::SignatureGraph step{.key = numbered("train", i), .exported = {}};
    step.exported = exported_beside(train::step_graph(training), options, graphs, notes);
    for (const train::TrainingGraph::State& state : training.state)
      step.assigned.emplace_back(train::next_name(state.name), state.name);
    graphs.push_back(std::move(step));
    notes.push_back("signature '" + graphs.back().key + "': one step on " + std::to_string(training.state.size()) +
                    " variables, gives '" + training.loss + "'");
    if (!info.initialization || info.initialization_binding.empty()) {
      notes.push_back("the model does not say how training begins: there is no signature '" + numbered("init", i) +
                      "'");
      continue;
    }
    back::SignatureGraph init{.key = numbered("init", i), .exported = {}};
    init.exported = exported_beside(initialization_of(model, info), options, graphs, notes);
    for (const auto& [key, output] : info.initialization_binding) {
      const bool is_models = model.graph->find(key) != nullptr;
      init.assigned.emplace_back(output, is_models ? key : train::own_variable(model, i, key));
    }
    graphs.push_back(std::move(init));
  }
}

}  // namespace ingot::driver::tensorflow
