// Options that the training commands share.
#include "train_options.h"

#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

template <class T> void add_optional(App& app, const char* name, std::optional<T>& value, const char* help) {
  app.add_option_function<T>(
      name, [&value](const T& given) { value = given; }, help);
}

std::shared_ptr<const Model> load_graph(const std::string& path, const Global& global) {
  if (path.empty()) return nullptr;
  return std::make_shared<const Model>(driver::load(path, global.load_options()).model);
}

/// "255", or "1/255" for what the numbers are multiplied by.
double parse_scale(const std::string& text) {
  const bool is_inverse = text.starts_with("1/");
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(is_inverse ? text.substr(2) : text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end + (is_inverse ? 2 : 0) != text.size() || !(number > 0))
    refuse_argument("--scale", "'" + text + "' is no scale: such as 255 or 1/255");
  return number;
}

}  // namespace

train::TrainingOptions StepOptions::load(const Global& global) const {
  train::TrainingOptions options = training;
  options.loss_graph = load_graph(loss_graph, global);
  options.optimizer_graph = load_graph(optimizer_graph, global);
  return options;
}

void add_step_options(App& app, StepOptions& step) {
  train::TrainingOptions& options = step.training;
  std::string losses, optimizers;
  for (const std::string& name : train::loss_names()) losses += (losses.empty() ? "" : ", ") + name;
  for (const std::string& name : train::optimizer_names()) optimizers += (optimizers.empty() ? "" : ", ") + name;
  Option* loss = app.add_option("--loss", options.loss.name, "What is made small: " + losses);
  app.add_option("--loss-graph", step.loss_graph, "A model that is the loss: inputs prediction and target")
      ->excludes(loss);
  app.add_option("--label-smoothing", options.loss.label_smoothing, "Part of the target spread over all classes");
  add_optional(app, "--ignore-index", options.loss.ignore_index, "Targets of this class do not count");
  app.add_option("--delta", options.loss.delta, "Where the square of huber and smooth_l1 ends");
  Option* optimizer = app.add_option(
      "--optimizer", options.optimizer.name,
      "How weights follow gradients: " + optimizers + "; with a flavour: adam@torch, adam@keras, adam@onnx");
  app.add_option("--optimizer-graph", step.optimizer_graph,
                 "A model that is the optimizer: inputs parameter, gradient, lr, step and its own variables; outputs "
                 "parameter.next and NAME.next")
      ->excludes(optimizer);
  add_optional(app, "--lr", options.optimizer.lr, "Learning rate; default: the optimizer's own");
  add_optional(app, "--momentum", options.optimizer.momentum, "Momentum");
  add_optional(app, "--weight-decay", options.optimizer.weight_decay, "Pull towards zero");
  app.add_option("--no-decay", options.optimizer.no_decay, "Weight decay leaves these alone: names with * and ?")
      ->delimiter(',');
  add_optional(app, "--beta1", options.optimizer.beta1, "Decay of the first moment");
  add_optional(app, "--beta2", options.optimizer.beta2, "Decay of the second moment");
  add_optional(app, "--rho", options.optimizer.rho, "Decay of rmsprop and adadelta");
  add_optional(app, "--epsilon", options.optimizer.epsilon, "What keeps quotients finite");
  app.add_option("--dampening", options.optimizer.dampening, "Of momentum: the share of gradients left out");
  app.add_option("--clip-norm", options.clip_norm, "Longest gradient over all parameters");
  app.add_option("--clip-tensor", options.clip_tensor, "Longest gradient of each parameter");
  app.add_option("--clip-value", options.clip_value, "Largest element of a gradient");
  app.add_option("--accumulate", options.accumulate, "Gradients of so many batches make one step")->positive();
  app.add_flag("--recompute", options.recomputes, "Compute activations twice instead of keeping them: less memory");
  app.add_option("--output", options.prediction, "The output that is compared with the targets; default: the first");
  app.add_option("--trainable", options.parameters.trainable, "Train these: names with * and ?, or op:Gemm")
      ->delimiter(',');
  app.add_option("--frozen", options.parameters.frozen, "Leave these as they are")->delimiter(',');
  app.add_option("--stop-gradient", options.stops, "No gradient flows back through these values")->delimiter(',');
  app.add_option("--tie", options.parameters.tied, "Copies of a stored tensor that stay so: names with * and ?")
      ->delimiter(',');
  app.add_option("--last", options.parameters.last, "Train the last so many layers only");
}

void add_data_options(App& app, std::string& path, train::DatasetOptions& options) {
  app.add_option(
      "--data", path,
      "Examples: .csv, .npz, .npy, idx (also .gz), a folder of pictures per class, a directory of .npy or .pb "
      "batches");
  app.add_option("--target", options.target, "Targets: another file, or the name of a column or array");
  app.add_option_function<std::vector<std::string>>(
         "--map",
         [&options](const std::vector<std::string>& entries) {
           for (const std::string& entry : entries) {
             const std::size_t equals = entry.find('=');
             if (equals == std::string::npos) refuse_argument("--map", "'" + entry + "' is not as x=input");
             options.map.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
           }
         },
         "Which array is which input: x=input,y=label")
      ->delimiter(',');
  app.add_option_function<std::string>(
      "--scale", [&options](const std::string& text) { options.scale = parse_scale(text); },
      "Divide whole numbers by this, such as 255 for pixels");
  app.add_option_function<std::string>(
      "--mean", [&options](const std::string& text) { options.mean = train::parse_numbers(text); },
      "Then take this off: one number, or one per channel");
  app.add_option_function<std::string>(
      "--std",
      [&options](const std::string& text) {
        options.deviation = train::parse_numbers(text);
        for (const double number : *options.deviation)
          if (!(number > 0)) refuse_argument("--std", "'" + text + "' is no spread: it must be above 0");
      },
      "And divide by this");
  app.add_option("--columns", options.columns, "Of a .csv, the columns that are features, in order: a,b,c")
      ->delimiter(',');
  app.add_option_function<std::string>(
      "--labels", [&options](const std::string& text) { options.labels = train::read_labels(text); },
      "Names of the classes in the order of their numbers: a,b,c, or a file with a line for each");
  app.add_option_function<std::string>(
      "--resize",
      [&options](const std::string& text) {
        train::parse_image_size(text);
        options.resize = text;
      },
      "How pictures become as large as the input: stretch, crop or pad; with a size: 'crop 224x224'");
  app.add_option("--part", options.part, "Of a .npz with x_train and x_test, which part");
}

void print_parameters(const train::TrainingGraph& training) {
  Table table;
  std::uint64_t trained = 0;
  for (const train::ParameterChoice& choice : training.parameters) {
    if (choice.is_trained) trained += choice.elements;
    table.add({choice.is_trained ? "trained" : "fixed", choice.name, choice.type, choice.reason});
  }
  std::fputs(table.str().c_str(), stdout);
  std::printf("%llu numbers are trained\n", static_cast<unsigned long long>(trained));
}

void print_state(const std::vector<train::TrainingGraph>& trainings) {
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const train::TrainingGraph& training = trainings[i];
    std::printf("algorithm %zu: loss '%s', targets '%s'\n", i, training.loss.c_str(), training.target.c_str());
    Table table;
    for (std::size_t k = 0; k < training.state.size(); ++k) {
      const std::string& name = training.state[k].name;
      const Value* v = training.model.graph->find(name);
      table.add({k < training.parameter_count ? "model" : "algorithm", name, v->type.str()});
    }
    std::fputs(table.str().c_str(), stdout);
  }
}

}  // namespace ingot::cli
