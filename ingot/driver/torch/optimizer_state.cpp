// From an optimizer's state dictionary to training information.
#include "ingot/driver/torch/optimizer_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/train/training_info.h"

namespace ingot::driver::torch {
namespace {

namespace files = formats::torch;
namespace pickle = formats::pickle;
using frontends::torch::Parameter;
using pickle::Ref;

/// What PyTorch calls the variables that an optimizer keeps of each parameter, and what Ingot does.
struct Slot {
  std::string_view theirs, own;
};
/// An optimizer is known by a setting that no other has, and by what it keeps.
struct Optimizer {
  std::string_view name, setting;
  std::vector<Slot> slots;
};
const Optimizer kOptimizers[] = {
    {"nadam",
     "momentum_decay",
     {{"exp_avg", "first_moment"}, {"exp_avg_sq", "second_moment"}, {"mu_product", "momentum_product"}}},
    {"sgd", "dampening", {{"momentum_buffer", "momentum"}}},
    {"rmsprop", "centered", {{"square_avg", "square_average"}, {"momentum_buffer", "momentum"}}},
    {"adagrad", "lr_decay", {{"sum", "sum"}}},
    {"adadelta", "rho", {{"square_avg", "square_average"}, {"acc_delta", "delta_average"}}},
    {"adam", "amsgrad", {{"exp_avg", "first_moment"}, {"exp_avg_sq", "second_moment"}}},
    {"adamax", "betas", {{"exp_avg", "first_moment"}, {"exp_inf", "largest"}}},
};

bool is_state(const pickle::Value& value) {
  return pickle::find(value, "state") && pickle::find(value, "param_groups");
}

/// The state itself, or the part of a checkpoint that is one.
const pickle::Value& state_in(const pickle::Value& root) {
  if (is_state(root)) return root;
  const auto entries = pickle::entries_of(root);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
    if (is_state(*entries[i + 1])) return *entries[i + 1];
  throw Error(Code::bad_usage, "the file holds no optimizer's state")
      .hint("torch.save(optimizer.state_dict(), ...) writes one");
}

class State {
 public:
  State(const files::Saved& saved, Budget* budget) : saved_(saved), root_(state_in(saved.root())), budget_(budget) {
    for (const Ref group : pickle::items_of(*pickle::find(root_, "param_groups"))) groups_.push_back(group);
    if (groups_.empty()) throw Error(Code::bad_archive, "the optimizer has no parameters");
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (const Ref list = pickle::find(*groups_[g], "params"))
        for (const Ref number : pickle::items_of(*list)) {
          numbers_.push_back(number->is(pickle::Kind::integer) ? number->integer : -1);
          group_of_.push_back(g);
        }
  }

  std::size_t count() const { return numbers_.size(); }
  std::size_t groups() const { return groups_.size(); }
  std::size_t group_of(std::size_t parameter) const { return group_of_.at(parameter); }
  bool has(std::string_view setting) const { return pickle::find(*groups_[0], setting) != nullptr; }
  double number(std::string_view setting, double otherwise, std::size_t group = 0) const {
    const Ref found = pickle::find(*groups_.at(group), setting);
    if (!found) return otherwise;
    if (const files::Tensor* tensor = saved_.tensor(*found)) return scalar(*tensor);
    return found->is_number() ? found->number() : otherwise;
  }
  std::optional<double> number_of(std::string_view setting) const {
    return has(setting) ? std::optional(number(setting, 0)) : std::nullopt;
  }
  double beta(std::size_t i) const {
    const Ref both = pickle::find(*groups_[0], "betas");
    const auto items = both ? pickle::items_of(*both) : std::span<const Ref>();
    if (items.size() != 2 || !items[i]->is_number())
      throw Error(Code::bad_archive, "the optimizer's betas are no pair");
    return items[i]->number();
  }

