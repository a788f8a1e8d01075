// ingot run: from inputs to outputs.
#include "ingot/driver/run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/progress.h"
#include "ingot/base/threads.h"
#include "ingot/driver/answers.h"
#include "ingot/driver/options.h"
#include "ingot/driver/predictions.h"
#include "ingot/driver/score.h"
#include "ingot/driver/score_parts.h"
#include "ingot/measure/statistics.h"
#include "ingot/train/distributed/mpi.h"
#include "ingot/verify/plan.h"
#include "operator_times.h"
#include "terminal.h"
#include "train_options.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, from, signature, tag, out, profile, data;
  train::DatasetOptions dataset;
  std::vector<std::string> keep;
  std::uint64_t batch = 0;  // as many as suit the model
  std::vector<std::string> inputs, input_shapes;
  std::optional<std::uint32_t> seed;
  int threads = 0;
  bool explain = false, json = false, reference = false, profiles = false, is_raw = false, native = false, jit = false;
};

void note(const Global& global, const std::string& text) {
  if (!global.quiet) std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), text.c_str());
}

std::string short_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

void add_row(Table& table, const std::string& name, const Datum& value) {
  if (const Array* array = value.array()) {
    const measure::Statistics s = measure::statistics_of(*array);
    std::string numbers =
        s.has_numbers ? "min " + short_number(s.min) + "  mean " + short_number(s.mean) + "  max " + short_number(s.max)
                      : "";
    if (s.not_finite) numbers += (numbers.empty() ? "" : "  ") + std::to_string(s.not_finite) + " not finite";
    std::string first;
    for (const std::string& element : s.first) first += (first.empty() ? "" : ", ") + element;
    if (array->size() > static_cast<std::int64_t>(s.first.size())) first += ", ...";
    table.add({name, array->type().str(), numbers, "[" + first + "]"});
  } else if (const Sequence* sequence = value.sequence()) {
    table.add({name, "sequence of " + std::to_string(sequence->size()), "", ""});
    for (std::size_t i = 0; i < std::min<std::size_t>(sequence->size(), 10); ++i)
      add_row(table, name + "[" + std::to_string(i) + "]", (*sequence)[i]);
  } else if (const MapData* map = value.map()) {
    table.add({name, "map of " + std::to_string(map->int_keys.size() + map->string_keys.size()), "", ""});
    add_row(table, name + " values", map->values);
  } else if (const SparseArray* sparse = value.sparse()) {
    table.add({name, "sparse tensor", "", ""});
    add_row(table, name + " values", sparse->values);
  } else {
    table.add({name, "empty", "", ""});
  }
}

/// Elements as what they are; what JSON has no number for stays a text: "nan", a complex number.
Json number_or_text(const std::string& element, DType dtype) {
  if (dtype == DType::boolean) return Json(element == "true" || element == "1");
  if (dtype == DType::string) return element.substr(1, element.size() - 2);  // without quotation marks
  if (is_complex(dtype)) return element;
  char* end = nullptr;
  const double number = std::strtod(element.c_str(), &end);
  if (end != element.c_str() + element.size() || !std::isfinite(number)) return element;
  if (is_float(dtype)) return number;
  return element.starts_with('-') ? Json(std::strtoll(element.c_str(), nullptr, 10))
                                  : Json(std::strtoull(element.c_str(), nullptr, 10));
}

Json to_json(const Datum& value) {
  if (const Array* array = value.array()) {
    const measure::Statistics s = measure::statistics_of(*array);
    Json json{{"type", std::string(name_of(array->dtype()))}, {"shape", array->dims()}};
    if (s.has_numbers) json.update({{"min", s.min}, {"mean", s.mean}, {"max", s.max}});
    if (s.not_finite) json["not_finite"] = s.not_finite;
    json["first"] = Json::array();
    for (const std::string& element : s.first) json["first"].push_back(number_or_text(element, array->dtype()));
    return json;
  }
  Json json;
  if (const Sequence* sequence = value.sequence()) {
    json["sequence"] = Json::array();
    for (const Datum& item : *sequence) json["sequence"].push_back(to_json(item));
  } else if (const MapData* map = value.map()) {
    json["map"] = {{"keys", map->string_keys.empty() ? Json(map->int_keys) : Json(map->string_keys)},
                   {"values", to_json(map->values)}};
  } else if (const SparseArray* sparse = value.sparse()) {
    json["sparse"] = {{"shape", sparse->dims}, {"values", to_json(sparse->values)}};
  }
  return json;
}

