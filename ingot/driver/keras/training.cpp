// From the arguments of compile() to training information.
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/driver/keras/load.h"
#include "ingot/driver/keras/losses.h"
#include "ingot/driver/keras/optimizer.h"
#include "ingot/driver/keras/penalties.h"
#include "ingot/driver/keras/schedule.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::keras {
namespace {

using Config = formats::json::Value;

Config single_loss(const Config& loss, std::size_t outputs) {
  if (outputs > 1)
    throw Error(Code::unsupported_setting, "a model with several outputs has no single loss to make small")
        .hint("--outputs names the one to train");
  if (loss.is_list() && loss.size() == 1) return loss[0];
  if (loss.is_object() && !loss["class_name"].exists() && loss.size() == 1) return loss.members()[0].second;
  return loss;
}

/// By what Keras multiplies the only loss.
double weight_of_loss(const Config& weights) {
  if (const auto one = weights.as_number()) return *one;
  if (weights.is_list() && weights.size() == 1) return weights[0].as_number().value_or(1);
  if (weights.is_object() && weights.size() == 1) return weights.members()[0].second.as_number().value_or(1);
  return 1;
}

}  // namespace

void add_training(Imported& imported, const formats::keras::ModelFile& file, const frontends::keras::Imported& made) {
  const Config optimizer =
      file.training["optimizer_config"].exists() ? file.training["optimizer_config"] : file.training["optimizer"];
  if (!optimizer.exists() || file.training["loss"].is_null())
    throw Error(Code::unsupported_setting, "the model was not compiled: it names no optimizer and no loss")
        .hint("convert without --mode, and name them with 'ingot train --loss ... --optimizer ...'");
  Optimizer compiled = read_optimizer(optimizer, file.version);
  const int version = file.version.empty() ? 2 : std::atoi(file.version.c_str());
  const Value* output = imported.model.graph->output(0);
  compiled.training.loss_graph = loss_graph(single_loss(file.training["loss"], imported.model.graph->output_count()),
                                            weight_of_loss(file.training["loss_weights"]), output->type, version);
  std::vector<std::string> trained;
  for (const frontends::keras::Parameter& parameter : made.parameters)
    if (parameter.is_trainable) trained.push_back(parameter.name);
  compiled.training.parameters.trainable = trained;
  Model penalized = imported.model.clone();
  if (add_penalty(penalized, made)) compiled.training.penalty = kPenalty;
  train::TrainingGraph training = train::make_training_graph(penalized, compiled.training);
  constrain(training, made.parameters);
  if (compiled.has_schedule && !follow_schedule(training, compiled.config, compiled.training.accumulate))
    imported.notes.push_back(
        "the learning rate follows a schedule in Keras that has no translation; here it is its first "
        "value (see 'ingot train --schedule')");
  // Begun anew, training begins as most of Keras's layers do: Glorot's uniform weights, and zeros.
  const train::InitializationOptions begins{.scheme = "xavier", .seed = 0};
  train::add_training_info(imported.model, training, 0, &begins);
  imported.notes.insert(imported.notes.end(), training.notes.begin(), training.notes.end());
  if (file.training["metrics"].size()) imported.notes.push_back("metrics are not part of training information");
  if (file.optimizer.values.empty() && file.optimizer.parts.empty()) return;
  if (!restore_optimizer(imported.model, file.optimizer, compiled, trained))
    imported.notes.push_back("the optimizer's variables in the file do not fit the model: they begin anew");
}

}  // namespace ingot::driver::keras
