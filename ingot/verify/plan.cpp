// Parts of a model, each in a runtime of its own.
#include "ingot/verify/plan.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/safe_path.h"
#include "ingot/driver/index_bounds.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/work_directory.h"
#include "ingot/formats/json/document.h"
#include "ingot/ir/model.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {
namespace {

using engine::NamedDatum;
using formats::json::Value;

constexpr std::uint64_t kLargestPlan = std::uint64_t{256} << 20;

Value read_plan(const std::string& path, Budget* budget) {
  const Bytes bytes = map_file(path);
  if (bytes.size() > kLargestPlan) throw Error(Code::bad_field_value, "this is too large for a plan").in_file(path);
  return formats::json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, budget);
}

std::vector<std::string> names_of(const Value& list) {
  std::vector<std::string> names;
  for (const Value& v : list.entries()) names.emplace_back(v.text());
  return names;
}

/// One part, ready to run.
struct Stage {
  std::string name, file;
  std::vector<std::string> inputs, outputs;
  Runtime runtime = Runtime::ingot;
  driver::Loaded loaded{};
};

class Plan {
 public:
  explicit Plan(const PlanRequest& request) : request_(request) {
    const Value json = read_plan(request.plan, request.load.budget);
    const std::string folder = std::filesystem::path(request.plan).parent_path().string();
    for (const Value& part : json["parts"].entries()) {
      Stage stage;
      stage.name = std::string(part["name"].text());
      const std::string relative(part["file"].text());
      map_beneath(folder, relative, {.allow_links = request.load.allow_links});  // refuses paths that lead elsewhere
      stage.file = (std::filesystem::path(folder) / relative).string();
      stage.inputs = names_of(part["inputs"]);
      stage.outputs = names_of(part["outputs"]);
      if (part["runtime"].is_text()) stage.runtime = runtime_by_name(part["runtime"].text());
      stage.loaded = driver::load(stage.file, request.load);
      const Graph& graph = *stage.loaded.model.graph;
      if (graph.inputs().size() != stage.inputs.size() || graph.output_count() != stage.outputs.size())
        throw Error(Code::bad_field_value, "part '" + stage.name + "' has other inputs or outputs than the plan says")
            .in_file(stage.file);
      stages_.push_back(std::move(stage));
    }
    given_ = names_of(json["inputs"]);
    wanted_ = names_of(json["outputs"]);
    if (wanted_.empty()) find_outputs();
    if (json["inputs"].is_list()) check_order();
  }

  /// In the order of the whole model, which the plan tells.
  Model ports() const {
    Model model;
    model.graph->name = "plan";
    std::vector<std::string> made;
    std::vector<std::pair<std::string, const ingot::Value*>> needed;
    for (const Stage& stage : stages_) {
      for (std::size_t i = 0; i < stage.inputs.size(); ++i)
        if (std::ranges::find(made, stage.inputs[i]) == made.end())
          needed.emplace_back(stage.inputs[i], stage.loaded.model.graph->inputs()[i]);
      made.insert(made.end(), stage.outputs.begin(), stage.outputs.end());
    }
    // Inputs of the whole that no part reads may be given, too; of what type they are is not known any more.
    for (const std::string& name : given_)
      if (std::ranges::find(needed, name, [](const auto& input) { return input.first; }) == needed.end())
        needed.emplace_back(name, nullptr);
    std::ranges::stable_sort(needed, {}, [&](const auto& input) { return std::ranges::find(given_, input.first); });
    for (const auto& [name, port] : needed)
      if (!model.graph->find(name)) {
        ingot::Value* input = model.graph->add_input(name, port ? port->type : Type());
        input->is_declared = true;
        if (port) input->initializer = port->initializer;  // a default, which nobody has to give
      }
    return model;
  }

  PlanResult run() {
    PlanResult result;
    result.ports = ports();
    driver::Inputs given = driver::load_inputs(result.ports, request_.inputs, request_.load);
    std::vector<NamedDatum> known = std::move(given.values);
    if (request_.seed) {
      std::vector<NamedDatum> taken = known;
      for (const ingot::Value* v : result.ports.graph->inputs())
        if (!v->type && !is_read(v->name())) taken.push_back({v->name(), {}});
      for (NamedDatum& drawn : driver::random_inputs(result.ports, *request_.seed, taken, bounds()))
        known.push_back(std::move(drawn));
    }
    for (const Stage& stage : stages_) run(stage, known, result);
    for (const std::string& name : wanted_) {
      const auto it = std::ranges::find(known, name, &NamedDatum::name);
      if (it == known.end()) throw Error(Code::unknown_name, "no part gives '" + name + "'").in_file(request_.plan);
      result.outputs.push_back(*it);
    }
    return result;
  }

