// Every model of a collection.
#include "ingot/verify/zoo.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/threads.h"
#include "ingot/driver/load.h"
#include "ingot/driver/summary.h"
#include "ingot/formats/json/document.h"
#include "ingot/driver/work_directory.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;

/// Files with these names are meant to be models, whatever they hold; others (.txt, .pb, .py ...) may be anything.
constexpr std::string_view kOwnExtensions[] = {".onnx", ".onnxtxt", ".tflite", ".keras", ".skops"};

bool is_named_as_model(const fs::path& path) {
  return std::ranges::find(kOwnExtensions, path.extension().string()) != std::end(kOwnExtensions);
}

/// The format that the contents speak for; empty where only the name does, and nothing where neither does. Programs
/// over data frames are none of a collection's models: they would have to be told what the frame is.
std::optional<std::string> format_of(const fs::path& path) {
  try {
    const driver::Source source = driver::open_source(path.string());
    const driver::Format& format = driver::recognise(source);
    const bool is_program = format.import_options.has(driver::Option::schema);
    if (!is_program && format.recognise && format.recognise(source) != driver::Certainty::no)
      return std::string(format.name);
  } catch (const Error&) {  // damaged, or of no format
  }
  return is_named_as_model(path) ? std::optional(std::string()) : std::nullopt;
}

std::int64_t seconds_of(fs::file_time_type time) {
  return std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::to_sys(time).time_since_epoch())
      .count();
}

void convert(const std::string& path, ZooModel& model, const driver::LoadOptions& options) {
  const driver::Loaded loaded = driver::load(path, options);
  model.format = loaded.format->name;
  const driver::Summary summary = driver::summarise(loaded.model);
  model.nodes = summary.nodes;
  model.parameters = summary.parameter_elements;
  const driver::WorkDirectory scratch;
  driver::save(loaded.model, (scratch.path() / "model.onnx").string());
  model.is_converted = true;
}

void verify_one(const std::string& path, ZooModel& model, const driver::LoadOptions& load, Peers peers,
                const Budget& budget) {
  VerifyRequest request;
  request.a.file = request.b.file = path;
  request.a.load = request.b.load = load;
  request.b.runtimes = {Runtime::ingot};
  peers.budget = &budget;
  request.peers = std::move(peers);
  request.bisects = false;
  const Verdict verdict = verify(request);
  model.answer = verdict.answer == Verdict::Answer::same        ? "same"
                 : verdict.answer == Verdict::Answer::different ? "different"
                                                                : "unknown";
  model.runtime = verdict.a_runtime;
  model.reason = verdict.why_unknown;
  if (verdict.answer == Verdict::Answer::same && !verdict.is_independent)
    model.reason = "no runtime of its own is here: Ingot agrees with itself";
  const auto worse = [](const OutputVerdict& a, const OutputVerdict& b) {
    return (a.distance ? a.distance->value : 0) < (b.distance ? b.distance->value : 0);
  };
  const auto worst = std::ranges::max_element(verdict.outputs, worse);
  if (worst == verdict.outputs.end()) return;
  model.figure = worst->figure;
  model.threshold = worst->threshold;
}

void judge(const std::string& path, ZooModel& model, const ZooOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Limits limits;
  if (options.most_bytes) limits.memory = options.most_bytes;
  if (options.most_seconds > 0)
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(options.most_seconds * 1000));
  Budget budget(limits);
  driver::LoadOptions load;
  load.budget = &budget;
  load.requires_valid = true;
  load.allow_links = options.allow_links;
  try {
    const BudgetScope scope(&budget);
    convert(path, model, load);
    if (options.verifies) verify_one(path, model, load, options.peers, budget);
  } catch (const Error& error) {
    model.reason = error.message().substr(0, 1000) + " [" + code_name(error.code()) + "]";
  } catch (const std::bad_alloc&) {
    model.reason = "the system has no memory left";
  }
  model.peak_bytes = budget.peak_memory();
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<ZooModel> find_models(const std::string& directory) {
  std::vector<ZooModel> models;
  std::error_code failed;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied, failed);
  if (failed) throw Error(Code::cannot_read, "the directory cannot be read: " + failed.message()).in_file(directory);
  for (; it != fs::recursive_directory_iterator(); it.increment(failed)) {
    current_budget().poll();
    if (failed) break;
    if (it->is_symlink(failed)) continue;
    const bool is_directory = it->is_directory(failed);
    if (!is_directory && !it->is_regular_file(failed)) continue;
    std::optional<std::string> format = format_of(it->path());
    if (!format) continue;
    if (is_directory) it.disable_recursion_pending();
    models.push_back({it->path().lexically_relative(directory).string(),
                      is_directory ? 0 : static_cast<std::uint64_t>(it->file_size(failed)),
                      seconds_of(it->last_write_time(failed)), *std::move(format)});
  }
  std::ranges::sort(models, {}, &ZooModel::path);
  return models;
}

std::vector<ZooModel> walk_zoo(const std::string& directory, std::vector<ZooModel> models, const ZooOptions& options) {
  std::mutex mutex;
  ThreadPool pool(options.threads);
  Budget& whole = current_budget();  // of the caller: an interruption ends everything
  pool.parallel_for(static_cast<std::int64_t>(models.size()), 1, [&](std::int64_t i, std::int64_t) {
    whole.poll();
    ZooModel& model = models[static_cast<std::size_t>(i)];
    judge((fs::path(directory) / model.path).string(), model, options);
    whole.poll();
    const std::lock_guard lock(mutex);
    if (options.on_model) options.on_model(model);
  });
  return models;
}

Json to_json(const ZooModel& m) {
  return Json{{"path", m.path},
              {"bytes", m.bytes},
              {"changed", m.changed},
              {"format", m.format},
              {"converted", m.is_converted},
              {"reason", m.reason},
              {"nodes", m.nodes},
              {"parameters", m.parameters},
              {"answer", m.answer},
              {"runtime", m.runtime},
              {"figure", m.figure},
              {"threshold", m.threshold},
              {"seconds", m.seconds},
              {"peak_bytes", m.peak_bytes}};
}

std::string to_line(const ZooModel& m) { return to_json(m).dump(); }

ZooModel from_line(const std::string& line) {
  ZooModel m;
  try {
    const formats::json::Value v = formats::json::parse(line);
    const auto text = [&](const char* key) { return std::string(v[key].text()); };
    const auto number = [&](const char* key) { return v[key].as_int().value_or(0); };
    m.path = text("path");
    m.bytes = static_cast<std::uint64_t>(number("bytes"));
    m.changed = number("changed");
    m.format = text("format");
    m.is_converted = v["converted"].as_bool().value_or(false);
    m.reason = text("reason");
    m.nodes = static_cast<std::uint64_t>(number("nodes"));
    m.parameters = static_cast<std::uint64_t>(number("parameters"));
    m.answer = text("answer");
    m.runtime = text("runtime");
    m.figure = text("figure");
    m.threshold = text("threshold");
    m.seconds = v["seconds"].as_number().value_or(0);
    m.peak_bytes = static_cast<std::uint64_t>(number("peak_bytes"));
  } catch (const Error&) {
    return {};  // a line that an interrupted run did not finish
  }
  return m;
}

}  // namespace ingot::verify
