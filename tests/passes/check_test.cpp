// The list of problems as a whole, and its cost.
#include <ctime>

#include "tests/passes/problems.h"

namespace ingot {
namespace {

using passes::CheckOptions;
using passes::Severity;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHeader = R"(<ir_version: 10, opset_import: ["": 21]>)";

Model parsed(std::string_view graph) { return onnx::parse_text(std::string(kHeader) + std::string(graph)); }

TEST(Check, ListsAllProblemsOfAModel) {
  EXPECT_THAT(
      test::problems_in(R"("" (float[2] x) => (float[2] y, float[2] z) {
      [p] a = Add(x, lost)
      [q] b = Relu <alpha = 1> (a)
      [r] y = Flux(b)
    })"),
      ElementsAre("warning: graph: the graph has no name [IG0312]",
                  "error: node 'p' (Add): nothing defines input 'lost' [IG0302]",
                  "error: output 'z': nothing defines this value [IG0302]",
                  "error: node 'r' (Flux): operator 'Flux' does not exist in opset 21 of ai.onnx [IG0308]",
                  "error: node 'q' (Relu): the operator has no attribute 'alpha' in opset version 14 [IG0304]"));
}

TEST(Check, LeavesTheModelAsItIs) {
  const Model model = parsed("g (float[2] x) => (float[2] y) { a = Relu(x) y = Neg(a) }");
  const std::string before = onnx::to_text(model);
  passes::check(model);
  EXPECT_EQ(onnx::to_text(model), before);
  EXPECT_FALSE(model.graph->first()->output(0)->type);
}

TEST(Check, ErrorsTakeThePlaceOfWarningsWhenTheListIsFull) {
  std::string nodes;
  for (int i = 0; i < 20; ++i) nodes += "[n" + std::to_string(i % 10) + "] v" + std::to_string(i) + " = Relu(x) ";
  for (int i = 0; i < 20; ++i) nodes += "e" + std::to_string(i) + " = Relu(lost" + std::to_string(i) + ") ";
  const Model model = parsed("g (float[2] x) => (float[2] v0) { " + nodes + "}");
  const auto problems = passes::check(model, {.most_problems = 15});
  ASSERT_EQ(problems.size(), 15u);
  for (const passes::Problem& p : problems) EXPECT_EQ(p.severity, Severity::error) << p.str();
}

TEST(Check, RequireValidThrowsTheFirstErrorsInOne) {
  passes::require_valid(parsed("g (float[2] x) => (float[2] y) { [n] a = Relu(x) [n] y = Relu(a) }"));
  std::string nodes;
  for (int i = 0; i < 12; ++i)
    nodes += "[n" + std::to_string(i) + "] v" + std::to_string(i) + " = Add(x, lost" + std::to_string(i) + ") ";
  try {
    passes::require_valid(parsed("g (float[2] x) => (float[2] v0) { " + nodes + "}"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::undefined_value);
    EXPECT_EQ(error.exit_code(), 3);
    EXPECT_THAT(error.what(), HasSubstr("the model is not valid: 12 errors\n  node 'n0' (Add): nothing defines input "
                                        "'lost0' [IG0302]\n"));
    EXPECT_THAT(error.what(), HasSubstr("\n  and 2 more"));
  }
}

TEST(Check, ASingleErrorSaysItsCodeOnce) {
  try {
    passes::require_valid(parsed("g (float[2] x) => (float[2] y) { [n] y = Relu(lost) }"));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_THAT(said, HasSubstr("1 error\n  node 'n' (Relu): nothing defines input 'lost' [IG0302]\n"));
  }
}

TEST(Check, ProblemsHaveTheirOwnWords) {
  const auto problems = passes::check(parsed("g (float[2] x) => (float[2] y) { [n] y = Cast(x) }"));
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].str(),
            "error: node 'n' (Cast): attribute 'to' (an int) is missing [IG0305]\n"
            "  hint: add it: the operator has no default for it");
}

double seconds_to_check(const Model& model, const CheckOptions& options = {}) {
  const std::clock_t start = std::clock();  // of the processor: others use it too
  EXPECT_THAT(test::lines(passes::check(model, options)), testing::IsEmpty());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Model chain(int length) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  model.graph->name = "g";
  Value* v = model.graph->add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), 4}));
  for (int i = 0; i < length; ++i) {
    Node* node = model.graph->add_node(i % 2 ? "Relu" : "Neg");
    node->name = "n" + std::to_string(i);
    node->add_input(v);
    v = node->add_output("v" + std::to_string(i));
  }
  v->type = Type::tensor(DType::f32, Shape{Dim::symbol("N"), 4});
  v->is_declared = true;
  model.graph->add_output(v);
  return model;
}

TEST(Check, AHundredThousandNodesTakeLinearTime) {
  const double small = seconds_to_check(chain(25'000)), large = seconds_to_check(chain(100'000));
  std::printf("25,000 nodes: %.3f s, 100,000 nodes: %.3f s\n", small, large);
  EXPECT_LT(large, 10 * small);  // quadratic would be 16 times
}

TEST(Check, AHundredThousandNodesInReverseOrderTakeLinearTime) {
  Model model = chain(100'000);
  for (Node* node = model.graph->first()->next(); node;) {
    Node* next = node->next();
    model.graph->move_before(node, model.graph->first());
    node = next;
  }
  const auto problems = passes::check(model, {.most_problems = 10});
  ASSERT_EQ(problems.size(), 10u);
  EXPECT_EQ(problems[0].code, Code::not_sorted);
}

TEST(Check, DeepNestingNeedsNoStack) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  model.graph->name = "g";
  Value* c = model.graph->add_input("c", Type::tensor(DType::boolean, Shape{}));
  Graph* graph = model.graph.get();
  for (int i = 0; i < 60; ++i) {
    Node* node = graph->add_node("If");
    node->add_input(c);
    graph->add_output(node->add_output("y" + std::to_string(i)));
    for (const char* name : {"else_branch", "then_branch"}) {
      auto branch = std::make_unique<Graph>(graph);
      branch->name = name;
      Graph* inner = branch.get();
      node->attributes.append({name, AttrValue(std::move(branch))});
      if (name[0] == 't') {
        graph = inner;
      } else {
        Node* same = inner->add_node("Identity");
        same->add_input(c);
        inner->add_output(same->add_output("z" + std::to_string(i)));
      }
    }
  }
  Node* same = graph->add_node("Identity");
  same->add_input(c);
  graph->add_output(same->add_output("last"));
  Value* y = model.graph->output(0);
  y->type = Type::tensor(DType::boolean, Shape{});
  y->is_declared = true;
  seconds_to_check(model);
}

}  // namespace
}  // namespace ingot
