// Sequential and functional models.
#include "ingot/frontends/keras/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/keras/shapes.h"

namespace ingot::frontends::keras {
namespace {

bool is_keras_tensor(const Config& config) { return config["class_name"].text() == "__keras_tensor__"; }

/// ["layer", 0, 0] or ["layer", 0, 0, {...}]
bool is_triple(const Config& config) {
  return config.is_list() && (config.size() == 3 || config.size() == 4) && config[0].is_text() &&
         config[1].is_integer() && config[2].is_integer();
}

bool is_operation(const Layer& layer) {
  return layer.module.find(".ops.") != std::string::npos || layer.module.ends_with(".ops");
}

std::string key_of(const std::string& layer, std::int64_t node) { return layer + "#" + std::to_string(node); }

}  // namespace

bool is_network(std::string_view class_name) {
  return class_name == "Functional" || class_name == "Model" || class_name == "Sequential";
}

bool is_network(const Layer& layer) {
  const bool has_layers = layer.config["layers"].is_list() || layer.config.is_list();
  return is_network(layer.class_name) || (has_layers && layer.config["input_layers"].exists());
}

Network::Network(Import& import, const Layer& layer)
    : import_(import),
      weights_(layer.weights.by_layers_of(layer.entry, import.version)),
      scope_(layer.scope),
      is_trainable_(layer.is_trainable) {
  const auto depth = import_.budget.enter_depth();
  if (is_users_own(layer))
    import_.notes.add("model '" + layer.name + "' is of the class '" + layer.class_name +
                      "', which is not Keras's: it is taken as its layers are connected, whatever its code does");
  is_sequential_ = layer.class_name == "Sequential" || layer.config.is_list() ||
                   (!layer.config["input_layers"].exists() && layer.config["layers"].is_list());
  if (is_sequential_)
    read_sequential(layer.config);
  else
    read_functional(layer.config);
}

void Network::add_layer(const Config& entry) {
  auto layer = std::make_shared<Layer>(layer_of(entry, scope_, is_trainable_));
  std::size_t before = 0;
  if (!is_operation(*layer)) before = of_class_[snake_case(layer->class_name)]++;
  layer->number = before;
  layer->place = import_.layer_count++;
  layer->weights = weights_.layer(layer->name, layer->class_name, before);
  // Names in one list may leave out the models around a layer.
  if (is_network(*layer) && layer->weights.is_empty()) layer->weights = weights_;
  if (is_network(*layer)) layer->network = std::make_shared<Network>(import_, *layer);
  import_.budget.charge_nodes(1);
  if (!by_name_.emplace(layer->name, layers_.size()).second)
    throw Error(Code::bad_source_graph, "two layers of a model are called '" + layer->name + "'");
  layers_.push_back(std::move(layer));
}

void Network::read_sequential(const Config& config) {
  const Config list = config.is_list() ? config : config["layers"];
  if (!list.is_list()) throw Error(Code::bad_json, "a Sequential model has no list of layers");
  for (const Config& entry : list.entries()) add_layer(entry);
  if (layers_.empty()) throw Error(Code::bad_source_graph, "a model has no layers");
  const Layer& first = *layers_.front();
  if (first.class_name == "InputLayer") {
    inputs_.push_back(input_of(first));
  } else if (first.network && !first.network->inputs().empty()) {
    inputs_ = first.network->inputs();
    for (NetworkInput& input : inputs_) input.name = first.name + "_input";
  } else if (const auto shape = shape_of_first(first.config, first.entry, config)) {
    DType type = compute_type(first.config["dtype"]);
    if (first.config["input_dtype"].is_text()) type = compute_type(first.config["input_dtype"]);
    inputs_.push_back(
        {first.name + "_input",
         Type::tensor(type == DType::undefined || type == DType::f16 || type == DType::bf16 ? DType::f32 : type,
                      named_shape(*shape, first.name + "_input"))});
  }
}

NetworkInput Network::input_of(const Layer& layer) const {
  const Config config = layer.config;
  if (config["sparse"].as_bool().value_or(false) || config["ragged"].as_bool().value_or(false))
    import_.problems.add(layer.name, layer.class_name, "sparse and ragged inputs have no form in ONNX",
                         Code::unsupported_setting, "feed dense tensors, and build the model so");
  const auto shape = shape_of_input(config);
  DType type = compute_type(config["dtype"].exists() ? config["dtype"] : config["input_dtype"]);
  if (type == DType::undefined) type = DType::f32;
  std::optional<Shape> dims;
  if (shape) dims = named_shape(*shape, layer.name);
  return {layer.name, Type::tensor(type, dims)};
}

std::vector<Network::Reference> Network::references_in(const Config& config) const {
  std::vector<Reference> found;
  std::vector<Config> stack{config};
  while (!stack.empty()) {
    const Config at = stack.back();
    stack.pop_back();
    if (is_keras_tensor(at)) {
      const Config history = at["config"]["keras_history"];
      found.push_back(
          {std::string(history[0].text()), history[1].as_int().value_or(0), history[2].as_int().value_or(0)});
    } else if (is_triple(at) && by_name_.contains(std::string(at[0].text()))) {
      found.push_back({std::string(at[0].text()), at[1].as_int().value_or(0), at[2].as_int().value_or(0)});
      if (at.size() == 4) stack.push_back(at[3]);
    } else {
      const auto entries = at.entries();
      stack.insert(stack.end(), entries.rbegin(), entries.rend());
      auto members = at.members();
      std::ranges::stable_sort(members, {}, [](const auto& member) { return member.first; });  // as Keras does
      for (auto member = members.rbegin(); member != members.rend(); ++member) stack.push_back(member->second);
    }
  }
  return found;
}

void Network::read_functional(const Config& config) {
  for (const Config& entry : config["layers"].entries()) add_layer(entry);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Config inbound = layers_[i]->entry["inbound_nodes"];
    std::int64_t index = 0;
    for (const Config& node : inbound.entries()) nodes_.push_back({i, index++, node});
  }
  input_references_ = references_in(config["input_layers"]);
  takes_dictionary_ = config["input_layers"].is_object();
  outputs_ = references_in(config["output_layers"]);
  if (input_references_.empty() || outputs_.empty())
    throw Error(Code::bad_source_graph, "a functional model has no inputs or no outputs");
  find_first_nodes();
  for (const Reference& reference : input_references_) {
    const auto layer = by_name_.find(reference.layer);
    if (layer == by_name_.end()) throw Error(Code::bad_source_graph, "an input of the model is no layer of it");
    if (std::ranges::count(input_references_, reference.layer, &Reference::layer) > 1)
      throw Error(Code::bad_source_graph, "the input '" + reference.layer + "' is listed twice");
    inputs_.push_back(input_of(*layers_[layer->second]));
  }
}

