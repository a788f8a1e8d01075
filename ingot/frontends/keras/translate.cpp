// One call of a layer, through its row of the table.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/keras/functions.h"
#include "ingot/frontends/keras/layer_table.h"
#include "ingot/frontends/keras/network.h"
#include "ingot/frontends/keras/stored_weights.h"
#include "ingot/ir/source_notes.h"

namespace ingot::frontends::keras {
namespace {

/// The name of the row: layers by class, operations with what they are operations of.
std::string row_name(const Layer& layer) {
  if (layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda")
    return "tf:" + std::string(layer.config["function"].text());
  const bool is_operation = layer.module.find(".ops.") != std::string::npos || layer.module.ends_with(".ops");
  return (is_operation ? "op:" : "") + layer.class_name;
}

/// As a list of what has no translation calls it: functions by what they are.
std::string spoken_name(const Layer& layer) {
  const std::string function(layer.class_name == "TensorFlowOpLayer" ? layer.config["node_def"]["op"].text()
                                                                     : layer.config["function"].text());
  const bool is_function = layer.class_name == "TFOpLambda" || layer.class_name == "SlicingOpLambda";
  if (!is_function && layer.class_name != "TensorFlowOpLayer") return layer.class_name;
  return layer.class_name + " (" + (is_function ? "tf." : "") + function + ")";
}

void cast_real(GraphBuilder& b, Flow& flow, DType type) {
  if (flow.value && is_float(flow.value->type.elem)) flow.value = b.cast(flow.value, type);
}

void cast_tensors(GraphBuilder& b, Argument& argument, DType type) {
  if (argument.tensor) cast_real(b, *argument.tensor, type);
  for (Argument& inner : argument.list) cast_tensors(b, inner, type);
}

void cast_inputs(Call& call) {
  const DType type = compute_type(call.layer.config["dtype"]);
  const bool is_function = call.layer.class_name == "TFOpLambda" || call.layer.class_name == "TensorFlowOpLayer" ||
                           call.layer.class_name == "SlicingOpLambda";  // which take tensors as they are
  if (!is_float(type) || is_function) return;
  for (Argument& argument : call.args) cast_tensors(call.b, argument, type);
  for (auto& [name, argument] : call.kwargs) cast_tensors(call.b, argument, type);
  for (Flow& flow : call.inputs) cast_real(call.b, flow, type);
}

/// What a regularizer of the layer's results is asked of, where the model is to learn.
void note_activity(Import& import, const Call& call) {
  if (!import.options.is_training) return;
  const bool is_layer = call.layer.class_name == "ActivityRegularization";
  const Config stated = is_layer ? call.layer.entry : call.layer.config["activity_regularizer"];
  if (stated.is_null()) return;
  for (const Flow& flow : call.outputs)
    if (flow.value) import.activities.emplace_back(flow.value, stated);
}

/// Recurrent layers and attention that drop elements inside.
void note_inner_dropout(Import& import, const Call& call) {
  const Layer& layer = call.layer;
  for (const char* key : {"dropout", "recurrent_dropout"}) {
    if (layer.config[key].as_number().value_or(0) <= 0) continue;
    if (call.is_live()) call.refuse("it drops elements inside also while running (training=True)");
    if (call.learns())
      import.notes.add("layer '" + layer.scope + "' (" + layer.class_name +
                       ") drops elements inside while training in Keras (" + key + "); here it does not");
  }
}

/// What the call itself says of training goes for all layers inside.
std::optional<bool> training_of(Import& import, const Call& call) {
  const auto stated = call.kwargs.find("training");
  if (stated == call.kwargs.end() || !stated->second.literal.as_bool()) return import.training;
  const bool is_on = *stated->second.literal.as_bool();
  if (import.version < 3) return is_on;
  // Whoever calls the model decides there: predict() with False.
  if (is_on)
    import.notes.add(
        "layer '" + call.layer.scope +
        "' is called with training=True, which Keras 3 obeys where the model is called and not in predict(); "
        "here it runs as in predict()");
  return import.training;
}

/// Keras takes the weights of a layer by their number: more than it has mean that they are another layer's.
void require_no_more(const Import& import, const Call& call) {
  if (call.weights_used() == 0 || call.weights_used() >= call.weight_count()) return;
  const auto count = weight_count(call.layer.entry, import.version);
  call.require(!count || count->all() >= call.weight_count(),
               fmt::format("it has {} weights, but the file holds {} of it", call.weights_used(), call.weight_count()));
}

std::vector<Flow> run(Import& import, Call& call) {
  Layer& layer = call.layer;
  const std::string name = row_name(layer);
  if (const auto domain = import.custom.domain_of(layer.class_name)) {
    Values inputs;
    for (const Flow& flow : call.inputs) inputs.push_back(flow.value);
    Node* node = import.b.node(layer.class_name, *domain, inputs, {{"config", layer.config.dump()}}, 1);
    return {{node->output(), nullptr}};
  }
  if (layer.network) return layer.network->run(call.args);
  if (!is_known_type(layer.config["dtype"]))
    call.refuse("its type or policy " + layer.config["dtype"].dump() + " is not one of Keras's");
  const Row* row = is_users_own(layer) ? nullptr : find_row(name);
  const PythonFunction* function = row || is_users_own(layer) ? nullptr : find_function(name);
  if (function) {
    call_function(call, *function);
    return std::move(call.outputs);
  }
  if (!row) {
    const bool is_code = is_users_own(layer) || layer.class_name.find('>') != std::string::npos;
    throw Error(is_code ? Code::code_refused : Code::unsupported_operator,
                is_code ? "a class of your own is Python code, which is never executed" : "it has no translation");
  }
  cast_inputs(call);
  row->translate(call);
  require_no_more(import, call);
  note_activity(import, call);
  note_inner_dropout(import, call);
  if (row->guard.passes_mask && !call.inputs.empty())
    for (Flow& flow : call.outputs)
      if (!flow.mask) flow.mask = call.inputs[0].mask;
  return std::move(call.outputs);
}

}  // namespace

bool is_users_own(const Layer& layer) {
  const std::string module = layer.module.substr(0, layer.module.find('.'));
  constexpr std::string_view kOfKeras[] = {"", "builtins", "keras", "keras_core", "tensorflow", "tf_keras"};
  if (std::ranges::count(kOfKeras, module) == 0) return true;
  const std::size_t end = layer.registered.find('>');
  if (end == std::string::npos) return false;
  const std::string package = layer.registered.substr(0, end);
  return package != "keras" && package != "Keras" && !package.starts_with("keras.");
}

std::vector<Flow> translate(Import& import, Layer& layer, std::vector<Argument> args,
                            std::map<std::string, Argument> kwargs) {
  import.budget.poll();
  import.budget.charge_nodes(1);
  // The first argument by its name.
  for (const char* name : {"inputs", "sequences"})
    if (const auto found = kwargs.find(name); args.empty() && found != kwargs.end()) {
      args.push_back(std::move(found->second));
      kwargs.erase(found);
    }
  Call call(import, layer, std::move(args), std::move(kwargs));
  import.b.name_after(layer.scope.empty() ? layer.name : layer.scope);
  import.b.set_metadata({{std::string(kSource), layer.scope}, { std::string(kSourceOp), layer.class_name }});
  const std::optional<bool> around = import.training;
  import.training = training_of(import, call);
  try {
    std::vector<Flow> results = run(import, call);
    import.training = around;
    return results;
  } catch (const Error& error) {
    import.training = around;
    if (error.exit_code() == 5 || error.exit_code() == 70) throw;
    import.problems.add(layer.scope, spoken_name(layer), error);
    return {};
  }
}

}  // namespace ingot::frontends::keras
