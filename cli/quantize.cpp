// ingot quantize: a model in integers, beside the one in floats.
#include <algorithm>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/quantize_words.h"
#include "ingot/driver/summary.h"
#include "ingot/verify/peer.h"
#include "ingot/verify/verify.h"
#include "terminal.h"
#include "train_options.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output, data, peers;
  driver::QuantizeWords words;
  double hold_back = 0.2;
  std::uint64_t samples = 256, batch = 16, random = 0;
  std::vector<std::string> with;
  train::DatasetOptions dataset;
  bool json = false, all_layers = false;
};

void find_samples(const Options& options, const Global& global, const Model& model, driver::QuantizeRequest& request) {
  if (options.data.empty()) return driver::set_random_samples(request, model, options.random);
  train::Dataset data = driver::load_dataset(options.data, options.dataset, model, global.load_options());
  driver::set_samples(request, model, std::move(data), options.hold_back, options.batch, options.samples);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string percent(std::int64_t part, std::int64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0);
  return text;
}

std::string text_of(const driver::Agreement& a) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (a.has_reals()) add(number(a.decibels()) + " dB, largest difference " + number(a.largest()));
  if (a.rows())
    add("the same class for " + percent(a.same_rows(), a.rows()) + " of " + std::to_string(a.rows()) + " rows");
  if (a.integers())
    add(percent(a.same_integers(), a.integers()) + " of " + std::to_string(a.integers()) + " elements the same");
  if (a.other_shapes())
    add("another shape in " + std::to_string(a.other_shapes()) + " of " + std::to_string(a.arrays()) + " runs");
  return text;
}

Json to_json(const driver::LayerError& layer) {
  const driver::Agreement& a = layer.agreement;
  Json json{{"value", layer.value}};
  if (a.has_reals()) json.update({{"decibels", a.decibels()}, {"largest", a.largest()}});
  if (a.integers()) json.update({{"integers", a.integers()}, {"same_integers", a.same_integers()}});
  if (a.other_shapes()) json.update({{"other_shapes", a.other_shapes()}, {"runs", a.arrays()}});
  if (!layer.node.empty()) json["node"] = layer.node;
  if (!layer.op.empty()) json["op"] = layer.op;
  if (a.rows()) json.update({{"rows", a.rows()}, {"same_class", a.same_rows()}});
  return json;
}

void print_layers(const driver::QuantizeResult& result, bool all) {
  std::vector<driver::LayerError> worst;
  for (const auto& layer : result.layers)
    if (layer.agreement.has_reals()) worst.push_back(layer);
  constexpr std::size_t kShown = 8;
  if (!all) {
    std::ranges::stable_sort(worst, {}, [](const auto& l) { return l.agreement.decibels(); });
    if (worst.size() > kShown) worst.erase(worst.begin() + kShown, worst.end());
  }
  if (worst.empty()) return;
  std::fprintf(stderr, "%s\n", all ? "values:" : "values that differ most:");
  Table table({false, false, true});
  for (const auto& l : worst) table.add({l.value, l.op, number(l.agreement.decibels()) + " dB"});
  std::fputs(table.str().c_str(), stderr);
}

void print(const driver::QuantizeResult& result, const Options& options, const driver::Summary& before,
           const driver::Summary& after) {
  std::fprintf(stderr, "%zu nodes quantised, %zu weights; parameters %s -> %s; operator set %lld\n",
               result.report.quantized, result.report.weights.size(), human_bytes(before.parameter_bytes).c_str(),
               human_bytes(after.parameter_bytes).c_str(), static_cast<long long>(result.opset));
  Table kept;
  for (const auto& node : result.report.kept) kept.add({node.node, node.op, node.reason});
  if (!result.report.kept.empty()) std::fprintf(stderr, "left in float:\n%s", kept.str().c_str());
  print_layers(result, options.all_layers);
  for (const auto& output : result.outputs)
    if (output.agreement.is_known())
      std::fprintf(stderr, "output %s: %s\n", output.value.c_str(), text_of(output.agreement).c_str());
}

/// The file beside its source in another runtime, on what was held back.
std::vector<driver::LayerError> judge(const Options& options, const Global& global, verify::Runtime runtime,
                                      const driver::QuantizeRequest& request) {
  verify::Peer before(runtime, find_peers(global, options.peers)), after(runtime, find_peers(global, options.peers));
  std::vector<driver::LayerError> found;
  for (std::size_t i = 0; i < request.held_back.count; ++i) {
    const auto inputs = request.held_back.batch(i);
    const auto ask = [&](verify::Peer& peer, const std::string& file) {
      auto answer = peer.run({.model = file, .inputs = inputs, .optimize = true});
      if (!answer.error.empty())
        throw Error(Code::unsupported_feature,
                    std::string(verify::info_of(runtime).title) + " does not run it: " + answer.error)
            .in_file(file);
      return answer.outputs;
    };
    const auto expected = ask(before, options.model), got = ask(after, options.output);
    if (found.empty())
      for (const auto& e : expected) found.push_back({"", "", e.name, {}});
    for (std::size_t k = 0; k < expected.size() && k < got.size(); ++k)
      found[k].agreement.add(expected[k].value, got[k].value);
  }
  return found;
}

