// The minimum cut against all cuts of small random networks.
#include "ingot/passes/layout/min_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace ingot::passes {
namespace {

struct Network {
  struct Edge {
    int from, to;  // -1: source, -2: sink
    std::int64_t capacity;
  };
  int vertices;
  std::vector<Edge> edges;

  std::int64_t cost(unsigned on_source_side) const {
    const auto is_source = [&](int v) { return v == -1 || (v >= 0 && (on_source_side >> v & 1U)); };
    std::int64_t total = 0;
    for (const Edge& e : edges) total += is_source(e.from) && !is_source(e.to) ? e.capacity : 0;
    return total;
  }
};

Network random_network(std::mt19937& random) {
  Network n;
  n.vertices = 1 + static_cast<int>(random() % 9);
  const auto vertex = [&] { return static_cast<int>(random() % static_cast<unsigned>(n.vertices)); };
  const unsigned count = static_cast<unsigned>(random() % 24);
  for (unsigned i = 0; i < count; ++i) {
    const auto capacity = static_cast<std::int64_t>(random() % 10);
    switch (random() % 4) {
      case 0:
        n.edges.push_back({-1, vertex(), capacity});
        break;
      case 1:
        n.edges.push_back({vertex(), -2, capacity});
        break;
      default:
        n.edges.push_back({vertex(), vertex(), capacity});
    }
  }
  return n;
}

TEST(MinCut, NoCutIsCheaper) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Network n = random_network(random);
    MinCut cut;
    for (int v = 0; v < n.vertices; ++v) cut.add_vertex();
    for (const Network::Edge& e : n.edges) {
      if (e.from == -1)
        cut.add_source_edge(e.to, e.capacity);
      else if (e.to == -2)
        cut.add_sink_edge(e.from, e.capacity);
      else
        cut.add_edge(e.from, e.to, e.capacity);
    }
    const std::int64_t cost = cut.solve();
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (unsigned side = 0; side < (1U << n.vertices); ++side) least = std::min(least, n.cost(side));
    EXPECT_EQ(cost, least) << "round " << round;
    unsigned chosen = 0;
    for (int v = 0; v < n.vertices; ++v) chosen |= cut.on_source_side(v) ? 1U << v : 0;
    EXPECT_EQ(n.cost(chosen), least) << "the sides do not have the cost, round " << round;
  }
}

TEST(MinCut, VerticesTiedToNothingAreFree) {
  MinCut cut;
  const int a = cut.add_vertex(), b = cut.add_vertex();
  cut.add_source_edge(a, 3);
  EXPECT_EQ(cut.solve(), 0);
  EXPECT_TRUE(cut.on_source_side(a));
  EXPECT_TRUE(cut.is_free(b));
}

}  // namespace
}  // namespace ingot::passes
