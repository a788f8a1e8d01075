#include "ingot/api/graph_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/ingot.h"

namespace ingot {
namespace {

using testing::ElementsAre;

constexpr const char* kModel = R"(<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
g (float[N, 2] x, bool c) => (float[N, 2] y)
<float[2] w = {1, 2}>
{
  s = Add(x, w)
  t = own.Scale <by = 3.0> (s)
  y = If (c) <then_branch = yes () => (float[N, 2] a) { a = Identity(t) },
              else_branch = no () => (float[N, 2] b) { b = Softmax <axis = 1> (t) }>
}
<domain: "own", opset_import: ["" : 21]>
Scale <by> (p) => (q) {
  f = Constant <value_float: float = @by> ()
  q = Mul(p, f)
}
)";

TEST(GraphView, ShowsPortsWeightsAndNodes) {
  const Model model = parse_model(kModel);
  const std::vector<PortView> inputs = inputs_of(model);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].type.str(), "float[N,2]");
  EXPECT_FALSE(inputs[0].has_default);
  EXPECT_EQ(outputs_of(model)[0].name, "y");

  const std::vector<NodeView> nodes = nodes_of(model);
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].op, "Add");
  EXPECT_THAT(nodes[0].inputs, ElementsAre("x", "w"));
  EXPECT_THAT(nodes[0].outputs, ElementsAre("s"));
  EXPECT_EQ(nodes[1].domain, "own");
  EXPECT_EQ(std::get<float>(nodes[1].attributes[0].value), 3.0f);
}

TEST(GraphView, ShowsGraphsInsideOfNodes) {
  const Model model = parse_model(kModel);
  const NodeView branch = nodes_of(model)[2];
  ASSERT_EQ(branch.attributes.size(), 2u);
  EXPECT_EQ(branch.attributes[1].name, "else_branch");
  const GraphView& inner = std::get<std::vector<GraphView>>(branch.attributes[1].value).at(0);
  EXPECT_EQ(inner.nodes[0].op, "Softmax");
  EXPECT_EQ(std::get<std::int64_t>(inner.nodes[0].attributes[0].value), 1);
}

TEST(GraphView, ShowsFunctionsWithWhatCallsGive) {
  const Model model = parse_model(kModel);
  const std::vector<FunctionView> functions = functions_of(model);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "Scale");
  EXPECT_THAT(functions[0].attributes, ElementsAre("by"));
  const AttributeView& constant = functions[0].body.nodes[0].attributes[0];
  EXPECT_TRUE(std::holds_alternative<std::monostate>(constant.value));
  EXPECT_EQ(constant.reference, "by");
}

TEST(GraphView, SharesTheBytesOfWeightsAndOutlivesTheModel) {
  std::vector<InitializerView> weights;
  const std::byte* bytes = nullptr;
  {
    const Model model = parse_model(kModel);
    weights = initializers_of(model);
    bytes = initializers_of(model)[0].value.bytes().data();
  }
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0].value.bytes().data(), bytes);
  EXPECT_THAT(weights[0].value.to_vector<float>(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace ingot
