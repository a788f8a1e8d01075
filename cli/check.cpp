// ingot check: is it valid ONNX?
#include "ingot/driver/check.h"

#include <algorithm>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string from;
  bool json = false, strict = false;
};

struct Verdict {
  std::vector<driver::Problem> problems;
  std::vector<std::string> notes;  // of the reader
  std::size_t errors = 0, warnings = 0;
};

Verdict check_file(const std::string& path, const Options& options, const Global& global) {
  Verdict verdict;
  driver::LoadOptions load = global.load_options(options.from);
  load.requires_valid = false;  // all of its problems are listed
  driver::Loaded loaded = driver::load(path, load);
  verdict.notes = std::move(loaded.notes);
  verdict.problems = driver::check(loaded.model, global.budget);
  for (const driver::Problem& p : verdict.problems) {
    verdict.errors += p.severity == driver::Severity::error;
    verdict.warnings += p.severity == driver::Severity::warning;
  }
  return verdict;
}

void print(const std::string& path, const Verdict& verdict, const Global& global) {
  for (const driver::Problem& p : verdict.problems) {
    const bool is_error = p.severity == driver::Severity::error;
    if (!is_error && global.quiet) continue;
    const std::string severity = std::string(name_of(p.severity)) + ":";
    std::printf("%s %s: %s [%s]\n", out_style(is_error ? Style::red : Style::yellow, severity).c_str(), p.place.c_str(),
                p.message.c_str(), code_name(p.code).c_str());
    if (!p.hint.empty()) std::printf("  hint: %s\n", p.hint.c_str());
  }
  if (!global.quiet)
    for (const std::string& note : verdict.notes)
      std::printf("%s %s\n", out_style(Style::yellow, "note:").c_str(), note.c_str());
  const auto count = [](std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  std::string result = verdict.errors ? out_style(Style::red, "not valid") : out_style(Style::green, "valid");
  if (verdict.errors) result += ", " + count(verdict.errors, "error");
  if (verdict.warnings) result += ", " + count(verdict.warnings, "warning");
  std::printf("%s: %s\n", path.c_str(), result.c_str());
}

Json to_json(const std::string& path, const Verdict& verdict) {
  Json json{
      {"model", path}, {"valid", verdict.errors == 0}, {"errors", verdict.errors}, {"warnings", verdict.warnings}};
  json["notes"] = verdict.notes;
  json["problems"] = Json::array();
  for (const driver::Problem& p : verdict.problems)
    json["problems"].push_back({{"code", code_name(p.code)},
                                {"severity", name_of(p.severity)},
                                {"place", p.place},
                                {"message", p.message},
                                {"hint", p.hint}});
  return json;
}

int run(const Options& options, const Global& global) {
  if (global.unchecked)
    throw Error(Code::bad_usage, "'check' does nothing else than check: --unchecked makes no sense");
  bool is_valid = true;
  Json all = Json::array();
  for (const std::string& path : options.models) {
    const Verdict verdict = check_file(path, options, global);
    is_valid &= verdict.errors == 0 && !(options.strict && verdict.warnings);
    if (options.json)
      all.push_back(to_json(path, verdict));
    else
      print(path, verdict, global);
  }
  if (options.json) std::printf("%s\n", (all.size() == 1 ? all[0] : all).dump(2).c_str());
  return is_valid ? 0 : 1;
}

}  // namespace

Command add_check(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("check", "Is it valid ONNX: every problem, with its place and a remedy");
  app->footer(
      "All rules of the ONNX IR and of its operators, for the graph, its subgraphs, functions and training graphs, "
      "with\n"
      "types and shapes inferred. A warning is what the standard advises against and runtimes let pass. The exit code\n"
      "is 1 if there is an error. 'check' asks whether a model is valid; it does not run it.");
  app->add_option("MODEL", options->models, "The model files")->required();
  app->add_flag("--strict", options->strict, "Warnings count as errors");
  app->add_flag("--json", options->json, "For programs");
  app->add_option("--from", options->from, "The files' format, when they do not tell themselves");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
