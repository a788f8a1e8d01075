// From an inference graph to one training step.
#include "ingot/train/training_graph.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"

namespace ingot::train {
namespace {

/// Operators that behave otherwise in training do so; running statistics become state.
std::vector<std::pair<Value*, std::string>> enter_training_mode(Graph& graph) {
  std::vector<std::pair<Value*, std::string>> statistics;  // initializer, name of its successor
  for (Node& node : graph.nodes()) {
    if (node.is("Dropout")) {
      GraphBuilder g(graph, &node);
      g.name_after(node);
      node.set_input(2, g.constant(Tensor::of<bool>({}, {true})));
    } else if (node.is("BatchNormalization") && node.attributes.int_or("training_mode", 0) == 0) {
      node.attributes.set({"training_mode", 1});
      for (std::size_t i = 1; i <= 2; ++i) {
        Value* next =
            node.output(i) ? node.output(i) : node.add_output(graph.fresh_name(node.input(i + 2)->name() + "/next"));
        if (node.input(i + 2)->initializer) statistics.emplace_back(node.input(i + 2), next->name());
      }
      ops::InferSession session;
      ops::infer_node(node, session);
    }
  }
  return statistics;
}

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

}  // namespace

std::string next_name(const std::string& state) { return state + ".next"; }

TrainingGraph make_training_graph(const Model& model, const TrainingOptions& options) {
  TrainingGraph training;
  training.model = model.clone();
  training.model.training.clear();
  passes::canonicalize(training.model);
  passes::inline_functions(training.model);
  Graph& graph = *training.model.graph;
  for (Value* v : Values(graph.initializers().begin(), graph.initializers().end()))
    if (v->is_input()) graph.set_is_input(v, false);
  training.notes = separate_statistics(graph);
  const auto statistics = enter_training_mode(graph);

  Value* prediction = find_prediction(graph, options.prediction);
  training.prediction = prediction->name();
  Value* scores = prediction;
  const bool is_softmax = prediction->producer() && prediction->producer()->is("Softmax");
  if (is_softmax && options.loss.name == "cross_entropy") {
    scores = prediction->producer()->input(0);
    training.notes.push_back("the model ends in Softmax: cross_entropy reads what goes into it, '" + scores->name() +
                             "'");
  }
  if (!is_float(scores->type.elem))
    throw Error(Code::bad_usage,
                "output '" + scores->name() + "' is " + scores->type.str() + ": a loss needs real numbers");
  Value* target = graph.add_input(graph.fresh_name("target"), target_type(options.loss, scores->type));
  training.target = target->name();
  Value* loss = add_loss(options.loss, scores, target);
  graph.rename(loss, graph.fresh_name("loss"));
  loss->producer()->name = loss->name();
  training.loss = loss->name();

  training.parameters = choose_parameters(graph, options.parameters);
  Values parameters;
  for (const ParameterChoice& choice : training.parameters)
    if (choice.is_trained) parameters.push_back(graph.find(choice.name));
  if (parameters.empty())
    throw Error(Code::bad_usage, "nothing is left to train")
        .hint("name parameters by --trainable; --dry-run lists all with the reason for each");
  const Values gradients = differentiate(graph, {{loss, nullptr}}, parameters);
  Values trained, arriving;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (gradients[i]) {
      trained.push_back(parameters[i]);
      arriving.push_back(gradients[i]);
      continue;
    }
    const auto choice = std::ranges::find(training.parameters, parameters[i]->name(), &ParameterChoice::name);
    choice->is_trained = false;
    choice->reason = "the loss does not depend on it";
  }
  if (trained.empty()) throw Error(Code::bad_usage, "the loss depends on none of the parameters");

  GraphBuilder g(graph);
  g.name_after("train");
  Value* norm = options.reports_norm || options.clip_norm > 0 ? norm_of(g, arriving) : nullptr;
  if (options.clip_norm > 0) {
    Value* factor = g.div(options.clip_norm, g.add(norm, 1e-6));
    factor = g.op("Min", {factor, g.scalar(1, norm->type.elem)});
    for (Value*& gradient : arriving) gradient = g.mul(gradient, g.cast(factor, gradient->type.elem));
  }
  Value* lr = graph.add_initializer(graph.fresh_name("train/lr"), Tensor::scalar(learning_rate(options.optimizer)));
  Value* step = graph.add_initializer(graph.fresh_name("train/step"), Tensor::scalar<std::int64_t>(0));
  training.lr = lr->name();
  training.step = step->name();
  const std::vector<StateVariable> updates = add_optimizer(options.optimizer, trained, arriving, lr, step);
  training.parameter_count = trained.size();
  for (const StateVariable& update : updates) {
    Value* next = named(g, update.next, next_name(update.now->name()));
    training.state.push_back({update.now->name(), next->name()});
  }
  for (const auto& [statistic, next] : statistics) training.state.push_back({statistic->name(), next});
  Value* later = named(g, g.add(step, g.index(1)), next_name(step->name()));
  training.state.push_back({step->name(), later->name()});

  prediction = graph.find(training.prediction);
  loss = graph.find(training.loss);
  graph.resize_outputs(0);
  graph.add_output(loss);
  graph.add_output(prediction);
  if (options.reports_norm) {
    Value* out = named(g, norm, "gradient_norm");
    training.norm = out->name();
    graph.add_output(out);
  }
  return training;
}

Model step_graph(const TrainingGraph& training) {
  Model model = training.model.clone();
  Graph& graph = *model.graph;
  GraphBuilder g(graph);
  for (const TrainingGraph::State& state : training.state) {
    Value* next = graph.find(state.next);
    const std::string wanted = next_name(state.name);
    if (next->name() != wanted || !next->producer()) next = named(g, next, wanted);
    graph.add_output(next);
  }
  // What nobody changes but somebody may want to, such as the learning rate, comes in too.
  std::vector<std::string> inputs;
  for (const TrainingGraph::State& state : training.state) inputs.push_back(state.name);
  if (!training.lr.empty() && std::ranges::find(inputs, training.lr) == inputs.end()) inputs.push_back(training.lr);
  for (const std::string& name : inputs) {
    Value* variable = graph.find(name);
    Value* in = graph.add_input(graph.fresh_name(name), variable->type);
    graph.replace_all_uses(variable, in);
    graph.erase_initializers_if([&](const Value& v) { return &v == variable; });
    graph.rename(in, name);
  }
  return model;
}

}  // namespace ingot::train
