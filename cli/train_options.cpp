// Options that the training commands share.
#include "train_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "terminal.h"

namespace ingot::cli {
namespace {

template <class T> void add_optional(CLI::App& app, const char* name, std::optional<T>& value, const char* help) {
  app.add_option_function<T>(
      name, [&value](const T& given) { value = given; }, help);
}

}  // namespace

void add_step_options(CLI::App& app, train::TrainingOptions& options) {
  std::string losses, optimizers;
  for (const std::string& name : train::loss_names()) losses += (losses.empty() ? "" : ", ") + name;
  for (const std::string& name : train::optimizer_names()) optimizers += (optimizers.empty() ? "" : ", ") + name;
  app.add_option("--loss", options.loss.name, "What is made small: " + losses);
  app.add_option("--label-smoothing", options.loss.label_smoothing, "Part of the target spread over all classes");
  add_optional(app, "--ignore-index", options.loss.ignore_index, "Targets of this class do not count");
  app.add_option("--delta", options.loss.delta, "Where the square of huber and smooth_l1 ends");
  app.add_option("--optimizer", options.optimizer.name,
                 "How weights follow gradients: " + optimizers + "; with a flavour: adam@torch, adam@keras, adam@onnx");
  add_optional(app, "--lr", options.optimizer.lr, "Learning rate; default: the optimizer's own");
  add_optional(app, "--momentum", options.optimizer.momentum, "Momentum");
  add_optional(app, "--weight-decay", options.optimizer.weight_decay, "Pull towards zero");
  add_optional(app, "--beta1", options.optimizer.beta1, "Decay of the first moment");
  add_optional(app, "--beta2", options.optimizer.beta2, "Decay of the second moment");
  add_optional(app, "--epsilon", options.optimizer.epsilon, "What keeps quotients finite");
  app.add_option("--clip-norm", options.clip_norm, "Longest gradient over all parameters");
  app.add_option("--output", options.prediction, "The output that is compared with the targets; default: the first");
  app.add_option("--trainable", options.parameters.trainable, "Train these: names with * and ?, or op:Gemm")
      ->delimiter(',');
  app.add_option("--frozen", options.parameters.frozen, "Leave these as they are")->delimiter(',');
  app.add_option("--last", options.parameters.last, "Train the last so many layers only");
}

void add_data_options(CLI::App& app, std::string& path, train::DatasetOptions& options) {
  app.add_option("--data", path, "Examples: .npz, .npy, .csv or idx (also .gz)")->required();
  app.add_option("--target", options.target, "Targets: another file, or the name of a column or array");
  app.add_option("--scale", options.scale, "Divide whole numbers by this, such as 255 for pixels");
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

}  // namespace ingot::cli
