// What the translation of a graph promises: names, cuts, one list of all that is missing, functions and loops.
#include "ingot/frontends/tensorflow/import.h"

#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/operator_table.h"
#include "tests/support/refusal.h"

namespace ingot::frontends::tensorflow {
namespace {

tf::GraphDef graph_of(std::string_view text) {
  return formats::tensorflow::read_graph(Bytes::own(std::string(text)), Budget::unlimited());
}

const std::string kInput =
    R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
versions { producer: 27 }
)";

std::vector<float> run(const Model& model, const std::string& input, const Dims& dims, const std::vector<float>& x) {
  const auto outputs = engine::Session(model).run({{input, Array::of<float>(dims, x)}});
  const auto data = outputs.at(0).value.array()->data<float>();
  return {data.begin(), data.end()};
}

TEST(TensorFlowImport, FindsInputsAndOutputsAndKeepsTheirNames) {
  const auto graph = graph_of(kInput + R"(node { name: "scope/y" op: "Relu" input: "x" }
    node { name: "s" op: "ScalarSummary" input: "x" input: "x" }
    node { name: "init" op: "NoOp" input: "^scope/y" })");
  const ImportResult result = import_graph(graph, {});
  ASSERT_EQ(result.model.graph->inputs().size(), 1U);
  EXPECT_EQ(result.model.graph->inputs()[0]->name(), "x");
  EXPECT_EQ(result.model.graph->inputs()[0]->type.str(), "float[x_0,2]");
  ASSERT_EQ(result.model.graph->output_count(), 1U);
  EXPECT_EQ(result.model.graph->output(0)->name(), "scope/y");
  EXPECT_EQ(run(result.model, "x", {1, 2}, {-1, 2}), (std::vector<float>{0, 2}));
}

TEST(TensorFlowImport, NamesEveryNodeWithoutATranslationAtOnce) {
  const auto graph = graph_of(kInput + R"(node { name: "a" op: "NoSuchOp" input: "x" }
    node { name: "b" op: "AlsoNot" input: "a" } node { name: "c" op: "NoSuchOp" input: "b" })");
  try {
    (void)import_graph(graph, {});
    FAIL() << "was converted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    for (const char* word : {"NoSuchOp", "AlsoNot", "'a'", "'b'", "'c'", "3 nodes"})
      EXPECT_NE(error.message().find(word), std::string::npos) << word << " in " << error.message();
  }
}

TEST(TensorFlowImport, KeepsCustomOperatorsOnRequest) {
  ImportOptions options;
  options.custom = {"NoSuchOp:my.domain"};
  const ImportResult result = import_graph(
      graph_of(kInput + R"(node { name: "a" op: "NoSuchOp" input: "x" attr { key: "k" value { i: 3 } } })"), options);
  const Node* node = result.model.graph->first();
  EXPECT_EQ(node->domain, "my.domain");
  EXPECT_EQ(node->attributes.int_or("k", 0), 3);
}

TEST(TensorFlowImport, CutsWhereItIsTold) {
  ImportOptions options;
  options.inputs = {"h"};
  options.outputs = {"y"};
  options.input_shapes = {{"h", Shape{Dim(3)}}};
  const auto graph =
      graph_of(kInput + R"(node { name: "h" op: "NoSuchOp" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "h" } node { name: "z" op: "AlsoNot" input: "y" })");
  const ImportResult result = import_graph(graph, options);
  EXPECT_EQ(result.model.graph->inputs()[0]->type.str(), "float[3]");
  EXPECT_EQ(run(result.model, "h", {3}, {1, 2, 3}), (std::vector<float>{-1, -2, -3}));
}

TEST(TensorFlowImport, RefusesCyclesAndUnknownNames) {
  const auto cycle = graph_of(R"(node { name: "a" op: "Neg" input: "b" } node { name: "b" op: "Neg" input: "a" }
    node { name: "c" op: "Neg" input: "a" })");
  EXPECT_REFUSED(Code::cyclic_graph, import_graph(cycle, {}));
  const auto unknown = graph_of(R"(node { name: "a" op: "Neg" input: "nobody" })");
  EXPECT_REFUSED(Code::bad_source_graph, import_graph(unknown, {}));
}

TEST(TensorFlowImport, RefusesFunctionsThatCallThemselves) {
  const auto graph = graph_of(kInput + R"(node { name: "y" op: "F" input: "x" }
    library { function { signature { name: "F" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "again" op: "F" input: "a" } ret { key: "r" value: "again:r:0" } } })");
  EXPECT_REFUSED(Code::depth_limit, import_graph(graph, {}));
}

TEST(TensorFlowImport, InlinesFunctions) {
  const auto graph = graph_of(kInput + R"(
    node { name: "y" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "F" } } } }
    library { function { signature { name: "F" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "r" type: DT_FLOAT } }
      node_def { name: "n" op: "Neg" input: "a" } node_def { name: "m" op: "Mul" input: "n:y:0" input: "a" }
      ret { key: "r" value: "m:z:0" } } })");
  EXPECT_EQ(run(import_graph(graph, {}).model, "x", {1, 2}, {2, 3}), (std::vector<float>{-4, -9}));
}

