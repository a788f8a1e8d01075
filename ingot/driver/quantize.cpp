// A model in integers, beside the one in floats.
#include "ingot/driver/quantize.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/inputs.h"
#include "ingot/engine/session.h"
#include "ingot/ir/operator_pattern.h"
#include "ingot/ops/versions.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/store_constants.h"

namespace ingot::driver {
namespace {

/// Names of `words` that no node and no operator of the model has: what the user meant would not happen, in silence.
std::vector<std::string> without_node(const Model& model, const std::vector<std::string>& words) {
  std::vector<std::string> missing = words;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      std::erase_if(missing, [&](const std::string& word) {
        return word == node.name || OperatorPattern::parse(word).matches(node.op, node.domain);
      });
  return missing;
}

/// Names are those of the file, or of what optimization made of it.
void require_named(const std::vector<std::string>& missing, const Model& optimized) {
  for (const std::string& word : without_node(optimized, missing))
    throw Error(Code::unknown_name, "no node and no operator of the model is called '" + word + "'")
        .hint("'ingot inspect' lists the operators, with --text the names of nodes");
}

/// Scales per channel came with operator set 13, blocks and 4 bits with 21.
std::int64_t least_opset(const QuantizeOptions& options) {
  constexpr std::int64_t kPerChannel = 13, kBlocks = 21;
  return options.block > 0 || options.bits == 4 ? kBlocks : kPerChannel;
}

using ByName = std::unordered_map<std::string_view, const Datum*>;

ByName by_name(const std::vector<engine::NamedDatum>& values) {
  ByName all;
  for (const engine::NamedDatum& v : values) all.emplace(v.name, &v.value);
  return all;
}

/// Values whose names the second model has lost since are left out.
void compare(const Model& before, const Model& after, const QuantizeRequest& request, QuantizeResult& result) {
  std::vector<passes::QuantizedValue> watched;
  std::vector<std::string> floats, quantized;
  for (const auto& v : result.report.values)
    if (before.graph->find(v.value) && after.graph->find(v.quantized)) {
      watched.push_back(v);
      floats.push_back(v.value);
      quantized.push_back(v.quantized);
    }
  for (const auto& v : watched) result.layers.push_back({v.node, v.op, v.value, {}});
  for (const Value* v : before.graph->outputs()) result.outputs.push_back({"", "", v->name(), {}});
  const Model a = with_outputs(before, floats), b = with_outputs(after, quantized);
  const engine::Session first(a, {.budget = request.budget}), second(b, {.budget = request.budget});
  for (std::size_t s = 0; s < request.held_back.count; ++s) {
    if (request.budget) request.budget->poll();
    const auto inputs = request.held_back.batch(s);
    const auto expected = first.run(inputs), got = second.run(inputs);
    const ByName exact = by_name(expected), rounded = by_name(got);
    const auto add = [&](LayerError& layer, const std::string& name) {
      const auto x = exact.find(layer.value), y = rounded.find(name);
      if (x != exact.end() && y != rounded.end()) layer.agreement.add(*x->second, *y->second);
    };
    for (std::size_t i = 0; i < watched.size(); ++i) add(result.layers[i], watched[i].quantized);
    for (LayerError& output : result.outputs) add(output, output.value);
  }
}

}  // namespace

QuantizeResult quantize(Model& model, const QuantizeRequest& request) {
  passes::take_defaults_for_constants(model);
  OpsetImports wanted = all_opsets(model);
  const std::int64_t least = least_opset(request.options);
  if (request.opset && request.opset < least)
    throw Error(Code::bad_usage, "operator set " + std::to_string(request.opset) + " cannot say this")
        .hint("--opset " + std::to_string(least));
  wanted.set("", request.opset ? request.opset : std::max(wanted.version(""), least));
  const std::int64_t ir_version = std::max<std::int64_t>(model.ir_version, ops::ir_version_for(wanted));
  std::vector<std::string> words = request.options.only;
  words.insert(words.end(), request.options.exclude.begin(), request.options.exclude.end());
  words = without_node(model, words);
  passes::OptimizeOptions optimization;
  optimization.budget = request.budget;
  // Ranges are found of values as they lie; without any, the graph stays as its exporter wrote it.
  optimization.lays_out = request.options.method == QuantizeMethod::ranges;
  passes::optimize(model, optimization);
  require_named(words, model);
  passes::store_constants(*model.graph);
  const Model before = model.clone();
  passes::ValueRanges ranges;
  if (request.options.method == QuantizeMethod::ranges)
    ranges = calibrate(model, passes::values_to_watch(model, request.options), request.samples, request.calibration);
  QuantizeResult result;
  result.report = passes::quantize(model, request.options, ranges);
  for (const OpsetImport& import : model.opsets)
    if (!wanted.version(import.domain)) wanted.set(import.domain, import.version);
  bring_to(model, wanted, ir_version);
  result.opset = wanted.version("");
  if (request.held_back.count) compare(before, model, request, result);
  return result;
}

Samples random_samples(const Model& model, std::size_t count, std::uint32_t first_seed) {
  auto copy = std::make_shared<Model>(model.clone());
  return {count, [copy, first_seed](std::size_t i) {
            return random_inputs(*copy, first_seed + static_cast<std::uint32_t>(i));
          }};
}

}  // namespace ingot::driver