/// The making of a model inside may count as its first call: in Keras 3 in the list of outputs alone. Every call is
/// referred to, and what is right refers to all of them.
void Network::find_first_nodes() {
  struct Known {
    std::set<std::int64_t> inside, outside;
  };
  std::map<std::string, Known> known;
  const auto is_model = [&](const Reference& reference) {
    const auto layer = by_name_.find(reference.layer);
    return layer != by_name_.end() && layers_[layer->second]->network;
  };
  for (const Node& node : nodes_)
    for (const Reference& reference : references_in(node.inbound))
      if (is_model(reference)) known[reference.layer].inside.insert(reference.node);
  for (const Reference& reference : outputs_)
    if (is_model(reference)) known[reference.layer].outside.insert(reference.node);
  for (const auto& [name, refers] : known) {
    const auto calls = std::ranges::count(nodes_, by_name_[name], &Node::layer);
    const auto fits = [&](std::int64_t inside, std::int64_t outside) {
      std::set<std::int64_t> all;
      for (const std::int64_t node : refers.inside) all.insert(node - inside);
      for (const std::int64_t node : refers.outside) all.insert(node - outside);
      return std::ssize(all) == calls && *all.begin() == 0 && *all.rbegin() == calls - 1;
    };
    const bool is_apart = import_.version >= 3 && layers_[by_name_[name]]->class_name != "Sequential";
    std::int64_t inside = std::numeric_limits<std::int64_t>::max();
    for (const std::set<std::int64_t>* nodes : {&refers.inside, &refers.outside})
      if (!nodes->empty()) inside = std::min(inside, *nodes->begin());
    std::int64_t outside = inside;
    if (is_apart && fits(0, 1)) {
      inside = 0;
      outside = 1;
    }
    first_node_.emplace(name, inside);
    for (Reference& reference : outputs_)
      if (reference.layer == name) reference.node -= outside;
  }
}

std::vector<std::string> Network::output_names() const {
  std::vector<std::string> names;
  for (const Reference& reference : outputs_) names.push_back(reference.layer);
  if (is_sequential_) names.push_back(layers_.back()->name);
  return names;
}

void Network::set_place(std::size_t place) {
  for (const std::shared_ptr<Layer>& layer : layers_) {
    layer->place = place;
    if (layer->network) layer->network->set_place(place);
  }
}

