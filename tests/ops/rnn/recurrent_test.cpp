// RNN, GRU, LSTM.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;

TEST(Lstm, GivesTheSequenceAndTheLastStates) {
  OpCase c;
  c.ops("LSTM", {c.in("float[S,B,10]"), c.in("float[2,20,10]"), c.in("float[2,20,5]")},
        {{"direction", "bidirectional"}}, 3);
  EXPECT_EQ(c.type(0), "float[S,2,B,5]");
  EXPECT_EQ(c.type(1), "float[2,B,5]");
  EXPECT_EQ(c.type(2), "float[2,B,5]");
}

TEST(Lstm, TakesTheHiddenSizeFromWhereverItIsKnown) {
  OpCase c;
  EXPECT_EQ(
      c.op("LSTM", {c.in("float[S,B,?]"), c.in("float[...]"), c.in("float[...]")}, {{"hidden_size", 7}})->type.str(),
      "float[S,1,B,7]");
  EXPECT_EQ(c.op("GRU", {c.in("float[...]"), c.in("float[1,9,?]"), c.in("float[...]")})->type.str(), "float[?,1,?,3]");
}

TEST(Lstm, RefusesSizesThatDoNotFit) {
  OpCase c;
  Value *x = c.in("float[S,B,10]"), *w = c.in("float[1,20,10]"), *r = c.in("float[1,20,5]");
  EXPECT_THAT(refusal([&] { c.op("LSTM", {x, w, r}, {{"hidden_size", 6}}); }), HasSubstr("hidden size"));
  EXPECT_THAT(refusal([&] { c.op("LSTM", {x, w, r}, {{"hidden_size", 0}}); }), HasSubstr("hidden_size"));
  EXPECT_THAT(refusal([&] { c.op("LSTM", {x, w, r}, {{"direction", "up"}}); }), HasSubstr("up"));
  EXPECT_THAT(refusal([&] { c.op("LSTM", {x, w, r}, {{"direction", "bidirectional"}}); }), HasSubstr("directions"));
  EXPECT_THAT(refusal([&] { c.op("LSTM", {c.in("float[S,B,9]"), w, r}); }), HasSubstr("input"));
  EXPECT_THAT(refusal([&] { c.op("RNN", {c.in("float[S]"), w, r}); }), HasSubstr("rank"));
}

TEST(Gru, IsTransposedWhereOpsetsLackTheLayout) {
  OpCase c;
  c.ops("GRU",
        {c.in("float[B,S,4]"), c.in("float[1,9,4]"), c.in("float[1,9,3]"), nullptr, nullptr, c.in("float[B,1,3]")},
        {{"layout", 1}}, 2);
  EXPECT_EQ(c.type(0), "float[B,S,1,3]");
  EXPECT_EQ(c.type(1), "float[B,1,3]");
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Transpose Transpose GRU Transpose Transpose");
  EXPECT_FALSE(c.node("GRU").attributes.has("layout"));
  EXPECT_EQ(c.type(0), "float[B,S,1,3]");
}

TEST(Gru, ReadsTheMisspeltDefaultOfOpset1) {
  OpCase c(1);
  c.op("GRU", {c.in("float[S,B,4]"), c.in("float[1,9,4]"), c.in("float[1,9,3]")}, {{"output_sequence", 1}});
  c.convert(13);
  EXPECT_EQ(c.node("GRU").attributes.string_or("direction", "forward"), "forward");
  EXPECT_FALSE(c.node("GRU").attributes.has("output_sequence"));
  EXPECT_EQ(c.type(), "float[S,1,B,3]");
}

}  // namespace
}  // namespace ingot::test