  /// A variable of a parameter; null: the optimizer has none of it yet.
  const pickle::Value* variable(std::size_t parameter, std::string_view name) const {
    const auto entries = pickle::entries_of(*pickle::find(root_, "state"));
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
      if (entries[i]->is(pickle::Kind::integer) && entries[i]->integer == numbers_.at(parameter)) {
        const Ref found = pickle::find(*entries[i + 1], name);
        return found && found->is_none() ? nullptr : found;
      }
    return nullptr;
  }
  std::optional<Tensor> tensor(std::size_t parameter, std::string_view name) const {
    const pickle::Value* found = variable(parameter, name);
    const files::Tensor* stored = found ? saved_.tensor(*found) : nullptr;
    if (!stored) return std::nullopt;
    return Tensor(stored->dtype, stored->sizes, stored->contiguous(budget_));
  }
  std::int64_t steps() const {
    for (std::size_t i = 0; i < count(); ++i) {
      const pickle::Value* found = variable(i, "step");
      if (!found) continue;
      if (const files::Tensor* counted = saved_.tensor(*found)) return std::llround(scalar(*counted));
      if (found->is_number()) return std::llround(found->number());
    }
    return variable(0, "momentum_buffer") ? 1 : 0;  // SGD does not count
  }

 private:
  double scalar(const files::Tensor& stored) const {
    const std::vector<double> all = Tensor(stored.dtype, stored.sizes, stored.contiguous(budget_)).to_doubles();
    if (all.size() != 1) throw Error(Code::bad_archive, "a number of the optimizer is a tensor of other size");
    return all[0];
  }

