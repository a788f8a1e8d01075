// Graphs that parse tf.Examples begin at the features.
#include <gmock/gmock.h>

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/check.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/freeze.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {
namespace {

namespace tf = formats::tensorflow;
using testing::Contains;
using testing::HasSubstr;

tf::GraphDef graph_of(std::string_view text) {
  return tf::read_graph(Bytes::own(std::string(text)), Budget::unlimited());
}

std::string constant(const std::string& name, const std::string& dims, const std::string& values) {
  const std::string type = values.find("string_val") == std::string::npos ? "DT_FLOAT" : "DT_STRING";
  return "node { name: \"" + name + "\" op: \"Const\" attr { key: \"dtype\" value { type: " + type +
         " } } attr { key: \"value\" value { tensor { dtype: " + type + " tensor_shape { " + dims + " } " + values +
         " } } } }\n";
}

const std::string kSerialized =
    R"(node { name: "serialized" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
       attr { key: "shape" value { shape { dim { size: -1 } } } } }
versions { producer: 27 }
)";

/// x [1] with a default, unread; s sparse; the sum of x and the sparse feature made dense.
const std::string kVersion1 = kSerialized + constant("names", "dim { size: 0 }", R"(string_val: [])") +
                              constant("key_s", "", R"(string_val: "s")") +
                              constant("key_u", "", R"(string_val: "unread")") +
                              constant("key_x", "", R"(string_val: "x")") + constant("default_u", "", "float_val: 0") +
                              constant("default_x", "dim { size: 0 }", "") + R"(
node { name: "parse" op: "ParseExample" input: "serialized" input: "names" input: "key_s" input: "key_u" input: "key_x"
       input: "default_u" input: "default_x" attr { key: "Nsparse" value { i: 1 } } attr { key: "Ndense" value { i: 2 } }
       attr { key: "sparse_types" value { list { type: DT_FLOAT } } }
       attr { key: "Tdense" value { list { type: [DT_FLOAT, DT_FLOAT] } } }
       attr { key: "dense_shapes" value { list { shape { } shape { dim { size: 2 } } } } } }
node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
       dtype: DT_FLOAT tensor_shape { } float_val: 0 } } } }
node { name: "dense" op: "SparseToDense" input: "parse" input: "parse:2" input: "parse:1" input: "zero"
       attr { key: "T" value { type: DT_FLOAT } } attr { key: "Tindices" value { type: DT_INT64 } } }
node { name: "y" op: "AddV2" input: "parse:4" input: "dense" attr { key: "T" value { type: DT_FLOAT } } }
)";

std::vector<std::string> inputs_of(const Model& model) {
  std::vector<std::string> all;
  for (const Value* v : model.graph->inputs()) all.push_back(v->name() + " " + v->type.str());
  return all;
}

TEST(Examples, GiveWayToTheFeaturesThatAreRead) {
  const ImportResult result = import_graph(graph_of(kVersion1), {});
  EXPECT_THAT(inputs_of(result.model),
              testing::ElementsAre("s/indices int64[s/indices_0,2]", "s/values float[s/values_0]",
                                   "s/dense_shape int64[2]", "x float[serialized_0,2]"));
  EXPECT_THAT(result.notes, Contains(HasSubstr("cut behind the parser")));
  EXPECT_THAT(result.notes, Contains(HasSubstr("'serialized'")));
  for (const driver::Problem& problem : driver::check(result.model))
    EXPECT_NE(problem.severity, driver::Severity::error) << problem.str();
  const auto outputs = engine::Session(result.model)
                           .run({{"x", Array::of<float>({2, 2}, {1, 2, 3, 4})},
                                 {"s/indices", Array::of<std::int64_t>({2, 2}, {0, 1, 1, 0})},
                                 {"s/values", Array::of<float>({2}, {10, 20})},
                                 {"s/dense_shape", Array::of<std::int64_t>({2}, {2, 2})}});
  EXPECT_EQ(outputs.at(0).value.array()->to_doubles(), (std::vector<double>{1, 12, 23, 4}));
}

TEST(Examples, NameTheFeaturesThatMayBeLackedByAnExample) {
  // Now `unread` is read.
  const ImportResult result = import_graph(
      graph_of(kVersion1 +
               R"(node { name: "z" op: "Neg" input: "parse:3" attr { key: "T" value { type: DT_FLOAT } } })"),
      {});
  EXPECT_THAT(inputs_of(result.model), Contains("unread float[serialized_0]"));
  EXPECT_THAT(result.notes, Contains(HasSubstr("may lack these features, and the parser then fills in a default; now "
                                               "the caller does: unread")));
}

