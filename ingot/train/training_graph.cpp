// From an inference graph to one training step.
#include "ingot/train/training_graph.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/expand_gradients.h"
#include "ingot/train/recompute.h"
#include "ingot/train/splice.h"
#include "ingot/train/training_mode.h"

namespace ingot::train {
namespace {

Value* find_prediction(Graph& graph, const std::string& name) {
  for (Value* v : graph.outputs())
    if (name.empty() || v->name() == name) return v;
  throw Error(Code::bad_usage, "the model has no output '" + name + "'");
}

/// sqrt of the sum of all squares.
Value* norm_of(GraphBuilder& g, const Values& gradients) {
  Value* sum = nullptr;
  for (Value* gradient : gradients) {
    Value* squares = g.op("ReduceSumSquare", {gradient}, {{"keepdims", 0}});
    sum = sum ? g.add(sum, squares) : squares;
  }
  return g.op("Sqrt", {sum});
}

/// The value under a name of its own; outputs of a graph need one.
Value* named(GraphBuilder& g, Value* value, const std::string& name) {
  Value* out = g.op("Identity", {value});
  g.graph().rename(out, g.graph().fresh_name(name));
  out->producer()->name = out->name();
  return out;
}

/// Weights that an exporter wrote as Constant nodes become initializers where the user names them.
void lift_constants(Graph& graph, const ParameterOptions& options) {
  for (Node& node : graph.nodes()) {
    const Tensor* value = node.is("Constant") ? node.attributes.get<Tensor>("value") : nullptr;
    if (!value || !is_float(value->dtype())) continue;
    const std::string name = node.output()->name();
    const auto names_it = [&](const std::string& pattern) { return matches_glob(pattern, name); };
    if (std::ranges::none_of(options.trainable, names_it)) continue;
    Value* lifted = graph.add_initializer(graph.fresh_name(name), *value);
    graph.replace_all_uses(node.output(), lifted);
    graph.erase(&node);
    graph.rename(lifted, name);
  }
}

[[noreturn]] void nothing_to_train(const std::vector<ParameterChoice>& parameters) {
  constexpr std::size_t kShown = 20;
  std::string text = parameters.empty() ? "the model has no initializers of real numbers" : "nothing is left to train:";
  for (std::size_t i = 0; i < parameters.size() && i < kShown; ++i)
    text += "\n  " + parameters[i].name + " " + parameters[i].type + ": " + parameters[i].reason;
  if (parameters.size() > kShown) text += "\n  and " + std::to_string(parameters.size() - kShown) + " more";
  throw Error(Code::bad_usage, text).hint("name parameters by --trainable; it finds Constant nodes too");
}

void note_copies(TrainingGraph& training, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  if (names.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  training.notes.push_back("the file stores equal tensors once: " + text + " get their own (--tie keeps them one)");
}

/// The loss by its name, or by the user's own graph.
Value* put_loss(TrainingGraph& training, Value* prediction, const TrainingOptions& options) {
  Graph& graph = *training.model.graph;
  Value* scores = prediction;
  const bool is_softmax = prediction->producer() && prediction->producer()->is("Softmax");
  if (is_softmax && !options.loss_graph && options.loss.name == "cross_entropy") {
    scores = prediction->producer()->input(0);
    training.notes.push_back("the model ends in Softmax: cross_entropy reads what goes into it, '" + scores->name() +
                             "'");
  }
  if (!is_float(scores->type.elem))
    throw Error(Code::bad_usage,
                "output '" + scores->name() + "' is " + scores->type.str() + ": a loss needs real numbers")
        .hint("--output chooses another output of the model");
  Value* loss = nullptr;
  if (options.loss_graph) {
    const Graph& own = *options.loss_graph->graph;
    Values inputs;
    for (Value* v : own.inputs())
      if (!v->initializer) inputs.push_back(v);
    if (inputs.size() != 2 || own.output_count() == 0)
      throw Error(Code::bad_usage, "a loss graph has two inputs, prediction and target, and one output");
    if (inputs[0]->name() == "target" || inputs[1]->name() == "prediction") std::swap(inputs[0], inputs[1]);
    Value* target = graph.add_input(graph.fresh_name("target"), inputs[1]->type);
    training.target = target->name();
    const auto outputs =
        splice(*options.loss_graph, {{inputs[0]->name(), scores}, {inputs[1]->name(), target}}, graph, "train/loss/");
    loss = outputs.at(own.output(0)->name());
    if (!is_float(loss->type.elem) || !loss->producer() || (loss->type.shape && !loss->type.shape->empty()))
      throw Error(Code::bad_usage, "the loss graph gives " + loss->type.str() + ", not one real number");
  } else {
    Value* target = graph.add_input(graph.fresh_name("target"), target_type(options.loss, scores->type));
    training.target = target->name();
    loss = add_loss(options.loss, scores, target);
  }
  if (!options.penalty.empty()) {
    GraphBuilder g(graph);
    g.name_after("train/penalty");
    loss = g.add(loss, g.cast(find_prediction(graph, options.penalty), loss->type.elem));
  }
  graph.rename(loss, graph.fresh_name("loss"));
  loss->producer()->name = loss->name();
  training.loss = loss->name();
  return loss;
}

/// One operator that stands for all gradients; whoever reads the training information expands it.
Values gradient_operator(Value* loss, const Values& parameters) {
  Graph& graph = loss->graph();
  std::vector<std::string> xs, zs;
  Values inputs = parameters;
  for (const Value* v : parameters) xs.push_back(v->name());
  for (Value* v : graph.inputs()) {
    zs.push_back(v->name());
    inputs.push_back(v);
  }
  GraphBuilder g(graph);
  g.name_after("gradient");
  Node* node = g.node("Gradient", "ai.onnx.preview.training", inputs, {{"xs", xs}, {"y", loss->name()}, {"zs", zs}},
                      parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) node->output(i)->type = parameters[i]->type;
  return node->outputs();
}

/// Bounds on gradients: each element, each parameter, all together.
void clip(GraphBuilder& g, const TrainingOptions& options, Value* norm, Values& gradients) {
  const auto shorten = [&](Value* gradient, Value* length, double limit) {
    Value* factor = g.div(limit, g.add(length, 1e-6));
    factor = g.op("Min", {factor, g.scalar(1, length->type.elem)});
    return g.mul(gradient, g.cast(factor, gradient->type.elem));
  };
  for (Value*& gradient : gradients) {
    if (options.clip_norm > 0) gradient = shorten(gradient, norm, options.clip_norm);
    if (options.clip_tensor > 0) gradient = shorten(gradient, norm_of(g, {gradient}), options.clip_tensor);
    if (options.clip_value > 0) {
      Value* least = g.scalar(-options.clip_value, gradient->type.elem);
      gradient = g.op("Clip", {gradient, least, g.scalar(options.clip_value, gradient->type.elem)});
    }
  }
}

/// The mean of the gradients of several batches: it grows in variables of its own, and every k-th step uses it.
struct Accumulation {
  Value* is_due = nullptr;
  std::vector<StateVariable> sums;
};

Accumulation accumulate(GraphBuilder& g, std::uint64_t count, Value* step, const Values& parameters,
                        Values& gradients) {
  Graph& graph = g.graph();
  Accumulation made;
  const auto k = static_cast<std::int64_t>(count);
  Value* position = g.op("Mod", {step, g.index(k)});
  made.is_due = g.op("Equal", {position, g.index(k - 1)});
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& like = *parameters[i]->initializer;
    Value* sum = graph.add_initializer(graph.fresh_name("train/" + parameters[i]->name() + "/gradient_sum"),
                                       Tensor(like.dtype(), like.dims(), zero_bytes(like.bytes().size())));
    gradients[i] = g.add(sum, g.div(gradients[i], static_cast<double>(count)));
    Value* emptied = g.mul(sum, 0.0);
    made.sums.push_back({sum, g.where(made.is_due, emptied, gradients[i])});
  }
  return made;
}

/// The names of the parameters that have gradients. Whether these exist, and which are zero, only expansion tells.
std::unordered_set<std::string> differentiable_parameters(const Model& model, const TrainingOptions& options) {
  if (!options.stops.empty())
    throw Error(Code::bad_usage, "the operator Gradient cannot say where gradients stop")
        .hint("leave --gradient-op or --stop-gradient out");
  TrainingOptions expanded = options;
  expanded.keeps_gradient_op = false;
  const TrainingGraph probe = make_training_graph(model, expanded);
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < probe.parameter_count; ++i) names.insert(probe.state[i].name);
  return names;
}

/// The model in plain operators, with weights that are initializers of their own.
void prepare(TrainingGraph& training, const Model& model, const ParameterOptions& options) {
  training.model = model.clone();
  training.model.training.clear();
  passes::inline_functions(training.model);
  passes::canonicalize(training.model);
  expand_gradients(*training.model.graph);
  Graph& graph = *training.model.graph;
  ops::require_well_formed(graph);
  graph.close_defaults();
  lift_constants(graph, options);
  training.notes = separate_statistics(graph);
  note_copies(training, separate_copies(graph, [&](const std::string& name) {
                return std::ranges::none_of(options.tied, [&](const std::string& p) { return matches_glob(p, name); });
              }));
}

/// Parameters and the gradients that arrive at them.
struct Trained {
  Values parameters, gradients;
};

Values gradients_of(TrainingGraph& training, Value* loss, const Values& parameters, const TrainingOptions& options) {
  Graph& graph = *training.model.graph;
  if (options.keeps_gradient_op) {
    training.model.opsets.set("ai.onnx.preview.training", 1);
    return gradient_operator(loss, parameters);
  }
  const Values gradients = differentiate(graph, {{loss, nullptr}}, parameters, options.stops);
  if (options.recomputes) {
    const std::size_t added = recompute_activations(graph, graph.find(training.loss)->producer());
    training.notes.push_back(std::to_string(added) + " nodes of the forward pass are computed twice to save memory");
  }
  return gradients;
}

/// Differentiates the loss by the parameters that are chosen, and of those `differentiable` names if it is given.
Trained add_gradients(TrainingGraph& training, Value* loss, const std::unordered_set<std::string>* differentiable,
                      const TrainingOptions& options) {
  Graph& graph = *training.model.graph;
  training.parameters = choose_parameters(graph, options.parameters);
  Values parameters;
  for (const ParameterChoice& choice : training.parameters) {
    const bool has_gradient = !differentiable || differentiable->contains(choice.name);
    if (choice.is_trained && has_gradient) parameters.push_back(graph.find(choice.name));
  }
  if (parameters.empty()) nothing_to_train(training.parameters);
  const Values gradients = gradients_of(training, loss, parameters, options);
  Trained trained;
  std::unordered_set<std::string> left_out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (gradients[i]) {
      trained.parameters.push_back(parameters[i]);
      trained.gradients.push_back(gradients[i]);
      continue;
    }
    left_out.insert(parameters[i]->name());
  }
  for (ParameterChoice& choice : training.parameters) {
    if (!left_out.contains(choice.name)) continue;
    choice.is_trained = false;
    choice.reason = "the loss does not depend on it";
  }
  if (trained.parameters.empty()) throw Error(Code::bad_usage, "the loss depends on none of the parameters");
  return trained;
}

