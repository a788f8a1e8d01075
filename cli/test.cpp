// ingot test: stored cases, run and compared.
#include <algorithm>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/progress.h"
#include "ingot/verify/test_suite.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

using Outcome = verify::TestResult::Outcome;

struct Options {
  std::vector<std::string> directories, filters;
  std::string unknown_shapes, emit, known_failures;
  std::int64_t opset = 0;
  int threads = 0;
  bool json = false, fail_fast = false, verbose = false;
};

struct Counts {
  std::size_t passed = 0, failed = 0, skipped = 0, not_run = 0;
};

/// The tests whose outcome is not what the list of known failures says.
struct Surprises {
  std::vector<std::string> failed, passed;
};

verify::TestOptions test_options(const Options& options, const Global& global) {
  verify::TestOptions test;
  if (options.unknown_shapes == "symbolic") test.unknown_shapes = verify::UnknownShapes::symbolic;
  if (options.unknown_shapes == "rank") test.unknown_shapes = verify::UnknownShapes::rank;
  if (options.opset) test.opset = options.opset;
  test.emit = options.emit;
  test.stop_at_failure = options.fail_fast;
  test.allow_links = global.allow_links;
  test.threads = options.threads;
  test.budget = global.budget;
  return test;
}

std::vector<verify::TestCase> chosen_cases(const Options& options) {
  std::vector<verify::TestCase> cases = verify::find_test_cases(options.directories);
  if (cases.empty())
    throw Error(Code::bad_input, "there are no test cases in " + options.directories.front())
        .hint("a case is a directory with model.onnx and test_data_set_0");
  if (options.filters.empty()) return cases;
  std::erase_if(cases, [&](const verify::TestCase& c) {
    return std::ranges::none_of(options.filters, [&](const auto& f) { return verify::matches_glob(c.name, f); });
  });
  if (cases.empty()) throw Error(Code::unknown_name, "no test case has a name that fits --filter");
  return cases;
}

Counts count(const std::vector<verify::TestResult>& results) {
  Counts counts;
  for (const auto& r : results) {
    counts.passed += r.outcome == Outcome::passed;
    counts.failed += r.outcome == Outcome::failed;
    counts.skipped += r.outcome == Outcome::skipped;
    counts.not_run += r.outcome == Outcome::not_run;
  }
  return counts;
}

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::skipped:
      return "skipped";
    case Outcome::not_run:
      break;
  }
  return "not run";
}

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (const char c : text) result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return result;
}

std::map<std::string, std::size_t> missing_operators(const std::vector<verify::TestResult>& results) {
  std::map<std::string, std::size_t> missing;
  for (const auto& r : results)
    for (const std::string& op : r.no_kernel) ++missing[op];
  return missing;
}

void print_missing(const std::map<std::string, std::size_t>& missing) {
  if (missing.empty()) return;
  std::vector<std::pair<std::string, std::size_t>> sorted(missing.begin(), missing.end());
  std::ranges::stable_sort(sorted, std::greater{}, &std::pair<std::string, std::size_t>::second);
  std::printf("%s\n", out_style(Style::bold, "operators that cannot be run, with the number of cases").c_str());
  Table table({true});
  for (const auto& [op, cases] : sorted) table.add({std::to_string(cases), op});
  std::fputs(table.str().c_str(), stdout);
}

Surprises surprises_in(const std::vector<verify::TestResult>& results,
                       const std::map<std::string, std::string>& known) {
  Surprises s;
  for (const auto& r : results) {
    const bool is_known = known.contains(r.name);
    if (r.outcome == Outcome::failed && !is_known) s.failed.push_back(r.name);
    if (r.outcome == Outcome::passed && is_known) s.passed.push_back(r.name);
  }
  return s;
}

