// Nodes read their operands where these come from, not behind what only moves or repeats elements.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/engine/rewrites/fuse_elementwise.h"
#include "ingot/engine/rewrites/fuse_products.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"

namespace ingot::engine {
namespace {

Model model_of(const std::string& body) {
  Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + body);
  passes::infer(model);
  return model;
}

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes()) operators.push_back(node.op);
  return operators;
}

/// With the numbers 0, 1, ... as the input x; small ones, so that sums are exact in any order.
void expect_the_same_numbers(const Model& model, const Dims& dims) {
  std::vector<float> numbers(static_cast<std::size_t>(tensor_size(dims)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) - 3;
  const Array x = Array::from(Tensor::of<float>(dims, numbers));
  std::vector<Array> results;
  for (const bool is_fast : {false, true}) {
    SessionOptions options;
    options.is_fast = is_fast;
    results.push_back(*Session(model, options).run({{"x", x}}).front().value.array());
  }
  ASSERT_EQ(results[1].dims(), results[0].dims());
  EXPECT_TRUE(std::ranges::equal(results[1].data<float>(), results[0].data<float>()));
}

TEST(Operands, ProductsReadThroughSeveralTransposes) {
  const std::string body =
      "g (float[2,9,3,8] x) => (float[2,3,9,9] y) { a = Transpose<perm = [0, 2, 3, 1]>(x) "
      "b = Transpose<perm = [0, 1, 3, 2]>(a) y = MatMul(b, a) }";
  const Model model = model_of(body);
  fuse_products(*model.graph);
  EXPECT_EQ(operators_of(*model.graph), std::vector<std::string>{"Product"});
  expect_the_same_numbers(model_of(body), {2, 9, 3, 8});
}

TEST(Operands, ATransposeThatOthersReadStays) {
  const std::string body =
      "g (float[8,8] x) => (float[8,8] y, float[8,8] t) { t = Transpose<perm = [1, 0]>(x) "
      "b = Transpose<perm = [1, 0]>(t) y = MatMul(b, t) }";
  const Model model = model_of(body);
  fuse_products(*model.graph);
  EXPECT_EQ(operators_of(*model.graph), (std::vector<std::string>{"Transpose", "Product"}));
  expect_the_same_numbers(model_of(body), {8, 8});
}

TEST(Operands, AxesOfAMatrixThatBothHaveGapsAreMovedFirst) {
  const std::string body =
      "g (float[5,6,4] x) => (float[4,5,5] y) { a = Transpose<perm = [2, 0, 1]>(x) "
      "b = Transpose<perm = [0, 2, 1]>(a) y = MatMul(a, b) }";
  const Model model = model_of(body);
  fuse_products(*model.graph);
  EXPECT_EQ(operators_of(*model.graph), (std::vector<std::string>{"Transpose", "Product"}));
  expect_the_same_numbers(model_of(body), {5, 6, 4});
}

TEST(Operands, WhatIsExpandedToTheShapeOfTheOtherOperandIsReadAsItWas) {
  const std::string body =
      "g (float[3,4] x) => (float[3,4] y) <int64[1] axis = {1}, int64[2] shape = {3, 4}> "
      "{ m = ReduceMean<keepdims = 1>(x, axis) e = Expand(m, shape) y = Sub(x, e) }";
  const Model model = model_of(body);
  fuse_elementwise(*model.graph);
  EXPECT_EQ(operators_of(*model.graph), (std::vector<std::string>{"ReduceMean", "Elementwise"}));
  expect_the_same_numbers(model_of(body), {3, 4});
}

TEST(Operands, WhatGivesTheResultItsShapeStaysExpanded) {
  const std::string body =
      "g (float[3,1] x) => (float[3,4] y) <int64[2] shape = {3, 4}> { e = Expand(x, shape) y = Add(x, e) }";
  const Model model = model_of(body);
  fuse_elementwise(*model.graph);
  EXPECT_EQ(operators_of(*model.graph), (std::vector<std::string>{"Expand", "Elementwise"}));
  expect_the_same_numbers(model_of(body), {3, 1});
}

}  // namespace
}  // namespace ingot::engine
