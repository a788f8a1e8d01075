// Sessions: inputs, limits, threads, subgraphs, errors.
#include "ingot/engine/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "tests/support/refusal.h"

namespace ingot::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model parse(const std::string& graph, int opset = 17) {
  return onnx::parse_text("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + graph);
}

std::vector<float> floats_of(const NamedDatum& output) {
  const auto data = output.value.array()->data<float>();
  return {data.begin(), data.end()};
}

constexpr SessionOptions kPlain{.budget = nullptr, .threads = 1, .is_fast = false};  // a kernel for each node

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Session, RunsByName) {
  const Session session(parse("g (float[2] a, float[2] b) => (float[2] y) { y = Sub(a, b) }"));
  const auto out = session.run({{"b", Array::of<float>({2}, {1, 2})}, {"a", Array::of<float>({2}, {5, 7})}});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].name, "y");
  EXPECT_THAT(floats_of(out[0]), ElementsAre(4, 5));
}

TEST(Session, NodesInAnyOrderRunByTheSameKernels) {
  const Session sorted(parse("g (float[2,3] x) => (float[2,3] y) { a = Add(x, x) b = Erf(a) y = Relu(b) }"));
  const Session turned(parse("g (float[2,3] x) => (float[2,3] y) { y = Relu(b) b = Erf(a) a = Add(x, x) }"));
  const Session called(onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2,3] x) => (float[2,3] y) { y = own.F(x) }
    <domain: "own", opset_import: ["" : 17]> F (x) => (y) { y = Relu(b) b = Erf(a) a = Add(x, x) })"));
  const std::vector<NamedDatum> inputs{{"x", Array::of<float>({2, 3}, {0.1f, 0.05489408f, 0.96f, 0.93f, -0.4f, 2})}};
  EXPECT_EQ(floats_of(turned.run(inputs)[0]), floats_of(sorted.run(inputs)[0]));
  EXPECT_EQ(floats_of(called.run(inputs)[0]), floats_of(sorted.run(inputs)[0]));
}

TEST(Session, AllProblemsOfTheInputsAreInOneMessage) {
  const Session session(parse("g (float[N, 2] a, float[N] b, int64 c) => (float[N, 2] y) { y = Identity(a) }"));
  const std::string text = message_of([&] {
    session.run({{"a", Array::of<float>({3, 2}, std::vector<float>(6))},
                 {"b", Array::of<float>({4}, std::vector<float>(4))},
                 {"zebra", Array::scalar<float>(1)},
                 {"a", Array::scalar<float>(1)}});
  });
  EXPECT_THAT(text, HasSubstr("no input 'zebra'"));
  EXPECT_THAT(text, HasSubstr("'a' is given twice"));
  EXPECT_THAT(text, HasSubstr("'c' is missing"));
  EXPECT_THAT(text, HasSubstr("dimension 'N' is 4 in input 'b' and 3 in input 'a'"));
  EXPECT_THAT(text, HasSubstr("IG1002"));
  EXPECT_THAT(message_of([&] {
                session.run({{"a", Array::of<double>({3, 2}, std::vector<double>(6))},
                             {"b", Array::of<float>({3}, std::vector<float>(3))},
                             {"c", Array::scalar<std::int64_t>(1)}});
              }),
              HasSubstr("'a' is double[3,2], the model wants float[N,2]"));
}

TEST(Session, DefaultsMayBeLeftOutOrReplaced) {
  const Session session(parse("g (float[1] x, float[1] w = {10}) => (float[1] y) { y = Add(x, w) }"));
  const Array one = Array::of<float>({1}, {1});
  EXPECT_THAT(floats_of(session.run({{"x", one}})[0]), ElementsAre(11));
  EXPECT_THAT(floats_of(session.run({{"x", one}, {"w", one}})[0]), ElementsAre(2));
}