int run(const Options& options, const Global& global) {
  driver::refuse_overwriting(options.model, options.output);
  refuse_other_runtimes(global, "--with", options.with);
  driver::Loaded loaded = driver::load(options.model, global.load_options());
  const driver::Summary before = driver::summarise(loaded.model);
  driver::QuantizeRequest request = driver::quantize_request(options.words);
  request.calibration.budget = request.budget = global.budget;
  driver::QuantizeResult result;
  try {
    find_samples(options, global, loaded.model, request);
    result = driver::quantize(loaded.model, request);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  driver::save(loaded.model, options.output);
  const driver::Summary after = driver::summarise(loaded.model);
  Json json{{"model", options.model},
            {"output", options.output},
            {"opset", result.opset},
            {"quantized", result.report.quantized},
            {"parameter_bytes", {{"before", before.parameter_bytes}, {"after", after.parameter_bytes}}},
            {"kept", Json::array()},
            {"weights", Json::array()},
            {"values", Json::array()},
            {"outputs", Json::array()}};
  for (const auto& k : result.report.kept)
    json["kept"].push_back({{"node", k.node}, {"op", k.op}, {"reason", k.reason}});
  for (const auto& w : result.report.weights)
    json["weights"].push_back(
        {{"name", w.name}, {"bytes_before", w.bytes_before}, {"bytes_after", w.bytes_after}, {"decibels", w.noise}});
  for (const auto& l : result.layers)
    if (l.agreement.is_known()) json["values"].push_back(to_json(l));
  for (const auto& l : result.outputs)
    if (l.agreement.is_known()) json["outputs"].push_back(to_json(l));
  if (!options.json && !global.quiet) print(result, options, before, after);
  for (const std::string& name : options.with)
    for (const auto& output : judge(options, global, verify::runtime_by_name(name), request)) {
      if (!output.agreement.is_known()) continue;
      json["with"][name].push_back(to_json(output));
      if (!options.json && !global.quiet)
        std::fprintf(stderr, "output %s in %s: %s\n", output.value.c_str(),
                     std::string(verify::info_of(verify::runtime_by_name(name)).title).c_str(),
                     text_of(output.agreement).c_str());
    }
  if (options.json)
    std::printf("%s\n", json.dump(2).c_str());
  else if (!global.quiet)
    std::fprintf(stderr, "wrote %s\n", options.output.c_str());
  return 0;
}

}  // namespace

Command add_quantize(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("quantize", "A model in integers, judged beside the one in floats");
  app->footer(
      "static: ranges of values are found on data, weights and values become integers. dynamic: ranges are those of "
      "each\n"
      "run, no data is needed. weights: they alone are stored in 8 or 4 bits. A fifth of the data is held back, and "
      "both\n"
      "models run on it: how much each value differs, and how often the answer is the same.\n\n"
      "  ingot quantize model.onnx -o small.onnx --data examples.npz --with ort\n"
      "  ingot quantize model.onnx -o small.onnx --data pictures/ --calibration entropy --exclude Softmax,head\n"
      "  ingot quantize model.onnx -o small.onnx --method dynamic\n"
      "  ingot quantize llm.onnx -o llm4.onnx --method weights --bits 4 --block 32");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  app->add_option("--method", options->words.method, "static (default), dynamic or weights")
      ->one_of({"static", "dynamic", "weights"});
  app->add_option("--form", options->words.form,
                  "qdq: QuantizeLinear around float operators; integer: QLinearConv, MatMulInteger ...")
      ->one_of({"qdq", "integer"});
  app->add_option("--calibration", options->words.calibration,
                  "How ranges are found: minmax (default), entropy or percentile")
      ->one_of({"minmax", "entropy", "percentile"});
  app->add_option("--percentile", options->words.percentile, "The part of values that a range holds (default: 99.99)")
      ->between(50, 100);
  app->add_option("--activations", options->words.activations, "int8 (default) or uint8")->one_of({"int8", "uint8"});
  app->add_option("--weights", options->words.weights, "int8 (default) or uint8 (default of dynamic and of 4 bits)")
      ->one_of({"int8", "uint8"});
  app->add_flag("--per-tensor", options->words.per_tensor,
                "One scale for each weight; default: one for each output channel");
  app->add_flag("--symmetric", options->words.symmetric, "Zero points of values in the middle, too");
  app->add_flag("--full-range", options->words.full_range,
                "int8 weights of 8 bits in place of 7, which older processors' sums of two products overflow");
  app->add_option("--bits", options->words.bits, "Of weights alone: 8 (default) or 4");
  app->add_option("--block", options->words.block, "Of weights alone: elements that share a scale; default: a channel")
      ->positive();
  app->add_option("--only", options->words.only, "Quantise these operators or nodes only")->delimiter(',');
  app->add_option("--exclude", options->words.exclude, "Leave these operators or nodes in float")->delimiter(',');
  app->add_option("--opset", options->words.opset,
                  "The operator set to write (default: the model's own, if it has the words)")
      ->positive();
  app->add_option("--samples", options->samples, "Examples to find ranges by (default: 256)")->positive();
  app->add_option("--batch", options->batch, "Examples at a time (default: 16)")->positive();
  app->add_option("--hold-back", options->hold_back, "The part of the data to judge by (default: 0.2)")
      ->between(0, 0.9);
  app->add_option("--random", options->random, "Without data: so many drawn inputs, to try it out")->positive();
  add_data_options(*app, options->data, options->dataset);
  app->add_option("--with", options->with, "Runtimes to judge the file in, too: ort, ...")->delimiter(',');
  app->add_flag("--layers", options->all_layers, "Show every value, not only those that differ most");
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
