// ingot partition: a model among targets, and what falls back.
#include "ingot/driver/partition.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/options.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/has_default.h"
#include "ingot/ir/model.h"
#include "ingot/verify/runtime.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output;
  std::vector<std::string> targets, input_shapes;
  std::uint64_t least_nodes = 1;
  bool explains = false, lists = false, json = false, functions = false;
};

Json names_of(const std::vector<driver::Summary::Port>& ports) {
  Json names = Json::array();
  for (const auto& port : ports) names.push_back(port.name);
  return names;
}

/// Where a part runs, and the file that it takes.
struct Home {
  std::string runtime, extension;
};
Home home_of(const std::string& target) {
  for (const verify::RuntimeInfo& info : verify::all_runtimes()) {
    const std::string name(info.name);
    if (info.reads.empty() || (target != name && !target.starts_with(name + "-"))) continue;  // "ort-cpu-1.30"
    const auto extensions = driver::format_by_name(info.reads).extensions;
    if (!extensions.empty()) return {name, std::string(extensions.front())};
  }
  return {"ingot", ".onnx"};
}

/// What may be given to the parts: all inputs of the model but those whose default became a constant of a part.
Json inputs_of(const Model& model, const driver::Partition& partition) {
  Json names = Json::array();
  for (const Value* v : model.graph->inputs()) {
    const auto has_it = [&](const auto& part) {
      const Value* mine = part.model.graph->find(v->name());
      return mine && mine->is_input();
    };
    if (!has_default(*v) || std::ranges::any_of(partition.parts, has_it)) names.push_back(v->name());
  }
  return names;
}

/// A folder of models; else nothing, or one model.
bool writes_parts(const Options& options) { return !options.output.empty() && !options.functions; }

Json plan_of(const Options& options, driver::Partition& partition, const Model& model) {
  const driver::Summary whole = driver::summarise(model);
  const std::filesystem::path folder = options.output;
  Json plan{{"plan", 1},
            {"model", options.model},
            {"inputs", Json::array()},
            {"outputs", names_of(whole.outputs)},
            {"crossing_bytes", partition.crossing},
            {"crossing_values", partition.crossings},
            {"parts", Json::array()},
            {"fallbacks", Json::array()}};
  for (auto& part : partition.parts) {
    const Home home = home_of(part.target);
    // Only files of ONNX have inputs that need not be given.
    if (home.extension != ".onnx") part.model.graph->close_defaults();
    const std::string file = part.name + home.extension;
    if (writes_parts(options)) driver::save(part.model, (folder / file).string());
    const driver::Summary s = driver::summarise(part.model);
    plan["parts"].push_back({{"file", file},
                             {"name", part.name},
                             {"target", part.target},
                             {"runtime", home.runtime},
                             {"inputs", names_of(s.inputs)},
                             {"outputs", names_of(s.outputs)},
                             {"nodes", part.nodes},
                             {"parameter_bytes", s.parameter_bytes}});
  }
  plan["inputs"] = inputs_of(model, partition);
  for (const auto& node : partition.nodes)
    for (const auto& [target, why] : node.refusals)
      plan["fallbacks"].push_back({{"node", node.node},
                                   {"op", node.op},
                                   {"target", target},
                                   {"part", "part_" + std::to_string(node.part)},
                                   {"code", why.code},
                                   {"reason", why.reason},
                                   {"remedy", why.remedy}});
  return plan;
}

/// Each node that falls back; without --explain a line for each reason.
void print_fallbacks(const driver::Partition& partition, bool all) {
  if (all) {
    for (const auto& node : partition.nodes)
      for (const auto& [target, why] : node.refusals)
        std::printf("%s: %s (%s): %s: %s%s\n", target.c_str(), node.node.c_str(), node.op.c_str(), why.code.c_str(),
                    why.reason.c_str(), why.remedy.empty() ? "" : ("; " + why.remedy).c_str());
    return;
  }
  std::map<std::vector<std::string>, std::size_t> kinds;
  for (const auto& node : partition.nodes)
    for (const auto& [target, why] : node.refusals) ++kinds[{target, node.op, why.code}];
  Table table({true});
  for (const auto& [kind, count] : kinds) table.add({grouped(count), kind[0], kind[1], kind[2]});
  if (!kinds.empty()) std::fprintf(stderr, "falls back (--explain lists each node):\n%s", table.str().c_str());
}

