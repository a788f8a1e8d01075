// Graphs made to harm: each ends as an error, soon and in little memory.
#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/import.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::frontends::tensorflow {
namespace {

namespace tf = formats::tensorflow;

const std::string kImage =
    R"(versions { producer: 27 } node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 1 } dim { size: 8 } dim { size: 8 } dim { size: 2 } } } } }
       node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
         dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 3 } dim { size: 2 } dim { size: 2 } } float_val: 1 } } } })";

std::string ints(const std::string& name, const std::string& values) {
  return "attr { key: \"" + name + "\" value { list { i: [" + values + "] } } } ";
}
std::string number(const std::string& name, const std::string& value) {
  return "attr { key: \"" + name + "\" value { i: " + value + " } } ";
}
const std::string kSame =
    "attr { key: \"padding\" value { s: \"SAME\" } } attr { key: \"T\" value { type: DT_FLOAT } } ";

ImportResult import_text(const std::string& text) {
  Budget budget({.memory = std::uint64_t{256} << 20, .time = std::chrono::seconds(20), .nodes = 200'000});
  const tf::GraphDef graph = tf::read_graph(Bytes::own(text), budget);
  ImportOptions options;
  options.budget = &budget;
  return import_graph(graph, options);
}

TEST(TensorFlowHostile, NumbersThatWouldDivideByZeroOrOverflowAreRefused) {
  const std::string huge = "9223372036854775807";
  const std::vector<std::string> nodes = {
      "op: \"Conv2D\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1, 0, 0, 1"),
      "op: \"Conv2D\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1, -1, 1, 1"),
      "op: \"Conv2D\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1, 1, 1, 1") +
          ints("dilations", "1, " + huge + ", 1, 1"),
      "op: \"DepthwiseConv2dNative\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1, 0, 1, 1"),
      "op: \"MaxPool\" input: \"x\" " + kSame + ints("strides", "1, 0, 0, 1") + ints("ksize", "1, 2, 2, 1"),
      "op: \"AvgPool\" input: \"x\" " + kSame + ints("strides", "1, 1, 1, 1") + ints("ksize", "1, 0, 2, 1"),
      "op: \"Dilation2D\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1") + ints("rates", "1"),
      "op: \"Dilation2D\" input: \"x\" input: \"w\" " + kSame + ints("strides", "1, 0, 1, 1") +
          ints("rates", "1, 1, 1, 1"),
      "op: \"DepthToSpace\" input: \"x\" " + number("block_size", "0"),
      "op: \"SpaceToDepth\" input: \"x\" " + number("block_size", "-2"),
      "op: \"Unpack\" input: \"x\" " + number("num", "-3") + number("axis", "1"),
      "op: \"Unpack\" input: \"x\" " + number("num", huge) + number("axis", "77"),
      "op: \"ExtractImagePatches\" input: \"x\" " + kSame + ints("ksizes", "1, " + huge + ", 3, 1") +
          ints("strides", "1, 1, 1, 1") + ints("rates", "1, 1, 1, 1"),
  };
  for (const std::string& node : nodes)
    EXPECT_REFUSED(Code::unsupported_operator, import_text(kImage + "node { name: \"y\" " + node + "}")) << node;
  for (const std::string& inputs :
       {"op: \"Conv2D\" input: \"x\" " + ints("strides", "1, 1, 1, 1"), std::string("op: \"MaxPool\" ")})
    EXPECT_REFUSED(Code::bad_source_graph, import_text(kImage + "node { name: \"y\" " + inputs + kSame + "}"))
        << inputs;
}

TEST(TensorFlowHostile, FunctionsThatCallEachOtherTwiceStayWithinTheBudget) {
  // 2^40 nodes in a few kilobytes.
  std::string text = kImage + R"(node { name: "y" op: "F0" input: "x" } library { )";
  for (int i = 0; i < 40; ++i) {
    const std::string next = i == 39 ? "Neg" : "F" + std::to_string(i + 1);
    const std::string out = i == 39 ? "y" : "r";
    text += "function { signature { name: \"F" + std::to_string(i) +
            "\" input_arg { name: \"a\" type: DT_FLOAT } output_arg { name: \"r\" type: DT_FLOAT } } node_def { name: "
            "\"p\" "
            "op: \"" +
            next + "\" input: \"a\" } node_def { name: \"q\" op: \"" + next + "\" input: \"p:" + out +
            ":0\" } ret { key: \"r\" value: \"q:" + out + ":0\" } } ";
  }
  try {
    (void)import_text(text + "}");
    FAIL() << "was converted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 5) << error.message();
  }
}

