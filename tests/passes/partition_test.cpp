// Parts of a model: none waits for another in a circle, few there are, and little passes between them.
#include "ingot/passes/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"
#include "tests/support/refusal.h"

namespace ingot::passes {
namespace {

Pieces drawn(std::mt19937& draw, std::size_t nodes, std::size_t colours, double density) {
  Pieces pieces;
  for (std::size_t i = 0; i < nodes; ++i) {
    pieces.colours.push_back(draw() % colours);
    const std::size_t value = pieces.bytes.size();
    pieces.bytes.push_back(1 + draw() % 9);
    for (std::size_t before = 0; before < i; ++before)
      if (static_cast<double>(draw() % 1000) < density * 1000) pieces.edges.push_back({before, i, before});
    (void)value;
  }
  return pieces;
}

void expect_runnable(const Pieces& pieces, const Division& division) {
  ASSERT_EQ(division.part_of.size(), pieces.colours.size());
  for (std::size_t i = 0; i < pieces.colours.size(); ++i)
    EXPECT_EQ(division.colours.at(division.part_of[i]), pieces.colours[i]);
  for (const auto& e : pieces.edges) EXPECT_LE(division.part_of[e.from], division.part_of[e.to]);
}

/// The least (parts, bytes) over all ways to put nodes into groups of one colour that do not wait in a circle.
std::pair<std::size_t, std::uint64_t> by_brute_force(const Pieces& pieces) {
  const std::size_t count = pieces.colours.size();
  std::pair<std::size_t, std::uint64_t> best{count + 1, 0};
  std::vector<std::size_t> group(count, 0);
  const std::function<void(std::size_t, std::size_t)> place = [&](std::size_t node, std::size_t groups) {
    if (groups > best.first) return;
    if (node < count) {
      for (std::size_t g = 0; g <= groups; ++g) {
        bool fits = true;
        for (std::size_t i = 0; i < node; ++i) fits &= group[i] != g || pieces.colours[i] == pieces.colours[node];
        if (!fits) continue;
        group[node] = g;
        place(node + 1, std::max(groups, g + 1));
      }
      return;
    }
    std::set<std::pair<std::size_t, std::size_t>> links;
    for (const auto& e : pieces.edges)
      if (group[e.from] != group[e.to]) links.emplace(group[e.from], group[e.to]);
    std::set<std::size_t> left;
    for (std::size_t g = 0; g < groups; ++g) left.insert(g);
    for (bool changed = true; changed && !left.empty();) {
      changed = false;
      for (const std::size_t g : std::set<std::size_t>(left)) {
        bool waits = false;
        for (const auto& [from, to] : links) waits |= to == g && left.contains(from);
        if (!waits) {
          left.erase(g);
          changed = true;
        }
      }
    }
    if (!left.empty()) return;
    Division division;
    division.part_of = group;
    best = std::min(best, {groups, crossing_bytes(pieces, division)});
  };
  place(0, 0);
  return best;
}

TEST(Partition, IsTheBestThereIsOnSmallGraphs) {
  std::mt19937 draw(11);
  for (int round = 0; round < 150; ++round) {
    const Pieces pieces = drawn(draw, 2 + draw() % 6, 2 + draw() % 2, 0.4);
    const Division division = divide(pieces);
    expect_runnable(pieces, division);
    const auto [parts, bytes] = by_brute_force(pieces);
    EXPECT_EQ(division.colours.size(), parts) << "round " << round;
    EXPECT_EQ(crossing_bytes(pieces, division), bytes) << "round " << round;
  }
}

TEST(Partition, PartsNeverWaitInACircle) {
  std::mt19937 draw(5);
  for (int round = 0; round < 200; ++round) {
    Pieces pieces = drawn(draw, 40, 3, 0.08);
    if (round % 3 == 0) {
      for (std::size_t i = 0; i < pieces.colours.size(); ++i) pieces.weights.push_back(draw() % 50);
      pieces.limits = {100, 0, 60};
    }
    expect_runnable(pieces, divide(pieces));
  }
}

TEST(Partition, LargeGraphsTakeLittleTime) {
  std::mt19937 draw(3);
  Pieces pieces;
  constexpr std::size_t kNodes = 10000;
  for (std::size_t i = 0; i < kNodes; ++i) {
    pieces.colours.push_back(draw() % 4 == 0);
    pieces.bytes.push_back(draw() % 1000);
    for (int k = 0; k < 2 && i; ++k) {
      const std::size_t from = i - 1 - draw() % std::min<std::size_t>(i, 20);
      pieces.edges.push_back({from, i, from});
    }
  }
  const std::clock_t start = std::clock();
  const Division division = divide(pieces);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 1);
  expect_runnable(pieces, division);
}

PartitionTarget table(std::map<std::string, std::vector<OperatorRule>> operators) {
  PartitionTarget target;
  target.name = "npu";
  target.operators = std::move(operators);
  return target;
}

Model parse(const std::string& graph) {
  Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph, ".", {});
  infer(model);
  return model;
}

