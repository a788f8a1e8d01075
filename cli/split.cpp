// ingot split: a model as models that follow each other.
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/summary.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output, size, stage, rest;
  std::vector<std::string> cuts;
  std::uint64_t parts = 0;
  bool by_stage = false, json = false;
};

/// "a,b" -> a and b
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list(1);
  for (const char c : text)
    if (c == ',')
      list.emplace_back();
    else
      list.back() += c;
  return list;
}

Json names_of(const std::vector<driver::Summary::Port>& ports) {
  Json names = Json::array();
  for (const auto& port : ports) names.push_back(port.name);
  return names;
}

/// A file name of what a stage is called.
std::string file_name(const std::string& name) {
  std::string file;
  for (const char c : name)
    file +=
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ? c : '_';
  return file + ".onnx";
}

/// --stage: that part to the one file, and what is left to the other.
int write_stage(const Options& options, const Global& global, const std::vector<driver::Part>& parts) {
  const driver::Part *chosen = nullptr, *left = nullptr;
  std::string names;
  for (const driver::Part& part : parts) {
    (part.name == options.stage ? chosen : left) = &part;
    names += (names.empty() ? "" : ", ") + part.name;
  }
  if (!chosen)
    throw Error(Code::bad_usage, "the model has no stage '" + options.stage + "'").hint("its stages are " + names);
  if (!options.rest.empty() && parts.size() > 2)
    throw Error(Code::bad_usage, "the rest is more than one stage").hint("--stages -o FOLDER writes each of " + names);
  Json report = Json::array();
  Table table({false, false, true, true});
  const auto write = [&](const driver::Part& part, const std::string& file) {
    driver::refuse_overwriting(options.model, file);
    driver::save(part.model, file);
    const driver::Summary s = driver::summarise(part.model);
    report.push_back({{"file", file},
                      {"name", part.name},
                      {"inputs", names_of(s.inputs)},
                      {"outputs", names_of(s.outputs)},
                      {"nodes", s.nodes},
                      {"parameter_bytes", s.parameter_bytes}});
    table.add({part.name, file, grouped(s.nodes) + " nodes", human_bytes(s.parameter_bytes)});
  };
  write(*chosen, options.output);
  if (!options.rest.empty()) write(*left, options.rest);
  if (options.json)
    std::printf("%s\n", Json{{"model", options.model}, {"parts", report}}.dump(2).c_str());
  else if (!global.quiet)
    std::fprintf(stderr, "%s", table.str().c_str());
  return 0;
}

int run(const Options& options, const Global& global) {
  if (!options.rest.empty() && options.stage.empty())
    throw Error(Code::bad_usage, "--rest is what --stage leaves").hint("name the stage: --stage model");
  driver::SplitOptions split;
  for (const std::string& cut : options.cuts) split.cuts.push_back(words(cut));
  split.by_stage = options.by_stage || !options.stage.empty();
  if (!options.size.empty()) split.most_bytes = parse_size(options.size);
  split.parts = options.parts;
  const driver::Loaded loaded = driver::load(options.model, global.load_options());
  std::vector<driver::Part> parts;
  try {
    parts = driver::split(loaded.model, split);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  if (!options.stage.empty()) return write_stage(options, global, parts);
  const std::filesystem::path folder = options.output;
  for (const driver::Part& part : parts)
    driver::refuse_overwriting(options.model, (folder / file_name(part.name)).string());
  std::filesystem::create_directories(folder);
  Json plan{{"model", options.model}, {"parts", Json::array()}};
  Table table({false, true, true});
  for (const driver::Part& part : parts) {
    const std::string file = file_name(part.name);
    driver::save(part.model, (folder / file).string());
    const driver::Summary s = driver::summarise(part.model);
    plan["parts"].push_back({{"file", file},
                             {"name", part.name},
                             {"inputs", names_of(s.inputs)},
                             {"outputs", names_of(s.outputs)},
                             {"nodes", s.nodes},
                             {"parameter_bytes", s.parameter_bytes}});
    table.add({file, grouped(s.nodes) + " nodes", human_bytes(s.parameter_bytes)});
  }
  AtomicFile file((folder / "plan.json").string());
  file.write(plan.dump(2) + "\n");
  file.commit();
  if (options.json)
    std::printf("%s\n", plan.dump(2).c_str());
  else if (!global.quiet)
    std::fprintf(stderr, "%swrote %zu parts and plan.json to %s\n", table.str().c_str(), parts.size(),
                 options.output.c_str());
  return 0;
}

}  // namespace

Command add_split(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("split", "A model as models that run one after the other");
  app->footer(
      "What one part gives and a later one needs has the same name in both; plan.json lists the parts in their order.\n"
      "Each --at is a cut: what its values need is before it, the rest behind it.\n\n"
      "  ingot split model.onnx -o parts/ --at block3_out --at block6_out\n"
      "  ingot split model.onnx -o parts/ --size 500M\n"
      "  ingot split model.onnx -o parts/ --stages\n"
      "  ingot split pipeline.onnx --stage model -o model.onnx --rest prepare.onnx");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("-o,--output", options->output,
                  "The folder to write to, which is made if it is missing; of --stage the file")
      ->required();
  app->add_option("--at", options->cuts, "Cut behind these values: a,b");
  app->add_option("--size", options->size, "At most so many bytes of weights in a part, such as 500M");
  app->add_option("--parts", options->parts, "So many parts, with about equally large weights")->positive();
  app->add_flag("--stages", options->by_stage, "A part for each stage that the nodes name (ingot.stage)");
  app->add_option("--stage", options->stage, "This stage alone, to the file that -o names");
  app->add_option("--rest", options->rest, "Beside --stage: the file for the other stage");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