TEST(Session, DefaultsAreConstantsUntilOneIsGiven) {
  // As files before IR version 4 have them: all weights are inputs too.
  const Session session(parse(R"(g (float[1,1,2,2] x, float[1,1,1,1] w = {3}, float[1] b = {1}, int64[2] s = {1,4})
                                 => (float[1,4] y) { c = Conv(x, w) a = Add(c, b) r = Relu(a) y = Reshape(r, s) })"));
  const Array x = Array::of<float>({1, 1, 2, 2}, {1, 2, -3, 4});
  EXPECT_THAT(floats_of(session.run({{"x", x}})[0]), ElementsAre(4, 7, 0, 13));
  for (const KernelChoice& choice : session.kernels()) EXPECT_THAT(choice.op, ::testing::Not(HasSubstr("Elementwise")));
  EXPECT_THAT(floats_of(session.run({{"x", x}, {"b", Array::of<float>({1}, {0})}})[0]), ElementsAre(3, 6, 0, 12));
  EXPECT_THAT(floats_of(session.run({{"x", x}})[0]), ElementsAre(4, 7, 0, 13));
}

TEST(Session, MemoryOfTheCallerIsReadWhereItIsAndNotWritten) {
  const Session session(parse("g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Identity(x) }"));
  std::vector<float> own = {1, 2};
  const auto out = session.run({{"x", Array::view(DType::f32, {2}, own.data())}});
  EXPECT_THAT(floats_of(out[0]), ElementsAre(-1, -2));
  EXPECT_THAT(own, ElementsAre(1, 2));
  EXPECT_EQ(static_cast<const void*>(out[1].value.array()->bytes()), own.data());
}

TEST(Session, ShapesMayChangeFromRunToRun) {
  const Session session(
      parse("g (float[N, M] x) => (float[N] y) <int64[1] a = {1}> { y = ReduceSum<keepdims = 0>(x, a) }"));
  for (const std::int64_t n : {0, 1, 3}) {
    const auto out =
        session.run({{"x", Array::of<float>({n, 2}, std::vector<float>(static_cast<std::size_t>(2 * n), 1))}});
    EXPECT_THAT(floats_of(out[0]), ::testing::Each(2.0f));
    EXPECT_EQ(out[0].value.array()->dims(), Dims({n}));
  }
}

TEST(Session, RewritesThatNeedARankWaitForTheInputs) {
  // Before opset 7 a slope of one dimension stood for the channels, which only the rank of x tells.
  const Model model = parse("g (float[A, B] x, float[2] slope) => (float[A, B] y) { y = PRelu(x, slope) }", 6);
  model.graph->inputs()[0]->type.shape.reset();
  model.graph->output(0)->type.shape.reset();
  const Session session(model);
  const auto out =
      session.run({{"x", Array::of<float>({1, 2, 2}, {-1, -1, -1, -1})}, {"slope", Array::of<float>({2}, {2, 3})}});
  EXPECT_THAT(floats_of(out[0]), ElementsAre(-2, -2, -3, -3));
  const auto flat = session.run({{"x", Array::of<float>({1, 2}, {-1, -1})}, {"slope", Array::of<float>({2}, {2, 3})}});
  EXPECT_THAT(floats_of(flat[0]), ElementsAre(-2, -3));
}

TEST(Session, OperatorsThatCannotBeRunAreListedTogether) {
  const Model model = onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 17, "zoo" : 1]>
g (float[2] x) => (float[2] y) { t = zoo.Lion(x) y = zoo.Tiger(t) })");
  const std::string text = message_of([&] { Session{model}; });
  EXPECT_THAT(text, HasSubstr("zoo.Lion"));
  EXPECT_THAT(text, HasSubstr("zoo.Tiger"));
  EXPECT_THAT(text, HasSubstr("IG1001"));
}

TEST(Session, FunctionsOfTheModelAreRun) {
  const Session session(onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[2] x) => (float[2] y) { y = own.twice(x) }
<domain: "own", opset_import: ["" : 17]>
twice (a) => (b) { b = Add(a, a) })"));
  EXPECT_THAT(floats_of(session.run({{"x", Array::of<float>({2}, {1, 2})}})[0]), ElementsAre(2, 4));
}

