// Shape arithmetic: how sizes travel as values from Shape to the operators that take shapes.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

/// The type, with the sizes that only data decides as "dim0", "dim1" ...
std::string own_names(const Value* value) {
  std::string text = value->type.str();
  const std::string prefix = value->name() + ".";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

TEST(Shape, GivesTheDimensionsAsValues) {
  OpCase c;
  Value* x = c.in("float[N,3,?]");
  EXPECT_EQ(elements(c.op("Shape", {x})), "[N,3,?]");
  EXPECT_EQ(elements(c.op("Shape", {x}, {{"start", -2}})), "[3,?]");
  EXPECT_EQ(elements(c.op("Shape", {x}, {{"start", 1}, {"end", -1}})), "[3]");
  EXPECT_EQ(c.op("Shape", {x}, {{"start", 2}, {"end", 1}})->type.str(), "int64[0]");
  EXPECT_EQ(c.op("Shape", {c.in("float[...]")})->type.str(), "int64[?]");
}

TEST(Shape, IsSlicedBeforeOpset15) {
  OpCase c(15);
  c.op("Shape", {c.in("float[2,3,4]")}, {{"start", 1}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Shape Slice");
}

TEST(Size, IsTheProduct) {
  OpCase c;
  EXPECT_EQ(elements(c.op("Size", {c.in("float[N,3,M]")})), "[3*M*N]");
  EXPECT_EQ(c.op("Size", {c.in("float[...]")})->type.str(), "int64");
}

TEST(Gather, PicksKnownElements) {
  OpCase c;
  Value* shape = c.op("Shape", {c.in("float[N,3,?]")});
  Value* one = c.op("Gather", {shape, c.constant(Tensor::scalar<std::int64_t>(0))});
  EXPECT_EQ(one->type.str(), "int64");
  EXPECT_EQ(elements(one), "[N]");
  EXPECT_EQ(elements(c.op("Gather", {shape, c.ints({-2, 0})})), "[3,N]");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Gather", {shape, c.ints({3})}));
}

TEST(Gather, PutsTheIndicesInPlaceOfTheAxis) {
  OpCase c;
  EXPECT_EQ(c.op("Gather", {c.in("float[V,8]"), c.in("int64[B,T]")})->type.str(), "float[B,T,8]");
  EXPECT_EQ(c.op("Gather", {c.in("float[2,3,4]"), c.in("int32")}, {{"axis", -2}})->type.str(), "float[2,4]");
  EXPECT_EQ(c.op("Gather", {c.in("float[2,3]"), c.in("int32[...]")})->type.str(), "float[...]");
  EXPECT_EQ(refusal([&] {
              c.op("Gather", {c.in("float[2]"), c.in("int32")}, {{"axis", 1}});
            }),
            "axis 1 is out of range for rank 1");
}

TEST(Gather, MakesIndicesNonNegativeBeforeOpset11) {
  OpCase c(11);
  c.op("Gather", {c.in("float[2,3]"), c.in("int32[4]")}, {{"axis", -1}});
  c.convert(10);
  EXPECT_EQ(c.nodes(), "Shape Gather Cast Less Add Where Gather");
  OpCase plain(11);
  plain.op("Gather", {plain.in("float[2,3]"), plain.ints({1})});
  plain.convert(10);
  EXPECT_EQ(plain.nodes(), "Gather");
}

TEST(Concat, JoinsKnownElementsAndKeepsPlacesOfUnknownOnes) {
  OpCase c;
  Value* joined = c.op("Concat", {c.known("N,4"), c.in("int64[1]"), c.ints({-1})}, {{"axis", 0}});
  EXPECT_EQ(joined->type.str(), "int64[4]");
  EXPECT_EQ(elements(joined), "[N,4,?,-1]");
}

TEST(Concat, AddsSizesAlongTheAxis) {
  OpCase c;
  EXPECT_EQ(c.op("Concat", {c.in("float[N,2]"), c.in("float[N,M]")}, {{"axis", -1}})->type.str(), "float[N,M + 2]");
  EXPECT_EQ(c.op("Concat", {c.in("float[?,2]"), c.in("float[5,2]")}, {{"axis", 1}})->type.str(), "float[5,4]");
  EXPECT_EQ(c.op("Concat", {c.in("float[...]"), c.in("float[5,2]")}, {{"axis", 1}})->type.str(), "float[5,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Concat", {c.in("float[2]"), c.in("float[2,1]")}, {{"axis", 0}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Concat", {c.in("float[2,3]"), c.in("float[3,3]")}, {{"axis", 1}}));
  EXPECT_EQ(refusal([&] { c.op("Concat", {c.in("float[2]")}); }), "attribute 'axis' is missing");
}

TEST(Concat, WasAlongAxisOneByDefaultInOpset1) {
  OpCase c(1);
  c.op("Concat", {c.in("float[2,3]"), c.in("float[2,3]")});
  c.convert(13);
  EXPECT_EQ(c.node("Concat").attributes.int_or("axis", 0), 1);
}

TEST(Slice, CutsKnownElements) {
  OpCase c;
  Value* list = c.known("N,3,4,5");
  EXPECT_EQ(elements(c.op("Slice", {list, c.ints({1}), c.ints({-1})})), "[3,4]");
  EXPECT_EQ(elements(c.op("Slice", {list, c.ints({-1}), c.ints({-100}), c.ints({0}), c.ints({-2})})), "[5,3]");
  EXPECT_EQ(elements(c.op("Slice", {list, c.ints({3}), c.ints({1})})), "[]");
}

TEST(Slice, ComputesSymbolicSizes) {
  OpCase c;
  constexpr std::int64_t kEnd = INT64_MAX;
  Value* x = c.in("float[N,8]");
  const auto cut = [&](std::int64_t from, std::int64_t to, std::int64_t axis, std::int64_t step) {
    return c.op("Slice", {x, c.ints({from}), c.ints({to}), c.ints({axis}), c.ints({step})})->type.str();
  };
  EXPECT_EQ(cut(0, kEnd, 0, 1), "float[N,8]");
  EXPECT_EQ(cut(0, 100, 1, 1), "float[N,8]");
  EXPECT_EQ(cut(1, -1, 1, 1), "float[N,6]");
  EXPECT_EQ(cut(0, kEnd, 1, 3), "float[N,3]");
  EXPECT_EQ(cut(kEnd, INT64_MIN, 1, -1), "float[N,8]");
  EXPECT_EQ(cut(-1, -100, -1, -3), "float[N,3]");
  EXPECT_EQ(cut(6, 2, 1, 1), "float[N,0]");
  EXPECT_EQ(cut(1, kEnd, 0, 1), "float[max(1, N) - 1,8]");
  EXPECT_EQ(cut(0, 4, 0, 1), "float[min(4, N),8]");
}

TEST(Slice, RefusesWhatCannotBeCut) {
  OpCase c;
  Value* x = c.in("float[3,8]");
  EXPECT_EQ(refusal([&] { c.op("Slice", {x, c.ints({0}), c.ints({1}), c.ints({0}), c.ints({0})}); }), "a step is 0");
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Slice", {x, c.ints({0}), c.ints({1}), c.ints({2})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Slice", {x, c.ints({0, 0}), c.ints({1, 1}), c.ints({0, -2})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Slice", {x, c.ints({0}), c.ints({1, 2})}));
}

TEST(Slice, SaysWhatItCanOfUnknownEnds) {
  OpCase c;
  Value* x = c.in("float[N,8]");
  EXPECT_EQ(own_names(c.op("Slice", {x, c.in("int64[1]"), c.in("int64[1]"), c.ints({1})})), "float[N,dim1]");
  EXPECT_EQ(own_names(c.op("Slice", {x, c.in("int64[K]"), c.in("int64[K]"), c.in("int64[K]")})), "float[dim0,dim1]");
  EXPECT_EQ(own_names(c.op("Slice", {x, c.in("int64[1]"), c.in("int64[1]")})), "float[dim0,8]");
}

TEST(Slice, HasItsEndsAsAttributesBeforeOpset10) {
  OpCase c(9);
  c.op("Slice", {c.in("float[4,5]")}, {{"starts", {1}}, {"ends", {3}}, {"axes", {1}}});
  c.convert(13);
  EXPECT_EQ(c.node("Slice").input_count(), 4u);
  c.convert(9);
  EXPECT_EQ(c.node("Slice").input_count(), 1u);
  EXPECT_EQ(c.node("Slice").attributes.ints_or("ends", {}), std::vector<std::int64_t>{3});
}

TEST(Reshape, CopiesInfersAndKeepsNames) {
  OpCase c;
  Value* x = c.in("float[N,3,4]");
  EXPECT_EQ(c.op("Reshape", {x, c.ints({0, -1})})->type.str(), "float[N,12]");
  EXPECT_EQ(c.op("Reshape", {x, c.ints({-1, 6})})->type.str(), "float[2*N,6]");
  EXPECT_EQ(c.op("Reshape", {x, c.known("N,-1")})->type.str(), "float[N,12]");
  EXPECT_EQ(c.op("Reshape", {c.in("float[N,T,D]"), c.known("N,T,8,-1")})->type.str(), "float[N,T,8,floor(D/8)]");
  EXPECT_EQ(c.op("Reshape", {c.in("float[?,3,4]"), c.ints({0, -1})})->type.str(), "float[?,12]");
  EXPECT_EQ(c.op("Reshape", {c.in("float[2,6]"), c.known("3,?")})->type.str(), "float[3,4]");
  EXPECT_EQ(own_names(c.op("Reshape", {x, c.in("int64[2]")})), "float[dim0,dim1]");
  EXPECT_EQ(c.op("Reshape", {x, c.in("int64[K]")})->type.str(), "float[...]");
  EXPECT_EQ(c.op("Reshape", {c.in("float[...]"), c.ints({0, -1, 5})})->type.str(), "float[?,?,5]");
  EXPECT_EQ(c.op("Reshape", {c.in("float[1]"), c.ints({})})->type.str(), "float");
  EXPECT_EQ(c.op("Reshape", {c.in("float[0,3]"), c.ints({3, 0})}, {{"allowzero", 1}})->type.str(), "float[3,0]");
}

TEST(Reshape, RefusesShapesThatDoNotFit) {
  OpCase c;
  Value* x = c.in("float[2,3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints({7})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints({-1, -1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints({-2, 3})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints({2, 3, 0})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints(std::vector<std::int64_t>(65, 1))}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Reshape", {x, c.ints({0, -1})}, {{"allowzero", 1}}));
}

TEST(Reshape, HasItsShapeAsAnAttributeInOpset1) {
  OpCase c(1);
  c.op("Reshape", {c.in("float[2,3]")}, {{"shape", {6}}});
  c.convert(21);
  EXPECT_EQ(c.node("Reshape").input_count(), 2u);
  EXPECT_FALSE(c.node("Reshape").attributes.has("shape"));
}

TEST(Reshape, MakesEmptyTensorsAnewBeforeOpset14) {
  OpCase c(14);
  c.op("Reshape", {c.in("float[0,3]"), c.ints({3, 0})}, {{"allowzero", 1}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "ConstantOfShape");
  OpCase plain(14);
  plain.op("Reshape", {plain.in("float[2,3]"), plain.ints({3, 2})}, {{"allowzero", 1}});
  plain.convert(13);
  EXPECT_EQ(plain.nodes(), "Reshape");
  EXPECT_FALSE(plain.node("Reshape").attributes.has("allowzero"));
}

TEST(Expand, BroadcastsWithTheShape) {
  OpCase c;
  EXPECT_EQ(c.op("Expand", {c.in("float[3,1]"), c.known("N,1,6")})->type.str(), "float[N,3,6]");
  EXPECT_EQ(c.op("Expand", {c.in("float[M]"), c.ints({1})})->type.str(), "float[M]");
  EXPECT_EQ(own_names(c.op("Expand", {c.in("float[3]"), c.in("int64[4]")})), "float[dim0,dim1,dim2,dim3]");
  EXPECT_EQ(elements(c.op("Expand", {c.ints({7}), c.ints({3})})), "[7,7,7]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Expand", {c.in("float[3]"), c.ints({2})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Expand", {c.in("float[3]"), c.ints({-1})}));
}

TEST(Unsqueeze, AndSqueezeCarryElements) {
  OpCase c;
  Value* n = c.op("Gather", {c.known("N,3"), c.constant(Tensor::scalar<std::int64_t>(0))});
  Value* list = c.op("Unsqueeze", {n, c.ints({0})});
  EXPECT_EQ(list->type.str(), "int64[1]");
  EXPECT_EQ(elements(list), "[N]");
  EXPECT_EQ(elements(c.op("Squeeze", {list, c.ints({0})})), "[N]");
  EXPECT_EQ(c.op("Squeeze", {list})->type.str(), "int64");
}

TEST(Unsqueeze, PlacesAxes) {
  OpCase c;
  EXPECT_EQ(c.op("Unsqueeze", {c.in("float[N,2]"), c.ints({0, -1})})->type.str(), "float[1,N,2,1]");
  EXPECT_EQ(c.op("Unsqueeze", {c.in("float[N,2]"), c.in("int64[1]")})->type.str(), "float[?,?,?]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Unsqueeze", {c.in("float[2]"), c.ints({0, 0})}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("Unsqueeze", {c.in("float[2]"), c.ints({5})}));
  EXPECT_REFUSED(Code::inference_failed,
                 c.op("Unsqueeze", {c.in("float[2]"), c.ints(std::vector<std::int64_t>(100, 0))}));
}

TEST(Squeeze, NeedsOnes) {
  OpCase c;
  EXPECT_EQ(c.op("Squeeze", {c.in("float[1,N,1]"), c.ints({0, -1})})->type.str(), "float[N]");
  EXPECT_EQ(c.op("Squeeze", {c.in("float[1,N,1]")})->type.str(), "float[...]");
  EXPECT_EQ(c.op("Squeeze", {c.in("float[1,3,1]")})->type.str(), "float[3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Squeeze", {c.in("float[1,3]"), c.ints({1})}));
}

TEST(Unsqueeze, HasItsAxesAsAnAttributeBeforeOpset13) {
  OpCase c(13);
  c.op("Unsqueeze", {c.in("float[2,3]"), c.ints({-1})});
  c.convert(10);
  EXPECT_EQ(c.node("Unsqueeze").attributes.ints_or("axes", {}), std::vector<std::int64_t>{2});
  c.convert(21);
  EXPECT_EQ(c.node("Unsqueeze").input_count(), 2u);
}

TEST(Split, GivesSizesAndElements) {
  OpCase c;
  const Values even = c.ops("Split", {c.in("float[4,N]")}, {{"num_outputs", 3}}, 3);
  EXPECT_EQ(even[0]->type.str(), "float[2,N]");
  EXPECT_EQ(even[2]->type.str(), "float[0,N]");
  const Values named = c.ops("Split", {c.in("float[2,6]"), c.ints({1, 5})}, {{"axis", -1}}, 2);
  EXPECT_EQ(named[1]->type.str(), "float[2,5]");
  const Values parts = c.ops("Split", {c.known("N,3,4"), c.ints({1, 2})}, {}, 2);
  EXPECT_EQ(elements(parts[0]), "[N]");
  EXPECT_EQ(elements(parts[1]), "[3,4]");
  EXPECT_REFUSED(Code::inference_failed, c.ops("Split", {c.in("float[6]"), c.ints({1, 2})}, {}, 2));
  EXPECT_REFUSED(Code::inference_failed, c.ops("Split", {c.in("float[6]"), c.ints({-1, 7})}, {}, 2));
  EXPECT_REFUSED(Code::inference_failed, c.ops("Split", {c.in("float[6]")}, {{"num_outputs", 3}}, 2));
}

TEST(Split, TellsUnevenPartsBeforeOpset18) {
  OpCase known(18);
  known.ops("Split", {known.in("float[5]")}, {{"num_outputs", 2}}, 2);
  known.convert(13);
  EXPECT_EQ(known.node("Split").input(1)->initializer->to_ints(), (std::vector<std::int64_t>{3, 2}));
  OpCase open(18);
  open.ops("Split", {open.in("float[N]")}, {{"num_outputs", 2}}, 2);
  open.convert(13);
  EXPECT_EQ(open.nodes(), "Shape Gather Add Div Mul Sub Concat Split");
  open.convert(18);
  EXPECT_EQ(open.node("Split").input_count(), 2u);
}

TEST(Split, CountsItsOutputsFromOpset18) {
  OpCase c(2);
  c.ops("Split", {c.in("float[6]")}, {}, 3);
  c.convert(18);
  EXPECT_EQ(c.node("Split").attributes.int_or("num_outputs", 0), 3);
}

TEST(Tile, MultipliesSizes) {
  OpCase c;
  EXPECT_EQ(c.op("Tile", {c.in("float[N,2]"), c.ints({2, 3})})->type.str(), "float[2*N,6]");
  EXPECT_EQ(c.op("Tile", {c.in("float[N,2]"), c.known("1,M")})->type.str(), "float[N,2*M]");
  EXPECT_EQ(elements(c.op("Tile", {c.known("N,2"), c.ints({2})})), "[N,2,N,2]");
  EXPECT_REFUSED(Code::inference_failed, c.op("Tile", {c.in("float[2]"), c.ints({-1})}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Tile", {c.in("float[2]"), c.ints({1, 1})}));
  EXPECT_EQ(c.op("Tile", {c.in("float[2]"), c.ints({INT64_MAX})})->type.str(), "float[?]");
}

}  // namespace
}  // namespace ingot::test
