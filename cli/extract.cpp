// ingot extract: a part of a model as a model.
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/summary.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output;
  std::vector<std::string> inputs, outputs;
  bool json = false;
};

Json names_of(const std::vector<driver::Summary::Port>& ports) {
  Json names = Json::array();
  for (const auto& port : ports) names.push_back({{"name", port.name}, {"type", port.type}});
  return names;
}

int run(const Options& options, const Global& global) {
  if (options.inputs.empty() && options.outputs.empty())
    throw Error(Code::bad_usage, "nothing says where to cut").hint("--inputs a,b and --outputs c name values");
  driver::refuse_overwriting(options.model, options.output);
  driver::Loaded loaded = driver::load(options.model, global.load_options());
  const driver::Summary before = driver::summarise(loaded.model);
  try {
    driver::extract(loaded.model, options.inputs, options.outputs);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  driver::save(loaded.model, options.output);
  const driver::Summary after = driver::summarise(loaded.model);
  if (options.json) {
    const Json json{{"model", options.model},
                    {"output", options.output},
                    {"inputs", names_of(after.inputs)},
                    {"outputs", names_of(after.outputs)},
                    {"nodes", {{"before", before.nodes}, {"after", after.nodes}}},
                    {"parameter_bytes", {{"before", before.parameter_bytes}, {"after", after.parameter_bytes}}}};
    std::printf("%s\n", json.dump(2).c_str());
  } else if (!global.quiet) {
    Table table;
    for (const auto& port : after.inputs) table.add({"input", port.name, port.type});
    for (const auto& port : after.outputs) table.add({"output", port.name, port.type});
    std::fprintf(stderr, "%s%zu of %zu nodes, %s of %s of weights\nwrote %s\n", table.str().c_str(), after.nodes,
                 before.nodes, human_bytes(after.parameter_bytes).c_str(), human_bytes(before.parameter_bytes).c_str(),
                 options.output.c_str());
  }
  return 0;
}

}  // namespace

Command add_extract(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("extract", "A part of a model as a model: what lies between the values named");
  app->footer(
      "What is between depends on what: all nodes that the outputs need and the inputs do not already give. Inputs of "
      "the\n"
      "model that are still needed stay. The operator set stays too.\n\n"
      "  ingot extract model.onnx -o head.onnx --inputs features --outputs logits");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  app->add_option("--inputs", options->inputs, "Values that become the inputs (default: the model's own)")
      ->delimiter(',');
  app->add_option("--outputs", options->outputs, "Values that become the outputs (default: the model's own)")
      ->delimiter(',');
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
