// What goes when nobody reads it.
#include "ingot/ir/drop_unread.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

/// x -> a -> b and x -> y, of which y is the output; a weight that b alone reads.
struct Unread {
  Unread() {
    x = graph.add_input("x", Type::tensor(DType::f32, Shape{2}));
    w = graph.add_initializer("w", Tensor::of<float>({2}, {1, 2}));
    a = add("a", {x});
    b = add("b", {a, w});
    y = add("y", {x});
    graph.add_output(y);
  }

  Value* add(const std::string& name, const Values& inputs) {
    Node* node = graph.add_node("Op", "", nullptr);
    for (Value* v : inputs) node->add_input(v);
    return node->add_output(name);
  }

  Graph graph;
  Value *x, *w, *a, *b, *y;
};

TEST(DropUnread, TakesChainsAndTheirWeights) {
  Unread u;
  EXPECT_EQ(drop_unread(u.graph), 2u);
  EXPECT_EQ(u.graph.node_count(), 1u);
  EXPECT_TRUE(u.graph.initializers().empty());
  EXPECT_EQ(u.graph.inputs().size(), 1u);
}

TEST(DropUnread, WhatIsKeptCountsAsRead) {
  Unread u;
  EXPECT_EQ(drop_unread(u.graph, [&](const Value& v) { return &v == u.a; }), 1u);
  EXPECT_NE(u.graph.find("a"), nullptr);
  EXPECT_EQ(u.graph.find("b"), nullptr);
  EXPECT_TRUE(u.graph.initializers().empty());
}

}  // namespace
}  // namespace ingot