TEST(TensorFlowImport, TakesWhatAPipelineBringsAsInputs) {
  const ImportResult result = import_graph(graph_of(R"(
node { name: "it" op: "IteratorV2" }
node { name: "data" op: "RangeDataset" }
node { name: "begin" op: "MakeIterator" input: "data" input: "it" }
node { name: "next" op: "IteratorGetNext" input: "it"
       attr { key: "output_types" value { list { type: [DT_INT64, DT_FLOAT] } } }
       attr { key: "output_shapes" value { list { shape { dim { size: -1 } } shape { dim { size: -1 } dim { size: 3 } } } } } }
node { name: "queue" op: "FIFOQueueV2" attr { key: "shapes" value { list { shape { dim { size: 3 } } } } } }
node { name: "n" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
       dtype: DT_INT32 tensor_shape { } int_val: 8 } } } }
node { name: "batch" op: "QueueDequeueManyV2" input: "queue" input: "n"
       attr { key: "component_types" value { list { type: DT_FLOAT } } } }
node { name: "y" op: "AddV2" input: "next:1" input: "batch" attr { key: "T" value { type: DT_FLOAT } } }
versions { producer: 27 })"),
                                           {});
  std::vector<std::string> inputs;
  for (const Value* v : result.model.graph->inputs()) inputs.push_back(v->name() + " " + v->type.str());
  EXPECT_EQ(inputs, (std::vector<std::string>{"next:1 float[next:1_0,3]", "batch float[batch_0,3]"}));
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("next:1, batch"), std::string::npos) << result.notes[0];
}

TEST(TensorFlowTable, IsSortedAndLarge) {
  const auto operators = supported_operators();
  EXPECT_GE(operators.size(), 300U);
  for (const std::string_view op : operators)
    if (op != "Exit" && op != "Merge") {
      EXPECT_TRUE(find_row(op)) << op;
    }
}

TEST(TensorFlowImport, OperatorsOfOneRankStateIt) {
  const std::string open =
      R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { unknown_rank: true } } } }
versions { producer: 27 }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 4 } } float_val: 0.5 } } } }
node { name: "r" op: "Relu" input: "x" }
)";
  const ImportResult product = import_graph(
      graph_of(open +
               R"(node { name: "s" op: "Sigmoid" input: "r" } node { name: "p" op: "MatMul" input: "r" input: "w" }
          node { name: "y" op: "Softmax" input: "p" } node { name: "z" op: "Neg" input: "s" })"),
      {});
  EXPECT_EQ(product.model.graph->inputs()[0]->type.str(), "float[x_0,x_1]");
  for (const Value* output : product.model.graph->outputs()) {
    ASSERT_TRUE(output->type.shape) << output->name();
    EXPECT_EQ(output->type.shape->size(), 2U) << output->name();
  }
}

}  // namespace
}  // namespace ingot::frontends::tensorflow
