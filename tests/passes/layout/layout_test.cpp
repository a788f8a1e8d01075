// Which transposes the layout pass leaves, and that what it leaves still fits together.
#include "ingot/passes/layout/layout.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "ingot/onnx/text.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

Model parsed(const std::string& graph) {
  Model model = onnx::parse_text("<ir_version: 13, opset_import: [\"\" : 28]>\n" + graph, ".", {});
  infer(model);
  return model;
}

std::string operators(const Graph& graph) {
  std::string text;
  for (const Node& n : graph.nodes()) text += (text.empty() ? "" : " ") + n.op;
  return text;
}

/// Types that inference finds again must be those that the pass wrote.
void expect_types_hold(Model& model) {
  std::vector<std::pair<const Value*, Type>> before;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      for (const Value* v : node.outputs())
        if (v) before.emplace_back(v, v->type);
  InferOptions options;
  infer(model, options);
  for (const auto& [value, type] : before) EXPECT_EQ(value->type.str(), type.str()) << value->name();
  check_invariants(model);
}

constexpr const char* kFirst = "<perm = [0, 3, 1, 2]>";
constexpr const char* kLast = "<perm = [0, 2, 3, 1]>";

TEST(Layout, AChainOfConvolutionsKeepsOneTransposeAtEachEnd) {
  Model m =
      parsed(std::string("g (float[1,8,8,3] x, float[4,3,1,1] w, float[4,4,1,1] v) => (float[1,8,8,4] y) {") +
             "a = Transpose" + kFirst + "(x)\n b = Conv(a, w)\n c = Transpose" + kLast + "(b)\n d = Relu(c)\n" +
             "e = Transpose" + kFirst + "(d)\n f = Conv(e, v)\n h = Transpose" + kLast + "(f)\n y = Sigmoid(h) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_before, 4U);
  EXPECT_EQ(report.transposes_after, 2U);
  EXPECT_EQ(m.graph->output(0)->name(), "y");
  EXPECT_EQ(m.graph->output(0)->type.str(), "float[1,8,8,4]");
  expect_types_hold(m);
}

TEST(Layout, NodesThatLackInputsStayAsTheyAre) {
  const Model m =
      parsed("g (float[1,4,8,8] x) => (float[1,4,8,8] y, int64[1,1,8,8] z) { y = Relu(x) z = ArgMax<axis = 1>(x) }");
  for (Node& node : m.graph->nodes()) node.set_input(0, nullptr);
  EXPECT_NO_THROW(choose_layout(*m.graph));
  for (Node& node : m.graph->nodes()) node.resize_inputs(0);
  EXPECT_NO_THROW(choose_layout(*m.graph));
}

TEST(Layout, AResidualNetworkHasNoTransposeInside) {
  Model m =
      parsed(std::string("g (float[N,8,8,4] x, float[4,4,3,3] w) => (float[N,4] y) {") +  //
             "a = Transpose" + kFirst + "(x)\n b = Conv<pads = [1,1,1,1]>(a, w)\n c = Transpose" + kLast + "(b)\n" +
             "d = Add(c, x)\n e = Relu(d)\n" +  //
             "f = Transpose" + kFirst + "(e)\n h = Conv<pads = [1,1,1,1]>(f, w)\n i = Transpose" + kLast + "(h)\n" +
             "j = Add(i, e)\n axes = Constant<value_ints = [1, 2]>()\n y = ReduceMean<keepdims = 0>(j, axes) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_after, 1U) << operators(*m.graph);  // of the input
  expect_types_hold(m);
}

TEST(Layout, AUNetHasNoTransposeInside) {
  // Down by pooling, up by resizing, joined by the channels of the last axis.
  Model m = parsed(
      std::string(
          "g (float[1,8,8,4] x, float[4,4,3,3] w, float[2,8,1,1] v, float[0] roi) => (float[1,8,8,2] y) <float[4] "
          "scales = {1, 2, 2, 1}> {") +
      "a = Transpose" + kFirst + "(x)\n b = Conv<pads = [1,1,1,1]>(a, w)\n c = Transpose" + kLast + "(b)\n" +
      "d = Transpose" + kFirst + "(c)\n e = MaxPool<kernel_shape = [2,2], strides = [2,2]>(d)\n f = Transpose" + kLast +
      "(e)\n g = Resize<mode = \"nearest\">(f, roi, scales)\n" +
      "h = Concat<axis = 3>(c, g)\n i = Relu(h)\n j = Transpose" + kFirst + "(i)\n k = Conv(j, v)\n y = Transpose" +
      kLast + "(k) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_before, 6U);
  EXPECT_EQ(report.transposes_after, 2U) << operators(*m.graph);
  expect_types_hold(m);
}

TEST(Layout, SqueezeAndExcitationBroadcastsInEitherLayout) {
  Model m = parsed(std::string("g (float[1,4,8,8] x, float[4,4,1,1] w) => (float[1,4,8,8] y) {") +
                   "b = Conv(x, w)\n c = Transpose" + kLast + "(b)\n axes = Constant<value_ints = [1, 2]>()\n" +
                   "d = ReduceMean(c, axes)\n e = Sigmoid(d)\n f = Mul(c, e)\n y = Transpose" + kFirst + "(f) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_after, 0U) << operators(*m.graph);
  EXPECT_EQ(operators(*m.graph), "Conv Constant ReduceMean Sigmoid Mul");
  EXPECT_EQ(m.graph->output(0)->name(), "y");
  expect_types_hold(m);
}

TEST(Layout, AxesAreMovedWithTheData) {
  Model m = parsed(
      std::string("g (float[1,4,8,6] x) => (float[1,8,5,4] y) {") +
      "b = MaxPool<kernel_shape = [1,1]>(x)\n c = Transpose" + kLast + "(b)\n s = Constant<value_ints = [1]>()\n" +
      "e = Constant<value_ints = [6]>()\n axis = Constant<value_ints = [2]>()\n d = Slice(c, s, e, axis)\n" +
      "f = Softmax<axis = 3>(d)\n h = Transpose" + kFirst +
      "(f)\n i = MaxPool<kernel_shape = [1,1]>(h)\n y = " + "Transpose" + kLast + "(i) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_after, 1U);
  for (const Node& n : m.graph->nodes()) EXPECT_EQ(n.attributes.int_or("axis", 1), 1) << n.op;
  expect_types_hold(m);
}

TEST(Layout, ReadersOfTheShapeStillSeeIt) {
  Model m =
      parsed(std::string("g (float[N,4,8,6] x) => (float[N,8,6,4] y, int64[4] s) {") +
             "b = MaxPool<kernel_shape = [1,1]>(x)\n c = Transpose" + kLast + "(b)\n d = Relu(c)\n s = Shape(d)\n" +
             "h = Transpose" + kFirst + "(d)\n i = MaxPool<kernel_shape = [1,1]>(h)\n y = Transpose" + kLast + "(i) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_after, 1U);
  EXPECT_EQ(m.graph->output(1)->name(), "s");
  EXPECT_EQ(m.graph->output(1)->producer()->op, "Gather");
  expect_types_hold(m);
}

TEST(Layout, LoopStateHasOneLayoutInsideAndOutside) {
  Model m =
      parsed(std::string("g (float[1,4,8,6] x, int64 n) => (float[1,4,8,6] y) {") +
             "b = MaxPool<kernel_shape = [1,1]>(x)\n c = Transpose" + kLast + "(b)\n" +
             "t = Constant<value = bool {1}>()\n r = Loop<body = body (int64 i, bool go, float[1,8,6,4] s) => (bool "
             "go_on, float[1,8,6,4] next) { go_on = Identity(go)\n p = Transpose" +
             kFirst + "(s)\n q = MaxPool<kernel_shape = [1,1]>(p)\n next = Transpose" + kLast + "(q) }>(n, t, c)\n" +
             "y = Transpose" + kFirst + "(r) }");
  const LayoutReport report = choose_layout(*m.graph);
  EXPECT_EQ(report.transposes_before, 4U);
  EXPECT_EQ(report.transposes_after, 0U);
  expect_types_hold(m);
}

TEST(Layout, ANodeWantedWithChannelsLastMovesToItsDomain) {
  Model m = parsed(
      "g (float[1,3,8,8] x, float[4,3,1,1] w, float[4,4,1,1] v) => (float[1,4,8,8] y) <float[4,1,1] b = {1, 2, 3, 4}> {"
      "a = Conv(x, w)\n c = Add(a, b)\n d = Relu(c)\n y = Conv(d, v) }");
  LayoutOptions options;
  options.wanted = [](const Node&) { return Layout::channels_last; };
  const LayoutReport report = choose_layout(*m.graph, options);
  EXPECT_EQ(operators(*m.graph), "Transpose Conv Add Relu Conv Transpose");
  EXPECT_EQ(report.transposes_after, 2U);
  EXPECT_EQ(m.graph->output(0)->type.str(), "float[1,4,8,8]");
  EXPECT_EQ(m.graph->first()->next()->domain, kChannelsLastDomain);
  check_invariants(m);
}

TEST(Layout, ConstantDataOfAConvolutionMovesToo) {
  Model m =
      parsed("g (float[1,2,1,1] w) => (float[1,1,1,3] y) <float[1,2,1,3] x = {1, 2, 3, 4, 5, 6}> { y = Conv(x, w) }");
  LayoutOptions options;
  options.wanted = [](const Node&) { return Layout::channels_last; };
  choose_layout(*m.graph, options);
  const Node& conv = *m.graph->first();
  ASSERT_EQ(conv.op, "Conv");
  ASSERT_TRUE(conv.input(0)->initializer);
  EXPECT_EQ(conv.input(0)->initializer->dims(), (Dims{1, 1, 3, 2}));
  EXPECT_EQ(conv.input(0)->initializer->to_doubles(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(Layout, InputsAndOutputsChangeOnRequestOnly) {
  Model m = parsed("g (float[1,3,8,8] x, float[4,3,1,1] w) => (float[1,4,8,8] y) { y = Conv(x, w) }");
  EXPECT_TRUE(set_input_layout(*m.graph, 0, Layout::channels_first, Layout::channels_last));
  EXPECT_TRUE(set_output_layout(*m.graph, 0, Layout::channels_first, Layout::channels_last));
  EXPECT_EQ(m.graph->inputs()[0]->type.str(), "float[1,8,8,3]");
  EXPECT_EQ(m.graph->output(0)->name(), "y");
  EXPECT_EQ(m.graph->output(0)->type.str(), "float[1,8,8,4]");
  LayoutOptions options;
  options.wanted = [](const Node&) { return Layout::channels_last; };
  EXPECT_EQ(choose_layout(*m.graph, options).transposes_after, 0U);
}

/// A random network beside the plain list of its choices.
struct Choices {
  struct Op {
    int fixed;  // 0 first, 1 last, -1: free
    std::vector<int> reads, makes;
  };
  std::vector<Op> ops;
  std::vector<std::int64_t> bytes;  // per value

  std::int64_t cost(unsigned labels) const {
    std::vector<int> label;
    int bit = 0;
    for (const Op& op : ops) label.push_back(op.fixed >= 0 ? op.fixed : static_cast<int>(labels >> bit++ & 1U));
    std::int64_t total = 0;
    for (std::size_t v = 0; v < bytes.size(); ++v) {
      int made = -1;
      bool is_copied = false;
      for (std::size_t i = 0; i < ops.size(); ++i)
        if (std::ranges::count(ops[i].makes, static_cast<int>(v))) made = label[i];
      for (std::size_t i = 0; i < ops.size(); ++i)
        is_copied |= std::ranges::count(ops[i].reads, static_cast<int>(v)) && label[i] != made;
      total += is_copied ? bytes[v] : 0;
    }
    return total;
  }
  std::int64_t least() const {
    const auto open = std::ranges::count(ops, -1, &Op::fixed);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    for (unsigned labels = 0; labels < (1U << open); ++labels) best = std::min(best, cost(labels));
    return best;
  }
};

/// Channels last, with transposes around each pooling; up to 12 values.
Choices random_network(Graph& graph, std::mt19937& random) {
  Choices choices;
  std::vector<Value*> values;
  GraphBuilder g(graph);
  const auto bytes = [](const Value* v) {
    std::int64_t n = 4;
    for (const Dim& d : *v->type.shape) n *= d.value();
    return n;
  };
  const auto add = [&](Value* v, int fixed, std::vector<int> reads) {
    choices.ops.push_back({fixed, std::move(reads), {static_cast<int>(values.size())}});
    choices.bytes.push_back(bytes(v));
    values.push_back(v);
  };
  for (int i = 0; i < 2; ++i) {
    const auto channels = static_cast<std::int64_t>(2 + random() % 3);
    Shape shape{1, 4, 4, channels};
    add(graph.add_input("x" + std::to_string(i), Type::tensor(DType::f32, shape)), 1, {});
  }
  const std::size_t count = 4 + random() % 7;
  while (values.size() < count) {
    const int a = static_cast<int>(random() % values.size()), b = static_cast<int>(random() % values.size());
    Value *x = values[static_cast<std::size_t>(a)], *y = values[static_cast<std::size_t>(b)];
    switch (random() % 5) {
      case 0:
      case 1: {
        Value* first = g.transpose(x, {0, 3, 1, 2});
        Value* pooled = g.op("MaxPool", {first}, {{"kernel_shape", {1, 1}}});
        add(g.transpose(pooled, {0, 2, 3, 1}), 0, {a});
        break;
      }
      case 2:
        add(g.op("Relu", {x}), -1, {a});
        break;
      case 3:
        add(g.concat({x, y}, 3), -1, {a, b});
        break;
      default:
        if (!same(x->type.shape->back(), y->type.shape->back())) break;
        add(g.add(x, y), -1, {a, b});
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]->uses().empty() || random() % 6 == 0) {
      graph.add_output(values[i]);
      choices.ops.push_back({1, {static_cast<int>(i)}, {}});
    }
  return choices;
}

TEST(Layout, NoLabellingOfARandomNetworkIsCheaper) {
  std::mt19937 random(7);
  std::size_t networks = 0, improved = 0;
  for (int round = 0; round < 1000; ++round) {
    Model m;
    m.ir_version = 13;
    m.opsets.set("", 28);
    const Choices choices = random_network(*m.graph, random);
    const LayoutReport report = choose_layout(*m.graph);
    ASSERT_EQ(report.cost, choices.least()) << "round " << round;
    ASSERT_EQ(static_cast<std::int64_t>(report.bytes_after), report.cost) << "round " << round;
    ++networks;
    improved += report.bytes_after < report.bytes_before;
    expect_types_hold(m);
  }
  std::printf("%zu random networks, %zu with fewer bytes moved\n", networks, improved);
}

double seconds_for(int blocks) {
  Model m;
  m.ir_version = 13;
  m.opsets.set("", 28);
  GraphBuilder g(*m.graph);
  Value* x = m.graph->add_input("x", Type::tensor(DType::f32, Shape{1, 8, 8, 4}));
  for (int i = 0; i < blocks; ++i) {
    Value* first = g.transpose(x, {0, 3, 1, 2});
    Value* y = g.op("MaxPool", {first}, {{"kernel_shape", {1, 1}}});
    y = g.transpose(y, {0, 2, 3, 1});
    y = g.op("Relu", {y});
    x = g.add(x, y);
  }
  m.graph->add_output(x);
  const auto start = std::chrono::steady_clock::now();
  const LayoutReport report = choose_layout(*m.graph);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(report.transposes_after, 2U);
  return time.count();
}

TEST(Layout, TenThousandNodesTakeLessThanASecond) {
  const double once = seconds_for(2000), twice = seconds_for(4000);
  std::printf("10,000 nodes: %.3f s, 20,000 nodes: %.3f s\n", once, twice);
  EXPECT_LT(once, 1.0);
}

}  // namespace
}  // namespace ingot::passes
