// ingot merge: two models become one.
#include <cstdio>

#include "command.h"
#include "ingot/base/json.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/opaque_model.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string a, b, output;
  std::vector<std::string> connections;
  driver::MergeOptions merge;
  bool json = false;
};

int run(const Options& options, const Global& global) {
  driver::MergeOptions merge = options.merge;
  for (const std::string& text : options.connections) merge.connections.push_back(driver::parse_rename(text));
  for (const std::string& input : {options.a, options.b}) driver::refuse_overwriting(input, options.output);
  driver::MergeReport report;
  Model a = driver::load(options.a, global.load_options()).model;
  Model b = driver::load(options.b, global.load_options()).model;
  const Model merged = driver::merge(std::move(a), std::move(b), merge, report);
  driver::save(merged, options.output);
  const driver::Summary s = driver::summarise(merged);
  if (options.json) {
    Json json{
        {"a", options.a}, {"b", options.b}, {"output", options.output}, {"nodes", s.nodes}, {"notes", report.notes}};
    for (const auto& port : s.inputs) json["inputs"].push_back({{"name", port.name}, {"type", port.type}});
    for (const auto& port : s.outputs) json["outputs"].push_back({{"name", port.name}, {"type", port.type}});
    std::printf("%s\n", json.dump(2).c_str());
  } else if (!global.quiet) {
    for (const std::string& note : report.notes)
      std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
    Table table;
    for (const auto& port : s.inputs) table.add({"input", port.name, port.type});
    for (const auto& port : s.outputs) table.add({"output", port.name, port.type});
    std::fprintf(stderr, "%s%s nodes\nwrote %s\n", table.str().c_str(), grouped(s.nodes).c_str(),
                 options.output.c_str());
  }
  return 0;
}

}  // namespace

Command add_merge(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("merge", "Two models become one: what the first gives, the second takes");
  app->footer(
      "Without --connect, outputs of A go to the inputs of B of the same name. The older operator set moves up to the "
      "newer\n"
      "one. Names inside that both have are kept apart; for inputs and outputs that both have, name a prefix,\n"
      "or --share-inputs.\n\n"
      "  ingot merge encoder.onnx decoder.onnx -o both.onnx --connect hidden=memory\n"
      "  ingot merge a.onnx b.onnx -o both.onnx --connect y=x --prefix-a a/ --prefix-b b/");
  app->add_option("A", options->a, "The model that comes first")->required();
  app->add_option("B", options->b, "The model that takes what A gives")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  app->add_option("--connect", options->connections, "Output of A = input of B, by their own names: y=x");
  app->add_flag("--share-inputs", options->merge.shares_inputs, "Inputs of the same name become one");
  app->add_option("--prefix-a", options->merge.prefix_a, "Put before all names of A");
  app->add_option("--prefix-b", options->merge.prefix_b, "Put before all names of B");
  app->add_option("--outputs", options->merge.outputs,
                  "Outputs of the result (default: A's that are not connected, and B's)")
      ->delimiter(',');
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