/// Version 2, in a function: keys are vectors, outputs have names.
const std::string kVersion2 = kSerialized + R"(
node { name: "call" op: "StatefulPartitionedCall" input: "serialized" attr { key: "f" value { func { name: "serve" } } } }
node { name: "y" op: "Identity" input: "call" attr { key: "T" value { type: DT_FLOAT } } }
library { function {
  signature { name: "serve" input_arg { name: "text" type: DT_STRING } output_arg { name: "out" type: DT_FLOAT } }
  node_def { name: "none" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor {
    dtype: DT_STRING tensor_shape { dim { size: 0 } } } } } }
  node_def { name: "keys" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor {
    dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: ["a", "b"] } } } }
  node_def { name: "ragged" op: "Const" attr { key: "dtype" value { type: DT_STRING } } attr { key: "value" value { tensor {
    dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: ["r"] } } } }
  node_def { name: "nothing" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape { dim { size: 0 } } } } } }
  node_def { name: "parse" op: "ParseExampleV2" input: "text" input: "none:output:0" input: "none:output:0"
    input: "keys:output:0" input: "ragged:output:0" input: "nothing:output:0" input: "nothing:output:0"
    attr { key: "num_sparse" value { i: 0 } } attr { key: "sparse_types" value { list { } } }
    attr { key: "Tdense" value { list { type: [DT_FLOAT, DT_FLOAT] } } }
    attr { key: "ragged_value_types" value { list { type: DT_FLOAT } } }
    attr { key: "ragged_split_types" value { list { type: DT_INT64 } } }
    attr { key: "dense_shapes" value { list { shape { dim { size: 3 } } shape { dim { size: -1 } dim { size: 3 } } } } } }
  node_def { name: "axes" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
    dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1 } } } }
  node_def { name: "sum" op: "Sum" input: "parse:dense_values:1" input: "axes:output:0" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "more" op: "AddV2" input: "parse:dense_values:0" input: "sum:output:0" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "shape" op: "Const" attr { key: "dtype" value { type: DT_INT64 } } attr { key: "value" value { tensor {
    dtype: DT_INT64 tensor_shape { dim { size: 2 } } int64_val: [-1, 3] } } } }
  node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape { } float_val: 0 } } } }
  node_def { name: "rows" op: "RaggedTensorToTensor" input: "shape:output:0" input: "parse:ragged_values:0" input: "zero:output:0"
    input: "parse:ragged_row_splits:0" attr { key: "row_partition_types" value { list { s: "ROW_SPLITS" } } }
    attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "all" op: "AddV2" input: "more:z:0" input: "rows:result:0" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "out" value: "all:z:0" } } }
)";

std::vector<double> answer_of_version_2(const Model& model) {
  return engine::Session(model)
      .run({{"a", Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
            {"b", Array::of<float>({2, 2, 3}, {10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40})},
            {"r/values", Array::of<float>({3}, {100, 200, 300})},
            {"r/row_splits", Array::of<std::int64_t>({3}, {0, 1, 3})}})
      .at(0)
      .value.array()
      ->to_doubles();
}

TEST(Examples, AreReplacedInsideOfFunctionsToo) {
  const ImportResult result = import_graph(graph_of(kVersion2), {});
  EXPECT_THAT(inputs_of(result.model),
              testing::ElementsAre("a float[serialized_0,3]", "b float[serialized_0,b_0,3]",
                                   "r/values float[r/values_0]", "r/row_splits int64[r/row_splits_0]"));
  EXPECT_EQ(answer_of_version_2(result.model), (std::vector<double>{131, 32, 33, 274, 375, 76}));
  ImportOptions kept;
  kept.keep_functions = true;
  const ImportResult inlined = import_graph(graph_of(kVersion2), kept);
  EXPECT_THAT(inlined.notes, Contains(HasSubstr("function 'serve' is inlined")));
  EXPECT_EQ(answer_of_version_2(inlined.model), (std::vector<double>{131, 32, 33, 274, 375, 76}));
}

TEST(Examples, OfWhichThereIsOneHaveFeaturesWithoutABatch) {
  const ImportResult result = import_graph(graph_of(R"(
node { name: "serialized" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } attr { key: "shape" value { shape { } } } }
)" + constant("default", "dim { size: 2 }", "float_val: [1, 2]") +
                                                    R"(
node { name: "parse" op: "ParseSingleExample" input: "serialized" input: "default" attr { key: "num_sparse" value { i: 1 } }
       attr { key: "sparse_keys" value { list { s: "s" } } } attr { key: "dense_keys" value { list { s: "x" } } }
       attr { key: "sparse_types" value { list { type: DT_INT64 } } } attr { key: "Tdense" value { list { type: DT_FLOAT } } }
       attr { key: "dense_shapes" value { list { shape { dim { size: 2 } } } } } }
node { name: "y" op: "Neg" input: "parse:3" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "z" op: "Neg" input: "parse:1" attr { key: "T" value { type: DT_INT64 } } }
versions { producer: 27 })"),
                                           {});
  EXPECT_THAT(inputs_of(result.model), testing::ElementsAre("s/values int64[s/values_0]", "x float[2]"));
}

