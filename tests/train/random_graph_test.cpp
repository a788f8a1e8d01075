// Gradients of random graphs of many operators, along random directions.
#include "tests/train/random_graph.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/train/gradcheck.h"

namespace ingot {
namespace {

using test::RandomGraph;

/// The checks that fail at this point and at others nearby: one point may lie beside a kink.
std::vector<train::GradientCheck> failures(const RandomGraph& graph, std::size_t& checked) {
  std::vector<train::GradientCheck> wrong;
  for (train::GradientCheck check :
       train::check_gradients(graph.model(), graph.inputs(), {.seed = 1, .jitter = 0, .wrt = {}})) {
    for (std::uint64_t seed = 2; seed < 6 && !check.passed(); ++seed) {
      const auto again =
          train::check_gradients(graph.model(), graph.inputs(), {.seed = seed, .jitter = 0.05, .wrt = {check.input}});
      if (!again.empty()) check = again.front();
    }
    ++checked;
    if (!check.passed()) wrong.push_back(check);
  }
  return wrong;
}

TEST(RandomGraphs, GradientsEqualCentralDifferences) {
  const char* asked = std::getenv("INGOT_RANDOM_GRAPHS");
  const std::uint64_t count = asked ? std::strtoull(asked, nullptr, 10) : 2000;
  std::size_t checked = 0, nodes = 0;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    try {
      const RandomGraph graph(seed);
      nodes += graph.model().graph->node_count();
      for (const train::GradientCheck& check : failures(graph, checked))
        ADD_FAILURE() << "graph " << seed << " by '" << check.input << "': gradient " << check.analytic
                      << ", differences " << check.numeric << "\n"
                      << onnx::to_text(graph.model(), onnx::TextOptions::for_people());
    } catch (const Error& error) {
      ADD_FAILURE() << "graph " << seed << ": " << error.what();
    }
  }
  EXPECT_GT(checked, count);
  std::cout << count << " graphs of " << nodes << " nodes, " << checked << " derivatives\n";
}

}  // namespace
}  // namespace ingot