void Network::choose_outputs(const std::vector<std::string>& layers) {
  std::vector<Reference> chosen;
  for (const std::string& name : layers) {
    const auto layer = by_name_.find(name);
    if (layer == by_name_.end())
      throw Error(Code::unknown_name, "the model has no layer '" + name + "'").hint("--outputs takes names of layers");
    if (is_sequential_) {
      if (layers.size() > 1)
        throw Error(Code::bad_usage, "a Sequential model can be cut at one layer only").hint("name one output");
      layers_.resize(layer->second + 1);
      return;
    }
    chosen.push_back({name, 0, 0});
  }
  outputs_ = std::move(chosen);
}

std::vector<Flow> Network::run(const std::vector<Flow>& inputs) {
  const auto depth = import_.budget.enter_depth();
  return is_sequential_ ? run_sequential(inputs) : run_functional(inputs);
}

std::vector<Flow> Network::run_sequential(const std::vector<Flow>& inputs) {
  std::vector<Flow> flows = inputs;
  for (const std::shared_ptr<Layer>& layer : layers_) {
    if (layer->class_name == "InputLayer") continue;
    std::vector<Argument> args;
    for (const Flow& flow : flows) args.push_back({.tensor = flow});
    flows = translate(import_, *layer, std::move(args));
    const bool is_broken = flows.empty() || std::ranges::any_of(flows, [](const Flow& f) { return !f.value; });
    if (is_broken) return {};
    flows.resize(1);
  }
  return flows;
}

Network::Reference Network::as_call(Reference reference) const {
  const auto first = first_node_.find(reference.layer);
  if (first != first_node_.end()) reference.node -= first->second;
  return reference;
}

const Flow* Network::find(const Flows& flows, const Reference& reference) {
  static constexpr Flow kNone;
  const auto node = flows.find(key_of(reference.layer, reference.node));
  if (node == flows.end()) return nullptr;
  const auto tensor = static_cast<std::size_t>(std::max<std::int64_t>(reference.tensor, 0));
  return tensor < node->second.size() ? &node->second[tensor] : &kNone;
}

Argument Network::argument_of(const Config& config, const Flows& flows) const {
  if (config["class_name"].text() == "__tuple__") return argument_of(config["items"], flows);
  Argument argument;
  argument.literal = config;
  const bool is_old = is_triple(config) && by_name_.contains(std::string(config[0].text()));
  if (is_old || is_keras_tensor(config)) {
    const Config history = is_old ? config : config["config"]["keras_history"];
    const Reference reference =
        as_call({std::string(history[0].text()), history[1].as_int().value_or(0), history[2].as_int().value_or(0)});
    const Flow* flow = find(flows, reference);
    argument.tensor = flow ? *flow : Flow();
  } else if (config.is_list()) {
    argument.is_list = true;
    for (const Config& entry : config.entries()) argument.list.push_back(argument_of(entry, flows));
  } else if (config.is_object() && !config["class_name"].exists()) {
    auto members = config.members();
    std::ranges::stable_sort(members, {}, [](const auto& member) { return member.first; });
    for (const auto& [key, value] : members) {
      argument.keys.emplace_back(key);
      argument.list.push_back(argument_of(value, flows));
    }
  }
  return argument;
}

void Network::call(const Node& node, Flows& flows) {
  Layer& layer = *layers_[node.layer];
  std::vector<Argument> args;
  std::map<std::string, Argument> kwargs;
  const auto add_named = [&](const Config& named) {
    for (const auto& [key, value] : named.members()) kwargs.emplace(key, argument_of(value, flows));
  };
  if (node.inbound["args"].exists()) {
    for (const Config& entry : node.inbound["args"].entries()) args.push_back(argument_of(entry, flows));
    add_named(node.inbound["kwargs"]);
  } else if (node.inbound.is_object()) {  // one dictionary
    args.push_back(argument_of(node.inbound, flows));
    for (const auto& [key, entry] : node.inbound.members()) add_named(entry[3]);
  } else {
    const bool is_alone = node.inbound[0].is_text();
    const std::vector<Config> entries = is_alone ? std::vector<Config>{node.inbound} : node.inbound.entries();
    for (const Config& entry : entries) {
      const bool is_constant = entry[0].text() == "_CONSTANT_VALUE";
      args.push_back(argument_of(is_constant ? entry[2] : entry, flows));
      add_named(entry[3]);
    }
  }
  std::vector<Flow> tensors;
  for (const Argument& argument : args) collect(argument, tensors);
  for (const auto& [key, argument] : kwargs) collect(argument, tensors);
  const bool is_broken = std::ranges::any_of(tensors, [](const Flow& f) { return !f.value; });
  flows[key_of(layer.name, node.index)] =
      is_broken ? std::vector<Flow>() : translate(import_, layer, std::move(args), std::move(kwargs));
}

