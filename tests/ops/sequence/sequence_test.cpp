// Sequences and optionals: the types of their elements.
#include <gmock/gmock.h>

#include "ingot/ops/infer.h"
#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

Value* input(OpCase& c, Type type) { return c.model.graph->add_input(c.model.graph->fresh_name("s"), std::move(type)); }
Value* sequence(OpCase& c, std::string_view element) { return input(c, Type::sequence(tensor_type(element))); }
Value* optional(OpCase& c, std::string_view element) { return input(c, Type::optional(tensor_type(element))); }

TEST(SequenceConstruct, KeepsWhatAllElementsShare) {
  OpCase c;
  EXPECT_EQ(c.op("SequenceConstruct", {c.in("float[N,2]"), c.in("float[N,3]")})->type.str(), "seq(float[N,?])");
  EXPECT_EQ(c.op("SequenceConstruct", {c.in("float[N]"), c.in("float[N,3]")})->type.str(), "seq(float[...])");
  EXPECT_REFUSED(Code::inference_failed, c.op("SequenceConstruct", {c.in("float[2]"), c.in("int64[2]")}));
}

TEST(Sequence, ElementsGoInAndComeOut) {
  OpCase c;
  Value* empty = c.op("SequenceEmpty", {}, {{"dtype", DType::i64}});
  EXPECT_EQ(empty->type.str(), "seq(int64[...])");
  Value* one = c.op("SequenceInsert", {empty, c.in("int64[N]")});
  EXPECT_EQ(one->type.str(), "seq(int64[N])");
  Value* two = c.op("SequenceInsert", {one, c.in("int64[3]"), c.in("int64")});
  EXPECT_EQ(two->type.str(), "seq(int64[?])");
  EXPECT_EQ(c.op("SequenceErase", {two})->type.str(), "seq(int64[?])");
  EXPECT_EQ(c.op("SequenceAt", {one, c.in("int64")})->type.str(), "int64[N]");
  EXPECT_EQ(c.op("SequenceLength", {two})->type.str(), "int64");
  EXPECT_REFUSED(Code::inference_failed, c.op("SequenceInsert", {one, c.in("float[N]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("SequenceAt", {c.in("float[N]"), c.in("int64")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("SequenceEmpty", {}, {{"dtype", 99}}));
}

TEST(SplitToSequence, KnowsTheSizeOfEqualParts) {
  OpCase c;
  Value* x = c.in("float[6,N]");
  EXPECT_EQ(c.op("SplitToSequence", {x})->type.str(), "seq(float[1,N])");
  EXPECT_EQ(c.op("SplitToSequence", {x}, {{"keepdims", 0}})->type.str(), "seq(float[N])");
  EXPECT_EQ(c.op("SplitToSequence", {x, c.constant(Tensor::scalar<std::int64_t>(3))})->type.str(), "seq(float[3,N])");
  EXPECT_EQ(c.op("SplitToSequence", {x, c.constant(Tensor::scalar<std::int64_t>(4))})->type.str(), "seq(float[?,N])");
  EXPECT_EQ(c.op("SplitToSequence", {x, c.ints({2, 4})})->type.str(), "seq(float[?,N])");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("SplitToSequence", {x}, {{"axis", 2}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("SplitToSequence", {x, c.constant(Tensor::scalar<std::int64_t>(0))}));
}

TEST(ConcatFromSequence, SumsWhatItSees) {
  OpCase c;
  Value* made = c.op("SequenceConstruct", {c.in("float[N,2]"), c.in("float[N,3]")});
  EXPECT_EQ(c.op("ConcatFromSequence", {made}, {{"axis", 1}})->type.str(), "float[N,5]");
  Value* given = sequence(c, "float[N,3]");
  Value* joined = c.op("ConcatFromSequence", {given}, {{"axis", -2}});
  EXPECT_EQ(joined->type.str(), "float[" + joined->name() + ".dim0,3]");
  Value* stacked = c.op("ConcatFromSequence", {given}, {{"axis", -1}, {"new_axis", 1}});
  EXPECT_EQ(stacked->type.str(), "float[N,3," + stacked->name() + ".dim2]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("ConcatFromSequence", {given}, {{"axis", 2}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ConcatFromSequence", {given}));
}

TEST(Optional, WrapsAndUnwraps) {
  OpCase c;
  Value* wrapped = c.op("Optional", {c.in("float[N]")});
  EXPECT_EQ(wrapped->type.str(), "optional(float[N])");
  EXPECT_EQ(c.op("Optional", {}, {{"type", Type::tensor(DType::f32)}})->type.str(), "optional(float[...])");
  EXPECT_EQ(c.op("OptionalGetElement", {wrapped})->type.str(), "float[N]");
  EXPECT_EQ(c.op("OptionalGetElement", {c.in("float[N]")})->type.str(), "float[N]");
  EXPECT_EQ(elements(c.op("OptionalHasElement", {c.in("float[N]")})), "[1]");
  EXPECT_EQ(elements(c.op("OptionalHasElement", {})), "[0]");
  EXPECT_EQ(elements(c.op("OptionalHasElement", {wrapped})), "unknown");
  EXPECT_REFUSED(Code::inference_failed, c.op("Optional", {}));
}

TEST(OptionalHasElement, IsAConstantForWhatIsAlwaysThere) {
  OpCase c(18);
  c.op("OptionalHasElement", {c.in("float[2]")});
  c.convert(15);
  EXPECT_EQ(c.nodes(), "Identity");
  OpCase kept(18);
  kept.op("OptionalHasElement", {optional(kept, "float[2]")});
  kept.convert(15);
  EXPECT_EQ(kept.nodes(), "OptionalHasElement");
}

TEST(SequenceMap, IsALoopBeforeOpset17) {
  OpCase c(17);
  Graph& graph = *c.model.graph;
  auto body = std::make_unique<Graph>(&graph);
  body->name = "body";
  Value *a = body->add_input("a", tensor_type("float[N]")), *b = body->add_input("b", tensor_type("float[N]"));
  body->add_output(GraphBuilder(*body, nullptr, false).add(a, b));
  Node* map = GraphBuilder(graph).node("SequenceMap", "", {sequence(c, "float[N]"), c.in("float[N]")}, {}, 1);
  map->attributes.set(Attribute("body", AttrValue(std::move(body))));
  graph.add_output(map->output());
  c.convert(16);
  EXPECT_EQ(c.nodes(), "SequenceLength SequenceEmpty Loop");
  EXPECT_EQ(c.output()->type.schema_name(), "seq(tensor(float))");
}

}  // namespace
}  // namespace ingot::test