void print_kernels(const std::vector<driver::KernelChoice>& kernels) {
  Table table;
  for (const auto& k : kernels) {
    std::string why;
    for (const auto& [kernel, reason] : k.refusals)
      why += (why.empty() ? "" : "; ") + ("not " + kernel) + (reason.empty() ? "" : ": " + reason);
    table.add({k.op, k.node, k.kernel, why});
  }
  std::printf("%s\n%s", out_style(Style::bold, "kernels").c_str(), table.str().c_str());
}

using Ranking = std::vector<std::pair<std::string, double>>;  // classes with their scores, the best first

/// The classes that a model thinks of most, for the first rows; none if it knows no classes.
std::vector<Ranking> best_classes(const driver::Answers& answers, const std::vector<driver::NamedDatum>& outputs) {
  const auto found = std::ranges::find(outputs, answers.scores(), &driver::NamedDatum::name);
  const Array* scores = found == outputs.end() ? nullptr : found->value.array();
  const std::size_t classes = answers.classes().size();
  if (!scores || scores->rank() != 2 || static_cast<std::size_t>(scores->dims()[1]) != classes) return {};
  const std::vector<double> values =
      (answers.has_probabilities() ? answers.probabilities(*scores) : *scores).to_doubles();
  constexpr std::size_t kRows = 10, kClasses = 5;
  std::vector<Ranking> rows;
  for (std::size_t row = 0; row < std::min<std::size_t>(values.size() / classes, kRows); ++row) {
    std::vector<std::size_t> order(classes);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return values[row * classes + c]; });
    order.resize(std::min(classes, kClasses));
    Ranking& best = rows.emplace_back();
    for (const std::size_t c : order) best.emplace_back(answers.classes()[c], values[row * classes + c]);
  }
  return rows;
}

void print_classes(const driver::Answers& answers, const std::vector<Ranking>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string text;
    for (const auto& [name, score] : rows[row]) text += (text.empty() ? "" : ", ") + name + " " + short_number(score);
    std::printf("%s[%zu]: %s\n", answers.scores().c_str(), row, text.c_str());
  }
}

Json to_json(const std::vector<Ranking>& rows) {
  Json json = Json::array();
  for (const Ranking& best : rows) {
    json.push_back(Json::array());
    for (const auto& [name, score] : best) json.back().push_back({{"class", name}, {"score", score}});
  }
  return json;
}

/// The rows of a file, shared out among the processes that mpirun started; the first tells of all of them.
driver::ScoreReport score_among(train::Ranks& ranks, driver::ScoreRequest request) {
  const std::string out = request.out;
  if (!out.ends_with(".csv"))
    throw Error(Code::bad_usage, "several processes write a .csv file together, not '" + out + "'");
  driver::refuse_overwriting(request.model, out);
  if (std::filesystem::is_regular_file(request.data)) driver::refuse_overwriting(request.data, out);
  request.part = ranks.rank();
  request.parts = ranks.count();
  request.out = driver::part_name(out, ranks.rank());
  if (!ranks.is_first()) request.on_progress = nullptr;
  if (request.threads == 0) request.threads = std::max(1, hardware_threads() / train::ranks_on_this_machine());
  driver::ScoreReport report = driver::score(request);
  std::array<double, 2> counts = {static_cast<double>(report.rows), static_cast<double>(report.batches)};
  ranks.add(std::span<double>(counts));  // when all have their part
  report.rows = static_cast<std::uint64_t>(counts[0]);
  report.batches = static_cast<std::uint64_t>(counts[1]);
  if (ranks.is_first()) driver::join_parts(out, ranks.count());
  return report;
}

driver::LoadOptions load_options(const Options& options, const Global& global) {
  driver::LoadOptions load = global.load_options(options.from);
  load.import.signature = options.signature;
  load.import.tag = options.tag;
  return load;
}