/// The calls that the outputs depend on, in the order of the file. What a functional model also keeps are losses and
/// metrics of its own (AddLoss, AddMetric) with all that they are computed from; a training needs the losses.
std::vector<std::size_t> Network::needed_calls() const {
  std::map<std::string, std::size_t> calls;
  std::set<std::size_t> needed;
  std::vector<Reference> open = outputs_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Layer& layer = *layers_[nodes_[i].layer];
    calls.emplace(key_of(layer.name, nodes_[i].index), i);
    if (layer.class_name == "AddLoss" && import_.options.is_training) open.push_back({layer.name, nodes_[i].index, 0});
  }
  while (!open.empty()) {
    const Reference reference = open.back();
    open.pop_back();
    const auto call = calls.find(key_of(reference.layer, reference.node));
    if (call == calls.end() || !needed.insert(call->second).second) continue;
    for (const Reference& read : references_in(nodes_[call->second].inbound)) open.push_back(as_call(read));
  }
  return {needed.begin(), needed.end()};
}

std::vector<Flow> Network::run_functional(const std::vector<Flow>& inputs) {
  Flows flows;
  if (inputs.size() != input_references_.size())
    throw Error(Code::bad_source_graph,
                fmt::format("a model of {} inputs is called with {}", input_references_.size(), inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) flows[key_of(input_references_[i].layer, 0)] = {inputs[i]};
  // Calls wait for those that they read.
  std::vector<std::size_t> missing(nodes_.size());
  std::multimap<std::string, std::size_t> waiting;
  std::deque<std::size_t> ready;
  for (const std::size_t i : needed_calls()) {
    for (const Reference& reference : references_in(nodes_[i].inbound)) {
      const std::string key = key_of(reference.layer, as_call(reference).node);
      if (flows.contains(key)) continue;
      waiting.emplace(key, i);
      ++missing[i];
    }
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const Node& node = nodes_[ready.front()];
    ready.pop_front();
    call(node, flows);
    const auto [first, last] = waiting.equal_range(key_of(layers_[node.layer]->name, node.index));
    for (auto next = first; next != last; ++next)
      if (--missing[next->second] == 0) ready.push_back(next->second);
  }
  std::vector<Flow> results;
  for (const Reference& reference : outputs_) {
    const Flow* flow = find(flows, reference);
    if (!flow) refuse_missing(flows, reference);
    results.push_back(*flow);
  }
  return results;
}

void Network::refuse_missing(const Flows& flows, const Reference& output) const {
  const auto is_call = [&](const Reference& reference) {
    return std::ranges::any_of(nodes_, [&](const Node& node) {
      return layers_[node.layer]->name == reference.layer && node.index == reference.node;
    });
  };
  const auto refuse = [](const std::string& who, const Reference& reference) {
    throw Error(Code::bad_source_graph,
                fmt::format("{} takes what call {} of layer '{}' gives, which is no call of the model", who,
                            reference.node, reference.layer));
  };
  if (!is_call(output)) refuse("an output of the model", output);
  for (const Node& node : nodes_)
    for (const Reference& reference : references_in(node.inbound))
      if (const Reference made = as_call(reference); !find(flows, made) && !is_call(made))
        refuse("layer '" + layers_[node.layer]->name + "'", made);
  throw Error(Code::bad_source_graph, "output '" + output.layer + "' depends on itself");
}

std::vector<Flow> Network::run(const std::vector<Argument>& args) {
  std::vector<Flow> inputs;
  for (const Argument& argument : args) collect(argument, inputs);
  // A dictionary for a list of inputs is taken by their names.
  const bool is_dictionary = args.size() == 1 && args[0].keys.size() == inputs.size() && !inputs.empty();
  if (is_dictionary && !takes_dictionary_) {
    std::vector<Flow> ordered;
    for (const NetworkInput& input : inputs_)
      if (const auto key = std::ranges::find(args[0].keys, input.name); key != args[0].keys.end())
        ordered.push_back(inputs[static_cast<std::size_t>(key - args[0].keys.begin())]);
    if (ordered.size() == inputs.size()) inputs = std::move(ordered);
  }
  return run(inputs);
}

}  // namespace ingot::frontends::keras
