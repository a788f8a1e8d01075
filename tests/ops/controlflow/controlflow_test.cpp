// If, Loop and Scan: what their bodies' types say of their outputs.
#include <gmock/gmock.h>

#include <chrono>

#include "ingot/ops/infer.h"
#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

/// A graph inside the case's graph, or inside another one.
struct Body {
  explicit Body(Graph& parent) : graph(std::make_unique<Graph>(&parent)), g(*graph, nullptr, false) {
    graph->name = "body";
  }
  Value* in(std::string_view type = {}) {
    return graph->add_input(graph->fresh_name("b"), type.empty() ? Type() : tensor_type(type));
  }
  Body& out(Value* value) {
    graph->add_output(value);
    return *this;
  }

  GraphPtr graph;
  GraphBuilder g;
};

Node* add(Graph& graph, std::string_view op, const Values& inputs, std::size_t outputs, const Attrs& attrs = {}) {
  return GraphBuilder(graph).node(op, "", inputs, attrs, outputs);
}

void hold(Node* node, const char* attribute, Body& body) {
  node->attributes.set(Attribute(attribute, AttrValue(std::move(body.graph))));
}

void infer(Node* node) {
  ops::InferSession session;
  ops::infer_node(*node, session);
}

std::string if_type(OpCase& c, Value* condition, const Values& yes, const Values& no) {
  Graph& graph = *c.model.graph;
  Body a(graph), b(graph);
  for (Value* v : yes) a.out(a.g.op("Identity", {v}));
  for (Value* v : no) b.out(b.g.op("Identity", {v}));
  Node* node = add(graph, "If", {condition}, 1);
  hold(node, "then_branch", a);
  hold(node, "else_branch", b);
  infer(node);
  return node->output()->type.str();
}

TEST(If, KeepsWhatBothBranchesSay) {
  OpCase c;
  Value* condition = c.in("bool");
  EXPECT_EQ(if_type(c, condition, {c.in("float[N,2]")}, {c.in("float[N,2]")}), "float[N,2]");
  EXPECT_EQ(if_type(c, condition, {c.in("float[N,2]")}, {c.in("float[N,3]")}), "float[N,?]");
  EXPECT_EQ(if_type(c, condition, {c.in("float[N,2]")}, {c.in("float[N]")}), "float[...]");
  EXPECT_EQ(if_type(c, condition, {c.in("float[2]")}, {c.in("?[2]")}), "float[2]");
}

TEST(If, TakesTheBranchOfAKnownCondition) {
  OpCase c;
  Value* yes = c.constant(Tensor::scalar<bool>(true));
  EXPECT_EQ(if_type(c, yes, {c.in("float[N,2]")}, {c.in("float[7]")}), "float[N,2]");
}

TEST(If, IgnoresWhatCannotRunInABranchThatNeverRuns) {
  OpCase c;
  Graph& graph = *c.model.graph;
  Value* x = c.in("float[5]");
  Body a(graph), b(graph);
  a.out(a.g.op("Identity", {x}));
  b.out(b.g.op("Squeeze", {x, c.ints({0})}));
  Node* node = add(graph, "If", {c.constant(Tensor::scalar<bool>(true))}, 1);
  hold(node, "then_branch", a);
  hold(node, "else_branch", b);
  infer(node);
  EXPECT_EQ(node->output()->type.str(), "float[5]");
}

TEST(If, RefusesBranchesThatDiffer) {
  OpCase c;
  Value* condition = c.in("bool");
  EXPECT_REFUSED(Code::inference_failed, if_type(c, condition, {c.in("float[2]")}, {c.in("int64[2]")}));
  EXPECT_REFUSED(Code::inference_failed, if_type(c, condition, {c.in("float[2]")}, {}));
  EXPECT_REFUSED(Code::inference_failed, infer(add(*c.model.graph, "If", {condition}, 1)));
}

TEST(If, GivesSizesInsideNamesOfItsOwn) {
  OpCase c;
  Graph& graph = *c.model.graph;
  std::vector<std::string> types;
  for (int i = 0; i < 2; ++i) {
    Body a(graph), b(graph);
    a.out(a.g.op("NonZero", {c.in("float[N]")}));
    a.graph->rename(a.graph->output(0), "found");  // names may repeat in graphs that do not see each other
    b.out(b.g.op("Identity", {c.in("int64[1,2]")}));
    Node* node = add(graph, "If", {c.constant(Tensor::scalar<bool>(true))}, 1);
    hold(node, "then_branch", a);
    hold(node, "else_branch", b);
    infer(node);
    types.push_back(node->output()->type.str());
  }
  EXPECT_NE(types[0], types[1]);
}

struct LoopCase {
  OpCase c;
  Graph& graph = *c.model.graph;
  Body body{graph};
  Value* counter = body.in("int64");
  Value* condition = body.in("bool");
};

TEST(Loop, CarriesTypesAndCountsRounds) {
  LoopCase l;
  Value* state = l.body.in();
  l.body.out(l.body.g.op("Identity", {l.condition})).out(l.body.g.op("Neg", {state})).out(l.body.g.op("Abs", {state}));
  Node* loop = add(l.graph, "Loop", {l.c.constant(Tensor::scalar<std::int64_t>(5)), nullptr, l.c.in("float[N,2]")}, 2);
  hold(loop, "body", l.body);
  infer(loop);
  EXPECT_EQ(loop->output(0)->type.str(), "float[N,2]");
  EXPECT_EQ(loop->output(1)->type.str(), "float[5,N,2]");
}

