// Names that a graph makes up: unlike all others in its tree of graphs.
#include <gtest/gtest.h>

#include "ingot/ir/model.h"

namespace ingot {
namespace {

TEST(FreshName, AvoidsTheNamesOfOuterAndInnerGraphs) {
  Graph outer;
  outer.add_input("x");
  Node* node = outer.add_node("If");
  node->add_output("y");
  auto branch = std::make_unique<Graph>(&outer);
  branch->add_node("Relu")->add_output("z");
  Graph& inner = *branch;
  node->attributes.append({"then_branch", AttrValue(std::move(branch))});
  EXPECT_EQ(outer.fresh_name("z"), "z_1");
  EXPECT_EQ(inner.fresh_name("x"), "x_1");
  EXPECT_EQ(inner.fresh_name("y"), "y_1");
  EXPECT_EQ(inner.fresh_name("w"), "w");
}

TEST(FreshName, KnowsWhatCameAndWentSinceTheFirst) {
  Graph graph;
  graph.add_node("Relu")->add_output("a");
  EXPECT_EQ(graph.fresh_name("b"), "b");
  Node* node = graph.add_node("If");
  node->add_output("b");
  auto branch = std::make_unique<Graph>(&graph);
  branch->add_node("Relu")->add_output("c");
  node->attributes.append({"then_branch", AttrValue(std::move(branch))});
  EXPECT_EQ(graph.fresh_name("b"), "b_1");
  EXPECT_EQ(graph.fresh_name("c"), "c_1");
  graph.erase(node);
  EXPECT_EQ(graph.fresh_name("b"), "b");
  EXPECT_EQ(graph.fresh_name("c"), "c");
}

TEST(FreshName, AvoidsTheNamesOfTrainingGraphs) {
  Model model;
  model.graph->add_input("x");
  model.training.emplace_back().algorithm = std::make_unique<Graph>(model.graph.get());
  model.training[0].algorithm->add_input("t");
  EXPECT_EQ(model.graph->fresh_name("t"), "t_1");
  EXPECT_EQ(model.training[0].algorithm->fresh_name("x"), "x_1");
}

}  // namespace
}  // namespace ingot