int run(const Options& options, const Global& global) {
  if (options.lists) {
    for (const std::string& name : driver::known_targets()) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (options.model.empty() || options.targets.empty())
    throw Error(Code::bad_usage, "a model and --targets are needed").hint("--list-targets tells which there are");
  if (options.output.empty() && !options.explains && !options.json)
    throw Error(Code::bad_usage, "nothing would be left of the work")
        .hint("-o FOLDER writes the parts, --explain tells of them");
  if (options.functions && options.output.empty())
    throw Error(Code::bad_usage, "--functions writes one model").hint("-o FILE.onnx names it");
  driver::Loaded loaded = driver::load(options.model, global.load_options());
  driver::Partition partition;
  try {
    for (const std::string& text : options.input_shapes)
      driver::set_input_shapes(loaded.model, {driver::parse_input_shape(text)});
    partition = driver::partition(loaded.model, {options.targets, options.least_nodes, global.budget});
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  if (writes_parts(options)) std::filesystem::create_directories(options.output);
  if (options.functions) {
    driver::refuse_overwriting(options.model, options.output);
    driver::save(driver::as_functions(loaded.model, partition), options.output);
  }
  const Json plan = plan_of(options, partition, loaded.model);
  if (writes_parts(options)) {
    AtomicFile file((std::filesystem::path(options.output) / "plan.json").string());
    file.write(plan.dump(2) + "\n");
    file.commit();
  }
  if (options.json) {
    std::printf("%s\n", plan.dump(2).c_str());
    return 0;
  }
  print_fallbacks(partition, options.explains);
  if (global.quiet) return 0;
  Table table({false, false, true});
  for (const auto& part : partition.parts) table.add({part.name, part.target, grouped(part.nodes) + " nodes"});
  std::fprintf(stderr, "%s%s values, %s, pass between parts\n", table.str().c_str(),
               grouped(partition.crossings).c_str(), human_bytes(partition.crossing).c_str());
  if (options.functions)
    std::fprintf(stderr, "wrote %zu parts as functions to %s\n", partition.parts.size(), options.output.c_str());
  if (writes_parts(options))
    std::fprintf(stderr, "wrote %zu parts and plan.json to %s\n", partition.parts.size(), options.output.c_str());
  return 0;
}

}  // namespace

Command add_partition(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("partition", "A model among targets: who runs what, and what falls back");
  app->footer(
      "The first target of the list that runs a node gets it. Parts are as large as they can be without waiting for "
      "each\n"
      "other, and as few bytes as can be pass between them. 'ingot run FOLDER/plan.json' runs them, each in its "
      "runtime.\n"
      "A target is a name that --list-targets prints, or a file (docs/partition.md).\n\n"
      "  ingot partition model.onnx --targets tensorrt-10,ingot --explain\n"
      "  ingot partition model.onnx --targets npu.json,ort-cpu-1.30 -o parts/\n"
      "  ingot partition model.onnx --targets npu.json,ingot --functions -o parts.onnx\n"
      "  ingot run parts/plan.json --random 1");
  app->add_option("MODEL", options->model, "The model");
  app->add_option("--targets", options->targets, "Targets, the preferred ones first: npu.json,ort-cpu-1.30,ingot")
      ->delimiter(',');
  app->add_option("-o,--output", options->output, "The folder to write to, which is made if it is missing");
  app->add_flag("--functions", options->functions, "-o names a file: one model whose parts are functions");
  app->add_flag("--explain", options->explains, "List each node that falls back, why, and what would change it");
  app->add_option("--min-nodes", options->least_nodes, "Parts of fewer nodes go to the next target (default: 1)")
      ->positive();
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_flag("--list-targets", options->lists, "The targets that have a name");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
