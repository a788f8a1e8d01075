// The official backend tests as TensorFlow's graphs: run by the real TF.js, or read again by Ingot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "tests/backends/agreement.h"
#include "tests/backends/tensorflow_runs.h"
#include "tests/passes/backend_cases.h"

namespace ingot {
namespace {

using backends::tensorflow::Dialect;
using backends::tensorflow::Exported;
using backends::tensorflow::ExportOptions;

bool is_tensor(const onnx::Data& d) { return d.kind == onnx::Data::Kind::tensor; }

std::vector<Tensor> tensors(const std::vector<onnx::Data>& data) {
  std::vector<Tensor> all;
  for (const onnx::Data& d : data) all.push_back(d.tensor);
  return all;
}

/// Cases whose inputs and outputs are all there, and tensors.
bool can_be_compared(const test::BackendCase& c) {
  if (c.outputs.size() != c.model.graph->output_count() || c.model.graph->node_count() == 0) return false;
  std::size_t inputs = 0;
  for (const Value* v : c.model.graph->inputs()) inputs += !v->initializer;
  return c.inputs.size() == inputs && std::ranges::all_of(c.inputs, is_tensor) &&
         std::ranges::all_of(c.outputs, is_tensor);
}

/// Results that draws of random numbers decide.
bool draws_numbers(const test::BackendCase& c) {
  return c.name.find("bernoulli") != std::string::npos || c.name.find("dropout") != std::string::npos;
}

/// One case in sixteen, or all (script/acceptance).
bool is_chosen(const std::string& name) { return test::is_sampled(name) && test::is_sampled(name + " again"); }

struct Made {
  std::string refusal{};
  Exported model{};
};

Made made_for(const Model& model, Dialect dialect) {
  ExportOptions options;
  options.dialect = dialect;
  options.auto_cast = passes::CastRule::all;
  try {
    return {{}, to_tensorflow(model, options)};
  } catch (const Error& e) {
    return {e.message(), {}};
  }
}

TEST(TensorflowExport, MostOfTheOfficialTestsConvertAndAgree) {
  const auto tfjs = test::Tfjs::find();
  if (!tfjs) GTEST_SKIP() << "build/peers has no TF.js: script/bootstrap installs it";
  std::size_t total = 0, converted = 0, in_tfjs = 0, again = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    if (!can_be_compared(c) || draws_numbers(c) || !is_chosen(c.name)) return;
    ++total;
    const std::vector<Tensor> inputs = tensors(c.inputs), expected = tensors(c.outputs);
    std::string why_not_tfjs, why_not_again;
    if (Made made = made_for(c.model, Dialect::tfjs); made.refusal.empty()) {
      const test::TensorflowResult result = tfjs->run(made.model, inputs);
      why_not_tfjs = result.failure.empty() ? test::difference_in_value(result.outputs, expected) : result.failure;
      if (why_not_tfjs.empty()) {
        ++in_tfjs;
        ++converted;
        return;
      }
    } else {
      why_not_tfjs = made.refusal;
    }
    Made made = made_for(c.model, Dialect::tensorflow);
    if (!made.refusal.empty()) {
      std::printf("  refused %s: %s\n", c.name.c_str(), made.refusal.c_str());
      return;
    }
    ++converted;
    const test::TensorflowResult result = test::run_read_again(made.model, inputs);
    why_not_again = result.failure.empty() ? test::difference_in_value(result.outputs, expected) : result.failure;
    again += why_not_again.empty();
    std::printf("  %s %s: TF.js: %s%s%s\n", why_not_again.empty() ? "by Ingot" : "differs", c.name.c_str(),
                why_not_tfjs.substr(0, 300).c_str(),
                why_not_again.empty() ? "" : "; Ingot: ", why_not_again.substr(0, 400).c_str());
  });
  if (!total) GTEST_SKIP() << "no backend tests";
  const auto share = static_cast<double>(in_tfjs + again) / static_cast<double>(total);
  std::printf("backend tests with tensors: %zu, converted %zu, agree in TF.js %zu, read again by Ingot %zu (%.1f %%)\n",
              total, converted, in_tfjs, again, 100 * share);
  EXPECT_GE(share, 0.95);
}

struct Odd {
  const char* graph;
  std::vector<Tensor> inputs;
};

Tensor ramp(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7) % 23) * 0.13F - 1;
  return Tensor::of<float>(dims, values);
}