/// What becomes of the parameters, the optimizer's variables and the statistics; returns the length of the gradient
/// where it is computed.
Value* add_updates(GraphBuilder& g, TrainingGraph& training, Trained trained, const std::vector<Statistic>& statistics,
                   const TrainingOptions& options) {
  Graph& graph = g.graph();
  Value* lr = graph.add_initializer(graph.fresh_name("train/lr"), Tensor::scalar(learning_rate(options.optimizer)));
  Value* step = graph.add_initializer(graph.fresh_name("train/step"), Tensor::scalar<std::int64_t>(0));
  training.lr = lr->name();
  training.step = step->name();
  Accumulation accumulation;
  Value* count = step;
  if (options.accumulate == 0) throw Error(Code::bad_usage, "a step takes the gradients of at least one batch");
  if (options.accumulate > 1) {
    accumulation = accumulate(g, options.accumulate, step, trained.parameters, trained.gradients);
    count = g.op("Div", {step, g.index(static_cast<std::int64_t>(options.accumulate))});
  }
  Value* norm = options.reports_norm || options.clip_norm > 0 ? norm_of(g, trained.gradients) : nullptr;
  clip(g, options, norm, trained.gradients);
  const std::vector<StateVariable> updates =
      options.optimizer_graph
          ? add_optimizer(*options.optimizer_graph, trained.parameters, trained.gradients, lr, count)
          : add_optimizer(options.optimizer, trained.parameters, trained.gradients, lr, count);
  training.parameter_count = trained.parameters.size();
  for (const StateVariable& update : updates) {
    Value* next = accumulation.is_due ? g.where(accumulation.is_due, update.next, update.now) : update.next;
    training.state.push_back({update.now->name(), named(g, next, next_name(update.now->name()))->name()});
  }
  for (const StateVariable& sum : accumulation.sums)
    training.state.push_back({sum.now->name(), named(g, sum.next, next_name(sum.now->name()))->name()});
  for (const auto& [statistic, next] : statistics) training.state.push_back({statistic->name(), next});
  Value* later = named(g, g.add(step, g.index(1)), next_name(step->name()));
  training.state.push_back({step->name(), later->name()});
  return norm;
}

