// Runs that ask for too much end with an Error, and any run can be cancelled.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "tests/support/sanitizers.h"

namespace ingot::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Inputs = std::vector<NamedDatum>;
using std::chrono::milliseconds;

Model parsed(const std::string& graph) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph);
}

Code code_of(const Model& model, const Inputs& inputs, Budget& budget, bool is_fast = true) {
  try {
    Session(model, {.budget = &budget, .threads = 1, .is_fast = is_fast}).run(inputs);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

Array ints(const std::vector<std::int64_t>& values) {
  return Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr const char* kLoop = R"(
    g (int64 n, float[1] x) => (float[1] last) {
      on = Constant<value = bool {1}>()
      last = Loop<body = b (int64 i, bool on_in, float[1] v) => (bool next, float[1] w) {
        w = Add(v, x)
        next = Identity(on_in)
      }>(n, on, x)
    })";

Inputs loop_inputs() { return {{"n", Array::scalar(kMost)}, {"x", Array::of<float>({1}, {1})}}; }

TEST(Limits, EndlessLoopStopsInTime) {
  Budget budget({.time = milliseconds(300)});
  const auto start = Clock::now();
  EXPECT_EQ(code_of(parsed(kLoop), loop_inputs(), budget), Code::time_limit);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
}

TEST(Limits, MemoryThatIsNotThereIsAnError) {
  if (test::kIsSanitized) GTEST_SKIP() << "the sanitizer ends the program when memory is not there";
  const Model model = parsed("g (int64[1] s) => (float[A] y) { y = ConstantOfShape(s) }");
  Budget budget;
  for (const bool is_fast : {false, true})
    EXPECT_EQ(code_of(model, {{"s", ints({std::int64_t{1} << 60})}}, budget, is_fast), Code::out_of_memory);
  EXPECT_EQ(budget.memory(), 0u);
}

struct Bomb {
  const char* name;
  const char* graph;
  Inputs inputs;
};

class AllocationBomb : public testing::TestWithParam<Bomb> {};

TEST_P(AllocationBomb, StopsAtTheMemoryLimit) {
  for (const bool is_fast : {false, true}) {
    Budget budget({.memory = 64 << 20, .time = std::chrono::seconds(20)});
    EXPECT_EQ(code_of(parsed(GetParam().graph), GetParam().inputs, budget, is_fast), Code::memory_limit);
    EXPECT_EQ(budget.memory(), 0u);
  }
}

Array some_floats(Dims dims) { return Array(DType::f32, std::move(dims)); }

const Bomb kBombs[] = {
    {"Expand",
     "g (float[1] x, int64[2] s) => (float[A,B] y) { y = Expand(x, s) }",
     {{"x", some_floats({1})}, {"s", ints({1 << 20, 1 << 20})}}},
    {"Tile",
     "g (float[4] x, int64[1] r) => (float[A] y) { y = Tile(x, r) }",
     {{"x", some_floats({4})}, {"r", ints({std::int64_t{1} << 40})}}},
    {"ConstantOfShape", "g (int64[1] s) => (float[A] y) { y = ConstantOfShape(s) }", {{"s", ints({1 << 30})}}},
    {"Range",
     "g (int64 a, int64 b, int64 d) => (int64[A] y) { y = Range(a, b, d) }",
     {{"a", Array::scalar<std::int64_t>(0)},
      {"b", Array::scalar(std::int64_t{1} << 50)},
      {"d", Array::scalar<std::int64_t>(1)}}},
    {"Resize",
     "g (float[1,1,4,4] x, int64[4] s) => (float[1,1,A,B] y) { y = Resize(x, , , s) }",
     {{"x", some_floats({1, 1, 4, 4})}, {"s", ints({1, 1, 1 << 20, 1 << 20})}}},
    {"Pad",
     "g (float[4] x, int64[2] p) => (float[A] y) { y = Pad(x, p) }",
     {{"x", some_floats({4})}, {"p", ints({1 << 30, 1 << 30})}}},
    {"OneHot",
     "g (int64[4] x, int64 d, float[2] v) => (float[4,A] y) { y = OneHot(x, d, v) }",
     {{"x", ints({0, 1, 2, 3})}, {"d", Array::scalar(std::int64_t{1} << 40)}, {"v", some_floats({2})}}},
    {"MatMul",
     "g (float[A,1] x, float[1,B] w) => (float[A,B] y) { y = MatMul(x, w) }",
     {{"x", some_floats({1 << 20, 1})}, {"w", some_floats({1, 1 << 20})}}},
    {"Add",
     "g (float[A,1] x, float[1,B] w) => (float[A,B] y) { y = Add(x, w) }",
     {{"x", some_floats({1 << 20, 1})}, {"w", some_floats({1, 1 << 20})}}},
};

INSTANTIATE_TEST_SUITE_P(Operators, AllocationBomb, testing::ValuesIn(kBombs),
                         [](const auto& tested) { return std::string(tested.param.name); });

struct LongWork {
  const char* name;
  bool is_fast;
  const char* graph;
  Inputs inputs;
};

class Cancel : public testing::TestWithParam<LongWork> {};

/// How long a run goes on after cancel(); nothing if it was over before.
std::optional<Clock::duration> time_to_stop(const LongWork& work) {
  Budget budget;
  const Session session(parsed(work.graph), {.budget = &budget, .threads = 2, .is_fast = work.is_fast});
  Clock::time_point cancelled;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    cancelled = Clock::now();
    budget.cancel();
  });
  Code code = Code::internal;
  try {
    session.run(work.inputs);
  } catch (const Error& error) {
    code = error.code();
  }
  const auto end = Clock::now();
  other.join();
  if (code != Code::cancelled) return std::nullopt;
  return end - cancelled;
}