template <class T> Tensor list(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(TensorflowExport, UnusualUsesAgreeInTfjsToo) {
  const auto tfjs = test::Tfjs::find();
  if (!tfjs) GTEST_SKIP() << "build/peers has no TF.js: script/bootstrap installs it";
  const Odd cases[] = {
      // The new axis anywhere; depths of 1 and 0.
      {R"((int64[N] i) => (float[3,N] y) <int64 d = {3}, float[2] v = {0.5, 2}> { y = OneHot<axis = 0>(i, d, v) })",
       {list<std::int64_t>({2, -1, 5, 0})}},
      {R"((int64[N] i) => (int32[N,1] y) <int64 d = {1}, int32[2] v = {3, 7}> { y = OneHot(i, d, v) })",
       {list<std::int64_t>({0, 1, -1})}},
      {R"((int64[N] i, int64 d) => (float[N,D] y) <float[2] v = {0, 1}> { y = OneHot(i, d, v) })",
       {list<std::int64_t>({0, 1}), Tensor::scalar<std::int64_t>(0)}},
      {R"((float[N,3,2] x) => (float[N,3,2] y) { y = Hardmax<axis = 1>(x) })", {ramp({2, 3, 2})}},
      // Counting where there is nothing to count, by a step that is known or not.
      {R"((int64 a) => (int64[N] y) <int64 b = {2}, int64 s = {1}> { y = Range(a, b, s) })",
       {Tensor::scalar<std::int64_t>(5)}},
      {R"((int64 a, int64 s) => (int64[N] y) <int64 b = {2}> { y = Range(a, b, s) })",
       {Tensor::scalar<std::int64_t>(5), Tensor::scalar<std::int64_t>(1)}},
      {R"((int64 a, int64 s) => (int64[N] y) <int64 b = {2}> { y = Range(a, b, s) })",
       {Tensor::scalar<std::int64_t>(5), Tensor::scalar<std::int64_t>(-2)}},
      // Backwards from before the beginning: from the first element.
      {R"((float[4,3] x) => (float[A,3] y) <int64[1] b = {-9}, int64[1] e = {-99}, int64[1] a = {0}, int64[1] s = {-1}> {
            y = Slice(x, b, e, a, s) })",
       {ramp({4, 3})}},
      {R"((float[N,3] x) => (float[A,3] y)
          <int64[1] b = {-2147483648}, int64[1] e = {-2147483648}, int64[1] a = {0}, int64[1] s = {-2}> {
            y = Slice(x, b, e, a, s) })",
       {ramp({4, 3})}},
      {R"((int64[N,2,H,W] x) => (int64[N,8,A,B] y) { y = SpaceToDepth<blocksize = 2>(x) })",
       {Tensor::of<std::int64_t>({1, 2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})}},
      {R"((float[1,2,4,2] x) => (float[1,8,2,1] y) { y = SpaceToDepth<blocksize = 2>(x) })", {ramp({1, 2, 4, 2})}},
      {R"((float[T,B,2] x, int64[B] n) => (float[T,B,2] y) { y = ReverseSequence(x, n) })",
       {ramp({4, 3, 2}), list<std::int64_t>({1, 4, 3})}},
      {R"((float[B,T] x, int64[B] n) => (float[B,T] y) { y = ReverseSequence<batch_axis = 0, time_axis = 1>(x, n) })",
       {ramp({2, 4}), list<std::int64_t>({2, 3})}},
      // Padding of more axes than the fast backend has.
      {R"((float[2,1,2,1,N,1,2,1] x) => (float[2,1,2,1,N,3,2,2] y)
          <int64[16] p = {0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}> { y = Pad(x, p) })",
       {ramp({2, 1, 2, 1, 3, 1, 2, 1})}},
      {R"((float[1,1,3,4,3] x) => (float[A,B,C,D,E] y) <float[1,1,1,2,3] w = {1, -0.5, 0.25, 2, 0.75, -1}> {
            y = ConvTranspose<strides = [1, 2, 2], dilations = [1, 2, 2]>(x, w) })",
       {ramp({1, 1, 3, 4, 3})}},
      // Windows that end before the data do, beside an axis that is padded.
      {R"((float[1,1,4,5,3] x) => (float[1,1,4,2,3] y) <float[1,1,3,1,1] w = {1, 2, -0.5}> {
            y = Conv<auto_pad = "SAME_UPPER", strides = [1, 3, 1]>(x, w) })",
       {ramp({1, 1, 4, 5, 3})}},
      {R"((float[1,1,4,5,3] x) => (float[1,1,2,2,2] y) {
            y = MaxPool<kernel_shape = [1, 1, 2], auto_pad = "SAME_UPPER", strides = [2, 3, 2]>(x) })",
       {ramp({1, 1, 4, 5, 3})}},
      {R"((float[1,1,4,5,3] x) => (float[1,1,2,2,2] y) {
            y = AveragePool<kernel_shape = [1, 1, 2], auto_pad = "SAME_UPPER", strides = [2, 3, 2]>(x) })",
       {ramp({1, 1, 4, 5, 3})}},
      // Slopes of other than the last axes.
      {R"((float[2,3,4,2] x) => (float[2,3,4,2] y) <float[3,1,1] s = {0.1, 0.5, 2}> { y = PRelu(x, s) })",
       {ramp({2, 3, 4, 2})}},
      {R"((float[N,M] x) => (float[N,M] y) <float[1,1] s = {0.3}> { y = PRelu(x, s) })", {ramp({2, 3})}},
      // A sum whose length only the run knows, over several blocks that are exact.
      {R"((uint8[M,K] a, uint8[K,N] b, uint8 z) => (int32[M,N] y) { y = MatMulInteger(a, b, z) })",
       {Tensor::of<std::uint8_t>({2, 600}, std::vector<std::uint8_t>(1200, 255)),
        Tensor::of<std::uint8_t>({600, 1}, std::vector<std::uint8_t>(600, 251)), Tensor::scalar<std::uint8_t>(1)}},
      {R"((int8[B,M,K] a, int8[K,N] b) => (int32[B,M,N] y) { y = MatMulInteger(a, b) })",
       {Tensor::of<std::int8_t>({2, 1, 3}, {1, -2, 3, 4, 5, -6}),
        Tensor::of<std::int8_t>({3, 2}, {7, 8, 9, -1, 2, 3})}},
      {R"((float[1,N,4] b, float[1,2,N] s) => (int64[A,3] y)
          <int64 m = {3}, float o = {0.5}, float t = {-2}> { y = NonMaxSuppression(b, s, m, o, t) })",
       {Tensor::of<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 2, 1, 3}), ramp({1, 2, 3})}},
      {R"((float[N,M] x) => (int64[N] y) { y = ArgMax<axis = 1, keepdims = 0, select_last_index = 1>(x) })",
       {Tensor::of<float>({2, 3}, {1, 2, 2, 5, 5, 1})}},
      // Nodes that stand before what they read.
      {R"((float[N,6] x) => (float[N,3] y) <int64[2] n = {0, 3}> {
            y = Reshape(b, n)  a, b = Split<axis = 1, num_outputs = 2>(x) })",
       {ramp({2, 6})}},
  };
  for (const Odd& odd : cases) {
    const Model model =
        onnx::parse_text(std::string("<ir_version: 10, opset_import: [\"\" : 21, \"ai.onnx.ml\" : 4]> g ") + odd.graph);
    const Made made = made_for(model, Dialect::tfjs);
    ASSERT_EQ(made.refusal, "") << odd.graph;
    const test::TensorflowResult result = tfjs->run(made.model, odd.inputs);
    EXPECT_EQ(result.failure, "") << odd.graph;
    std::vector<engine::NamedDatum> inputs;
    for (std::size_t i = 0; i < odd.inputs.size(); ++i)
      inputs.push_back({model.graph->inputs()[i]->name(), Array::from(odd.inputs[i])});
    std::vector<Tensor> expected;
    for (const auto& output : engine::Session(model).run(inputs)) expected.push_back(output.value.array()->to_tensor());
    EXPECT_EQ(test::difference_in_value(result.outputs, expected), "") << odd.graph;
  }
}

TEST(TensorflowExport, TfjsIsNotTrustedWithTexts) {
  for (const char* graph : {R"((string[N] x) => (int64[N] y) {
             y = ai.onnx.ml.LabelEncoder<keys_strings = ["a", "b"], values_int64s = [5, 6]>(x) })",
                            R"((int64[N] x) => (string[N] y) {
             y = ai.onnx.ml.LabelEncoder<keys_int64s = [5, 6], values_strings = ["a", "b"]>(x) })",
                            "(string[N] x, string[N] z) => (bool[N] y) { y = Equal(x, z) }"}) {
    const Model model =
        onnx::parse_text(std::string("<ir_version: 10, opset_import: [\"\" : 21, \"ai.onnx.ml\" : 4]> g ") + graph);
    EXPECT_NE(made_for(model, Dialect::tfjs).refusal, "") << graph;
    EXPECT_EQ(made_for(model, Dialect::tensorflow).refusal, "") << graph;
  }
}

}  // namespace
}  // namespace ingot
