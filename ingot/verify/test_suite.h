#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/verify/test_case.h"
#include "ingot/verify/test_variant.h"

namespace ingot {
class Budget;
}

namespace ingot::verify {

struct TestOptions {
  UnknownShapes unknown_shapes = UnknownShapes::none;
  std::optional<std::int64_t> opset;  // re-version first; a case that cannot be is skipped
  std::string emit;                   // directory for the cases as they were run; empty: none
  bool stop_at_failure = false;
  bool allow_links = false;
  int threads = 0;  // cases at once; 0: as many as the machine has
  Budget* budget = nullptr;
  /// Called after each case, one call at a time, with how many are done.
  std::function<void(std::size_t done)> on_progress;
};

struct TestResult {
  enum class Outcome { not_run, passed, failed, skipped };
  std::string name;
  Outcome outcome = Outcome::not_run;
  std::string reason;                  // of a failure or a skip; may have several lines
  std::vector<std::string> no_kernel;  // operators that cannot be run
  double milliseconds = 0;
};

/// Runs the cases in parallel and compares their outputs; results in the order of the cases. Only an interruption and
/// the limit on time end it early.
std::vector<TestResult> run_tests(const std::vector<TestCase>& cases, const TestOptions& options);

/// Whether the name fits a pattern of * and ?.
bool matches_glob(std::string_view name, std::string_view pattern);

/// Failures that are known, by name, each with its reason: lines "name: reason"; # begins a comment.
std::map<std::string, std::string> read_known_failures(const std::string& path);

}  // namespace ingot::verify
