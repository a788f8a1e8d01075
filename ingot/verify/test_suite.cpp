// Runs stored test cases in Ingot's engine.
#include "ingot/verify/test_suite.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <sstream>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/run.h"
#include "ingot/engine/session.h"

namespace ingot::verify {
namespace {

using Outcome = TestResult::Outcome;

/// The operators that Session lists, a line each: "  Name (node 'x')".
std::vector<std::string> listed_operators(const std::string& message) {
  std::vector<std::string> names;
  std::istringstream lines(message);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t end = line.find(" (");
    if (line.starts_with("  ") && end != std::string::npos) names.push_back(line.substr(2, end - 2));
  }
  return names;
}

/// Whether an error means that the model has no form in the operator set asked for.
bool is_obstacle(Code code) {
  return code == Code::cannot_upgrade || code == Code::cannot_downgrade || code == Code::unknown_opset ||
         code == Code::shape_needed;
}

bool ends_everything(Code code) { return code == Code::cancelled || code == Code::time_limit; }

void fail(TestResult& result, const std::string& reason) {
  result.outcome = Outcome::failed;
  result.reason += (result.reason.empty() ? "" : "\n") + reason;
}

void compare_outputs(const std::vector<engine::NamedDatum>& got, const TestData& data, const TestCase& test,
                     const std::string& where, TestResult& result) {
  for (std::size_t i = 0; i < data.outputs.size(); ++i) {
    const auto what = difference(got[i].value, data.outputs[i], test.tolerance);
    if (what) fail(result, where + "output '" + got[i].name + "' " + *what);
  }
}

void run_case(const TestCase& test, const TestOptions& options, TestResult& result) {
  driver::LoadOptions load;
  load.allow_links = options.allow_links;
  load.budget = options.budget;
  const Model original = driver::load(test.model, load).model;
  Model model = original.clone();
  if (options.opset) {
    driver::AdjustOptions changes;
    changes.opset = options.opset;
    try {
      driver::adjust(model, changes);
    } catch (const Error& error) {
      if (!is_obstacle(error.code())) throw;
      result.outcome = Outcome::skipped;
      result.reason = error.message();
      return;
    }
  }
  hide_shapes(model, options.unknown_shapes);
  if (!options.emit.empty()) write_test_case(test, original, model, options.emit, load);
  const std::optional<Model> form = driver::runnable_form(model);
  const engine::Session session(form ? *form : model, {.budget = options.budget});
  for (std::size_t set = 0; set < data_set_count(test); ++set) {
    TestData data = load_test_data(test, set, original, load);
    std::vector<engine::NamedDatum> inputs;
    for (auto& [name, value] : data.inputs) inputs.push_back({name, std::move(value)});
    const std::string where = data_set_count(test) > 1 ? "data set " + std::to_string(set) + ": " : "";
    compare_outputs(session.run(inputs), data, test, where, result);
  }
  if (result.outcome == Outcome::not_run) result.outcome = Outcome::passed;
}

TestResult run_guarded(const TestCase& test, const TestOptions& options) {
  TestResult result;
  result.name = test.name;
  const auto start = std::chrono::steady_clock::now();
  try {
    run_case(test, options, result);
  } catch (const Error& error) {
    if (ends_everything(error.code())) throw;
    fail(result, error.what());
    if (error.code() == Code::no_kernel) result.no_kernel = listed_operators(error.message());
  } catch (const std::bad_alloc&) {
    fail(result, "the system has no memory left");
  } catch (const std::exception& error) {
    fail(result, std::string("unexpected: ") + error.what());
  }
  result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

std::vector<TestResult> run_tests(const std::vector<TestCase>& cases, const TestOptions& options) {
  std::vector<TestResult> results(cases.size());
  std::atomic<bool> stops{false};
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool pool(options.threads);
  pool.parallel_for(static_cast<std::int64_t>(cases.size()), 1, [&](std::int64_t begin, std::int64_t) {
    const auto i = static_cast<std::size_t>(begin);
    results[i].name = cases[i].name;
    if (stops.load(std::memory_order_relaxed)) return;
    results[i] = run_guarded(cases[i], options);
    if (options.stop_at_failure && results[i].outcome == Outcome::failed) stops = true;
    const std::lock_guard lock(mutex);
    ++done;
    if (options.on_progress) options.on_progress(done);
  });
  return results;
}

bool matches_glob(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0;
  std::size_t star = std::string_view::npos, retry = 0;  // where the last * stood, and what it has swallowed up to
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::map<std::string, std::string> read_known_failures(const std::string& path) {
  std::map<std::string, std::string> known;
  std::istringstream lines{std::string(map_file(path).text())};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (line.empty()) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || colon == 0)
      throw Error(Code::bad_usage, "line " + std::to_string(number) + " is not of the form 'name: reason'")
          .in_file(path);
    known[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return known;
}

}  // namespace ingot::verify
