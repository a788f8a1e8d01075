// Layers around other layers.
#include <map>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {

/// Each step is an example of a batch.
void time_distributed(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  const std::int64_t rank = call.rank();
  call.require(rank >= 3, "the input has no steps");
  IrValue* sizes = b.shape(x);
  IrValue* inner_sizes = b.op("Slice", {sizes, b.ints({2}), b.ints({rank}), b.ints({0})});
  IrValue* flat = b.op("Reshape", {x, b.concat({b.ints({-1}), inner_sizes}, 0)});
  const Weights weights = call.layer.weights.is_tree() ? call.layer.weights.part("layer") : call.layer.weights;
  const std::vector<Flow> results = call.call("layer", call.at("layer"), weights, {{.tensor = Flow{flat, nullptr}}});
  IrValue* y = results[0].value;
  const auto out_rank = rank_of(y);
  call.require(out_rank.has_value(), "the rank of its result is not known");
  IrValue* outer = b.op("Slice", {sizes, b.ints({0}), b.ints({2}), b.ints({0})});
  IrValue* rest = b.op("Slice", {b.shape(y), b.ints({1}), b.ints({*out_rank}), b.ints({0})});
  IrValue* all = *out_rank > 1 ? b.concat({outer, rest}, 0) : outer;
  call.set(b.op("Reshape", {y, all}), call.mask());
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
  const Weights& all = call.layer.weights;
  const Weights forward = all.is_tree() ? all.part("forward_layer") : all.half(false);
  const Weights backward = all.is_tree() ? all.part("backward_layer") : all.half(true);
  const Config entry = call.at("layer");
  const Config own = call.at("backward_layer");
  // Each direction has its half of the states that come in.
  std::vector<Argument> ahead = call.args, behind = call.args;
  const std::size_t states = call.inputs.size() - 1;
  if (states) {
    call.require(states % 2 == 0, "it is given an odd number of states");
    ahead.clear();
    behind.clear();
    ahead.push_back({.tensor = call.inputs[0]});
    behind.push_back({.tensor = call.inputs[0]});
    for (std::size_t i = 0; i < states; ++i)
      (i < states / 2 ? ahead : behind).push_back({.tensor = call.inputs[1 + i]});
  }
  const std::vector<Flow> first = call.call("forward", entry, forward, std::move(ahead), call.kwargs);
  const bool is_own = !own.is_null();
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
