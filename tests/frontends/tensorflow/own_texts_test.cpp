// Text operators that ONNX lacks: refused with what can be done, or kept as operators that Ingot runs.
#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {
namespace {

using Strings = std::vector<std::string>;

formats::tensorflow::GraphDef graph_of(const std::string& nodes) {
  const std::string input =
      R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
         attr { key: "shape" value { shape { dim { size: -1 } } } } } versions { producer: 27 } )";
  return formats::tensorflow::read_graph(Bytes::own(input + nodes), Budget::unlimited());
}

std::string constant(const std::string& name, const std::string& type, const std::string& value) {
  return "node { name: '" + name + "' op: 'Const' attr { key: 'dtype' value { type: " + type +
         " } } attr { key: 'value' value { tensor { dtype: " + type + " tensor_shape { } " + value + " } } } } ";
}

const std::string kSubstr = constant("p", "DT_INT32", "int_val: 1") + constant("n", "DT_INT32", "int_val: 2") +
                            "node { name: 'y' op: 'Substr' input: 'x' input: 'p' input: 'n' }";
const std::string kReplace =
    "node { name: 'y' op: 'StaticRegexReplace' input: 'x' attr { key: 'pattern' value { s: '[0-9]+' } } "
    "attr { key: 'rewrite' value { s: '#' } } }";
const std::string kBuckets =
    "node { name: 'y' op: 'StringToHashBucketFast' input: 'x' attr { key: 'num_buckets' value { i: 3 } } }";

Datum run(const Model& model, const Strings& texts) {
  const Array x = Array::of<std::string>({std::ssize(texts)}, texts);
  return engine::Session(model).run({{"x", x}}).at(0).value;
}

Strings texts_of(const Datum& datum) {
  const auto texts = datum.array()->data<std::string>();
  return {texts.begin(), texts.end()};
}

std::string refusal_of(const std::string& nodes) {
  try {
    (void)import_graph(graph_of(nodes), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported_operator);
    return error.what();
  }
  return "";
}

TEST(TensorFlowTexts, RefusalsSayWhatCanBeDone) {
  EXPECT_NE(refusal_of(kSubstr).find("--allow-custom Substr"), std::string::npos) << refusal_of(kSubstr);
  EXPECT_NE(refusal_of(kBuckets).find("--allow-custom StringToHashBucketFast"), std::string::npos);
  EXPECT_NE(refusal_of(kReplace).find("--strings contrib"), std::string::npos) << refusal_of(kReplace);
}

TEST(TensorFlowTexts, AllowedOnesAreOperatorsThatIngotRuns) {
  ImportOptions options;
  options.custom = {"Substr", "StaticRegexReplace", "StringToHashBucketFast"};
  const Model substr = import_graph(graph_of(kSubstr), options).model;
  EXPECT_EQ(texts_of(run(substr, {"Hello", "World"})), (Strings{"el", "or"}));
  const Model replace = import_graph(graph_of(kReplace), options).model;
  EXPECT_EQ(texts_of(run(replace, {"a12b3"})), Strings{"a#b#"});
  const Model buckets = import_graph(graph_of(kBuckets), options).model;
  EXPECT_EQ(run(buckets, {"Hello", "TensorFlow", "2.x"}).array()->to_ints(), (std::vector<std::int64_t>{0, 2, 2}));
  EXPECT_EQ(buckets.graph->output(0)->type.str(), "int64[x_0]");
  EXPECT_EQ(buckets.graph->first()->domain, "ingot");
}

TEST(TensorFlowTexts, ADomainOfTheUsersOwnStaysACustomNode) {
  ImportOptions options;
  options.custom = {"StringToHashBucketFast:my.domain"};
  EXPECT_EQ(import_graph(graph_of(kBuckets), options).model.graph->first()->domain, "my.domain");
}

TEST(TensorFlowTexts, TheExtensionsServeWhereTheyMeanTheSame) {
  ImportOptions options;
  options.strings_contrib = true;
  const Model replace = import_graph(graph_of(kReplace), options).model;
  EXPECT_EQ(replace.graph->first()->domain, "ai.onnx.contrib");
  EXPECT_EQ(texts_of(run(replace, {"a12b3"})), Strings{"a#b#"});
  EXPECT_THROW((void)import_graph(graph_of(kBuckets), options), Error);  // their hash changed in 2025
}

}  // namespace
}  // namespace ingot::frontends::tensorflow
