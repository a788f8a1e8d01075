// Runs every stored TensorFlow graph under a directory and prints how it came out.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "tests/frontends/tensorflow/coverage.h"
#include "tests/frontends/tensorflow/graph_case.h"

namespace {

namespace fs = std::filesystem;
using ingot::test::CaseResult;

/// The operator cases that fail.
int run_cases() {
  int failures = 0;
  for (const auto& c : ingot::test::read_operator_cases())
    for (const bool is_open : {false, true}) {
      if (is_open && c.keeps_sizes) continue;
      const std::string why = ingot::test::run_operator_case(c, is_open);
      if (why.empty()) continue;
      ++failures;
      std::printf("%s: %s%s: %s\n", c.place.c_str(), c.name.c_str(), is_open ? " (open)" : "", why.c_str());
    }
  return failures ? 1 : 0;
}

/// covered.def as it should be.
int print_covered(const fs::path& root) {
  ingot::test::Operators seen = ingot::test::operators_of_cases();
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "frozen_model.pb") continue;
    const CaseResult fixed = ingot::test::run_case(entry.path().parent_path(), "", {});
    const CaseResult open = ingot::test::run_case(entry.path().parent_path(), "", {.dynamic_shapes = true});
    if (fixed.outcome == CaseResult::Outcome::matches && open.outcome == CaseResult::Outcome::matches)
      for (const auto& [op, attributes] : fixed.operators) seen[op].insert(attributes.begin(), attributes.end());
  }
  const auto covered = ingot::test::covered_operators(seen);
  std::printf(
      "// Operators whose values the tests compare with a reference, sorted. `ingot_tf_graphs DIRECTORY --covered`\n");
  std::printf("// writes this file; a test says when it is out of date.\n");
  for (const std::string& op : covered) std::printf("INGOT_TF_COVERED(%s)\n", op.c_str());
  std::fprintf(stderr, "%zu operators, %zu apart from aliases\nseen, but with defaults only:", covered.size(),
               ingot::test::distinct_translations(covered));
  for (const auto& [op, attributes] : seen)
    if (!covered.contains(op)) std::fprintf(stderr, " %s", op.c_str());
  std::fprintf(stderr, "\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--cases")) return run_cases();
  if (argc == 3 && !std::strcmp(argv[2], "--covered")) return print_covered(argv[1]);
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: %s DIRECTORY [--dynamic] [--opset N] [--filter TEXT] [--all]\n"
                 "       %s DIRECTORY --covered\n       %s --cases\n",
                 argv[0], argv[0], argv[0]);
    return 2;
  }
  ingot::test::CaseOptions options;
  std::string filter;
  bool shows_all = false;
  for (int i = 2; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--dynamic")) options.dynamic_shapes = true;
    if (!std::strcmp(argv[i], "--all")) shows_all = true;
    if (!std::strcmp(argv[i], "--opset") && i + 1 < argc) options.opset = std::atoi(argv[++i]);
    if (!std::strcmp(argv[i], "--filter") && i + 1 < argc) filter = argv[++i];
  }
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
    if (entry.path().filename() == "frozen_model.pb") cases.push_back(entry.path().parent_path());
  std::ranges::sort(cases);
  std::map<std::string_view, int> outcomes;
  std::map<std::string, int> missing, reasons;
  for (const fs::path& path : cases) {
    const std::string name = fs::relative(path, argv[1]).string();
    if (name.find(filter) == std::string::npos) continue;
    const CaseResult result = ingot::test::run_case(path, name, options);
    ++outcomes[ingot::test::name_of(result.outcome)];
    for (const std::string& op : std::set<std::string>(result.unsupported.begin(), result.unsupported.end()))
      ++missing[op];
    if (result.outcome == CaseResult::Outcome::matches && !shows_all) continue;
    std::printf("%-14s %s: %s\n", std::string(ingot::test::name_of(result.outcome)).c_str(), name.c_str(),
                result.detail.c_str());
    std::fflush(stdout);
  }
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [op, count] : missing) by_count.emplace_back(count, op);
  std::ranges::sort(by_count, std::greater<>());
  std::printf("not converted because of:");
  for (const auto& [count, op] : by_count) std::printf(" %s %d", op.c_str(), count);
  std::printf("\n");
  for (const auto& [outcome, count] : outcomes) std::printf("%5d %s\n", count, std::string(outcome).c_str());
  return 0;
}