/// All rows of a file, to a file.
int run_rows(const Options& options, const Global& global) {
  if (options.out.empty()) throw Error(Code::bad_usage, "--data needs --out, such as --out predictions.csv");
  if (options.profiles || options.explain || options.seed)
    throw Error(Code::bad_usage, "--data goes without --profile, --explain and --random");
  driver::ScoreRequest request;
  request.model = options.model;
  request.load = load_options(options, global);
  request.inputs = options.inputs;
  request.data = options.data;
  request.dataset = options.dataset;
  if (options.batch) request.batch = options.batch;
  request.out = options.out;
  request.keep = options.keep;
  request.is_raw = options.is_raw;
  request.threads = options.threads;
  request.is_fast = !options.reference;
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));
  std::optional<Progress> progress;
  request.on_progress = [&](std::uint64_t done, std::uint64_t total) {
    const auto unit = options.data.ends_with(".csv") ? ProgressOptions::Unit::bytes : ProgressOptions::Unit::items;
    if (!progress)
      progress.emplace("running", total, ProgressOptions::for_terminal(global.quiet || options.json, unit));
    progress->update(done);
  };
  const std::unique_ptr<train::Ranks> ranks = train::join_ranks();
  const bool is_shared = ranks && ranks->count() > 1;
  const driver::ScoreReport report = is_shared ? score_among(*ranks, request) : driver::score(request);
  progress.reset();
  if (ranks && !ranks->is_first()) return 0;
  if (options.json) {
    std::printf("%s\n", Json{{"model", options.model},
                             {"file", options.out},
                             {"rows", report.rows},
                             {"batch", report.batch},
                             {"batches", report.batches},
                             {"notes", report.notes}}
                            .dump(2)
                            .c_str());
    return 0;
  }
  for (const std::string& text : report.notes) note(global, text);
  if (!global.quiet) std::fprintf(stderr, "wrote %s: %s rows\n", options.out.c_str(), grouped(report.rows).c_str());
  return 0;
}

/// The parts of a plan, each in its runtime.
int run_parts(const Options& options, const Global& global) {
  if (!options.data.empty() || options.profiles || options.explain || !options.input_shapes.empty())
    throw Error(Code::bad_usage, "a plan goes without --data, --profile, --explain and --input-shape");
  if (!options.signature.empty() || !options.tag.empty())
    throw Error(Code::bad_usage, "the parts of a plan have no signatures");
  verify::PlanRequest request{.plan = options.model, .load = global.load_options(), .peers = find_peers(global, "")};
  request.inputs = options.inputs;
  request.seed = options.seed;
  const verify::PlanResult result = verify::run_plan(request);
  Json json{{"plan", options.model}, {"parts", Json::array()}, {"outputs", Json::object()}};
  for (const auto& part : result.parts)
    json["parts"].push_back({{"name", part.name}, {"runtime", part.runtime}, {"milliseconds", part.milliseconds}});
  for (const auto& output : result.outputs) json["outputs"][output.name] = to_json(output.value);
  if (!options.out.empty()) {
    const auto paths = driver::save_outputs(result.ports, result.outputs, options.out, driver::DataForm::npy);
    json["files"] = paths;
    if (!options.json && !global.quiet)
      for (const std::string& path : paths) std::fprintf(stderr, "wrote %s\n", path.c_str());
  }
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  if (!global.quiet)
    for (const auto& part : result.parts) std::fprintf(stderr, "%s in %s\n", part.name.c_str(), part.runtime.c_str());
  Table table;
  for (const auto& output : result.outputs) add_row(table, output.name, output.value);
  if (options.out.empty()) std::fputs(table.str("").c_str(), stdout);
  return 0;
}

int run(const Options& options, const Global& global) {
  driver::refuse_overwriting(options.model, options.profile);
  if (global.untrusted && (options.native || options.jit))
    throw Error(Code::bad_usage, "native code is not run under --untrusted")
        .hint("a library does what it wants; 'ingot run model.onnx' runs the model itself");
  if (!options.native && verify::is_plan(options.model)) return run_parts(options, global);
  if (!options.data.empty()) return run_rows(options, global);
  if (driver::is_predictions_name(options.out))
    throw Error(Code::bad_usage, "--out '" + options.out + "' goes with --data; '--in' writes a directory")
        .hint("--data rows.csv, .npz or .npy runs all rows");
  driver::RunRequest request;
  request.model = options.model;
  request.load = load_options(options, global);
  request.inputs = options.inputs;
  request.seed = options.seed;
  request.threads = options.threads;
  request.is_fast = !options.reference;
  request.is_native = options.native;
  request.is_compiled = options.jit;
  request.wants_profile = options.profiles;
  request.dataset = options.dataset;
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));

  const driver::RunResult result = driver::run(request);
  for (const std::string& text : result.notes) note(global, text);
  Json json{{"model", options.model}, {"outputs", Json::object()}};
  if (!options.out.empty()) {
    const std::vector<std::string> paths = driver::save_outputs(result.model, result.outputs, options.out, result.form);
    json["files"] = paths;
    if (!options.json && !global.quiet)
      for (const std::string& path : paths) std::fprintf(stderr, "wrote %s\n", path.c_str());
  }
  if (!options.profile.empty()) write_trace(result.profile, options.profile);
  if (options.profiles && !options.json && !global.quiet)
    print_profile(result.nodes, 1, "the median of " + std::to_string(result.measured_runs) + " runs");
  const driver::Answers answers(result.model, train::preparation_of(result.model), options.is_raw);
  const std::vector<Ranking> classes = best_classes(answers, result.outputs);
  if (options.json) {
    for (const auto& output : result.outputs) json["outputs"][output.name] = to_json(output.value);
    if (!classes.empty()) json["classes"] = to_json(classes);
    if (options.explain) {
      json["kernels"] = Json::array();
      for (const auto& k : result.kernels) {
        json["kernels"].push_back({{"node", k.node}, {"op", k.op}, {"kernel", k.kernel}});
        for (const auto& [kernel, reason] : k.refusals) json["kernels"].back()["refusals"][kernel] = reason;
      }
    }
    if (options.profiles) {
      json["profile"] = profile_json(result.nodes);
      json["profile"]["runs"] = result.measured_runs;
    }
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  if (options.explain) print_kernels(result.kernels);
  if (options.out.empty()) {
    Table table;
    for (const auto& output : result.outputs) add_row(table, output.name, output.value);
    std::fputs(table.str("").c_str(), stdout);
    print_classes(answers, classes);
  }
  return 0;
}

}  // namespace

