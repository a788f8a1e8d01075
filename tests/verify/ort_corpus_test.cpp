// Every model of the corpus that ONNX Runtime runs on seeded inputs, in Ingot: do they agree?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"
#include "ingot/verify/test_suite.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

/// 1e-4 of the output's scale; half precision has fewer digits; quantised values may be a step apart.
verify::Tolerance tolerance_for(const Datum& expected) {
  verify::Tolerance t{.rtol = 0, .atol = 1e-7, .scale = 1e-4, .steps = 0};
  const Array* array = expected.array();
  if (!array) return t;
  if (array->dtype() == DType::f16) t.scale = 2e-3;
  if (array->dtype() == DType::i8 || array->dtype() == DType::u8) t.steps = 1;
  return t;
}

std::string compare(const std::vector<engine::NamedDatum>& got, const std::vector<engine::NamedDatum>& expected) {
  for (const engine::NamedDatum& e : expected) {
    const auto it = std::ranges::find(got, e.name, &engine::NamedDatum::name);
    if (it == got.end()) return "output '" + e.name + "' is missing";
    if (const auto d = verify::difference(it->value, e.value, tolerance_for(e.value)))
      return "output '" + e.name + "' " + *d;
  }
  return {};
}

struct Tally {
  int not_run_by_peer = 0, foreign = 0, agree = 0;
  std::map<std::string, std::string> deviations;  // by path
};

void compare_model(const fs::path& path, const std::string& name, verify::Peer& ort, Tally& tally) {
  std::vector<engine::NamedDatum> inputs;
  Model model;
  std::string refusal;
  try {
    model = driver::load(path.string()).model;
    inputs = driver::random_inputs(model, 42);
  } catch (const Error& error) {
    refusal = error.message();
  }
  const auto answer = ort.run({.model = path.string(), .inputs = inputs});
  if (!answer.error.empty() || !answer.not_passed.empty()) {
    ++tally.not_run_by_peer;
    return;
  }
  if (!refusal.empty()) {
    tally.deviations[name] = refusal;
    return;
  }
  Budget budget(Limits{.memory = std::uint64_t{4} << 30, .time = std::chrono::seconds(60)});
  try {
    const engine::Session session(model, {.budget = &budget, .threads = 0, .is_fast = true});
    const std::string difference = compare(session.run(inputs), answer.outputs);
    if (difference.empty())
      ++tally.agree;
    else
      tally.deviations[name] = difference;
  } catch (const Error& error) {
    const bool is_foreign = error.code() == Code::no_kernel && error.message().find('.') != std::string::npos &&
                            error.message().find("ai.onnx") == std::string::npos;
    if (is_foreign)
      ++tally.foreign;
    else
      tally.deviations[name] = error.what();
  }
}

TEST(OrtCorpus, EveryModelThatOnnxRuntimeRunsAgrees) {
  const auto shared = test::shared_dir();
  const fs::path source = test::source_dir();
  const verify::Peers peers = test::peers();
  if (!shared) GTEST_SKIP() << "the corpus of real models is not here: no shared directory";
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  verify::Peer ort(verify::Runtime::ort, peers);
  std::vector<fs::path> paths;
  const fs::path root = *shared / "corpus" / "onnx";
  const char* only = std::getenv("INGOT_CORPUS_FILTER");
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".onnx" && (!only || verify::matches_glob(entry.path().string(), only)))
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  Tally tally;
  for (const fs::path& path : paths) compare_model(path, fs::relative(path, root).string(), ort, tally);

  const auto known = verify::read_known_failures((source / "tests/verify/ort_deviations.txt").string());
  std::printf("%zu models: %d agree, %zu deviate, %d need a foreign operator, %d are not run by ONNX Runtime\n",
              paths.size(), tally.agree, tally.deviations.size(), tally.foreign, tally.not_run_by_peer);
  for (const auto& [name, what] : tally.deviations) {
    const auto reason = known.find(name);
    std::printf("%s: %s\n    %s\n", reason == known.end() ? "NEW" : "known", name.c_str(), what.c_str());
    if (reason == known.end())
      ADD_FAILURE() << name << ": " << what;
    else
      std::printf("    reason: %s\n", reason->second.c_str());
  }
  if (only) return;
  for (const auto& [name, reason] : known)
    EXPECT_TRUE(tally.deviations.contains(name) || reason == "a random draw")  // few elements may agree by chance
        << name << " agrees now: take it off the list";
}

}  // namespace
}  // namespace ingot