std::string attribute(const std::string& name, const std::string& value) {
  return " attr { key: \"" + name + "\" value { " + value + " } }";
}

/// A sequence has features of the whole (c, dense) and of its steps (c, dense, and s, sparse).
const std::string kSequenceFeatures = attribute("Ncontext_dense", "i: 1") + attribute("Nfeature_list_dense", "i: 1") +
                                      attribute("Nfeature_list_sparse", "i: 1") +
                                      attribute("Tcontext_dense", "list { type: DT_FLOAT }") +
                                      attribute("context_dense_shapes", "list { shape { } }") +
                                      attribute("feature_list_dense_types", "list { type: DT_FLOAT }") +
                                      attribute("feature_list_dense_shapes", "list { shape { } }") +
                                      attribute("feature_list_sparse_types", "list { type: DT_INT64 }");

std::string sums_of_sequences(const std::string& dense, const std::string& list, const std::string& lengths,
                              const std::string& sparse) {
  return R"(
node { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
       dtype: DT_INT32 tensor_shape { } int_val: -1 } } } }
node { name: "sum" op: "Sum" input: ")" +
         list + R"(" input: "axis" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "y" op: "AddV2" input: "sum" input: ")" +
         dense + R"(" attr { key: "T" value { type: DT_FLOAT } } }
)" +
         (lengths.empty() ? ""
                          : R"(node { name: "z" op: "Neg" input: ")" + lengths +
                                R"(" attr { key: "T" value { type: DT_INT64 } } }
)") + R"(node { name: "v" op: "Neg" input: ")" +
         sparse + R"(" attr { key: "T" value { type: DT_INT64 } } }
)";
}

TEST(Examples, OfSequencesHaveFeaturesOfTheWholeAndOfItsSteps) {
  const std::string keys = attribute("context_dense_keys", "list { s: \"c\" }") +
                           attribute("feature_list_dense_keys", "list { s: \"c\" }") +
                           attribute("feature_list_sparse_keys", "list { s: \"s\" }");
  const ImportResult result = import_graph(
      graph_of(
          kSerialized + constant("names", "dim { size: 0 }", R"(string_val: [])") +
          constant("default", "", "float_val: 0") +
          R"(node { name: "parse" op: "ParseSequenceExample" input: "serialized" input: "names" input: "default")" +
          keys + kSequenceFeatures + " }" + sums_of_sequences("parse", "parse:4", "parse:5", "parse:2")),
      {});
  EXPECT_THAT(inputs_of(result.model),
              testing::UnorderedElementsAre("c float[serialized_0]", "s/values int64[s/values_0]",
                                            "feature_list/c float[serialized_0,feature_list/c_0]",
                                            "feature_list/c/lengths int64[serialized_0]"));
  EXPECT_THAT(result.notes, Contains(HasSubstr("now the caller does: c")));
  const auto outputs = engine::Session(result.model)
                           .run({{"c", Array::of<float>({2}, {100, 200})},
                                 {"s/values", Array::of<std::int64_t>({1}, {5})},
                                 {"feature_list/c", Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 0})},
                                 {"feature_list/c/lengths", Array::of<std::int64_t>({2}, {3, 2})}});
  EXPECT_EQ(outputs.at(0).value.array()->to_doubles(), (std::vector<double>{106, 209}));
  EXPECT_EQ(outputs.at(1).value.array()->to_doubles(), (std::vector<double>{-3, -2}));
}

