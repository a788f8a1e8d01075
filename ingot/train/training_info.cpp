// TrainingInfoProto: written from a training graph, and read back as one.
#include "ingot/train/training_info.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/check/check.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::train {
namespace {

constexpr std::int64_t kGoodOpset = 21;  // knows all that gradients use, and runtimes know it
constexpr std::int64_t kTrainingIr = 7;  // the first with training info

/// The step in another operator set; nothing where that cannot say it.
std::optional<Model> moved_to(const Model& model, std::int64_t opset, std::string* why) {
  Model moved = model.clone();
  try {
    passes::convert_version(moved, {{"", opset, {}}});
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    *why = error.what();
    return std::nullopt;
  }
  return moved;
}

std::size_t loop_count(const Model& model) {
  std::size_t count = 0;
  for (const Node& node : model.graph->nodes()) count += node.is("Loop") ? 1 : 0;
  return count;
}

/// A Gradient names values by strings: they follow when the values get other names.
void rename_in_gradient(Node& node, const Graph& from, const Graph::ValueMap& map) {
  const auto now = [&](const std::string& name) {
    const Value* v = from.find(name);
    const auto found = v ? map.find(v) : map.end();
    return found == map.end() ? name : found->second->name();
  };
  for (const char* list : {"xs", "zs"}) {
    const auto* names = node.attributes.get<std::vector<std::string>>(list);
    if (!names) continue;
    std::vector<std::string> renamed;
    for (const std::string& name : *names) renamed.push_back(now(name));
    node.attributes.set({list, renamed});
  }
  node.attributes.set({"y", now(node.attributes.string_or("y", ""))});
}

/// What the checker says of the training information, in one message.
void require_good_training_info(const Model& model) {
  std::string text;
  for (const passes::Problem& problem : passes::check(model))
    if (problem.severity == passes::Severity::error && problem.place.starts_with("training info"))
      text += "\n  " + problem.place + ": " + problem.message;
  if (!text.empty())
    throw Error(Code::bad_training_info, "the training information is broken:" + text)
        .hint("'ingot check' lists all problems with their remedies");
}

/// Names that values of the graph get once they are free.
using Renames = std::vector<std::pair<Value*, std::string>>;

/// The algorithm's inputs, variables and nodes in the inference graph, and its outputs behind that graph's own.
Renames copy_algorithm(const Graph& algorithm, Graph& graph) {
  Graph::ValueMap map;
  Renames renames;
  for (const Value* v : algorithm.inputs()) {
    map[v] = graph.add_input(graph.fresh_name(v->name()), v->type);
    renames.emplace_back(map[v], v->name());
  }
  for (const Value* v : algorithm.initializers()) {
    map[v] = graph.add_initializer(graph.fresh_name(v->name()), *v->initializer);
    renames.emplace_back(map[v], v->name());
  }
  for (const Node& node : algorithm.nodes()) {
    Node* copy = graph.add_copy(node, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i) {
      if (!copy->output(i)) continue;
      copy->output(i)->type = node.output(i)->type;
      renames.emplace_back(copy->output(i), node.output(i)->name());
    }
  }
  for (const Value* v : algorithm.outputs()) {
    const auto found = map.find(v);
    graph.add_output(found == map.end() ? const_cast<Value*>(v) : found->second);
  }
  return renames;
}

/// Inference graph and algorithm as one graph, all in the newest operator sets.
void join_algorithm(Model& model, std::size_t which) {
  Graph& graph = *model.graph;
  graph.close_defaults();
  const Renames renames = copy_algorithm(*model.training[which].algorithm, graph);
  model.training.clear();  // the algorithm's names are free again when it is gone
  for (const auto& [value, name] : renames)
    if (value->name() != name && !graph.find(name)) graph.rename(value, name);
  expand_gradients(graph);
  ops::InferSession session;
  ops::infer_graph(graph, session);
}

std::vector<TrainingGraph::State> bound_state(const Graph& graph, const Metadata& bindings) {
  std::vector<TrainingGraph::State> state;
  for (const auto& [key, next] : bindings) {
    const Value* variable = graph.find(key);
    if (!variable || !variable->initializer)
      throw Error(Code::bad_training_info, "'" + key + "' is bound but is no initializer");
    if (!graph.find(next))
      throw Error(Code::bad_training_info, "'" + key + "' is bound to '" + next + "', which is not there");
    state.push_back({key, next});
  }
  return state;
}

/// The loss is the first scalar that the algorithm puts out and that is no state.
std::string find_loss(const Graph& graph, std::size_t first, const std::vector<TrainingGraph::State>& state) {
  for (std::size_t i = first; i < graph.output_count(); ++i) {
    const Value* v = graph.output(i);
    const bool is_state = std::ranges::find(state, v->name(), &TrainingGraph::State::next) != state.end();
    if (!is_state && is_float(v->type.elem) && (!v->type.shape || v->type.shape->empty()) && !v->name().empty())
      return v->name();
  }
  throw Error(Code::bad_training_info, "the algorithm puts out no loss: a single real number");
}

/// The model's variables that other algorithms change and this one does not.
std::vector<std::string> shared_variables(const Model& model, std::size_t which,
                                          const std::vector<TrainingGraph::State>& state) {
  std::vector<std::string> shared;
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    for (const auto& [key, next] : model.training[i].update_binding) {
      const auto is_it = [&name = key](const TrainingGraph::State& one) { return one.name == name; };
      const Value* v = model.graph->find(key);
      if (i != which && v && v->initializer && std::ranges::none_of(state, is_it)) shared.push_back(key);
    }
  }
  return shared;
}