TEST(TensorFlowHostile, GraphsThatContradictThemselvesAreRefused) {
  const std::string vector = R"(attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
      dtype: DT_INT32 tensor_shape { dim { size: )";
  const auto ints_of = [&](const std::string& name, int count) {
    return "node { name: \"" + name + "\" op: \"Const\" " + vector + std::to_string(count) + " } } int_val: 1 } } } } ";
  };
  const std::string slice = R"(node { name: "y" op: "StridedSlice" input: "x" input: "b" input: "e" input: "s" })";
  const std::vector<std::string> graphs = {
      R"(node { op: "Neg" input: "x" })",                              // without a name
      R"(node { name: "y" op: "Neg" input: "x:-5" })",                 // outputs count from 0
      R"(node { name: "y" op: "Neg" input: "x:2147483647" })",         //
      R"(node { name: "y" op: "Neg" input: "x:output:2147483647" })",  //
      R"(node { name: "y" op: "Exit" input: "^x" })",                  // nothing but a control input
      R"(node { name: "e" op: "Enter" input: "x" } node { name: "m" op: "Merge" input: "e" input: "n" }
         node { name: "c" op: "LoopCond" input: "x" } node { name: "s" op: "Switch" input: "m" input: "c" }
         node { name: "n" op: "NextIteration" input: "s:1" } node { name: "q" op: "Exit" input: "^s" }
         node { name: "y" op: "Exit" input: "s" })",                   //
      R"(node { name: "y" op: "Merge" input: "^x" })",                 //
      ints_of("b", 1) + ints_of("e", 3) + ints_of("s", 1) + slice,     // slices of different lengths
      ints_of("b", 3) + ints_of("e", 1) + ints_of("s", 3) + slice,     //
      ints_of("b", 1) + ints_of("e", 1) + ints_of("s", 0) + slice,     //
      R"(node { name: "y" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
         dtype: DT_FLOAT tensor_shape { dim { size: 4 } } tensor_content: "\000\000\200?" } } } })",  // one of four
  };
  for (const std::string& graph : graphs) EXPECT_THROW((void)import_text(kImage + graph), Error) << graph;
}

TEST(TensorFlowHostile, ALongChainNeedsNoStack) {
  std::string text = kImage;
  std::string before = "x";
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    text += "node { name: \"" + name + "\" op: \"Neg\" input: \"" + before + "\" }\n";
    before = name;
  }
  EXPECT_EQ(import_text(text).model.graph->node_count(), 50'000U);
}

TEST(TensorFlowHostile, WhatReadsOrWritesFilesIsNotConverted) {
  for (const char* op : {"ReadFile", "PyFunc", "LoadAndRemapMatrix", "MatchingFiles"}) {
    const std::string node = std::string("node { name: \"y\" op: \"") + op + "\" input: \"x\" }";
    try {
      (void)import_text(kImage + node);
      ADD_FAILURE() << op << " was converted";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4) << op;
    }
  }
}

TEST(TensorFlowHostile, AHugeConstantExpressionIsNotComputed) {
  const test::TempDir directory;
  test::write_text(directory / "g.pbtxt", R"(node { name: "d" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [1000000, 1000000] } } } }
    node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
    node { name: "y" op: "Fill" input: "d" input: "v" attr { key: "T" value { type: DT_FLOAT } } } versions { producer: 27 })");
  const driver::Loaded loaded = driver::load(directory / "g.pbtxt");
  std::size_t bytes = 0;
  for (const Value* v : loaded.model.graph->initializers()) bytes += v->initializer->bytes().size();
  EXPECT_LT(bytes, 1000U);
}

TEST(TensorFlowHostile, ASavedModelOpensNothingOutsideItsDirectory) {
  const test::TempDir directory;
  std::filesystem::create_directories(directory.path() / "model" / "variables");
  test::write_text(directory / "secret.index", "secret");
  std::filesystem::create_symlink(directory.path() / "secret.index",
                                  directory.path() / "model" / "variables" / "variables.index");
  test::write_text(
      directory / "model/saved_model.pbtxt",
      "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: \"serve\" } graph_def { node { name: \"v\" "
      "op: \"VariableV2\" attr { key: \"dtype\" value { type: DT_FLOAT } } } } }");
  EXPECT_REFUSED(Code::link_refused, driver::load(directory / "model"));
}

}  // namespace
}  // namespace ingot::frontends::tensorflow
