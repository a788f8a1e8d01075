// All stored TensorFlow graphs with expected values: each matches, or stands in known_differences.txt with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "ingot/frontends/tensorflow/import.h"
#include "tests/frontends/tensorflow/coverage.h"
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

/// A reason of this kind: nobody can compare the graph, since the value of an input is not stored.
constexpr std::string_view kNoValue = "the value of its input is not stored";

class TensorFlowGraphs : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = shared_dir();
    const fs::path archive = shared ? *shared / "corpus/frozen_pb/dl4j_tf_graphs/public.tar.xz" : fs::path();
    if (!shared || !fs::exists(archive)) GTEST_SKIP() << "no stored graphs: set INGOT_SHARED";
    const std::string unpack = "tar xf '" + archive.string() + "' -C '" + dir_.path().string() + "'";
    ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
    root_ = dir_.path() / "tf_graphs" / "examples";
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.path().filename() == "frozen_model.pb")
        names_.push_back(fs::relative(entry.path().parent_path(), root_).string());
    std::ranges::sort(names_);
  }

  /// All in one way: the outcome of each, compared with the list.
  std::map<std::string, CaseResult> run_all(const CaseOptions& options) {
    const auto known = known_differences(options.dynamic_shapes);
    std::map<std::string, CaseResult> results;
    for (const std::string& name : names_) {
      CaseResult result = run_case(root_ / name, name, options);
      const auto found = known.find(name);
      if (result.outcome == CaseResult::Outcome::matches)
        EXPECT_TRUE(found == known.end()) << name << " matches: take it from known_differences.txt";
      else
        EXPECT_TRUE(found != known.end()) << name << ": " << name_of(result.outcome) << ": " << result.detail;
      results.emplace(name, std::move(result));
    }
    for (const auto& [name, why] : known) EXPECT_TRUE(results.contains(name)) << name << " names no graph";
    return results;
  }

  TempDir dir_;
  fs::path root_;
  std::vector<std::string> names_;
};

struct Share {
  int matching = 0, all = 0;
  double percent() const { return all ? 100.0 * matching / all : 0; }
};

TEST_F(TensorFlowGraphs, MatchTheirStoredValuesWithSizesAndWithOpenDimensions) {
  if (names_.empty()) return;
  const auto fixed = run_all({}), open = run_all({.dynamic_shapes = true});
  const auto known = known_differences(true);
  Share exact, random, ranked_by_data;
  int without_value = 0;
  for (const std::string& name : names_) {
    const CaseResult &a = fixed.at(name), &b = open.at(name);
    const bool is_good = a.outcome == CaseResult::Outcome::matches && b.outcome == CaseResult::Outcome::matches;
    if (const auto reason = known.find(name); !is_good && reason != known.end() && reason->second == kNoValue) {
      ++without_value;
      continue;
    }
    Share& share = a.is_random ? random : b.has_open_rank ? ranked_by_data : exact;
    ++share.all;
    share.matching += is_good;
  }
  std::printf("%5zu graphs, each with sizes and with open dimensions\n", names_.size());
  std::printf("%5d cannot be compared: %s\n", without_value, std::string(kNoValue).c_str());
  std::printf("%5d draw random numbers; %d of them have the type, shape and distribution in both ways\n", random.all,
              random.matching);
  std::printf(
      "%5d others give outputs of a rank that only an input of open length decides, which ONNX wants stated; %d "
      "of them match in both ways\n",
      ranked_by_data.all, ranked_by_data.matching);
  std::printf("%5d others; %d of them match in both ways (%.2f %%)\n", exact.all, exact.matching, exact.percent());
  EXPECT_GE(exact.percent(), 99);
  EXPECT_GE(random.percent(), 95);
  EXPECT_EQ(ranked_by_data.matching, ranked_by_data.all);
  EXPECT_LE(ranked_by_data.all, 25);

  // What all comparisons cover is what `ingot ops --from tensorflow` lists.
  Operators seen = operators_of_cases();
  for (const auto& [name, result] : fixed)
    if (result.outcome == CaseResult::Outcome::matches && open.at(name).outcome == CaseResult::Outcome::matches)
      for (const auto& [op, attributes] : result.operators) seen[op].insert(attributes.begin(), attributes.end());
  const std::set<std::string> covered = covered_operators(seen);
  std::printf("%5zu operators with compared values, %zu apart from aliases\n", covered.size(),
              distinct_translations(covered));
  std::set<std::string> listed;
  for (const std::string_view op : frontends::tensorflow::covered_operators()) listed.emplace(op);
  for (const std::string& op : covered)
    EXPECT_TRUE(listed.contains(op)) << op << " is covered: write it into covered.def";
  for (const std::string& op : listed)
    EXPECT_TRUE(covered.contains(op)) << op << " is not covered: take it from covered.def";
  EXPECT_GE(distinct_translations(covered), 300U);
}

}  // namespace
}  // namespace ingot::test