TEST(Examples, OfSequencesInVersion2HaveTheirKeysInInputs) {
  const std::string ragged = attribute("feature_list_ragged_value_types", "list { type: DT_FLOAT }") +
                             attribute("feature_list_ragged_split_types", "list { type: DT_INT32 }");
  const std::string one = "dim { size: 1 }";
  const ImportResult result = import_graph(
      graph_of(kSerialized + constant("names", "dim { size: 0 }", R"(string_val: [])") +
               constant("c", one, "string_val: \"c\"") + constant("f", one, "string_val: \"f\"") +
               constant("s", one, "string_val: \"s\"") + constant("r", one, "string_val: \"r\"") +
               constant("missing", "dim { size: 0 }", "") + constant("default", "dim { size: 0 }", "") +
               R"(node { name: "parse" op: "ParseSequenceExampleV2" input: "serialized" input: "names" input: "names"
                  input: "c" input: "names" input: "s" input: "f" input: "r" input: "missing" input: "default")" +
               ragged + kSequenceFeatures + " }" + sums_of_sequences("parse", "parse:4", "parse:5", "parse:2") +
               R"(node { name: "r0" op: "Neg" input: "parse:6" attr { key: "T" value { type: DT_FLOAT } } }
                  node { name: "r1" op: "Neg" input: "parse:7" attr { key: "T" value { type: DT_INT32 } } }
                  node { name: "r2" op: "Neg" input: "parse:8" attr { key: "T" value { type: DT_INT32 } } })"),
      {});
  EXPECT_THAT(inputs_of(result.model),
              testing::UnorderedElementsAre("c float[serialized_0]", "s/values int64[s/values_0]",
                                            "f float[serialized_0,f_0]", "f/lengths int64[serialized_0]",
                                            "r/values float[r/values_0]", "r/outer_splits int32[r/outer_splits_0]",
                                            "r/inner_splits int32[r/inner_splits_0]"));
}

TEST(Examples, OfOneSequenceHaveNoBatchAndNoLengths) {
  const ImportResult result = import_graph(
      graph_of(R"(
node { name: "serialized" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } attr { key: "shape" value { shape { } } } }
versions { producer: 27 }
)" + constant("none", "dim { size: 0 }", R"(string_val: [])") +
               constant("c", "", "string_val: \"c\"") + constant("f", "", "string_val: \"f\"") +
               constant("s", "", "string_val: \"s\"") + constant("default", "", "float_val: 0") +
               R"(node { name: "parse" op: "ParseSingleSequenceExample" input: "serialized" input: "none" input: "c"
                  input: "s" input: "f" input: "default" input: "c")" +
               kSequenceFeatures + " }" + sums_of_sequences("parse", "parse:4", "", "parse:2")),
      {});
  EXPECT_THAT(inputs_of(result.model),
              testing::UnorderedElementsAre("c float", "s/values int64[s/values_0]", "f float[f_0]"));
}

TEST(Examples, ThatAreMadeInTheGraphAreRefused) {
  const std::string text = kVersion1;
  std::string made = text;
  const std::string old = R"(op: "ParseExample" input: "serialized")";
  made.replace(made.find(old), old.size(), R"(op: "ParseExample" input: "joined")");
  made +=
      R"(node { name: "joined" op: "StringJoin" input: "serialized" input: "serialized" attr { key: "N" value { i: 2 } } })";
  try {
    (void)import_graph(graph_of(made), {});
    FAIL() << "was converted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    EXPECT_NE(error.message().find("cannot read serialised examples"), std::string::npos) << error.message();
  }
}

TEST(Examples, BecomePlaceholdersForRuntimesThatCannotParseThem) {
  std::vector<std::string> outputs{"y"};
  Features features;
  const tf::GraphDef flat = freeze(graph_of(kVersion2), {}, outputs, Budget::unlimited(), &features);
  EXPECT_THAT(features, Contains(std::pair<std::string, std::string>("a", "call/parse/a")));
  const auto sum = std::ranges::find(flat.nodes, "call/sum", &tf::NodeDef::name);
  ASSERT_NE(sum, flat.nodes.end());
  EXPECT_EQ(sum->inputs.at(0), "call/parse/b");
  EXPECT_EQ(std::ranges::find(flat.nodes, "ParseExampleV2", &tf::NodeDef::op), flat.nodes.end());
}

TEST(Examples, WhoseKeysAreComputedDoNotDisturbWhatDoesNotNeedThem) {
  std::string text = kVersion1;
  const std::string key = R"(input: "key_x")";
  text.replace(text.find(key), key.size(), R"(input: "serialized")");
  std::vector<std::string> outputs{"zero"};
  EXPECT_EQ(freeze(graph_of(text), {}, outputs, Budget::unlimited()).nodes.size(), 1U);
  EXPECT_THROW((void)import_graph(graph_of(text), {}), Error);
}

}  // namespace
}  // namespace ingot::frontends::tensorflow