/// A model in training mode with its loss and gradients.
struct Begun {
  std::vector<Statistic> statistics;
  Trained trained;
};

Begun begin_training(TrainingGraph& training, const Model& model, const TrainingOptions& options) {
  std::unordered_set<std::string> differentiable;
  if (options.keeps_gradient_op) differentiable = differentiable_parameters(model, options);
  prepare(training, model, options.parameters);
  Graph& graph = *training.model.graph;
  Begun begun;
  begun.statistics = enter_training_mode(graph);
  Value* prediction = find_prediction(graph, options.prediction);
  training.prediction = prediction->name();
  Value* loss = put_loss(training, prediction, options);
  begun.trained = add_gradients(training, loss, options.keeps_gradient_op ? &differentiable : nullptr, options);
  return begun;
}

/// Loss, prediction and, if given, the length of the gradient.
void put_outputs(GraphBuilder& g, TrainingGraph& training, Value* norm) {
  Graph& graph = g.graph();
  Value *prediction = graph.find(training.prediction), *loss = graph.find(training.loss);
  graph.resize_outputs(0);
  graph.add_output(loss);
  graph.add_output(prediction);
  if (!norm) return;
  Value* out = named(g, norm, "gradient_norm");
  training.norm = out->name();
  graph.add_output(out);
}