TEST(Session, AnErrorNamesNodeAndOperator) {
  const Session session(parse("g (int64[2] a, int64[2] b) => (int64[2] y) { [division] y = Div(a, b) }"));
  const std::string text = message_of([&] {
    session.run({{"a", Array::of<std::int64_t>({2}, {1, 2})}, {"b", Array::of<std::int64_t>({2}, {1, 0})}});
  });
  EXPECT_THAT(text, HasSubstr("'division' (Div)"));
}

TEST(Session, MemoryIsChargedDuringARunAndGivenBack) {
  Budget budget(Limits{.memory = 1u << 20});
  const Session session(parse("g (float[N] x) => (float[N] y) { a = Neg(x) b = Neg(a) c = Neg(b) y = Neg(c) }"),
                        {.budget = &budget, .threads = 1, .is_fast = false});
  const auto input = [](std::int64_t n) { return Array(DType::f32, {n}); };
  const auto out = session.run({{"x", input(50'000)}});  // 200 kB each, at most three at once
  EXPECT_EQ(budget.memory(), 0u);
  EXPECT_GE(budget.peak_memory(), 200'000u);
  EXPECT_LE(budget.peak_memory(), 600'000u);
  EXPECT_EQ(floats_of(out[0]).size(), 50'000u);
  EXPECT_THAT(message_of([&] { session.run({{"x", input(200'000)}}); }), HasSubstr("IG1201"));
  EXPECT_EQ(budget.memory(), 0u);
}

TEST(Session, OutputsOutliveTheSession) {
  std::vector<NamedDatum> out;
  {
    Budget budget;
    const Session session(parse("g (float[2] x) => (float[2] y) { y = Neg(x) }"),
                          {.budget = &budget, .threads = 1, .is_fast = true});
    out = session.run({{"x", Array::of<float>({2}, {1, 2})}});
  }
  EXPECT_THAT(floats_of(out[0]), ElementsAre(-1, -2));
}

TEST(Session, AnEndlessLoopStopsAtTheTimeLimit) {
  const Model model = parse(R"(g (int64 n, float[1] x) => (float[1] y) <bool yes = {1}> {
  y = Loop(n, yes, x) <body = b (int64 i, bool c, float[1] s) => (bool d, float[1] t) { d = Identity(c) t = Neg(s) }>
})");
  Budget budget(Limits{.time = std::chrono::milliseconds(200)});
  const Session session(model, {.budget = &budget, .threads = 1, .is_fast = true});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(message_of([&] {
                session.run({{"n", Array::scalar<std::int64_t>(INT64_MAX)}, {"x", Array::of<float>({1}, {1})}});
              }),
              HasSubstr("IG1202"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Session, BranchesSeeTheValuesAroundThem) {
  const Session session(parse(R"(g (bool c, float[1] x) => (float[1] y) {
  z = Neg(x)
  y = If(c) <then_branch = t () => (float[1] a) { a = Add(z, x) }, else_branch = e () => (float[1] b) { b = Identity(z) }>
})"));
  const Array x = Array::of<float>({1}, {3});
  EXPECT_THAT(floats_of(session.run({{"c", Array::scalar<bool>(true)}, {"x", x}})[0]), ElementsAre(0));
  EXPECT_THAT(floats_of(session.run({{"c", Array::scalar<bool>(false)}, {"x", x}})[0]), ElementsAre(-3));
}

TEST(Session, ConstantsAreFoldedOnce) {
  const Session session(parse(R"(g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  a = Neg(w) b = Exp(a) c = Mul(b, w) y = Add(x, c)
})"),
                        kPlain);
  EXPECT_EQ(session.kernels().size(), 1u);
  EXPECT_EQ(session.kernels()[0].op, "Add");
}

TEST(Session, AnOutputMayBeConstantOrAnInput) {
  const Session session(parse("g (float[1] x) => (float[1] x, float[1] y) <float[1] w = {4}> { y = Neg(w) }"));
  const auto out = session.run({{"x", Array::of<float>({1}, {3})}});
  EXPECT_THAT(floats_of(out[0]), ElementsAre(3));
  EXPECT_THAT(floats_of(out[1]), ElementsAre(-4));
}

TEST(Session, SparseInitializersAreDense) {
  Model model = parse("g (float[2, 3] x) => (float[2, 3] y) { y = Identity(x) }");
  SparseTensor sparse;
  sparse.dims = {2, 3};
  sparse.values = Tensor::of<float>({2}, {5, 7});
  for (const bool is_linear : {true, false}) {
    Model m = model.clone();
    sparse.indices = is_linear ? Tensor::ints({1, 5}) : Tensor::of<std::int64_t>({2, 2}, {0, 1, 1, 2});
    Value* w = m.graph->add_sparse_initializer("w", {sparse.values, sparse.indices, sparse.dims, {}});
    Node* node = m.graph->first();
    node->op = "Add";
    node->add_input(w);
    const Session session(m);
    const auto out = session.run({{"x", Array::of<float>({2, 3}, {1, 1, 1, 1, 1, 1})}});
    EXPECT_THAT(floats_of(out[0]), ElementsAre(1, 6, 1, 1, 1, 8));
  }
  sparse.indices = Tensor::ints({1, 6});
  model.graph->add_sparse_initializer("w", sparse);
  EXPECT_REFUSED(Code::bad_sparse_tensor, Session{model});
}

TEST(Session, AValueThatNothingDefinesIsRefused) {
  EXPECT_THAT(message_of([] { Session{parse("g (float[1] x) => (float[1] y) { y = Add(x, nowhere) }")}; }),
              HasSubstr("nowhere"));
}

TEST(Session, AFusedNodeHasTheNamesOfAllThatBecameIt) {
  const Session session(parse(R"(g (float[2, 3] x) => (float[2, 4] y)
    <float[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[4] b = {1, 2, 3, 4}>
    { p = MatMul(x, w) s = Add(p, b) r = Relu(s) n = Neg(r) y = Exp(n) })"));
  std::vector<std::string> names;
  for (const KernelChoice& choice : session.kernels()) names.push_back(choice.node);
  EXPECT_THAT(names, ElementsAre("p + s + r", "n + y"));
}

TEST(Session, AProfileTellsEachNode) {
  const Session session(parse("g (float[2] x) => (float[2] y) { a = Neg(x) y = Exp(a) }"), kPlain);
  Profile profile;
  session.run({{"x", Array::of<float>({2}, {1, 2})}}, {.profile = &profile});
  ASSERT_EQ(profile.events.size(), 2u);
  EXPECT_EQ(profile.events[0].op, "Neg");
  EXPECT_EQ(profile.events[1].outputs, "float[2]");
  EXPECT_GE(profile.events[1].start, profile.events[0].start + profile.events[0].duration);
}

TEST(Session, OneSessionServesManyThreads) {
  const Session session(
      parse(R"(g (float[N, 4] x) => (float[N, 4] y) <float[4, 4] w = {1,0,0,0, 0,2,0,0, 0,0,3,0, 0,0,0,4}> {
  h = MatMul(x, w) y = Tanh(h)
})"));
  const auto input = Array::of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<float> expected = floats_of(session.run({{"x", input}})[0]);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        if (floats_of(session.run({{"x", input}})[0]) != expected) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, LongChainsArePlannedInTime) {
  Model model;
  model.ir_version = 8;
  model.opsets.set("", 17);
  Graph& g = *model.graph;
  Value* v = g.add_input("x", Type::tensor(DType::f32, Shape{4}));
  for (int i = 0; i < 50'000; ++i) {
    Node* node = g.add_node("Neg");
    node->add_input(v);
    v = node->add_output("v" + std::to_string(i));
  }
  v->type = Type::tensor(DType::f32, Shape{4});
  g.add_output(v);
  const auto start = std::chrono::steady_clock::now();
  const Session session(model);
  const auto out = session.run({{"x", Array::of<float>({4}, {1, 2, 3, 4})}});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(floats_of(out[0]), ElementsAre(1, 2, 3, 4));
  std::printf("50,000 nodes planned and run in %.2f s\n", took.count());
  EXPECT_LT(took.count(), 20);  // an unoptimised, checked build on a busy machine; quadratic work takes minutes
}

}  // namespace
}  // namespace ingot::engine
