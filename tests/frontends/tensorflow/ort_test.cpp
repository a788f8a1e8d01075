// The stored TensorFlow graphs in ONNX Runtime: wherever it runs the converted file, it agrees with Ingot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "ingot/driver/load.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"
#include "ingot/verify/test_suite.h"
#include "tests/frontends/tensorflow/graph_case.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using NamedData = std::vector<engine::NamedDatum>;

constexpr int kOpset = 21;  // what conversions give by default

std::string compare(const NamedData& ours, const NamedData& theirs) {
  for (const engine::NamedDatum& expected : theirs) {
    const auto found = std::ranges::find(ours, expected.name, &engine::NamedDatum::name);
    if (found == ours.end()) return "output '" + expected.name + "' is missing";
    if (const auto d = verify::difference(found->value, expected.value, {.rtol = 1e-3, .atol = 1e-5}))
      return "output '" + expected.name + "' " + *d;
  }
  return {};
}

TEST(TensorFlowGraphsInOnnxRuntime, AgreeWhereItRunsThem) {
  const auto shared = shared_dir();
  const fs::path archive = shared ? *shared / "corpus/frozen_pb/dl4j_tf_graphs/public.tar.xz" : fs::path();
  if (!shared || !fs::exists(archive)) GTEST_SKIP() << "no stored graphs: set INGOT_SHARED";
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  verify::Peer ort(verify::Runtime::ort, peers);
  const TempDir dir;
  const std::string unpack = "tar xf '" + archive.string() + "' -C '" + dir.path().string() + "'";
  ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
  const fs::path root = dir.path() / "tf_graphs" / "examples";

  int agree = 0, not_run = 0, other = 0;
  std::map<std::string, std::string> deviations;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "frozen_model.pb") continue;
    const std::string name = fs::relative(entry.path().parent_path(), root).string();
    bool was_asked = false;
    CaseOptions options{.dynamic_shapes = false, .opset = kOpset};
    options.inspect = [&](Model& model, const NamedData& inputs, const NamedData& outputs) {
      const std::string file = dir / "model.onnx";
      driver::save(model, file);
      const verify::PeerAnswer answer = ort.run({.model = file, .inputs = inputs});
      was_asked = true;
      if (!answer.error.empty() || !answer.not_passed.empty()) {
        ++not_run;
        return;
      }
      const std::string why = compare(outputs, answer.outputs);
      if (why.empty())
        ++agree;
      else
        deviations[name] = why;
    };
    const CaseResult result = run_case(entry.path().parent_path(), name, options);
    if (!was_asked) ++other;
    if (result.is_random) deviations.erase(name);  // compared by distribution, in Ingot
  }
  std::printf("opset %d: %d agree, %zu differ, ONNX Runtime does not run %d, %d are not converted or do not match\n",
              kOpset, agree, deviations.size(), not_run, other);
  const auto known =
      verify::read_known_failures((source_dir() / "tests/frontends/tensorflow/ort_differences.txt").string());
  for (const auto& [name, why] : deviations) EXPECT_TRUE(known.contains(name)) << name << ": " << why;
  for (const auto& [name, reason] : known) EXPECT_TRUE(deviations.contains(name)) << name << " agrees now";
}

}  // namespace
}  // namespace ingot::test