std::string find_learning_rate(const Graph& graph) {
  for (const char* name : {"train/lr", "lr", "learning_rate", "R"})
    if (const Value* v = graph.find(name); v && v->initializer && is_float(v->initializer->dtype())) return name;
  return "";
}

/// Variables of one name in two algorithms are two, unless they are the model's.
void separate_variables(const Model& model, std::size_t which, TrainingGraph& training) {
  Graph& graph = *training.model.graph;
  const auto rename = [&](std::string& name) {
    Value* v = graph.find(name);
    if (model.graph->find(name) || !v || !v->initializer) return;
    const std::string own = own_variable(model, which, name);
    if (own != name) graph.rename(v, graph.fresh_name(own));
    name = v->name();
  };
  const auto is_lr = [&](const TrainingGraph::State& state) { return state.name == training.lr; };
  const auto changes_lr = std::ranges::find_if(training.state, is_lr);
  for (TrainingGraph::State& state : training.state) rename(state.name);
  if (changes_lr != training.state.end())
    training.lr = changes_lr->name;
  else if (!training.lr.empty())
    rename(training.lr);
}

}  // namespace

void add_training_info(Model& model, const TrainingGraph& training, std::int64_t opset,
                       const InitializationOptions* initialization) {
  std::string why;
  std::int64_t target = opset ? opset : model.opsets.version("");
  std::optional<Model> step = moved_to(training.model, target, &why);
  // Older operators can say a sum at indices by a loop only: right, and far too slow for every step.
  if (step && !opset && loop_count(*step) > loop_count(training.model)) step.reset();
  if (!step && !opset) {
    target = kGoodOpset;
    step = moved_to(training.model, target, &why);
  }
  if (!step)
    throw Error(Code::cannot_downgrade,
                "the training step cannot be written in opset " + std::to_string(target) + ": " + why);
  if (model.opsets.version("") != target) passes::convert_version(model, {{"", target, {}}});
  for (const OpsetImport& import : step->opsets)
    if (!model.opsets.version(import.domain)) model.opsets.set(import.domain, import.version);
  model.ir_version = std::max(model.ir_version, kTrainingIr);

  Graph& inference = *model.graph;
  separate_statistics(inference);
  separate_copies(inference, [&](const std::string& name) {
    const Value* v = training.model.graph->find(name);
    return v && v->initializer;
  });
  TrainingInfo info;
  info.algorithm = std::make_unique<Graph>(&inference);
  Graph& algorithm = *info.algorithm;
  algorithm.name = "training";
  Graph::ValueMap map;
  const Graph& from = *step->graph;
  for (const Value* v : from.inputs()) {
    Value* own = inference.find(v->name());
    map[v] = own ? own : algorithm.add_input(v->name(), v->type);
  }
  std::unordered_map<std::string, std::string> new_names;  // of state that the algorithm holds itself
  for (const Value* v : from.initializers()) {
    Value* own = inference.find(v->name());
    // Constants of the same name may have changed on the way down; those that differ are the algorithm's own.
    if (own && own->initializer && *own->initializer == *v->initializer) {
      map[v] = own;
      continue;
    }
    const std::string base = v->name().starts_with("train/") ? v->name() : "train/" + v->name();
    map[v] = algorithm.add_initializer(algorithm.fresh_name(base), *v->initializer);
    new_names[v->name()] = map[v]->name();
  }
  const auto order = topological_order(from);
  if (!order) throw Error(Code::not_sorted, "the training graph has a cycle");
  for (const Node* node : *order) {
    Node* copy = algorithm.add_copy(*node, map, nullptr, "train/");
    if (!copy->name.empty() && !copy->name.starts_with("train/")) copy->name = "train/" + copy->name;
    if (copy->op == "Gradient") rename_in_gradient(*copy, from, map);
  }
  const auto put_out = [&](const std::string& name) {
    Value* v = map.at(from.find(name));
    algorithm.add_output(v);
    return v->name();
  };
  put_out(training.loss);
  for (const TrainingGraph::State& state : training.state) {
    const auto renamed = new_names.find(state.name);
    info.update_binding.emplace_back(renamed == new_names.end() ? state.name : renamed->second, put_out(state.next));
  }
  if (initialization) add_initialization(info, inference, training, new_names, *initialization);
  model.training.push_back(std::move(info));
}

