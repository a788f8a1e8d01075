// All stored TensorFlow graphs with expected values: each matches, or stands in known_differences.txt with its reason.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/frontends/tensorflow/graph_case.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

/// name -> reason; with "open " before the name, only where the inputs' dimensions are open.
std::map<std::string, std::string> known_differences(bool is_open) {
  std::map<std::string, std::string> known;
  std::ifstream in(test::source_dir() / "tests/frontends/tensorflow/known_differences.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const bool for_open = line.starts_with("open ");
    if (for_open && !is_open) continue;
    const std::size_t start = for_open ? 5 : 0;
    known.emplace(line.substr(start, colon - start), line.substr(colon + 2));
  }
  return known;
}

void run_all(const CaseOptions& options) {
  const auto shared = shared_dir();
  const fs::path archive = shared ? *shared / "corpus/frozen_pb/dl4j_tf_graphs/public.tar.xz" : fs::path();
  if (!shared || !fs::exists(archive)) GTEST_SKIP() << "no stored graphs: set INGOT_SHARED";
  const TempDir dir;
  const std::string unpack = "tar xf '" + archive.string() + "' -C '" + dir.path().string() + "'";
  ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
  const auto known = known_differences(options.dynamic_shapes);
  std::map<std::string, int> used;
  const auto reason = [&](const std::string& name) -> std::string {
    const auto found = known.find(name);
    if (found == known.end()) return {};
    ++used[name];
    return found->second;
  };
  const fs::path root = dir.path() / "tf_graphs" / "examples";
  std::map<std::string_view, int> outcomes;
  int without_kernel = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "frozen_model.pb") continue;
    const std::string name = fs::relative(entry.path().parent_path(), root).string();
    const CaseResult result = run_case(entry.path().parent_path(), name, options);
    ++outcomes[name_of(result.outcome)];
    const std::string why = reason(name);
    if (result.lacks_kernel) {
      ++without_kernel;
      continue;
    }
    if (result.outcome == CaseResult::Outcome::matches)
      EXPECT_TRUE(why.empty()) << name << " matches: take it from known_differences.txt";
    else
      EXPECT_FALSE(why.empty()) << name << ": " << name_of(result.outcome) << ": " << result.detail;
  }
  for (const auto& [outcome, count] : outcomes) std::printf("%5d %s\n", count, std::string(outcome).c_str());
  std::printf("%5d of these need an operator that the engine cannot run yet\n", without_kernel);
  for (const auto& [pattern, why] : known) EXPECT_TRUE(used.contains(pattern)) << pattern << " names no graph";
  EXPECT_GE(outcomes["matches"], 1100);
}

TEST(TensorFlowGraphs, MatchTheirStoredValues) { run_all({}); }
TEST(TensorFlowGraphs, MatchWithOpenDimensions) { run_all({.dynamic_shapes = true}); }

}  // namespace
}  // namespace ingot::test