TEST(Loop, ForgetsSizesThatChange) {
  LoopCase l;
  Value *grows = l.body.in(), *stays = l.body.in();
  l.body.out(l.body.g.op("Identity", {l.condition}))
      .out(l.body.g.op("Concat", {grows, stays}, {{"axis", 0}}))
      .out(l.body.g.op("Identity", {stays}));
  Node* loop = add(l.graph, "Loop", {l.c.in("int64"), nullptr, l.c.in("float[0,3]"), l.c.in("float[1,3]")}, 2);
  hold(loop, "body", l.body);
  infer(loop);
  EXPECT_EQ(loop->output(0)->type.str(), "float[?,3]");
  EXPECT_EQ(loop->output(1)->type.str(), "float[1,3]");
}

TEST(Loop, DoesNotKnowTheRoundsOfAWhile) {
  LoopCase l;
  Value* state = l.body.in();
  l.body.out(l.body.g.op("Less", {state, state}))
      .out(l.body.g.op("Identity", {state}))
      .out(l.body.g.op("Neg", {state}));
  Node* loop = add(l.graph, "Loop", {l.c.constant(Tensor::scalar<std::int64_t>(5)), nullptr, l.c.in("float")}, 2);
  hold(loop, "body", l.body);
  infer(loop);
  EXPECT_EQ(loop->output(1)->type.str(), "float[" + loop->output(1)->name() + ".dim0]");
}

TEST(Loop, RefusesABodyThatDoesNotFit) {
  LoopCase l;
  l.body.out(l.body.g.op("Identity", {l.condition}));
  Node* loop = add(l.graph, "Loop", {nullptr, nullptr, l.c.in("float")}, 1);
  hold(loop, "body", l.body);
  EXPECT_REFUSED(Code::inference_failed, infer(loop));
  LoopCase typed;
  Value* state = typed.body.in();
  typed.body.out(typed.body.g.op("Identity", {typed.condition})).out(typed.body.g.op("Shape", {state}));
  Node* changes = add(typed.graph, "Loop", {nullptr, nullptr, typed.c.in("float")}, 1);
  hold(changes, "body", typed.body);
  EXPECT_REFUSED(Code::inference_failed, infer(changes));
}

// A loop around the graph's inner loop, to the given depth; each grows what it carries, so that passes repeat.
GraphPtr nested(Graph& parent, int depth) {
  Body body(parent);
  body.in("int64");
  Value *condition = body.in("bool"), *state = body.in();
  body.out(body.g.op("Identity", {condition}));
  Value* next = body.g.op("Unsqueeze", {state, body.g.ints({0})});
  if (depth > 0) {
    Node* inner = add(*body.graph, "Loop", {nullptr, nullptr, next}, 1);
    inner->attributes.set(Attribute("body", AttrValue(nested(*body.graph, depth - 1))));
    next = inner->output();
  }
  body.out(next);
  return std::move(body.graph);
}

TEST(Loop, NestedDeeplyTakesNoExponentialTime) {
  OpCase c;
  Node* loop = add(*c.model.graph, "Loop", {nullptr, nullptr, c.in("float[2]")}, 1);
  loop->attributes.set(Attribute("body", AttrValue(nested(*c.model.graph, 30))));
  const auto start = std::chrono::steady_clock::now();
  infer(loop);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(loop->output()->type.str(), "float[...]");
}

TEST(Scan, SlicesAndStacksAlongItsAxes) {
  OpCase c;
  Graph& graph = *c.model.graph;
  Body body(graph);
  Value *state = body.in(), *slice = body.in();
  Value* sum = body.g.add(state, slice);
  body.out(sum).out(body.g.op("Identity", {sum}));
  Node* scan = add(graph, "Scan", {c.in("float[4]"), c.in("float[4,T]")}, 2,
                   {{"num_scan_inputs", 1}, {"scan_input_axes", {1}}, {"scan_output_axes", {-1}}});
  hold(scan, "body", body);
  infer(scan);
  EXPECT_EQ(scan->output(0)->type.str(), "float[4]");
  EXPECT_EQ(scan->output(1)->type.str(), "float[4,T]");
  scan->attributes.set({"num_scan_inputs", 3});
  EXPECT_REFUSED(Code::inference_failed, infer(scan));
  scan->attributes.set({"num_scan_inputs", 1});
  scan->attributes.set({"scan_input_axes", {2}});
  EXPECT_REFUSED(Code::axis_out_of_range, infer(scan));
}

TEST(Scan, RanOverABatchInOpset8) {
  OpCase c(8);
  Graph& graph = *c.model.graph;
  Body body(graph);
  Value *state = body.in("float[2]"), *slice = body.in("float[2]");
  Value* sum = body.g.add(state, slice);
  body.out(sum).out(body.g.op("Identity", {sum}));
  Node* scan = add(graph, "Scan", {nullptr, c.in("float[B,2]"), c.in("float[B,3,2]")}, 2,
                   {{"num_scan_inputs", 1}, {"directions", {1}}});
  hold(scan, "body", body);
  for (Value* output : scan->outputs()) graph.add_output(output);
  c.convert(21);
  EXPECT_EQ(c.nodes(), "Scan");
  EXPECT_EQ(c.node("Scan").attributes.int_or("num_scan_inputs", 0), 2);
  c.model.opsets.set("", 21);
  c.convert(28);
  infer(&c.node("Scan"));
  EXPECT_EQ(c.type(0), "float[B,2]");
  EXPECT_EQ(c.type(1), "float[B,3,2]");
}

}  // namespace
}  // namespace ingot::test