Command add_run(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("run", "Run a model: from inputs to outputs");
  app->footer(
      "Inputs are .npy files or pictures by name, a .npz file of all, or a directory in the form of the official test\n"
      "data (input_0.pb, ...). --random draws those that are not given, the same values on every machine; sizes that "
      "the\n"
      "model leaves open are 1 unless --input-shape says otherwise. --out writes the outputs in the form in which the\n"
      "inputs came; without it a summary is printed.\n\n"
      "--data runs all rows of a table or of arrays, --batch at a time in constant memory, and writes what the model\n"
      "says of each to --out. Columns and arrays find the inputs by name.\n\n"
      "  ingot run model.onnx --in x=image.npy --out results\n"
      "  ingot run model.onnx --data rows.csv --out predictions.csv\n"
      "  ingot run model.onnx --in x=photo.png --scale 255 --labels classes.txt\n"
      "  ingot run model.onnx --random 1 --input-shape x:8,3,224,224 --profile");
  app->add_option("MODEL", options->model, "The model file")->required();
  app->add_option("--in", options->inputs,
                  "NAME=x.npy, NAME=x.pb, NAME=photo.png, NAME=texts.txt, x.npz or a directory; may be repeated");
  add_data_options(*app, options->data, options->dataset);
  app->add_option("--batch", options->batch,
                  "Rows of --data at a time (default: 64 to 4,096 by the width of the model, or what it takes)")
      ->positive();
  app->add_option("--keep", options->keep, "Columns of --data that go to --out as well: id,name")->delimiter(',');
  app->add_flag("--raw", options->is_raw, "The model's own outputs only, though it knows its classes");
  app->add_option("--random", options->seed, "Draw the inputs that are not given from this seed");
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_option("--out", options->out,
                  "Write the outputs to this directory; of --data, to this .csv, .npz or .npy file");
  app->add_option("--threads", options->threads, "Threads to use (default: all cores)")->positive();
  app->add_option("--profile", options->profile,
                  "Show the slowest nodes and operators; with FILE, write a trace for chrome://tracing")
      ->optional_argument();
  app->add_flag("--explain", options->explain, "Say which kernel each node got and why a faster one refused");
  Option* native = app->add_flag("--native", options->native,
                                 "MODEL is a library that 'ingot compile --emit so' made: load it and run its code");
  app->add_flag("--jit", options->jit, "Compile the model to native code by LLVM and run that")->excludes(native);
  app->add_flag("--reference", options->reference, "Reference kernels only, no fast ones");
  app->add_option("--signature", options->signature, "Which of the source's signatures to run");
  app->add_option("--tag", options->tag, "Which of a SavedModel's graphs to run (default: serve)");
  app->add_option("--from", options->from, "The file's format, when it does not tell itself");
  app->add_flag("--json", options->json, "For programs");
  return {app, [app, options, &global] {
            for (const char* name : {"--target", "--map", "--columns", "--part", "--batch", "--keep"})
              if (options->data.empty() && app->count(name) > 0)
                throw Error(Code::bad_usage, std::string(name) + " does nothing by itself").hint("it goes with --data");
            options->profiles = app->count("--profile") > 0;
            for (const char* name : {"--data", "--threads", "--profile", "--explain", "--reference", "--raw"})
              if ((options->native || options->jit) && app->count(name) > 0)
                throw Error(Code::bad_usage, std::string("native code does not take ") + name);
            for (const char* name : {"--input-shape", "--from"})
              if (options->native && app->count(name) > 0)
                throw Error(Code::bad_usage, std::string("a library does not take ") + name)
                    .hint("its sizes are fixed by 'ingot compile --input-shape'");
            return run(*options, global);
          }};
}

}  // namespace ingot::cli
