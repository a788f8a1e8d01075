// Every integer operator of the corpus on its own: what TFLite and Ingot give for the same random integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/backends/other_runtime.h"
#include "tests/frontends/tflite/parts.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
namespace tfl = formats::tflite;

std::vector<fs::path> models(const fs::path& corpus) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(corpus))
    if (entry.is_regular_file() && tfl::looks_like_tflite(map_file(entry.path().string())))
      found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// Operators that may be further apart, each with its reason: "model#number of the operator: reason". Where the reason
/// begins with "undefined: ", what TFLite computes changes from run to run.
std::map<std::string, std::string> known_layers() {
  std::map<std::string, std::string> known;
  std::istringstream lines(test::read_text(test::source_dir() / "tests/frontends/tflite/layers.txt"));
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t colon = line.find(": "); !line.empty() && line[0] != '#' && colon != line.npos)
      known.emplace(line.substr(0, colon), line.substr(colon + 2));
  return known;
}

/// An LSTM without normalisation: every step of its integers is known.
bool is_plain_lstm(const tfl::Operator& op) {
  using enum tfl::BuiltinOperator;
  const auto is_there = [](std::int32_t t) { return t != tfl::kNoTensor; };
  if (op.code.builtin != UNIDIRECTIONAL_SEQUENCE_LSTM && op.code.builtin != LSTM) return false;
  return op.inputs.size() <= 20 || std::none_of(op.inputs.begin() + 20, op.inputs.end(), is_there);
}

TEST(TfliteLayers, EveryIntegerOperatorIsWithinOneStepOnEqualInputs) {
  const auto native = test::OtherRuntime::find(verify::Runtime::tflite);
  if (!native) GTEST_SKIP() << "build/peers has no tfjs-tflite-node: script/bootstrap installs it";
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "no shared test data";
  const fs::path corpus = *shared / "corpus" / "tflite";
  const std::map<std::string, std::string> known = known_layers();
  std::set<std::string> seen, far;
  std::map<std::string, std::size_t> not_compared;
  std::size_t compared = 0, exact = 0, recurrent = 0;
  std::mt19937 random(1);
  for (const fs::path& path : models(corpus)) {
    tfl::Model model;
    try {
      model = tfl::read(map_file(path.string()));
    } catch (const Error&) {
      continue;  // damaged on purpose
    }
    if (model.subgraphs.empty()) continue;
    for (std::size_t i = 0; i < model.subgraphs.front().operators.size(); ++i) {
      if (!test::is_integer_layer(model, model.subgraphs.front().operators[i])) continue;
      const tfl::Model part = test::part_of(model, i);
      const std::string bytes = tfl::to_bytes(part);
      const auto inputs = test::random_inputs(part, random);
      // Many networks have the same layer many times over.
      if (!inputs || !seen.insert(bytes).second) continue;
      const std::string op = tfl::describe(part.subgraphs.front().operators.front().code);
      const std::string name = fs::relative(path, corpus).string() + "#" + std::to_string(i);
      const auto expected = native->run(bytes, *inputs);
      if (!expected.failure.empty()) {
        ++not_compared[op + ": " + expected.failure];
        continue;
      }
      std::vector<Tensor> got;
      try {
        got = test::run_in_ingot(part, *inputs);
      } catch (const Error& error) {
        ADD_FAILURE() << name << " " << op << ": " << error.message();
        continue;
      }
      ASSERT_GE(got.size(), expected.outputs.size()) << name;
      std::int64_t worst = 0;
      for (std::size_t k = 0; k < expected.outputs.size(); ++k) {
        const auto apart = test::steps_apart(expected.outputs[k], got[k]);
        ASSERT_TRUE(apart) << name << " " << op << ": another type or shape";
        if (!apart->empty()) worst = std::max(worst, *std::ranges::max_element(*apart));
      }
      ++compared;
      exact += worst == 0;
      if (is_plain_lstm(part.subgraphs.front().operators.front())) {
        ++recurrent;
        EXPECT_EQ(worst, 0) << name << " " << op << ": integer LSTMs are to have TFLite's bits";
      }
      if (worst <= 1) continue;
      far.insert(name);
      if (!known.contains(name)) ADD_FAILURE() << name << " " << op << ": " << worst << " steps apart";
    }
  }
  for (const auto& [name, reason] : known)
    EXPECT_TRUE(far.contains(name) || reason.starts_with("undefined: "))
        << name << " is named in layers.txt and is within one step";
  for (const auto& [what, count] : not_compared) std::printf("not compared: %zu x %s\n", count, what.c_str());
  std::printf("%zu operators compared: %zu equal, %zu within one step, %zu further apart\n", compared, exact,
              compared - exact - far.size(), far.size());
  std::printf("%zu of them are LSTMs\n", recurrent);
  EXPECT_GT(compared, 100u);
  EXPECT_GT(recurrent, 3u);
}

}  // namespace
}  // namespace ingot
