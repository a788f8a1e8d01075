// What the commands do, in this process.
#include "tests/hostile/commands.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/catalogue.h"
#include "ingot/driver/check.h"
#include "ingot/driver/compile.h"
#include "ingot/driver/diff.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/driver/run.h"
#include "ingot/driver/summary.h"
#include "ingot/engine/session.h"
#include "ingot/ir/model.h"
#include "ingot/train/gradcheck.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/trainer.h"
#include "tests/support/sanitizers.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{384} << 20;
constexpr std::chrono::seconds kTime{4};
constexpr long kSeconds = 12;

using Step = std::function<void(Budget&)>;

bool attempt(const Step& step) {
  Budget budget(Limits{.memory = kMemory, .time = kTime, .nodes = 200'000});
  const BudgetScope scope(&budget);
  try {
    step(budget);
    return true;
  } catch (const Error& error) {
    if (error.exit_code() == 70) throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return false;
}

void run(const Model& model, Budget& budget) {
  engine::SessionOptions options;
  options.budget = &budget;
  options.threads = 1;
  const std::optional<Model> form = driver::runnable_form(model);
  const engine::Session session(form ? *form : model, options);
  session.run(driver::random_inputs(model, 1));
}

void convert(const Model& model, std::int64_t opset, const std::string& to) {
  Model copy = model.clone();
  driver::AdjustOptions options;
  options.opset = opset;
  driver::adjust(copy, options);
  driver::save(copy, to);
}

void save_as(const char* format, const Model& model, const std::string& to) {
  driver::SaveOptions options;
  options.to = &driver::format_by_name(format);
  driver::save(model, to, options);
}

void compile(const char* language, const Model& model, const std::string& to) {
  Model copy = model.clone();
  driver::compile(copy, {.output = to, .emit = language});
}

void optimize(const Model& model, Budget& budget) {
  Model copy = model.clone();
  driver::optimize(copy, {.level = driver::OptimizeLevel::all, .budget = &budget});
}

/// What changes a model without another format: half precision, other batches, ONNX's own operators alone.
void adjust(const Model& model, Budget& budget, std::uint64_t seed) {
  Model copy = model.clone();
  driver::AdjustOptions options;
  options.budget = &budget;
  if (seed % 3 == 0) options.half.emplace();
  if (seed % 3 == 1) options.batch = Dim(static_cast<std::int64_t>(1 + seed % 7));
  options.standard = true;
  driver::adjust(copy, options);
}

/// The part that the last output of some node in the middle needs, and what is left in two halves.
void cut(const Model& model, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const Node& node : model.graph->nodes())
    for (const Value* v : node.outputs())
      if (v) names.push_back(v->name());
  if (names.empty()) return;
  Model copy = model.clone();
  driver::extract(copy, {}, {names[seed % names.size()]});
  driver::diff(model, copy);
}

void check_gradients(const Model& model) {
  Model wide = train::in_double(model);
  train::leave_out_rounding(wide);
  train::check_gradients(wide, driver::random_inputs(wide, 1), {.seed = 1, .jitter = 0, .wrt = {}});
}

void make_trainable(const Model& model) {
  train::TrainingOptions options;
  options.loss.name = "mse";
  train::step_graph(train::make_training_graph(model, options));
}

}  // namespace

void try_commands(const std::string& path, const std::string& scratch, std::uint64_t seed, const Say& say) {
  Model model;
  say("load");
  if (!attempt([&](Budget& budget) { model = driver::load(path, {.budget = &budget}).model; })) return;
  const auto step = [&](const char* name, const Step& work) {
    say(name);
    attempt(work);
  };
  step("inspect", [&](Budget&) {
    driver::summarise(model);
    driver::readable_text(model);
  });
  step("check", [&](Budget& budget) { driver::check(model, &budget); });
  step("run", [&](Budget& budget) { run(model, budget); });
  step("convert", [&](Budget&) { convert(model, 21, scratch + "/a.onnx"); });
  step("convert --opset",
       [&](Budget&) { convert(model, 7 + static_cast<std::int64_t>(seed % 14), scratch + "/b.onnx"); });
  step("convert to tflite", [&](Budget&) { driver::save(model, scratch + "/c.tflite"); });
  step("ops", [&](Budget&) {
    driver::operators_of(model);
    driver::export_obstacles(model, driver::format_by_name("tflite"));
  });
  step("grad", [&](Budget&) { train::gradient_model(model, {}); });
  switch (seed % 6) {
    case 0:
      step("convert to SavedModel", [&](Budget&) { save_as("savedmodel", model, scratch + "/saved"); });
      break;
    case 1:
      step("convert to TF.js", [&](Budget&) { save_as("tfjs", model, scratch + "/tfjs/model.json"); });
      break;
    case 2:
      step("compile", [&](Budget&) { compile(seed % 4 ? "cpp" : "c", model, scratch + "/net"); });
      break;
    case 3:
      step("compile to MATLAB", [&](Budget&) { compile("matlab", model, scratch + "/net_m"); });
      break;
    case 4:
      step("optimize", [&](Budget& budget) { optimize(model, budget); });
      break;
    default:
      step("extract", [&](Budget&) { cut(model, seed / 6); });
  }
  if (seed % 5 == 0) step("adjust", [&](Budget& budget) { adjust(model, budget, seed / 5); });
  if (seed % 2) step("make-trainable", [&](Budget&) { make_trainable(model); });
  if (seed % 4 == 0) step("gradcheck", [&](Budget&) { check_gradients(model); });
}

void bound_process() {
  const rlimit data{3 * kMemory, 3 * kMemory};
  if (!kIsSanitized) ::setrlimit(RLIMIT_DATA, &data);
  const rlimit cores{0, 0};
  ::setrlimit(RLIMIT_CORE, &cores);
}

void restart_clock() {
  itimerval timer = {};
  timer.it_value.tv_sec = kSeconds;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  ::alarm(10 * kSeconds);  // who sleeps uses no such time
}

}  // namespace ingot::test
