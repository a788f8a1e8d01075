// ingot zoo-report: every model of a directory tree.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/progress.h"
#include "ingot/pages/page.h"
#include "ingot/verify/zoo.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;
using verify::ZooModel;

struct Options {
  std::string directory, output, peers, memory = "4G";
  double seconds = 300;
  int threads = 1;
  bool no_verify = false, anew = false, json = false;
};

/// What earlier runs found of files that did not change since.
std::map<std::string, ZooModel> known_models(const fs::path& log) {
  std::map<std::string, ZooModel> known;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);)
    if (ZooModel model = verify::from_line(line); !model.path.empty()) known[model.path] = std::move(model);
  return known;
}

struct Counts {
  std::size_t all = 0, converted = 0, same = 0, different = 0;
};

Counts count(const std::vector<ZooModel>& models) {
  Counts counts{models.size()};
  for (const ZooModel& m : models) {
    counts.converted += m.is_converted;
    counts.same += m.answer == "same" && m.reason.empty();
    counts.different += m.answer == "different";
  }
  return counts;
}

std::string page_of(const std::vector<ZooModel>& models, const Counts& counts, const std::string& directory) {
  std::string html = "<p>" + std::to_string(counts.all) + " models: " + std::to_string(counts.converted) +
                     " convert, " + std::to_string(counts.same) + " give the same numbers in their own runtime, " +
                     std::to_string(counts.different) + " differ.</p>\n<table class=\"sortable zoo\">\n<thead>" +
                     pages::row({"model", "format", "converts", "verified", "why not", "runtime", "apart by", "may be",
                                 "nodes", "seconds", "memory"},
                                "th") +
                     "</thead>\n";
  for (const ZooModel& m : models) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.2f", m.seconds);
    html += pages::row(
        {pages::code(m.path), pages::escaped(m.format),
         m.is_converted ? "<span class=yes>yes</span>" : "<span class=no>no</span>",
         m.answer.empty() ? ""
                          : "<span class=\"" + pages::escaped(m.answer) + "\">" + pages::escaped(m.answer) + "</span>",
         pages::escaped(m.reason), pages::escaped(m.runtime), pages::escaped(m.figure), pages::escaped(m.threshold),
         std::to_string(m.nodes), seconds, human_bytes(m.peak_bytes)});
  }
  pages::Page page{"Models of " + directory, {}};
  page.sections.push_back({"models", "Models", html + "</table>\n"});
  return pages::to_html(page);
}

void write(const fs::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

Json to_json(const std::vector<ZooModel>& models, const Counts& counts) {
  Json json{{"models", Json::array()},
            {"all", counts.all},
            {"converted", counts.converted},
            {"verified", counts.same},
            {"different", counts.different}};
  for (const ZooModel& model : models) json["models"].push_back(verify::to_json(model));
  return json;
}

void write_results(const std::vector<ZooModel>& models, const Options& options) {
  const fs::path output(options.output);
  std::string lines;
  for (const ZooModel& m : models) lines += verify::to_line(m) + "\n";
  write(output / "models.jsonl", lines);
  write(output / "index.html", page_of(models, count(models), options.directory));
}

int run(const Options& options, const Global& global) {
  std::error_code failed;
  fs::create_directories(options.output, failed);
  const fs::path log = fs::path(options.output) / "models.jsonl";
  const std::map<std::string, ZooModel> known = options.anew ? std::map<std::string, ZooModel>() : known_models(log);
  std::vector<ZooModel> done, todo;
  for (ZooModel& model : verify::find_models(options.directory)) {
    const auto before = known.find(model.path);
    const bool is_known =
        before != known.end() && before->second.bytes == model.bytes && before->second.changed == model.changed &&
        (options.no_verify || !before->second.answer.empty() || !before->second.reason.empty());  // else to be verified
    (is_known ? done : todo).push_back(is_known ? before->second : std::move(model));
  }
  if (!global.quiet && !done.empty())
    std::fprintf(stderr, "%zu models are known from before, %zu are to be looked at\n", done.size(), todo.size());
  verify::ZooOptions zoo;
  zoo.verifies = !options.no_verify;
  zoo.peers = find_peers(global, options.peers);
  if (global.untrusted) zoo.peers = {};
  zoo.threads = options.threads;
  zoo.most_bytes = parse_size(options.memory);
  zoo.most_seconds = options.seconds;
  zoo.allow_links = global.allow_links;
  {
    std::ofstream running(log, std::ios::app);  // an interrupted run goes on from here
    Progress progress("models", todo.size(), ProgressOptions::for_terminal(global.quiet));
    std::size_t number = 0;
    zoo.on_model = [&](const ZooModel& model) {
      running << verify::to_line(model) << "\n" << std::flush;
      progress.update(++number);
    };
    todo = verify::walk_zoo(options.directory, std::move(todo), zoo);
  }
  done.insert(done.end(), std::make_move_iterator(todo.begin()), std::make_move_iterator(todo.end()));
  std::ranges::sort(done, {}, &ZooModel::path);
  write_results(done, options);
  const Counts counts = count(done);
  if (options.json)
    std::printf("%s\n", to_json(done, counts).dump(2).c_str());
  else
    std::printf("%zu models: %zu convert, %zu verified, %zu differ\n", counts.all, counts.converted, counts.same,
                counts.different);
  return counts.different ? 1 : 0;
}

}  // namespace

Command add_zoo_report(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("zoo-report", "Every model of a directory tree: read, converted, verified");
  app->footer(
      "Each model is read, written as ONNX, and run in its own runtime beside Ingot where that is installed. What was "
      "found\n"
      "is a line of models.jsonl at once: a run that was interrupted goes on where it stopped, and files that did not "
      "change\nare not looked at again. The exit code is 1 if a model differs.\n\n"
      "  ingot zoo-report models/ -o zoo");
  app->add_option("DIR", options->directory, "Where the models are")->required();
  app->add_option("-o,--output", options->output, "The folder for index.html and models.jsonl")->required();
  app->add_flag("--no-verify", options->no_verify, "Read and convert alone");
  app->add_flag("--anew", options->anew, "Look at all models again");
  app->add_option("--threads", options->threads, "Models at once (default: 1)")->positive();
  app->add_option("--model-memory", options->memory, "Most memory for one model (default: 4G)");
  app->add_option("--model-seconds", options->seconds, "Longest time for one model (default: 300)")->positive();
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "For programs: counts, and what models.jsonl holds");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