TEST_P(Cancel, TakesAtMost200Milliseconds) {
  constexpr milliseconds kLimit(test::kIsSanitized ? 2000 : 200);
  // The best of a few: the machine may be doing something else.
  Clock::duration best = Clock::duration::max();
  for (int i = 0; i < 5 && best > kLimit; ++i) {
    const auto time = time_to_stop(GetParam());
    ASSERT_TRUE(time) << "the run was not interrupted";
    best = std::min(best, *time);
  }
  EXPECT_LE(std::chrono::duration_cast<milliseconds>(best).count(), kLimit.count());
}

constexpr const char* kMatMul = "g (float[A,K] x, float[K,B] w) => (float[A,B] y) { y = MatMul(x, w) }";
// The weights are folded to a constant.
constexpr const char* kConv = R"(g (float[N,64,H,W] x) => (float[N,64,P,Q] y) {
  s = Constant<value = int64[4] {64, 64, 3, 3}>()
  w = ConstantOfShape(s)
  y = Conv(x, w)
})";
constexpr const char* kElementwise = R"(g (float[A,1] x, float[1,B] w) => (float[A,B] y) {
  a = Pow(x, w)
  b = Sin(a)
  c = Erf(b)
  y = Exp(c)
})";
constexpr const char* kResize = R"(g (float[1,1,H,W] x, int64[4] s) => (float[1,1,A,B] y) {
  y = Resize<mode = "cubic">(x, , , s)
})";
const Inputs kMatMulInputs = {{"x", some_floats({4096, 4096})}, {"w", some_floats({4096, 4096})}};
const Inputs kConvInputs = {{"x", some_floats({16, 64, 112, 112})}};
const Inputs kElementwiseInputs = {{"x", some_floats({4096, 1})}, {"w", some_floats({1, 8192})}};
const Inputs kResizeInputs = {{"x", some_floats({1, 1, 64, 64})}, {"s", ints({1, 1, 12000, 12000})}};

const LongWork kLongWork[] = {
    {"MatMul_reference", false, kMatMul, kMatMulInputs},
    {"MatMul", true, kMatMul, kMatMulInputs},
    {"Conv_reference", false, kConv, kConvInputs},
    {"Conv", true, kConv, kConvInputs},
    {"Elementwise_reference", false, kElementwise, kElementwiseInputs},
    {"Elementwise", true, kElementwise, kElementwiseInputs},
    {"Resize", true, kResize, kResizeInputs},
    {"Loop", true, kLoop, loop_inputs()},
};

INSTANTIATE_TEST_SUITE_P(Kernels, Cancel, testing::ValuesIn(kLongWork),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ingot::engine
