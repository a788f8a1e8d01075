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
#include "ingot/onnx/writer.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/peer.h"
#include "ingot/verify/test_suite.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"
#include "tests/verify/tensor_outputs.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

/// ONNX Runtime's message without what differs from model to model.
std::string class_of(std::string message) {
  for (const std::size_t end : {message.find('\n'), message.find(" Node"), message.find(" node")})
    message.resize(std::min(end, message.size()));
  std::string text;
  bool is_quoted = false;
  for (const char c : message) {
    if (c == '\'' || c == '"') is_quoted = !is_quoted;
    if (!is_quoted && c != '/' && (c < '0' || c > '9')) text += c;
  }
  constexpr std::size_t kLongest = 90;
  return text.substr(0, kLongest);
}

/// The operators that an error of the engine lists.
std::string operators_of(const std::string& message) {
  std::string text;
  for (std::size_t line = message.find('\n'); line != std::string::npos; line = message.find('\n', line + 1)) {
    const std::size_t begin = line + 3, end = message.find(" (", line);
    if (end == std::string::npos) break;
    text += (text.empty() ? "" : ", ") + message.substr(begin, end - begin);
  }
  return text;
}

void print(const char* title, const std::map<std::string, std::vector<std::string>>& classes) {
  std::printf("%s\n", title);
  for (const auto& [what, paths] : classes)
    std::printf("  %4zu  %s (%s%s)\n", paths.size(), what.c_str(), paths[0].c_str(), paths.size() > 1 ? ", ..." : "");
}

std::size_t count_of(const std::map<std::string, std::vector<std::string>>& classes) {
  std::size_t count = 0;
  for (const auto& [what, paths] : classes) count += paths.size();
  return count;
}

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
  int agree = 0, agree_in_sequences_and_maps = 0;
  std::map<std::string, std::vector<std::string>> foreign;          // paths by the operators that are missing
  std::map<std::string, std::vector<std::string>> not_run_by_peer;  // paths by why
  std::map<std::string, std::string> deviations;                    // by path
};

/// The package passes tensors only: those that tell the sequences and maps of a model.
verify::PeerAnswer ask_for_tensors(const Model& model, const std::vector<engine::NamedDatum>& own,
                                   const std::vector<engine::NamedDatum>& inputs, verify::Peer& ort) {
  const test::TensorOutputs tensors(model, own);
  if (!tensors.has_changes()) {
    verify::PeerAnswer answer;
    answer.error = "an output is no tensor, and tensors do not tell it";
    return answer;
  }
  const test::TempDir directory;
  onnx::write(tensors.model(), directory / "tensors.onnx");
  auto answer = ort.run({.model = directory / "tensors.onnx", .inputs = inputs});
  if (answer.error.empty()) answer.outputs = tensors.outputs(answer.outputs);
  return answer;
}

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
  auto answer = ort.run({.model = path.string(), .inputs = inputs});
  const bool has_no_tensor = !answer.not_passed.empty();
  if (!answer.error.empty()) {
    tally.not_run_by_peer[class_of(answer.error)].push_back(name);
    return;
  }
  if (!refusal.empty()) {
    tally.deviations[name] = refusal;
    return;
  }
  Budget budget(Limits{.memory = std::uint64_t{4} << 30, .time = std::chrono::seconds(60)});
  try {
    const engine::Session session(model, {.budget = &budget, .threads = 0, .is_fast = true});
    const auto own = session.run(inputs);
    if (has_no_tensor) answer = ask_for_tensors(model, own, inputs, ort);
    if (!answer.error.empty()) {
      tally.not_run_by_peer[class_of(answer.error)].push_back(name);
      return;
    }
    const std::string difference = compare(own, answer.outputs);
    if (difference.empty())
      ++(has_no_tensor ? tally.agree_in_sequences_and_maps : tally.agree);
    else
      tally.deviations[name] = difference;
  } catch (const Error& error) {
    const bool is_foreign = error.code() == Code::no_kernel && error.message().find('.') != std::string::npos &&
                            error.message().find("ai.onnx") == std::string::npos;
    if (is_foreign)
      tally.foreign[operators_of(error.message())].push_back(name);
    else
      tally.deviations[name] = error.what();
  }
}

/// Whether a deviation is not there every time: few elements may agree by chance, the order of a sum follows the width of
/// registers, and processors that add products of bytes by themselves (VNNI) need not saturate.
bool may_agree(const std::string& reason) {
  if (reason == "a random draw" || reason.starts_with("sums of floats, in an order")) return true;
  const bool has_vnni = __builtin_cpu_supports("avx512vnni") || __builtin_cpu_supports("avxvnni");
  return has_vnni && reason == "ONNX Runtime saturates pairs of u8 x s8 products";
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
  std::printf(
      "%zu models: %d agree, %d in sequences and maps, %zu deviate, %zu need a foreign operator, %zu are not run by "
      "ONNX Runtime\n",
      paths.size(), tally.agree + tally.agree_in_sequences_and_maps, tally.agree_in_sequences_and_maps,
      tally.deviations.size(), count_of(tally.foreign), count_of(tally.not_run_by_peer));
  print("foreign operators:", tally.foreign);
  print("not run by ONNX Runtime:", tally.not_run_by_peer);
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
    EXPECT_TRUE(tally.deviations.contains(name) || may_agree(reason)) << name << " agrees now: take it off the list";
}

}  // namespace
}  // namespace ingot