void print(const std::vector<verify::TestResult>& results, const std::map<std::string, std::string>& known,
           const Options& options, const Global& global) {
  for (const auto& r : results) {
    const auto why = known.find(r.name);
    if (r.outcome == Outcome::passed || r.outcome == Outcome::not_run) {
      if (options.verbose && r.outcome == Outcome::passed)
        std::printf("%s %s\n", out_style(Style::green, "passed").c_str(), r.name.c_str());
      continue;
    }
    if (r.outcome == Outcome::skipped && global.quiet) continue;
    const bool is_known = r.outcome == Outcome::failed && why != known.end();
    const Style style = r.outcome == Outcome::skipped || is_known ? Style::yellow : Style::red;
    std::printf("%s %s%s\n", out_style(style, word_of(r.outcome)).c_str(), r.name.c_str(),
                is_known ? (" (known: " + why->second + ")").c_str() : "");
    std::printf("%s\n", indented(r.reason).c_str());
  }
  print_missing(missing_operators(results));
}

void print_json(const std::vector<verify::TestResult>& results, const Counts& counts) {
  Json json{{"passed", counts.passed}, {"failed", counts.failed}, {"skipped", counts.skipped}};
  if (counts.not_run) json["not_run"] = counts.not_run;
  json["missing_operators"] = missing_operators(results);
  json["cases"] = Json::array();
  for (const auto& r : results) {
    Json one{{"name", r.name}, {"outcome", word_of(r.outcome)}, {"milliseconds", r.milliseconds}};
    if (!r.reason.empty()) one["reason"] = r.reason;
    json["cases"].push_back(std::move(one));
  }
  std::printf("%s\n", json.dump(2).c_str());
}

int run(const Options& options, const Global& global) {
  std::map<std::string, std::string> known;
  if (!options.known_failures.empty()) known = verify::read_known_failures(options.known_failures);
  const std::vector<verify::TestCase> cases = chosen_cases(options);
  verify::TestOptions test = test_options(options, global);
  std::vector<verify::TestResult> results;
  {
    Progress progress("testing", cases.size(), ProgressOptions::for_terminal(global.quiet || options.json));
    test.on_progress = [&](std::size_t done) { progress.update(done); };
    results = verify::run_tests(cases, test);
  }
  const Counts counts = count(results);
  const Surprises surprises = surprises_in(results, known);
  if (options.json) {
    print_json(results, counts);
  } else {
    print(results, known, options, global);
    for (const std::string& name : surprises.passed)
      std::printf("%s %s passes now: take it off the list of known failures\n",
                  out_style(Style::red, "surprise:").c_str(), name.c_str());
    if (!known.empty() && surprises.failed.empty() && counts.failed) std::printf("all failures are known\n");
    std::printf("%zu passed, %zu failed, %zu skipped%s\n", counts.passed, counts.failed, counts.skipped,
                counts.not_run ? (", " + std::to_string(counts.not_run) + " not run").c_str() : "");
  }
  return surprises.failed.empty() && surprises.passed.empty() ? 0 : 1;
}

}  // namespace

Command add_test(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("test", "Run stored test cases and compare their outputs");
  app->footer(
      "A case is a directory in the layout of the official ONNX backend tests: model.onnx, "
      "test_data_set_0/input_0.pb,\n"
      "..., output_0.pb, ..., and optionally data.json with rtol and atol (1e-3 and 1e-7 otherwise). Cases are looked\n"
      "for at any depth. A model that lies beside NAME_output_0.pb is fed arange(n) / n. Types and shapes must be the\n"
      "same, integers and strings equal. The exit code is 1 if a case failed.\n\n"
      "  ingot test onnx/backend/test/data --filter 'test_conv*'\n"
      "  ingot test node --unknown-shapes rank --emit variants");
  app->add_option("DIR", options->directories, "Where the cases are")->required();
  app->add_option("--filter", options->filters, "Only cases with such a name; * and ? stand for any characters");
  app->add_option("--unknown-shapes", options->unknown_shapes,
                  "Hide the inputs' shapes: only names, or not even a rank")
      ->one_of({"symbolic", "rank"});
  app->add_option("--opset", options->opset, "Convert the models to this operator set first")->positive();
  app->add_option("--emit", options->emit, "Write the cases as they were run to this directory");
  app->add_option("--known-failures", options->known_failures,
                  "A file of lines 'name: reason': exactly these may fail");
  app->add_option("--threads", options->threads, "Cases at once (default: all cores)")->positive();
  app->add_flag("--fail-fast", options->fail_fast, "Stop at the first failure");
  app->add_flag("-v,--verbose", options->verbose, "Name the cases that passed too");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