/// Gives each parameter, with the optimizer's variables that belong to it, to the rank that has least so far.
void divide(TrainingGraph& training, const Division& division) {
  const Graph& graph = *training.model.graph;
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(division.count));
  for (std::size_t i = 0; i < training.parameter_count; ++i) {
    const std::string& name = training.state[i].name;
    const auto least = std::ranges::min_element(sizes);
    *least += graph.find(name)->initializer->bytes().size();
    training.owners[name] = static_cast<int>(least - sizes.begin());
    if (training.owners[name] != division.rank) training.shared.push_back(name);
  }
  const std::unordered_map<std::string, int> by_parameter = training.owners;
  for (std::size_t i = training.parameter_count; i < training.state.size(); ++i) {
    const std::string& name = training.state[i].name;
    // Variables are called train/<parameter>/<what>; sums of several batches' gradients all need for its length.
    const std::size_t end = name.rfind('/');
    constexpr std::string_view kPrefix = "train/";
    if (!name.starts_with(kPrefix) || end <= kPrefix.size() || name.ends_with("/gradient_sum")) continue;
    const auto found = by_parameter.find(name.substr(kPrefix.size(), end - kPrefix.size()));
    if (found != by_parameter.end()) training.owners[name] = found->second;
  }
  training.own_rank = division.rank;
}

}  // namespace

std::string next_name(const std::string& state) { return state + ".next"; }

