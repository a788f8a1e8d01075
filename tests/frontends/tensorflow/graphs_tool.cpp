// Runs every stored TensorFlow graph under a directory and prints how it came out.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "tests/frontends/tensorflow/graph_case.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  using ingot::test::CaseResult;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY [--dynamic] [--opset N] [--filter TEXT] [--all]\n", argv[0]);
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
