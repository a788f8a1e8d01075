// If, Loop, Scan and SequenceMap run, with values of the graphs around them.
#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;

std::vector<Datum> run_text(const std::string& graph, const std::vector<engine::NamedDatum>& inputs,
                            Budget* budget = nullptr) {
  const Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph);
  engine::SessionOptions options;
  options.budget = budget;
  std::vector<Datum> outputs;
  for (engine::NamedDatum& output : engine::Session(model, options).run(inputs))
    outputs.push_back(std::move(output.value));
  return outputs;
}

Floats floats(const Datum& d) { return values<float>(*d.array()); }

TEST(IfKernel, RunsOneBranchOnOuterValues) {
  const std::string graph = R"(
    g (bool c, float[N] x) => (float[N] y) {
      two = Constant<value = float {2}>()
      y = If<then_branch = t () => (float[N] a) { a = Add(x, two) }, else_branch = e () => (float[N] b) { b = Mul(x, two) }>(c)
    })";
  const Array x = Array::of<float>({1}, {5});
  EXPECT_EQ(floats(run_text(graph, {{"c", Array::scalar(true)}, {"x", x}})[0]), Floats{7});
  EXPECT_EQ(floats(run_text(graph, {{"c", Array::scalar(false)}, {"x", x}})[0]), Floats{10});
}

constexpr const char* kLoop = R"(
    g (int64 n, bool go, float[1] x) => (float[1] last, float[K,1] all) {
      last, all = Loop<body = b (int64 i, bool on, float[1] v) => (bool next, float[1] w, float[1] out) {
        w = Add(v, x)
        limit = Constant<value = float[1] {6}>()
        less = Less(w, limit)
        next = Squeeze(less)
        out = Identity(v)
      }>(n, go, x)
    })";

TEST(LoopKernel, EndsByCountOrCondition) {
  const Array x = Array::of<float>({1}, {2});
  const auto result = [&](std::int64_t n, bool go) {
    return run_text(kLoop, {{"n", Array::scalar(n)}, {"go", Array::scalar(go)}, {"x", x}});
  };
  EXPECT_EQ(floats(result(1, true)[0]), Floats{4});
  EXPECT_EQ(floats(result(9, true)[0]), Floats{6});
  EXPECT_EQ(floats(result(9, true)[1]), (Floats{2, 4}));
  for (const auto& none : {result(0, true), result(-3, true), result(5, false)}) {
    EXPECT_EQ(floats(none[0]), Floats{2});
    EXPECT_EQ(none[1].array()->dims(), (Dims{0, 1}));
  }
}

TEST(LoopKernel, StopsWhenTimeIsOver) {
  const std::string graph = R"(
    g (float x) => (float y) {
      y = Loop<body = b (int64 i, bool on, float v) => (bool next, float w) { next = Identity(on) w = Neg(v) }>("", "", x)
    })";
  Limits limits;
  limits.time = std::chrono::milliseconds(30);
  Budget budget(limits);
  EXPECT_REFUSED(Code::time_limit, run_text(graph, {{"x", Array::scalar(1.0f)}}, &budget));
}

TEST(ScanKernel, GoesOverSlicesInEitherDirection) {
  const std::string graph = R"(
    g (float[1] s, float[1,3] x) => (float[1] t, float[1,3] y) {
      t, y = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1], scan_input_directions = [1], scan_output_directions = [1],
        body = b (float[1] a, float[1] e) => (float[1] c, float[1] d) { c = Add(a, e) d = Identity(c) }>(s, x)
    })";
  const auto y = run_text(graph, {{"s", Array::of<float>({1}, {0})}, {"x", Array::of<float>({1, 3}, {1, 2, 4})}});
  EXPECT_EQ(floats(y[0]), Floats{7});
  EXPECT_EQ(floats(y[1]), (Floats{7, 6, 4}));
}

TEST(ScanKernel, EndedEachSequenceOfABatchByItselfInOpset8) {
  const Model model = onnx::parse_text(R"(<ir_version: 4, opset_import: ["" : 8]>
    g (int64[2] n, float[2,1] s, float[2,3,1] x, float[2,3,1] z) => (float[2,1] t, float[2,3,1] y) {
      t, y = Scan<num_scan_inputs = 2, directions = [0, 1],
        body = b (float[1] a, float[1] e, float[1] f) => (float[1] c, float[1] d) { c = Add(a, e) d = Add(c, f) }>(n, s, x, z)
    })");
  const auto y = engine::Session(model).run({{"n", Array::of<std::int64_t>({2}, {2, 3})},
                                             {"s", Array::of<float>({2, 1}, {0, 1})},
                                             {"x", Array::of<float>({2, 3, 1}, {1, 2, 4, 1, 2, 4})},
                                             {"z", Array::of<float>({2, 3, 1}, {10, 20, 40, 10, 20, 40})}});
  EXPECT_EQ(floats(y[0].value), (Floats{3, 8}));
  EXPECT_EQ(floats(y[1].value), (Floats{21, 13, 0, 42, 24, 18}));
}

TEST(SequenceMapKernel, AppliesABodyToEachElement) {
  const std::string graph = R"(
    g (seq(float[N]) s, float[1] k) => (seq(float[N]) y) {
      y = SequenceMap<body = b (float[N] e, float[1] f) => (float[N] r) { r = Mul(e, f) }>(s, k)
    })";
  const Sequence s = {Array::of<float>({1}, {1}), Array::of<float>({2}, {2, 3})};
  const auto y = run_text(graph, {{"s", s}, {"k", Array::of<float>({1}, {10})}});
  ASSERT_TRUE(y[0].sequence());
  EXPECT_EQ(floats((*y[0].sequence())[1]), (Floats{20, 30}));
  EXPECT_TRUE(run_text(graph, {{"s", Sequence()}, {"k", Array::of<float>({1}, {10})}})[0].sequence()->empty());
}

}  // namespace
}  // namespace ingot::test
