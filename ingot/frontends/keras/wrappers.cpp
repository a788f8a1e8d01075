// Layers around other layers.
#include <map>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/stored_weights.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// The steps of all tensors of an argument as examples of a batch.
void flatten_steps(Call& call, Argument& argument) {
  GraphBuilder& b = call.b;
  for (Argument& inner : argument.list) flatten_steps(call, inner);
  if (!argument.tensor) return;
  IrValue* x = argument.tensor->value;
  const auto rank = rank_of(x);
  call.require(rank && *rank >= 3, "the input has no steps");
  IrValue* sizes = b.op("Slice", {b.shape(x), b.ints({2}), b.ints({*rank}), b.ints({0})});
  argument.tensor = Flow{b.op("Reshape", {x, b.concat({b.ints({-1}), sizes}, 0)}), nullptr};
}

}  // namespace

/// Each step is an example of a batch.
void time_distributed(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* sizes = b.shape(call.in());
  std::vector<Argument> args = call.args;
  for (Argument& argument : args) flatten_steps(call, argument);
  const Weights weights = call.layer.weights.is_tree() ? call.layer.weights.part("layer") : call.layer.weights;
  const std::vector<Flow> results = call.call("layer", call.at("layer"), weights, std::move(args));
  IrValue* outer = b.op("Slice", {sizes, b.ints({0}), b.ints({2}), b.ints({0})});
  for (const Flow& result : results) {
    IrValue* y = result.value;
    const auto rank = rank_of(y);
    call.require(rank.has_value(), "the rank of its result is not known");
    IrValue* rest = b.op("Slice", {b.shape(y), b.ints({1}), b.ints({*rank}), b.ints({0})});
    IrValue* all = *rank > 1 ? b.concat({outer, rest}, 0) : outer;
    call.outputs.push_back({b.op("Reshape", {y, all}), call.mask()});
  }
}

/// Layers of preparation in a row.
void pipeline(Call& call) {
  std::vector<Flow> flows = call.inputs;
  std::map<std::string, std::size_t> of_class;
  const std::vector<Config> entries = call.at("layers").entries();
  const Weights weights = call.layer.weights.is_tree() ? call.layer.weights.part("layers") : call.layer.weights;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string class_name(entries[i]["class_name"].text());
    const std::string name(entries[i]["config"]["name"].text());
    const std::size_t before = of_class[class_name]++;
    const std::string part = snake_case(class_name) + (before ? "_" + std::to_string(before) : "");
    std::vector<Argument> args;
    for (const Flow& flow : flows) args.push_back({.tensor = flow});
    flows = call.call("layer " + std::to_string(i), entries[i], weights.is_tree() ? weights.part(part) : weights,
                      std::move(args));
    call.require(!flows.empty() && flows[0].value, "the layer '" + name + "' in it has no translation");
  }
  call.outputs = flows;
}

/// While running, the weights are as they were last normalised.
void spectral_normalization(Call& call) {
  const Weights weights = call.layer.weights.is_tree()
                              ? call.layer.weights.part("layer")
                              : call.layer.weights.range(0, call.weight_count() - (call.weight_count() ? 1 : 0));
  call.outputs = call.call("layer", call.at("layer"), weights, call.args, call.kwargs);
}

void bidirectional(Call& call) {
  GraphBuilder& b = call.b;
  call.require(!call.inputs.empty(), "it is called without its input");
  const Config entry = call.at("layer");
  const Config own = call.at("backward_layer");
  const Weights& all = call.layer.weights;
  const auto count = weight_count(entry, call.import.version);
  const std::size_t middle = count ? std::min(count->all(), call.weight_count()) : call.weight_count() / 2;
  const Weights forward = all.is_tree() ? all.part("forward_layer") : all.range(0, middle);
  const Weights backward = all.is_tree() ? all.part("backward_layer") : all.range(middle, call.weight_count() - middle);
  // Each direction has its half of the states that come in.
  std::vector<Flow> states(call.inputs.begin() + 1, call.inputs.end());
  if (const auto initial = call.kwargs.find("initial_state"); initial != call.kwargs.end()) {
    collect(initial->second, states);
    call.kwargs.erase(initial);
  }
  call.require(states.size() % 2 == 0, "it is given an odd number of states");
  std::vector<Argument> ahead{{.tensor = call.inputs[0]}}, behind = ahead;
  for (std::size_t i = 0; i < states.size(); ++i)
    (i < states.size() / 2 ? ahead : behind).push_back({.tensor = states[i]});
  const bool is_own = !own.is_null();
  for (const char* key : {"return_sequences", "return_state"})
    call.require(
        !is_own || entry["config"][key].as_bool().value_or(false) == own["config"][key].as_bool().value_or(false),
        std::string("its directions disagree about '") + key + "'");
  call.require(!is_own || entry["config"]["go_backwards"].as_bool().value_or(false) !=
                              own["config"]["go_backwards"].as_bool().value_or(false),
               "both its directions go the same way");
  const std::vector<Flow> first = call.call("forward", entry, forward, std::move(ahead), call.kwargs);
  if (!is_own) call.kwargs["__go_backwards__"] = {};
  const std::vector<Flow> second =
      call.call("backward", is_own ? own : entry, backward, std::move(behind), call.kwargs);
  const bool has_sequences = entry["config"]["return_sequences"].as_bool().value_or(false);
  IrValue *x = first[0].value, *y = second[0].value;
  // The backward layer gives its steps in its own order.
  if (has_sequences) y = reversed(call.b, y, 1);
  const Config stated = call.at("merge_mode");
  const std::string mode = stated.exists() ? (stated.is_null() ? "none" : std::string(stated.text())) : "concat";
  IrValue* mask = has_sequences ? call.mask() : nullptr;
  if (mode == "concat")
    call.set(b.concat({x, y}, -1), mask);
  else if (mode == "sum")
    call.set(b.add(x, y), mask);
  else if (mode == "ave")
    call.set(b.div(b.add(x, y), 2), mask);
  else if (mode == "mul")
    call.set(b.mul(x, y), mask);
  else if (mode == "none")
    call.outputs = {{x, mask}, {y, mask}};
  else
    call.refuse("merging by '" + mode + "' has no translation");
  for (std::size_t i = 1; i < first.size(); ++i) call.outputs.push_back(first[i]);
  for (std::size_t i = 1; i < second.size(); ++i) call.outputs.push_back(second[i]);
}

}  // namespace ingot::frontends::keras