Model make_trainable(const Model& model, const MakeTrainableOptions& options) {
  Model made = model.clone();
  made.training.clear();
  add_training_info(made, make_training_graph(made, options.training), options.opset, &options.initialization);
  return made;
}

TrainingGraph read_training_info(const Model& model, std::size_t which) {
  if (which >= model.training.size())
    throw Error(Code::bad_training_info, "the model has no training info number " + std::to_string(which));
  if (!model.training[which].algorithm)
    throw Error(Code::bad_training_info, "training info " + std::to_string(which) + " has no algorithm");
  require_good_training_info(model);
  TrainingGraph training;
  training.model = model.clone();
  passes::inline_functions(training.model);
  passes::canonicalize(training.model);
  const Metadata bindings = training.model.training[which].update_binding;
  Graph& graph = *training.model.graph;
  const std::size_t inference_outputs = graph.output_count();
  join_algorithm(training.model, which);

  training.state = bound_state(graph, bindings);
  training.loss = find_loss(graph, inference_outputs, training.state);
  training.prediction = inference_outputs ? graph.output(0)->name() : "";
  Value *loss = graph.find(training.loss), *prediction = graph.find(training.prediction);
  graph.resize_outputs(0);
  graph.add_output(loss);
  if (prediction) graph.add_output(prediction);
  for (const Value* v : graph.inputs())
    if (!model.graph->find(v->name())) training.target = v->name();
  const auto is_parameter = [&](const TrainingGraph::State& s) { return model.graph->find(s.name) != nullptr; };
  training.parameter_count = static_cast<std::size_t>(std::ranges::count_if(training.state, is_parameter));
  std::stable_partition(training.state.begin(), training.state.end(), is_parameter);
  training.shared = shared_variables(model, which, training.state);
  training.lr = find_learning_rate(graph);
  separate_variables(model, which, training);
  return training;
}

void drop_unused_domains(Model& model) {
  constexpr std::string_view kPreview = "ai.onnx.preview.training";
  bool is_used = false;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes()) is_used |= node.domain == kPreview;
  if (!is_used) std::erase_if(model.opsets, [&](const OpsetImport& import) { return import.domain == kPreview; });
}

std::string own_variable(const Model& model, std::size_t which, const std::string& name) {
  return model.training.size() > 1 ? "algorithm " + std::to_string(which) + "/" + name : name;
}

}  // namespace ingot::train