TrainingGraph make_training_graph(const Model& model, const TrainingOptions& options) {
  TrainingGraph training;
  Begun begun = begin_training(training, model, options);
  Graph& graph = *training.model.graph;
  GraphBuilder g(graph);
  g.name_after("train");
  Value* norm = add_updates(g, training, std::move(begun.trained), begun.statistics, options);
  put_outputs(g, training, options.reports_norm ? norm : nullptr);
  return training;
}

bool moves(const TrainingGraph& training, const std::string& name) {
  const auto owner = training.owners.find(name);
  return owner == training.owners.end() || owner->second == training.own_rank;
}

std::vector<TrainingGraph> make_separate_graphs(const Model& model, const TrainingOptions& options,
                                                const Division& division) {
  if (options.keeps_gradient_op) throw Error(Code::bad_usage, "the operator Gradient cannot be taken apart");
  std::vector<TrainingGraph> made(2);
  TrainingGraph &first = made[0], &second = made[1];
  Begun begun = begin_training(first, model, options);
  second.model.ir_version = first.model.ir_version;
  second.model.opsets = first.model.opsets;
  Graph &graph = *first.model.graph, &updates = *second.model.graph;
  GraphBuilder g(graph), h(updates);
  g.name_after("train");
  h.name_after("train");
  Trained moved;
  for (std::size_t i = 0; i < begun.trained.parameters.size(); ++i) {
    const Value* parameter = begun.trained.parameters[i];
    const Tensor& like = *parameter->initializer;
    const Tensor zeros(like.dtype(), like.dims(), zero_bytes(like.bytes().size()));
    const std::string name = graph.fresh_name("train/" + parameter->name() + "/gradient");
    graph.add_initializer(name, zeros);
    first.state.push_back({name, named(g, begun.trained.gradients[i], next_name(name))->name()});
    first.passing.push_back(name);
    first.shared.push_back(parameter->name());
    second.shared.push_back(name);
    moved.parameters.push_back(updates.add_initializer(parameter->name(), like));
    moved.gradients.push_back(updates.add_initializer(name, zeros));
  }
  for (const auto& [statistic, next] : begun.statistics) first.state.push_back({statistic->name(), next});
  put_outputs(g, first, nullptr);
  Value* norm = add_updates(h, second, std::move(moved), {}, options);
  if (options.reports_norm) {
    Value* out = named(h, norm, "gradient_norm");
    second.norm = out->name();
    updates.add_output(out);
  }
  if (division.count > 1) divide(second, division);
  return made;
}

Model step_graph(const TrainingGraph& training) {
  Model model = training.model.clone();
  Graph& graph = *model.graph;
  GraphBuilder g(graph);
  std::vector<TrainingGraph::State> moved;
  for (const TrainingGraph::State& state : training.state)
    if (moves(training, state.name)) moved.push_back(state);
  for (const TrainingGraph::State& state : moved) {
    Value* next = graph.find(state.next);
    const std::string wanted = next_name(state.name);
    if (next->name() != wanted || !next->producer()) next = named(g, next, wanted);
    graph.add_output(next);
  }
  // What nobody changes but somebody may want to, such as the learning rate, comes in too.
  std::vector<std::string> inputs;
  for (const TrainingGraph::State& state : moved) inputs.push_back(state.name);
  std::unordered_set<std::string> known(inputs.begin(), inputs.end());
  const auto add = [&](const std::string& name) {
    if (!name.empty() && known.insert(name).second) inputs.push_back(name);
  };
  add(training.lr);
  for (const std::string& name : training.shared) add(name);
  std::unordered_set<const Value*> replaced;
  Values made;
  for (const std::string& name : inputs) {
    Value* variable = graph.find(name);
    made.push_back(graph.add_input(graph.fresh_name(name), variable->type));
    graph.replace_all_uses(variable, made.back());
    replaced.insert(variable);
  }
  graph.erase_initializers_if([&](const Value& v) { return replaced.contains(&v); });
  for (std::size_t i = 0; i < made.size(); ++i) graph.rename(made[i], inputs[i]);
  // What moves the variables of others.
  if (!training.owners.empty()) drop_unread(graph);
  return model;
}

}  // namespace ingot::train
