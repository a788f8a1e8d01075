// The transposes that are left in each convolutional network of the corpus, and why each is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/ir/model.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

bool is_one_of(const std::string& op, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, std::string_view(op)) != all.end();
}

/// Operators that keep every element in its place: a layout passes through them.
bool is_elementwise(const Node& node) {
  return node.op != "Transpose" && is_one_of(node.op, {"Add", "Cast", "Clip", "DequantizeLinear", "Div", "Mul", "Pad",
                                                       "QuantizeLinear", "Relu", "Sub", "Sigmoid", "Identity"});
}

bool comes_from_input(const Value* value) {
  for (int steps = 0; value && steps < 8; ++steps) {
    if (value->is_input()) return true;
    const Node* node = value->producer();
    if (!node || !is_elementwise(*node)) return false;
    value = node->input(0);
  }
  return false;
}

bool goes_to_output(const Value* value) {
  for (int steps = 0; steps < 8; ++steps) {
    const auto uses = value->uses();
    if (std::ranges::any_of(uses, [](const Use& u) { return !u.node; })) return true;
    if (uses.size() != 1 || !is_elementwise(*uses.front().node)) return false;
    value = uses.front().node->output(0);
  }
  return false;
}

/// Whether the axes get another meaning here, so that a layout cannot go on.
bool mixes_axes(const Node& node) {
  return is_one_of(node.op, {"Reshape",
                             "Flatten",
                             "Squeeze",
                             "Unsqueeze",
                             "MatMul",
                             "Gemm",
                             "Gather",
                             "GatherND",
                             "Expand",
                             "Split",
                             "Slice",
                             "Concat",
                             "Loop",
                             "If",
                             "Scan",
                             "LSTM",
                             "ConcatFromSequence",
                             "NonMaxSuppression",
                             "DepthToSpace",
                             "ScatterND",
                             "Tile",
                             "ArgMax",
                             "TopK"});
}

/// The operator that gives the axes another meaning before or behind, seen through elementwise ones; null: none.
const Node* mixing_before(const Node& node) {
  const Node* before = node.input(0)->producer();
  for (int steps = 0; before && is_elementwise(*before) && steps < 8; ++steps)
    before = before->input(0) ? before->input(0)->producer() : nullptr;
  return before && mixes_axes(*before) ? before : nullptr;
}
const Node* mixing_behind(const Node& node) {
  std::vector<const Value*> values{node.output(0)};
  for (std::size_t i = 0; i < values.size() && i < 16; ++i)
    for (const Use& use : values[i]->uses()) {
      if (use.node && mixes_axes(*use.node)) return use.node;
      if (use.node && is_elementwise(*use.node)) values.push_back(use.node->output(0));
    }
  return nullptr;
}

std::string reason(const Node& node) {
  for (const auto& [key, value] : node.metadata)
    if (key == "ingot.source_op" && value == "TRANSPOSE") return "the model's own";
  if (comes_from_input(node.input(0))) return "input";
  if (goes_to_output(node.output(0))) return "output";
  if (const Node* behind = mixing_behind(node)) return "before " + behind->op;
  if (const Node* before = mixing_before(node)) return "behind " + before->op;
  const Node* before = node.input(0)->producer();
  const auto uses = node.output(0)->uses();
  return "between " + (before ? before->op : "") + " and " + (uses.empty() ? "" : uses.front().node->op);
}

/// "2: input 1, output 1"; nothing for a network without convolutions.
std::optional<std::string> transposes_of(const std::string& path) {
  const driver::Loaded loaded = driver::load(path);
  std::map<std::string, int> reasons;
  int count = 0;
  bool is_convolutional = false;
  for (const GraphPlace& place : all_graphs(loaded.model))
    for (const Node& node : place.graph->nodes()) {
      is_convolutional |= node.is("Conv") || node.is("ConvTranspose");
      if (!node.is("Transpose")) continue;
      ++count;
      ++reasons[reason(node)];
    }
  if (!is_convolutional) return std::nullopt;
  std::string text = std::to_string(count);
  const char* separator = ": ";
  for (const auto& [why, times] : reasons) {
    text += separator + why + " " + std::to_string(times);
    separator = ", ";
  }
  return text;
}

std::vector<fs::path> models(const fs::path& corpus) {
  std::vector<fs::path> found;
  for (const char* place : {"tflite", "tfjs", "frozen_pb", "savedmodel"})
    for (const auto& entry : fs::recursive_directory_iterator(corpus / place)) {
      const fs::path& path = entry.path();
      if (!entry.is_regular_file() || path.string().find("dl4j") != std::string::npos) continue;
      if (path.filename() == "saved_model.pb")
        found.push_back(path.parent_path());
      else if (path.extension() == ".tflite" || path.extension() == ".json" || path.extension() == ".pb" ||
               (std::string_view(place) == "tflite" && path.extension() == ".bin"))
        found.push_back(path);
    }
  std::ranges::sort(found);
  return found;
}

TEST(Transposes, AreFewInEveryConvolutionalNetworkOfTheCorpus) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "no shared test data";
  const fs::path corpus = *shared / "corpus";
  std::map<std::string, std::string> expected, found;
  std::istringstream lines(test::read_text(test::source_dir() / "tests/frontends/transposes.txt"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line[0] != '#') expected[line.substr(0, line.find(": "))] = line.substr(line.find(": ") + 2);
  for (const fs::path& path : models(corpus)) {
    try {
      if (const auto text = transposes_of(path.string())) found[fs::relative(path, corpus).string()] = *text;
    } catch (const Error&) {
      // what cannot be converted is the subject of other tests
    }
  }
  for (const auto& [model, text] : found) {
    const auto line = expected.find(model);
    if (line == expected.end())
      ADD_FAILURE() << model << ": " << text << "   (not in transposes.txt)";
    else
      EXPECT_EQ(text, line->second) << model;
  }
  for (const auto& [model, text] : expected) EXPECT_TRUE(found.contains(model)) << model << " is not in the corpus";
}

}  // namespace
}  // namespace ingot