  const files::Saved& saved_;
  const pickle::Value& root_;
  Budget* budget_;
  std::vector<Ref> groups_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::size_t> group_of_;
};

/// By its settings, or by the word of the user: Adam and AdamW have the same ones.
std::string name_of(const State& state, const Optimizer& row, const std::string& wanted) {
  std::string name(row.name);
  if (name == "sgd" && state.number("momentum", 0) != 0)
    name = state.number("nesterov", 0) != 0 ? "nesterov" : "momentum";
  if (name != "adam") {
    if (!wanted.empty() && wanted != name)
      throw Error(Code::bad_usage, fmt::format("the state is one of {}, not of {}", name, wanted));
    return name;
  }
  if (!wanted.empty() && wanted != "adam" && wanted != "adamw")
    throw Error(Code::bad_usage, fmt::format("the state is one of adam or adamw, not of {}", wanted));
  if (!wanted.empty()) return wanted;
  if (const auto is_decoupled = state.number_of("decoupled_weight_decay")) return *is_decoupled != 0 ? "adamw" : "adam";
  bool decays = false;
  for (std::size_t g = 0; g < state.groups(); ++g) decays |= state.number("weight_decay", 0, g) != 0;
  if (!decays) return "adam";
  throw Error(Code::bad_usage, "the state is one of Adam or of AdamW, which decay weights differently")
      .hint("--optimizer adam or --optimizer adamw says which");
}

const Optimizer& row_of(const State& state) {
  for (const Optimizer& row : kOptimizers)
    if (state.has(row.setting)) return row;
  throw Error(Code::unsupported_setting, "the optimizer is none that has a translation")
      .hint("SGD, Adam, AdamW, Adamax, NAdam, RMSprop, Adagrad and Adadelta have one");
}

void refuse_settings(const State& state) {
  for (const std::string_view setting : {"amsgrad", "centered", "maximize", "decoupled_lr"})
    for (std::size_t g = 0; g < state.groups(); ++g)
      if (state.number(setting, 0, g) != 0)
        throw Error(Code::unsupported_setting, fmt::format("an optimizer with '{}' has no translation", setting));
  for (std::size_t g = 1; g < state.groups(); ++g)
    for (const std::string_view setting :
         {"lr", "momentum", "dampening", "eps", "alpha", "rho", "lr_decay", "nesterov"})
      if (state.number(setting, 0, g) != state.number(setting, 0, 0))
        throw Error(Code::unsupported_setting,
                    fmt::format("groups of parameters with '{}' of their own have no translation", setting));
  if (std::abs(state.number("momentum_decay", 4e-3) - 4e-3) > 1e-12)
    throw Error(Code::unsupported_setting, "NAdam with another 'momentum_decay' than 0.004 has no translation");
}

train::OptimizerOptions settings_of(const State& state, const Optimizer& row, const std::string& wanted,
                                    const std::vector<std::string>& names) {
  refuse_settings(state);
  train::OptimizerOptions o;
  o.name = name_of(state, row, wanted);
  o.lr = state.number("lr", 0);
  if (state.has("betas")) {
    o.beta1 = state.beta(0);
    o.beta2 = state.beta(1);
  }
  if (state.number("momentum", 0) != 0) o.momentum = state.number("momentum", 0);
  o.epsilon = state.number_of("eps");
  o.rho = row.name == "rmsprop" ? state.number_of("alpha") : state.number_of("rho");
  o.dampening = state.number("dampening", 0);
  o.lr_decay = state.number("lr_decay", 0);
  // Weights decay by one number, or not at all.
  double decay = 0;
  for (std::size_t g = 0; g < state.groups(); ++g) {
    const double here = state.number("weight_decay", 0, g);
    if (here != 0 && decay != 0 && here != decay)
      throw Error(Code::unsupported_setting, "groups of parameters that decay differently have no translation");
    if (here != 0) decay = here;
  }
  o.weight_decay = decay;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (decay != 0 && state.number("weight_decay", 0, state.group_of(i)) == 0) o.no_decay.push_back(names[i]);
  return o;
}

/// The parameters that the optimizer numbers: all of the model's, or those that want a gradient.
std::vector<std::string> numbered(const State& state, const std::vector<Parameter>& parameters) {
  std::vector<std::string> all, wanting;
  for (const Parameter& parameter : parameters) {
    all.push_back(parameter.name);
    if (parameter.requires_grad) wanting.push_back(parameter.name);
  }
  if (state.count() == all.size()) return all;
  if (state.count() == wanting.size()) return wanting;
  throw Error(Code::bad_usage, fmt::format("the optimizer has {} parameters, the model {}", state.count(), all.size()));
}

/// Puts the stored variables into the algorithm. Refuses those of other shapes, all at once.
void restore(Graph& algorithm, const State& state, const Optimizer& row, const std::vector<std::string>& names) {
  std::string wrong;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const Slot& slot : row.slots) {
      Value* variable = algorithm.find(fmt::format("train/{}/{}", names[i], slot.own));
      std::optional<Tensor> stored = state.tensor(i, slot.theirs);
      if (!variable || !variable->initializer || !stored) continue;
      const Tensor& own = *variable->initializer;
      if (own.dims() != stored->dims())
        wrong += fmt::format("\n  '{}' of '{}' is {} and not {}", slot.theirs, names[i], stored->type().str(),
                             own.type().str());
      else if (own.dtype() == stored->dtype())
        variable->initializer = std::move(stored);
      else if (own.dtype() == DType::f64 && own.dims().empty())
        variable->initializer = Tensor::scalar(stored->to_doubles().at(0));
      else
        wrong += fmt::format("\n  '{}' of '{}' is {} and not {}", slot.theirs, names[i], stored->type().str(),
                             own.type().str());
    }
  if (!wrong.empty()) throw Error(Code::bad_tensor, "the optimizer's state does not fit the model:" + wrong);
  if (Value* step = algorithm.find("train/step")) step->initializer = Tensor::scalar<std::int64_t>(state.steps());
}

}  // namespace

void add_optimizer(Imported& imported, const files::Saved& saved, const std::vector<Parameter>& parameters,
                   const LoadOptions& options) {
  const State state(saved, options.budget);
  const Optimizer& row = row_of(state);
  const std::vector<std::string> names = numbered(state, parameters);
  if (options.import.loss.empty()) {
    std::string known;
    for (const std::string& name : train::loss_names()) known += (known.empty() ? "" : ", ") + name;
    throw Error(Code::bad_usage, "an optimizer's state does not say what is made small")
        .hint("--loss names it: " + known);
  }
  train::TrainingOptions training;
  training.loss.name = options.import.loss;
  training.optimizer = settings_of(state, row, options.import.optimizer, names);
  for (const std::string& name : names)
    if (imported.model.graph->find(name)) training.parameters.trainable.push_back(name);
  const train::TrainingGraph graph = train::make_training_graph(imported.model, training);
  train::add_training_info(imported.model, graph);
  imported.notes.insert(imported.notes.end(), graph.notes.begin(), graph.notes.end());
  restore(*imported.model.training.back().algorithm, state, row, names);
}

}  // namespace ingot::driver::torch
