// Graphs without variables and calls.
#include "ingot/frontends/tensorflow/freeze.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/reader.h"
#include "tests/support/refusal.h"

namespace ingot::frontends::tensorflow {
namespace {

namespace tf = formats::tensorflow;

// y = inner(x, v) = Relu(x * v), through two functions; `aside` is needed by nobody.
constexpr const char* kGraph = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shared_name" value { s: "weights" } } }
node { name: "aside" op: "VarHandleOp" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "call" op: "StatefulPartitionedCall" input: "x" input: "v" attr { key: "f" value { func { name: "outer" } } } }
node { name: "y" op: "Identity" input: "call" attr { key: "T" value { type: DT_FLOAT } } }
library {
  function {
    signature { name: "outer" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "r" type: DT_RESOURCE }
                output_arg { name: "out" type: DT_FLOAT } }
    node_def { name: "inside" op: "PartitionedCall" input: "a" input: "r" attr { key: "f" value { func { name: "inner" } } } }
    ret { key: "out" value: "inside:output:0" }
  }
  function {
    signature { name: "inner" input_arg { name: "p" type: DT_FLOAT } input_arg { name: "q" type: DT_RESOURCE }
                output_arg { name: "result" type: DT_FLOAT } }
    node_def { name: "read" op: "ReadVariableOp" input: "q" attr { key: "dtype" value { type: DT_FLOAT } } }
    node_def { name: "product" op: "Mul" input: "p" input: "read:value:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "limit" op: "Relu" input: "product:z:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "result" value: "limit:activations:0" }
  }
}
)";

const tf::NodeDef* find(const tf::GraphDef& graph, const std::string& name) {
  const auto it = std::ranges::find(graph.nodes, name, &tf::NodeDef::name);
  return it == graph.nodes.end() ? nullptr : &*it;
}

TEST(Freeze, ReplacesCallsByWhatTheyCallAndVariablesByTheirValues) {
  const tf::GraphDef graph = tf::read_graph(Bytes::own(std::string(kGraph)), Budget::unlimited());
  ModelFiles files;
  files.variable = [](const std::string& name) -> std::optional<Tensor> {
    if (name == "weights") return Tensor::of<float>({2}, {3, -4});
    return std::nullopt;
  };
  std::vector<std::string> outputs{"y", "call:0"};
  const tf::GraphDef flat = freeze(graph, files, outputs, Budget::unlimited());
  EXPECT_EQ(outputs, (std::vector<std::string>{"y", "call/inside/limit"}));
  const tf::NodeDef *y = find(flat, "y"), *product = find(flat, "call/inside/product"),
                    *read = find(flat, "call/inside/read"), *v = find(flat, "v");
  ASSERT_TRUE(y && product && read && v);
  EXPECT_EQ(y->inputs, std::vector<std::string>{"call/inside/limit"});
  EXPECT_EQ(product->inputs, (std::vector<std::string>{"x", "call/inside/read"}));
  EXPECT_EQ(read->op, "Identity");
  EXPECT_EQ(read->inputs, std::vector<std::string>{"v"});
  EXPECT_EQ(v->op, "Const");
  EXPECT_EQ(std::get<std::shared_ptr<const tf::TensorProto>>(*v->find("value"))->shape.dims,
            std::vector<std::int64_t>{2});
  EXPECT_FALSE(find(flat, "aside"));
  EXPECT_FALSE(find(flat, "call"));
}

TEST(Freeze, EndsWhereFunctionsCallThemselves) {
  const tf::GraphDef graph = tf::read_graph(Bytes::own(std::string(R"(
node { name: "x" op: "Placeholder" }
node { name: "y" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "again" } } } }
library { function {
  signature { name: "again" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "out" type: DT_FLOAT } }
  node_def { name: "c" op: "PartitionedCall" input: "a" attr { key: "f" value { func { name: "again" } } } }
  ret { key: "out" value: "c:output:0" } } }
)")),
                                            Budget::unlimited());
  std::vector<std::string> outputs{"y"};
  EXPECT_REFUSED(Code::depth_limit, freeze(graph, {}, outputs, Budget::unlimited()));
}

}  // namespace
}  // namespace ingot::frontends::tensorflow
