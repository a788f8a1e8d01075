// Keras's optimizers: their settings, and their variables as the files keep them.
#include "ingot/driver/keras/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/driver/keras/schedule.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::keras {
namespace {

namespace files = formats::keras;
using Config = formats::json::Value;

struct Row {
  std::string_view name;
  std::vector<Slot> slots;
};
const Row kOptimizers[] = {
    {"adadelta", {{"square_average"}, {"delta_average"}}},
    {"adafactor", {{"rows"}, {"columns"}, {"square_average"}}},
    {"adagrad", {{"sum"}}},
    {"adam", {{"first_moment"}, {"second_moment"}}},
    {"adamax", {{"first_moment"}, {"largest"}}},
    {"adamw", {{"first_moment"}, {"second_moment"}}},
    {"ftrl", {{"sum"}, {"linear"}}},
    {"lamb", {{"first_moment"}, {"second_moment"}}},
    {"lion", {{"moment"}}},
    {"nadam", {{"first_moment"}, {"second_moment"}}},
    {"rmsprop", {{"square_average"}}},
    {"sgd", {}},
};

std::string plain(std::string_view class_name) {
  std::string name(class_name.substr(class_name.rfind('>') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// The optimizers of Keras up to 2.10, which later versions call legacy, are other formulas and keep other orders.
bool is_legacy(const Config& config, const std::string& version) {
  if (const auto stated = config["is_legacy_optimizer"].as_bool()) return *stated;
  // Those of 2.11 to 2.15 that are not legacy say so; TF.js computes by the newer formulas.
  return std::atoi(version.c_str()) < 3 && !version.starts_with("tfjs");
}

std::optional<double> number(const Config& config, std::string_view key) { return config[key].as_number(); }

void refuse_setting(const Config& config, const char* key) {
  if (config[key].as_bool().value_or(false))
    throw Error(Code::unsupported_setting, std::string("an optimizer with '") + key + "' has no translation");
}

void read_numbers(const Config& config, train::OptimizerOptions& o) {
  o.lr = first_learning_rate(config).value_or(o.name.starts_with("sgd") ? 0.01 : 0.001);
  o.beta1 = number(config, "beta_1");
  o.beta2 = number(config, "beta_2");
  o.epsilon = number(config, "epsilon").value_or(1e-7);
  o.rho = number(config, "rho");
  if (const auto decay = number(config, "weight_decay")) o.weight_decay = decay;
  if (const double momentum = number(config, "momentum").value_or(0); momentum != 0) o.momentum = momentum;
  o.amsgrad = config["amsgrad"].as_bool().value_or(false);
  o.centered = config["centered"].as_bool().value_or(false);
  o.ftrl = {.power = number(config, "learning_rate_power").value_or(-0.5),
            .l1 = number(config, "l1_regularization_strength").value_or(0),
            .l2 = number(config, "l2_regularization_strength").value_or(0),
            .shrinkage = number(config, "l2_shrinkage_regularization_strength").value_or(0),
            .beta = number(config, "beta").value_or(0)};
  o.adafactor = {.decay = number(config, "beta_2_decay").value_or(-0.8),
                 .least_square = number(config, "epsilon_1").value_or(1e-30),
                 .least_size = number(config, "epsilon_2").value_or(1e-3),
                 .longest = number(config, "clip_threshold").value_or(1)};
}

/// Which of Ingot's formulas is meant, and the variables that settings add.
void choose_formula(Optimizer& made, const std::string& name, bool is_old) {
  train::OptimizerOptions& o = made.training.optimizer;
  o.name = name + "@keras";
  if (name == "sgd" && o.momentum) {
    o.name = made.config["nesterov"].as_bool().value_or(false) ? "nesterov@keras" : "momentum@keras";
    made.slots = {{"momentum"}};
  }
  if (name == "adam" || name == "adamw") {
    if (o.amsgrad) made.slots.push_back({"largest_moment", 1});
  } else {
    o.amsgrad = false;
  }
  if (name == "rmsprop" && o.momentum) made.slots.push_back({"momentum", 1});
  if (name == "rmsprop" && o.centered) made.slots.push_back({"average", 2});
  if (name == "adagrad" || name == "ftrl")
    o.first_sum = number(made.config, "initial_accumulator_value").value_or(is_old && made.config.exists() ? 0 : 0.1);
  if (!is_old) return;
  // Their epsilon stands beside the root, and their momentum fades more slowly, as in PyTorch.
  if (name == "adagrad" || (name == "rmsprop" && !o.momentum)) o.name = name + "@torch";
  if (name == "nadam") {
    o.name = "nadam@torch";
    made.has_schedule = false;
    made.fading =
        number(made.config, made.config["schedule_decay"].exists() ? "schedule_decay" : "decay").value_or(0.004);
    if (made.fading != 0.004)
      throw Error(Code::unsupported_setting, "Nadam with another 'schedule_decay' than 0.004 has no translation");
  }
  if (name != "ftrl")
    for (std::size_t i = 0; i < made.slots.size(); ++i) made.slots[i].group = static_cast<int>(i);
}

/// What a file keeps, in Keras's order.
class Stored {
 public:
  Stored(const files::WeightTree& tree, bool has_scalar_parameters) {
    for (const files::Weight& weight : tree.values)
      if (weight.value.dims.empty() && (!has_scalar_parameters || is_counter(weight)))
        counters_.push_back(&weight);
      else
        arrays_.push_back(&weight);
  }

  std::int64_t iterations() const {
    for (const files::Weight* weight : counters_)
      if (is_integer(weight->value.dtype) || weight->name.ends_with("iterations"))
        return static_cast<std::int64_t>(tensor_of(*weight).to_doubles().at(0));
    return 0;
  }
  /// The next array, if it has these sizes.
  const files::Weight* take(const Dims& dims) {
    if (next_ == arrays_.size() || arrays_[next_]->value.dims != dims) return nullptr;
    return arrays_[next_++];
  }
  /// Whether nothing is left but what Keras 2's Adam keeps in place of what it does not use.
  bool is_used_up() const {
    return std::all_of(arrays_.begin() + static_cast<std::ptrdiff_t>(next_), arrays_.end(),
                       [](const files::Weight* w) { return w->value.dims == Dims{1}; });
  }
  static Tensor tensor_of(const files::Weight& weight) {
    return Tensor(weight.value.dtype, weight.value.dims, weight.value.data);
  }

 private:
  static bool is_counter(const files::Weight& weight) {
    if (is_integer(weight.value.dtype) || weight.name == "1") return true;
    for (const char* end : {"learning_rate", "iter", "iterations", "m_schedule", "momentum_cache"})
      if (weight.name.ends_with(end)) return true;
    return false;
  }
  std::vector<const files::Weight*> counters_, arrays_;
  std::size_t next_ = 0;
};

/// What Nadam has multiplied up by a step. Keras does not save it, though it follows from the count.
double momentum_product(const Optimizer& optimizer, std::int64_t steps) {
  constexpr std::int64_t kEnough = 100'000;  // nothing is left by then
  double product = 1;
  for (std::int64_t i = 1; i <= std::min(steps, kEnough); ++i)
    product *= optimizer.training.optimizer.beta1.value_or(0.9) *
               (1 - 0.5 * std::pow(0.96, optimizer.fading * static_cast<double>(i)));
  return product;
}

/// One pass over the file's arrays: which variable each is.
class Restorer {
 public:
  Restorer(Graph& algorithm, Stored stored) : algorithm_(algorithm), stored_(std::move(stored)) {}

  /// False: the file has another array here, or none.
  bool take(const std::string& parameter, std::string_view slot, const Dims& dims, double scale = 1) {
    const files::Weight* weight = stored_.take(dims);
    if (!weight) return false;
    Value* variable = algorithm_.find("train/" + parameter + "/" + std::string(slot));
    if (!variable) return true;  // what Ingot computes anew
    const Tensor tensor = Stored::tensor_of(*weight);
    if (!variable->initializer || variable->initializer->dims() != dims ||
        variable->initializer->dtype() != tensor.dtype())
      return false;
    values_.emplace_back(variable, scale == 1 ? tensor : scaled(tensor, scale));
    return true;
  }
  bool is_used_up() const { return stored_.is_used_up(); }
  std::int64_t iterations() const { return stored_.iterations(); }
  void commit() {
    for (auto& [variable, tensor] : values_) variable->initializer = std::move(tensor);
  }

 private:
  static Tensor scaled(const Tensor& tensor, double factor) {
    std::vector<float> values;
    for (const double v : tensor.to_doubles()) values.push_back(static_cast<float>(v * factor));
    return tensor.dtype() == DType::f32 ? Tensor::of<float>(tensor.dims(), values) : tensor;
  }
  Graph& algorithm_;
  Stored stored_;
  std::vector<std::pair<Value*, Tensor>> values_;
};

/// Of matrices, Adafactor keeps means of rows and columns, and an array that follows from them.
Dims dims_of_slot(std::string_view slot, Dims dims) {
  if (slot == "rows") dims.pop_back();
  if (slot == "columns") dims.erase(dims.end() - 2);
  return dims;
}

}  // namespace

Optimizer read_optimizer(const Config& stated, const std::string& version) {
  std::string name = plain(stated.is_text() ? stated.text() : stated["class_name"].text());
  Optimizer made;
  made.config = stated["config"];
  if (name == "lossscaleoptimizer") {  // gradients leave it as if it were not there
    const Config inner = made.config[made.config["inner_optimizer"].exists() ? "inner_optimizer" : "optimizer"];
    if (!inner.exists()) throw Error(Code::unsupported_setting, "a LossScaleOptimizer names no optimizer in it");
    name = plain(inner["class_name"].text());
    made.config = inner["config"];
  }
  const auto row = std::ranges::find(kOptimizers, std::string_view(name), &Row::name);
  if (row == std::end(kOptimizers))
    throw Error(Code::unsupported_setting, "the optimizer '" + name + "' has no translation")
        .hint("convert without --mode, and choose one with 'ingot train --optimizer'");
  refuse_setting(made.config, "use_ema");
  made.slots = row->slots;
  train::OptimizerOptions& o = made.training.optimizer;
  o.name = name;
  read_numbers(made.config, o);
  choose_formula(made, name, is_legacy(made.config, version));
  made.training.clip_value = number(made.config, "clipvalue").value_or(0);
  made.training.clip_tensor = number(made.config, "clipnorm").value_or(0);
  made.training.clip_norm = number(made.config, "global_clipnorm").value_or(0);
  if (const auto batches = made.config["gradient_accumulation_steps"].as_int(); batches && *batches > 1)
    made.training.accumulate = static_cast<std::uint64_t>(*batches);
  return made;
}

bool restore_optimizer(Model& model, const files::WeightTree& tree, const Optimizer& optimizer,
                       const std::vector<std::string>& trained) {
  Graph& algorithm = *model.training.back().algorithm;
  std::vector<Dims> dims;
  for (const std::string& name : trained) {
    const Value* parameter = model.graph->find(name);
    if (!parameter || !parameter->initializer) return false;
    dims.push_back(parameter->initializer->dims());
  }
  const files::WeightTree* inner = tree.part("inner_optimizer");
  const bool has_scalars = std::ranges::any_of(dims, [](const Dims& d) { return d.empty(); });
  Restorer restorer(algorithm, Stored(inner ? *inner : tree, has_scalars));
  const std::uint64_t batches = optimizer.training.accumulate;
  for (std::size_t i = 0; batches > 1 && i < trained.size(); ++i)
    if (!restorer.take(trained[i], "gradient_sum", dims[i], 1 / static_cast<double>(batches))) return false;
  for (int group = 0; group <= 2; ++group)
    for (std::size_t i = 0; i < trained.size(); ++i)
      for (const Slot& slot : optimizer.slots) {
        const bool is_factor = slot.name == "rows" || slot.name == "columns";
        if (slot.group != group || (is_factor && dims[i].size() < 2)) continue;
        if (!restorer.take(trained[i], slot.name, dims_of_slot(slot.name, dims[i]))) return false;
      }
  if (!restorer.is_used_up()) return false;
  restorer.commit();
  Value* step = algorithm.find("train/step");
  if (!step) return true;
  step->initializer = Tensor::scalar<std::int64_t>(restorer.iterations());
  for (const std::string& name : trained)
    if (Value* product = algorithm.find("train/" + name + "/momentum_product"))
      product->initializer = Tensor::scalar(momentum_product(optimizer, restorer.iterations()));
  return true;
}

}  // namespace ingot::driver::keras
