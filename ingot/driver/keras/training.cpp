// From the arguments of compile() to training information.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/driver/keras/load.h"
#include "ingot/driver/keras/losses.h"
#include "ingot/driver/keras/schedule.h"
#include "ingot/frontends/keras/weights.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::keras {
namespace {

namespace files = formats::keras;
using Config = formats::json::Value;

/// What Keras calls an optimizer and the variables that it keeps of each parameter, and what Ingot does.
struct Optimizer {
  std::string_view name, own_name;
  std::vector<std::string> slots;  // in the order of Keras's files
};
const Optimizer kOptimizers[] = {
    {"adadelta", "adadelta", {"square_average", "delta_average"}},
    {"adagrad", "adagrad", {"sum"}},
    {"adam", "adam", {"first_moment", "second_moment"}},
    {"adamax", "adamax", {"first_moment", "largest"}},
    {"adamw", "adamw", {"first_moment", "second_moment"}},
    {"lion", "lion", {"moment"}},
    {"nadam", "nadam", {"first_moment", "second_moment"}},
    {"rmsprop", "rmsprop", {"square_average"}},
    {"sgd", "sgd", {}},
};

std::string plain(std::string_view class_name) {
  std::string name(class_name.substr(class_name.rfind('>') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

struct Compiled {
  train::TrainingOptions training;
  std::vector<std::string> slots;
};

std::optional<double> number(const Config& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto found = config[key].as_number()) return found;
  return std::nullopt;
}

void refuse_setting(const Config& config, const char* key) {
  if (config[key].as_bool().value_or(false))
    throw Error(Code::unsupported_setting, std::string("an optimizer with '") + key + "' has no translation");
}

void read_optimizer(const Config& optimizer, Compiled& compiled) {
  const std::string name = plain(optimizer.is_text() ? optimizer.text() : optimizer["class_name"].text());
  const Config config = optimizer["config"];
  const auto row = std::ranges::find(kOptimizers, std::string_view(name), &Optimizer::name);
  if (row == std::end(kOptimizers))
    throw Error(Code::unsupported_setting, "the optimizer '" + name + "' has no translation")
        .hint("convert without --mode, and choose one with 'ingot train --optimizer'");
  for (const char* key : {"amsgrad", "centered", "use_ema"}) refuse_setting(config, key);
  train::OptimizerOptions& o = compiled.training.optimizer;
  compiled.slots = row->slots;
  std::string own(row->own_name);
  const double momentum = number(config, {"momentum"}).value_or(0);
  if (own == "sgd" && momentum != 0) {
    own = config["nesterov"].as_bool().value_or(false) ? "nesterov" : "momentum";
    compiled.slots = {"momentum"};
  }
  if (own == "rmsprop" && momentum != 0)
    throw Error(Code::unsupported_setting, "RMSprop with momentum has no translation");
  if (momentum != 0) o.momentum = momentum;
  o.name = own + "@keras";
  o.lr = first_learning_rate(config).value_or(0.001);
  o.beta1 = number(config, {"beta_1"});
  o.beta2 = number(config, {"beta_2"});
  o.epsilon = number(config, {"epsilon"});
  o.rho = number(config, {"rho"});
  if (const auto decay = number(config, {"weight_decay"}); decay && *decay != 0) o.weight_decay = decay;
  compiled.training.clip_value = number(config, {"clipvalue"}).value_or(0);
  compiled.training.clip_tensor = number(config, {"clipnorm"}).value_or(0);
  compiled.training.clip_norm = number(config, {"global_clipnorm"}).value_or(0);
}

Config single_loss(const Config& loss, std::size_t outputs) {
  if (outputs > 1)
    throw Error(Code::unsupported_setting, "a model with several outputs has no single loss to make small")
        .hint("--outputs names the one to train");
  if (loss.is_list() && loss.size() == 1) return loss[0];
  if (loss.is_object() && !loss["class_name"].exists() && loss.size() == 1) return loss.members()[0].second;
  return loss;
}

/// The variables of the optimizer by parameter: named in Keras 2's files, numbered in Keras 3's.
class Slots {
 public:
  Slots(const files::WeightTree& optimizer, std::size_t slots) : values_(optimizer.values), slots_(slots) {}

  std::int64_t iterations() const {
    for (const files::Weight& weight : values_)
      if (weight.value.dims.empty() && is_integer(weight.value.dtype)) return first_int(weight);
    return 0;
  }

  /// Null: the file has none. `number`: of the parameter among those that are trained, of `count`.
  const files::Weight* find(std::size_t number, std::size_t count, std::size_t slot) const {
    std::vector<const files::Weight*> arrays;
    for (const files::Weight& weight : values_)
      if (!is_counter(weight)) arrays.push_back(&weight);
    if (arrays.size() != count * slots_) return nullptr;
    const bool is_numbered = !arrays.empty() && arrays[0]->name.find('/') == std::string::npos;
    // Keras 3 keeps those of one parameter together, Keras 2 those of one kind.
    return arrays[is_numbered ? number * slots_ + slot : slot * count + number];
  }

 private:
  bool is_counter(const files::Weight& weight) const {
    if (!weight.value.dims.empty()) return false;
    return is_integer(weight.value.dtype) || weight.name == "1" || weight.name.ends_with("learning_rate") ||
           weight.name.ends_with("iter");
  }
  static std::int64_t first_int(const files::Weight& weight) {
    return Tensor(weight.value.dtype, {}, weight.value.data).to_ints().at(0);
  }
  const std::vector<files::Weight>& values_;
  std::size_t slots_;
};

/// What Nadam has multiplied up by a step. Keras does not save it, though it follows from the count.
double momentum_product(const train::OptimizerOptions& options, std::int64_t steps) {
  constexpr std::int64_t kEnough = 100'000;  // nothing is left by then
  double product = 1;
  for (std::int64_t i = 1; i <= std::min(steps, kEnough); ++i)
    product *= options.beta1.value_or(0.9) * (1 - 0.5 * std::pow(0.96, static_cast<double>(i)));
  return product;
}

/// Puts the stored variables into the algorithm; false: the file has none that fit.
bool restore(TrainingInfo& info, const files::WeightTree& optimizer, const Compiled& compiled,
             const std::vector<std::string>& trained) {
  const Slots slots(optimizer, compiled.slots.size());
  Graph& algorithm = *info.algorithm;
  bool restored = !trained.empty();
  for (std::size_t i = 0; i < trained.size(); ++i)
    for (std::size_t s = 0; s < compiled.slots.size(); ++s) {
      Value* variable = algorithm.find("train/" + trained[i] + "/" + compiled.slots[s]);
      const files::Weight* stored = slots.find(i, trained.size(), s);
      if (!variable || !stored || !variable->initializer || variable->initializer->dims() != stored->value.dims ||
          variable->initializer->dtype() != stored->value.dtype) {
        restored = false;
        continue;
      }
      variable->initializer = Tensor(stored->value.dtype, stored->value.dims, stored->value.data);
    }
  if (Value* step = algorithm.find("train/step"); step && restored) {
    step->initializer = Tensor::scalar<std::int64_t>(slots.iterations());
    for (const std::string& name : trained)
      if (Value* product = algorithm.find("train/" + name + "/momentum_product"))
        product->initializer = Tensor::scalar(momentum_product(compiled.training.optimizer, slots.iterations()));
  }
  return restored;
}

}  // namespace

void add_training(Imported& imported, const files::ModelFile& file,
                  const std::vector<frontends::keras::Parameter>& parameters) {
  const Config optimizer =
      file.training["optimizer_config"].exists() ? file.training["optimizer_config"] : file.training["optimizer"];
  if (!optimizer.exists() || file.training["loss"].is_null())
    throw Error(Code::unsupported_setting, "the model was not compiled: it names no optimizer and no loss")
        .hint("convert without --mode, and name them with 'ingot train --loss ... --optimizer ...'");
  Compiled compiled;
  read_optimizer(optimizer, compiled);
  const int version = file.version.empty() ? 2 : std::atoi(file.version.c_str());
  const Value* output = imported.model.graph->output(0);
  compiled.training.loss_graph =
      loss_graph(single_loss(file.training["loss"], imported.model.graph->output_count()), output->type, version);
  std::vector<std::string> trained;
  for (const frontends::keras::Parameter& parameter : parameters)
    if (parameter.is_trainable) trained.push_back(parameter.name);
  compiled.training.parameters.trainable = trained;
  train::TrainingGraph training = train::make_training_graph(imported.model, compiled.training);
  if (!follow_schedule(training, optimizer["config"]))
    imported.notes.push_back(
        "the learning rate follows a schedule in Keras that has no translation; here it is its first "
        "value (see 'ingot train --schedule')");
  // Begun anew, training begins as most of Keras's layers do: Glorot's uniform weights, and zeros.
  const train::InitializationOptions begins{.scheme = "xavier", .seed = 0};
  train::add_training_info(imported.model, training, 0, &begins);
  imported.notes.insert(imported.notes.end(), training.notes.begin(), training.notes.end());
  if (file.training["metrics"].size()) imported.notes.push_back("metrics are not part of training information");
  if (file.optimizer.values.empty()) return;
  if (!restore(imported.model.training.back(), file.optimizer, compiled, trained))
    imported.notes.push_back("the optimizer's variables in the file do not fit the model: they begin as zeros");
}

}  // namespace ingot::driver::keras
