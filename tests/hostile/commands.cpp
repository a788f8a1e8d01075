// What the commands do, in this process.
#include "tests/hostile/commands.h"

#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <new>
#include <stdexcept>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/catalogue.h"
#include "ingot/driver/check.h"
#include "ingot/driver/convert.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/driver/run.h"
#include "ingot/driver/summary.h"
#include "ingot/engine/session.h"
#include "ingot/ir/model.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/training_graph.h"
#include "tests/hostile/rare_commands.h"
#include "tests/support/sanitizers.h"

namespace ingot::test {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{384} << 20;
constexpr std::chrono::seconds kTime{4};
constexpr long kSeconds = 12;

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

void convert(const Model& model, std::int64_t opset, const std::string& to) {
  Model copy = model.clone();
  driver::AdjustOptions options;
  options.opset = opset;
  driver::adjust(copy, options);
  driver::save(copy, to);
}

void make_trainable(const Model& model) {
  train::TrainingOptions options;
  options.loss.name = "mse";
  train::step_graph(train::make_training_graph(model, options));
}

}  // namespace

void run(const Model& model, Budget& budget) {
  engine::SessionOptions options;
  options.budget = &budget;
  options.threads = 1;
  const std::optional<Model> form = driver::runnable_form(model);
  const engine::Session session(form ? *form : model, options);
  session.run(driver::random_inputs(model, 1));
}

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
  step("convert the file", [&](Budget& budget) {
    driver::convert({.input = path, .output = scratch + "/whole.onnx", .budget = &budget});
  });
  step("convert --opset",
       [&](Budget&) { convert(model, 7 + static_cast<std::int64_t>(seed % 14), scratch + "/b.onnx"); });
  step("convert to tflite", [&](Budget&) { driver::save(model, scratch + "/c.tflite"); });
  step("ops", [&](Budget&) {
    driver::operators_of(model);
    driver::export_obstacles(model, driver::format_by_name("tflite"));
  });
  step("grad", [&](Budget&) { train::gradient_model(model, {}); });
  const auto rare = rare_commands(model, path, scratch, seed);
  constexpr std::size_t kOfEach = 4;
  for (std::size_t i = 0; i < kOfEach; ++i) {
    const auto& [name, work] = rare[(seed + i * rare.size() / kOfEach) % rare.size()];
    step(name, work);
  }
  if (seed % 2) step("make-trainable", [&](Budget&) { make_trainable(model); });
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
