// Values by their names, while values come, go and change their names.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ingot/ir/graph.h"

namespace ingot {
namespace {

TEST(NameTable, TheFirstOfANameKeepsIt) {
  Graph graph;
  Value* first = graph.add_node("Relu")->add_output("x");
  graph.add_node("Abs")->add_output("x");
  EXPECT_EQ(graph.find("x"), first);
  graph.rename(first, "y");
  EXPECT_EQ(graph.find("x"), nullptr) << "the second never had it";
  EXPECT_EQ(graph.find("y"), first);
}

TEST(NameTable, FindsWhatAMapFinds) {
  std::mt19937 random(7);
  Graph graph;
  std::map<std::string, Node*> expected;
  const auto name = [&] { return std::to_string(random() % 300); };
  for (int step = 0; step < 20'000; ++step) {
    const std::string chosen = name();
    const auto known = expected.find(chosen);
    if (known == expected.end()) {
      Node* node = graph.add_node("Relu");
      node->add_output(chosen);
      expected[chosen] = node;
    } else if (random() % 2) {
      graph.erase(known->second);
      expected.erase(known);
    } else if (const std::string other = name(); !expected.contains(other)) {
      graph.rename(known->second->output(), other);
      expected[other] = known->second;
      expected.erase(known);
    }
    if (step % 100) continue;
    for (int i = 0; i < 300; ++i) {
      const auto it = expected.find(std::to_string(i));
      ASSERT_EQ(graph.find(std::to_string(i)), it == expected.end() ? nullptr : it->second->output());
    }
  }
}

}  // namespace
}  // namespace ingot