 private:
  bool is_read(const std::string& name) const {
    return std::ranges::any_of(
        stages_, [&](const Stage& stage) { return std::ranges::find(stage.inputs, name) != stage.inputs.end(); });
  }

  /// Of numbers that a part takes for indices.
  driver::Bounds bounds() const {
    driver::Bounds all;
    for (const Stage& stage : stages_) {
      const driver::Bounds own = driver::index_bounds(stage.loaded.model);
      for (std::size_t i = 0; i < stage.inputs.size(); ++i)
        if (const auto it = own.find(stage.loaded.model.graph->inputs()[i]->name()); it != own.end()) {
          driver::IndexBounds& bound = all.try_emplace(stage.inputs[i], it->second).first->second;
          bound = {std::max(bound.least, it->second.least), std::min(bound.most, it->second.most)};
        }
    }
    return all;
  }

  /// Each part after those whose values it needs.
  void check_order() const {
    std::vector<std::string> known = given_;
    for (const Stage& stage : stages_) {
      for (std::size_t i = 0; i < stage.inputs.size(); ++i)
        if (std::ranges::find(known, stage.inputs[i]) == known.end() && !has_default(stage, i))
          throw Error(Code::bad_field_value, "part '" + stage.name + "' needs '" + stage.inputs[i] +
                                                 "', which is no input of the plan, and no part before it gives it");
      known.insert(known.end(), stage.outputs.begin(), stage.outputs.end());
    }
  }
  static bool has_default(const Stage& stage, std::size_t i) {
    return stage.loaded.model.graph->inputs()[i]->initializer.has_value();
  }

  /// A plan that does not say: what no part reads.
  void find_outputs() {
    for (const Stage& stage : stages_)
      for (const std::string& name : stage.outputs)
        if (!is_read(name)) wanted_.push_back(name);
  }

  void run(const Stage& stage, std::vector<NamedDatum>& known, PlanResult& result) const {
    std::vector<NamedDatum> inputs;
    for (std::size_t i = 0; i < stage.inputs.size(); ++i) {
      const auto it = std::ranges::find(known, stage.inputs[i], &NamedDatum::name);
      if (it == known.end() && has_default(stage, i)) continue;
      if (it == known.end())
        throw Error(Code::bad_usage, "part '" + stage.name + "' needs '" + stage.inputs[i] + "', which nothing gives")
            .hint("--in " + stage.inputs[i] + "=x.npy, or --random 1");
      inputs.push_back({stage.loaded.model.graph->inputs()[i]->name(), it->value});
    }
    if (const auto missing = why_missing(request_.peers, stage.runtime))
      throw Error(Code::cannot_open, "part '" + stage.name + "' cannot run: " + *missing);
    const driver::WorkDirectory scratch;
    const Entry entry{stage.file, stage.loaded, request_.load, request_.peers, scratch};
    const auto start = std::chrono::steady_clock::now();
    const auto runner = info_of(stage.runtime).make_runner(entry);
    const Answer answer = runner->run(inputs, {});
    if (!answer.error.empty())
      throw Error(Code::no_kernel,
                  "part '" + stage.name + "' in " + std::string(info_of(stage.runtime).title) + ": " + answer.error)
          .in_file(stage.file);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    result.parts.push_back({stage.name, stage.file, std::string(info_of(stage.runtime).title), time.count()});
    for (std::size_t i = 0; i < stage.outputs.size() && i < answer.outputs.size(); ++i)
      known.push_back({stage.outputs[i], answer.outputs[i].value});
  }

  const PlanRequest& request_;
  std::vector<Stage> stages_;
  std::vector<std::string> given_, wanted_;
};

}  // namespace

bool is_plan(const std::string& path) {
  if (!path.ends_with(".json") || !std::filesystem::is_regular_file(path)) return false;
  try {
    return read_plan(path, nullptr)["parts"].is_list();
  } catch (const Error&) {
    return false;  // whoever reads it as something else says what is wrong
  }
}

PlanResult run_plan(const PlanRequest& request) {
  try {
    return Plan(request).run();
  } catch (Error& error) {
    error.in_file(request.plan);
    throw;
  }
}

}  // namespace ingot::verify