TEST(Partition, SaysWhyANodeFallsBack) {
  const Model model = parse(
      "g (float[2,3] x, float[N] d, float16[2] h) => (float[2,3] a, float[N] b, float16[2] c, float[3,2] t) "
      "{ [n1] a = Softmax<axis = 0>(x) [n2] b = Relu(d) [n3] c = Relu(h) [n4] t = Transpose(x) }");
  OperatorRule relu, softmax, transpose;
  relu.types = {DType::f32};
  softmax.attributes["axis"] = {"-1", "1"};
  transpose.least_rank = transpose.most_rank = 4;
  PartitionTarget npu = table({{"Relu", {relu}}, {"Softmax", {softmax}}, {"Transpose", {transpose}}});
  npu.needs_static_shapes = true;
  PartitionTarget rest;
  rest.name = "rest";
  rest.takes_all = true;
  const Partition made = partition(model, {{npu, rest}, 1});
  std::map<std::string, std::string> codes;
  for (const auto& node : made.nodes)
    for (const auto& [target, why] : node.refusals) codes[node.node] = why.code;
  EXPECT_EQ(codes["node 'n1'"], "UNSUPPORTED_NODE_ATTR");
  EXPECT_EQ(codes["node 'n2'"], "UNSUPPORTED_NODE_DYNAMIC");
  EXPECT_EQ(codes["node 'n3'"], "UNSUPPORTED_NODE_DATATYPE");
  EXPECT_EQ(codes["node 'n4'"], "UNSUPPORTED_NODE_SHAPE");
  EXPECT_EQ(made.parts.size(), 1u);
}

TEST(Partition, MakesModelsThatFollowEachOther) {
  const Model model = parse("g (float[4] x) => (float[4] y) { a = Relu(x) b = Exp(a) c = Relu(b) y = Add(c, a) }");
  PartitionTarget rest;
  rest.name = "rest";
  rest.takes_all = true;
  const Partition made = partition(model, {{table({{"Relu", {OperatorRule{}}}, {"Add", {OperatorRule{}}}}), rest}, 1});
  ASSERT_EQ(made.parts.size(), 3u);
  EXPECT_EQ(made.parts[0].target, "npu");
  EXPECT_EQ(made.parts[1].target, "rest");
  EXPECT_EQ(made.parts[1].model.graph->node_count(), 1u);
  EXPECT_EQ(made.parts[2].model.graph->output(0)->name(), "y");
  EXPECT_EQ(made.crossing, 3u * 16);  // a to two parts, b to one
  const Partition whole = partition(model, {{table({{"Relu", {OperatorRule{}}}}), rest}, 3});
  EXPECT_EQ(whole.parts.size(), 1u);
}

TEST(Partition, RefusesWhatNoTargetRuns) {
  const Model model = parse("g (float[4] x) => (float[4] y) { a = Relu(x) y = Exp(a) }");
  EXPECT_REFUSED(Code::unsupported_feature, partition(model, {{table({{"Relu", {OperatorRule{}}}})}, 1}));
}

}  // namespace
}  // namespace ingot::passes
