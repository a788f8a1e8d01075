#include "ingot/api/model_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/ingot.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Type floats(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

TEST(ModelBuilder, MakesAModelThatIsCheckedTypedAndRuns) {
  ModelBuilder b(17);
  const auto x = b.input("x", floats({Dim::symbol("N"), 4}));
  const std::vector<ModelBuilder::Ref> parts =
      b.node_outputs("Split", {x, b.initializer("sizes", Tensor::ints({1, 3}))}, 2, {{"axis", 1}});
  b.output("sum", b.node("Add", {parts[0], parts[1]}));
  const Model model = b.build();
  EXPECT_TRUE(check(model).empty());
  EXPECT_EQ(model.opsets.version(""), 17);
  EXPECT_EQ(outputs_of(model)[0].type.str(), "float[N,3]");
  const auto outputs = Session(model).run({{"x", Array::of<float>({1, 4}, {1, 2, 3, 4})}});
  EXPECT_THAT(outputs[0].value.array()->to_doubles(), ElementsAre(3, 4, 5));
}

TEST(ModelBuilder, TakesAttributesOfEveryPlainKind) {
  ModelBuilder b;
  const auto x = b.input("x", floats({1, 1, 4, 4}));
  auto y = b.node("Cast", {x}, {{"to", DType::f64}});
  y = b.node("LeakyRelu", {y}, {{"alpha", 0.5}});
  y = b.node("Pad", {y, b.initializer("pads", Tensor::ints({0, 0, 1, 1, 0, 0, 1, 1}))}, {{"mode", "edge"}});
  y = b.node("MaxPool", {y}, {{"kernel_shape", {2, 2}}, {"ceil_mode", true}}, "pooled");
  b.output("y", y);
  const Model model = b.build();
  EXPECT_EQ(outputs_of(model)[0].type.str(), "double[1,1,5,5]");
}

TEST(ModelBuilder, LeavesOptionalInputsOut) {
  ModelBuilder b;
  const auto x = b.input("x", floats({3}));
  b.output("y", b.node("Clip", {x, ModelBuilder::Ref(), b.initializer("most", Tensor::scalar(2.0f))}));
  const auto outputs = Session(b.build()).run({{"x", Array::of<float>({3}, {1, 2, 3})}});
  EXPECT_THAT(outputs[0].value.array()->to_doubles(), ElementsAre(1, 2, 2));
}

TEST(ModelBuilder, MakesInputsAndOutputsOutputsUnderOtherNames) {
  ModelBuilder b;
  const auto x = b.input("x", floats({2}));
  const auto twice = b.node("Add", {x, x});
  b.output("same", x);
  b.output("one", twice);
  b.output("two", twice);
  const Model model = b.build();
  ASSERT_EQ(outputs_of(model).size(), 3u);
  EXPECT_EQ(outputs_of(model)[2].name, "two");
}

TEST(ModelBuilder, ListsEveryProblemAtOnce) {
  ModelBuilder b;
  const auto x = b.input("x", floats({2, 3}));
  b.output("a", b.node("Rleu", {x}));
  b.output("b", b.node("MatMul", {x, x}));
  try {
    (void)b.build();
    FAIL() << "it was built";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("Rleu"));
    EXPECT_THAT(error.message(), HasSubstr("the inner dimensions are 3 and 2"));
  }
}

TEST(ModelBuilder, RefusesNamesThatAreTakenAndValuesOfOthers) {
  ModelBuilder b, other;
  const auto x = b.input("x", floats({2}));
  const auto stranger = other.input("x", floats({2}));
  EXPECT_REFUSED(Code::duplicate_name, b.input("x", floats({2})));
  EXPECT_REFUSED(Code::bad_usage, b.node("Add", {x, stranger}));
  EXPECT_REFUSED(Code::bad_usage, b.output("y", {}));
  EXPECT_REFUSED(Code::bad_attribute, b.node("If", {x}, {{"then_branch", std::vector<GraphView>(1)}}));
}

TEST(ModelBuilder, TakesListsOfEveryPlainKindAndNumbersOfEveryWidth) {
  const std::int64_t wide = 3;
  const std::vector<float> many = {1, 2};
  const std::vector<ModelBuilder::Attribute> all = {
      {"a", wide}, {"b", std::size_t{4}}, {"c", 0.5f},      {"d", {0.5, 2.0}},         {"e", {"left", "right"}},
      {"f", many}, {"g", {1, 2}},         {"h", {wide, 1}}, {"i", std::string("word")}};
  EXPECT_EQ(std::get<std::int64_t>(all[0].value), 3);
  EXPECT_EQ(std::get<std::int64_t>(all[1].value), 4);
  EXPECT_EQ(std::get<float>(all[2].value), 0.5f);
  EXPECT_THAT(std::get<std::vector<float>>(all[3].value), ElementsAre(0.5f, 2));
  EXPECT_THAT(std::get<std::vector<std::string>>(all[4].value), ElementsAre("left", "right"));
  EXPECT_THAT(std::get<std::vector<float>>(all[5].value), ElementsAre(1, 2));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(all[6].value), ElementsAre(1, 2));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(all[7].value), ElementsAre(3, 1));
  EXPECT_EQ(std::get<std::string>(all[8].value), "word");
}

TEST(ModelBuilder, RefusesAttributesThatAreNoneOrGivenTwiceAndAbsurdNumbersOfOutputs) {
  ModelBuilder b;
  const auto x = b.input("x", floats({2}));
  const char* nothing = nullptr;
  EXPECT_REFUSED(Code::bad_attribute, b.node("Cast", {x}, {{"to", nothing}}));
  EXPECT_REFUSED(Code::bad_attribute, b.node("Softmax", {x}, {{"axis", 0}, {"axis", 0}}));
  EXPECT_REFUSED(Code::bad_usage, b.node_outputs("Split", {x}, std::size_t(-1)));
}

TEST(ModelBuilder, ValuesDoNotOutliveTheirGraph) {
  ModelBuilder b;
  const auto x = b.input("x", floats({2}));
  b.output("y", b.node("Relu", {x}));
  const Model model = b.build();
  EXPECT_REFUSED(Code::bad_usage, b.node("Relu", {x}));
  ModelBuilder::Ref orphan;
  {
    ModelBuilder gone;
    orphan = gone.input("x", floats({2}));
  }
  EXPECT_REFUSED(Code::bad_usage, b.output("z", orphan));
}

TEST(ModelBuilder, RefusesAModelThatComputesNothing) {
  ModelBuilder b(21);
  EXPECT_REFUSED(Code::bad_usage, b.build());
  b.output("y", b.node("Relu", {b.input("x", Type::tensor(DType::f32, Shape{2}))}));
  EXPECT_EQ(nodes_of(b.build()).size(), 1u);
  EXPECT_REFUSED(Code::bad_usage, b.build()) << "it was built, and is empty";
}

TEST(ModelBuilder, KeepsItsValuesWhenItIsMoved) {
  ModelBuilder b;
  const auto x = b.input("x", floats({2}));
  ModelBuilder moved = std::move(b);
  moved.output("y", moved.node("Relu", {x}));
  EXPECT_EQ(nodes_of(moved.build()).size(), 1u);
  EXPECT_REFUSED(Code::bad_usage, b.input("x", floats({2})));
  EXPECT_REFUSED(Code::bad_usage, b.build());
}

}  // namespace
}  // namespace ingot
