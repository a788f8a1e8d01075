// Definitions, scopes and order.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_in;
using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckNames, AcceptsNestedGraphsThatReadOuterValues) {
  EXPECT_THAT(problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      a = Relu(x)
      y = If (c) <then_branch = t () => (float[2] b) { b = Neg(a) }, else_branch = e () => (float[2] b) { b = Abs(x) }>
    })"),
              IsEmpty());
}

TEST(CheckNames, GraphsHaveNames) {
  EXPECT_THAT(problems_in(R"("" (float[2] x) => (float[2] y) { y = Relu(x) })"),
              ElementsAre("warning: graph: the graph has no name [IG0312]"));
}

TEST(CheckNames, InputsHaveNames) {
  EXPECT_THAT(problems_in(R"(g (float[2] x, float[2] "") => (float[2] y) { y = Relu(x) })"),
              ElementsAre("error: input '': an input has no name [IG0312]"));
}

TEST(CheckNames, EachValueIsDefinedOnce) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { y = Relu(x) [again] y = Neg(x) }"),
              ElementsAre("error: value 'y': the name is defined again, by node 'again' (Neg) [IG0301]"));
  EXPECT_THAT(problems_in("g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }"),
              ElementsAre("error: input 'x': the name is defined again, by an input [IG0301]"));
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] w = {3, 4}> { y = Add(x, w) }"),
      ElementsAre("error: initializer 'w': the name is defined again, by an initializer [IG0301]"));
}

TEST(CheckNames, AnInputMayHaveADefault) {
  EXPECT_THAT(problems_in("g (float[2] x = {1, 2}) => (float[2] y) { y = Relu(x) }"), IsEmpty());
}

TEST(CheckNames, NodeNamesAreUniqueOrAWarning) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] a = Relu(x) [n] b = Relu(a) [n] y = Relu(b) }"),
              ElementsAre("warning: node 'n': several nodes have this name [IG0301]"));
}

TEST(CheckNames, ValuesInUseAreDefined) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] a = Add(x, lost) y = Add(a, lost) }"),
              ElementsAre("error: node 'n' (Add): nothing defines input 'lost', which is read 2 times [IG0302]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y, float[2] lost) { y = Relu(x) }"),
              ElementsAre("error: output 'lost': nothing defines this value [IG0302]"));
}

TEST(CheckNames, ValuesOfABranchEndWithIt) {
  EXPECT_THAT(problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      a = If (c) <then_branch = t () => (float[2] b) { b = Neg(x) }, else_branch = e () => (float[2] d) { d = Abs(x) }>
      [n] y = Add(a, b)
    })"),
              ElementsAre("error: node 'n' (Add): nothing defines input 'b' [IG0302]"));
}

TEST(CheckNames, NodesFollowThoseTheyReadFrom) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [late] y = Neg(a) [early] a = Relu(x) }"),
              ElementsAre("warning: node 'late' (Neg): input 'a' is made only later, by node 'early' (Relu) [IG0303]"));
}

TEST(CheckNames, BranchesReadOnlyWhatIsThere) {
  EXPECT_THAT(problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [if] y = If (c) <then_branch = t () => (float[2] b) { [n] b = Neg(a) },
                       else_branch = e () => (float[2] d) { d = Abs(x) }>
      [early] a = Relu(x)
    })"),
              ElementsAre("warning: node 'if' (If), then_branch: node 'n' (Neg): input 'a' is made only later, by node "
                          "'early' (Relu) [IG0303]"));
}

TEST(CheckNames, FindsCycles) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) { [p] a = Add(x, c) [q] b = Relu(a) [r] c = Neg(b) [s] y = Abs(b) }"),
      ElementsAre("error: graph: nodes depend on each other in a circle: node 'p' (Add) -> node 'q' (Relu) -> node "
                  "'r' (Neg) -> node 'p' (Add) [IG0321]"));
}

TEST(CheckNames, FindsCyclesThroughNestedGraphs) {
  EXPECT_THAT(
      problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [p] a = Add(x, y)
      [if] y = If (c) <then_branch = t () => (float[2] b) { b = Neg(a) }, else_branch = e () => (float[2] d) { d = Abs(x) }>
    })"),
      ElementsAre("error: graph: nodes depend on each other in a circle: node 'p' (Add) -> node 'if' (If) -> node "
                  "'p' (Add) [IG0321]"));
}

TEST(CheckNames, ANodeMayNotReadItself) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) { [p] y = Add(x, y) }"),
      ElementsAre("error: graph: nodes depend on each other in a circle: node 'p' (Add) -> node 'p' (Add) [IG0321]"));
}

TEST(CheckNames, NodesOfNestedGraphsHideNoOuterValue) {
  EXPECT_THAT(
      problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      a = Relu(x)
      [if] y = If (c) <then_branch = t () => (float[2] b) { [n] a = Neg(x) b = Abs(a) },
                       else_branch = e () => (float[2] d) { d = Abs(x) }>
    })"),
      ElementsAre("error: node 'if' (If), then_branch: value 'a': node 'if' (If), then_branch: node 'n' (Neg) hides "
                  "the value of the same name of an outer graph (graph) [IG0322]"));
}

TEST(CheckNames, InputsOfNestedGraphsThatHideAreAWarning) {
  EXPECT_THAT(
      problems_in(R"(g (int64 n, bool c, float[2] x) => (float[2] y) {
      [loop] y = Loop (n, c, x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) { c2 = Identity(c) t = Relu(s) }>
    })"),
      ElementsAre("warning: node 'loop' (Loop), body: input 'c': an input hides the value of the same name of an "
                  "outer graph (graph) [IG0322]"));
}

TEST(CheckNames, NamesOfBranchesAndOfLaterNodesDoNotClash) {
  EXPECT_THAT(problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      a = If (c) <then_branch = t () => (float[2] z) { b = Neg(x) z = Relu(b) },
                  else_branch = e () => (float[2] z) { b = Abs(x) z = Relu(b) }>
      b = Relu(a)
      y = Relu(b)
    })"),
              IsEmpty());
}

TEST(CheckNames, GraphsGiveValuesOfTheirOwn) {
  EXPECT_THAT(
      problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [if] y = If (c) <then_branch = t () => (float[2] x) {}, else_branch = e () => (float[2] d) { d = Abs(x) }>
    })"),
      ElementsAre("warning: node 'if' (If), then_branch: output 'x': the value is defined outside of the graph that "
                  "gives it [IG0302]"));
}

TEST(CheckNames, OutputsAreGivenOnce) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y, float[2] y) { y = Relu(x) }"),
              ElementsAre("warning: output 'y': the graph gives this output twice [IG0301]"));
}

TEST(CheckNames, NamesAreMadeFitToBePrinted) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { y = Add(x, \"\x1b[2Jred\") }"),
              ElementsAre("error: the node that makes 'y' (Add): nothing defines input '\\x1b[2Jred' [IG0302]"));
  const std::string longest(5000, 'n');
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { y = Add(x, " + longest + ") }"),
              ElementsAre("error: the node that makes 'y' (Add): nothing defines input '" + longest.substr(0, 100) +
                          "...' [IG0302]"));
}

}  // namespace
}  // namespace ingot
