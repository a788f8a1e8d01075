// One session, many threads.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"

namespace ingot::engine {
namespace {

constexpr int kThreads = 16;

/// Convolution, matrix product, fused elementwise operators, normalisation, a subgraph.
constexpr const char* kNetwork = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N,3,16,16] x, float[8,3,3,3] k, float[8,10] w, int64 n) => (float[N,10] y, float[N,10] last) {
  conv = Conv<pads = [1, 1, 1, 1]>(x, k)
  active = Relu(conv)
  pooled = GlobalAveragePool(active)
  flat = Flatten(pooled)
  product = MatMul(flat, w)
  gate = Sigmoid(product)
  swish = Mul(product, gate)
  y = Softmax(swish)
  on = Constant<value = bool {1}>()
  last = Loop<body = b (int64 i, bool on_in, float[N,10] v) => (bool next, float[N,10] v2) {
    t = Tanh(v)
    v2 = Add(t, y)
    next = Identity(on_in)
  }>(n, on, y)
}
)";

Array waves(Dims dims, float step) {
  Array array(DType::f32, std::move(dims));
  float at = 0;
  for (float& value : array.mutable_data<float>()) value = std::sin(at += step);
  return array;
}

/// Each thread has its own batch, so that shapes differ at the same time.
std::vector<NamedDatum> inputs_of(int thread) {
  return {{"x", waves({1 + thread % 4, 3, 16, 16}, 0.1f + 0.01f * static_cast<float>(thread))},
          {"k", waves({8, 3, 3, 3}, 0.7f)},
          {"w", waves({8, 10}, 0.3f)},
          {"n", Array::scalar<std::int64_t>(5)}};
}

std::string bits_of_all(const std::vector<NamedDatum>& outputs) {
  std::string bits;
  for (const NamedDatum& output : outputs)
    bits.append(reinterpret_cast<const char*>(output.value.array()->bytes()), output.value.array()->byte_size());
  return bits;
}

TEST(Sharing, SixteenThreadsGetTheBitsOfOne) {
  const Model model = onnx::parse_text(kNetwork);
  std::vector<std::string> expected;
  const Session alone(model, {.threads = 1});
  for (int i = 0; i < kThreads; ++i) expected.push_back(bits_of_all(alone.run(inputs_of(i))));

  const Session shared(model, {.threads = 3});
  std::vector<std::string> got(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int run = 0; run < 10; ++run) {
        std::string bits = bits_of_all(shared.run(inputs_of(i)));
        if (run > 0 && bits != got[static_cast<std::size_t>(i)]) bits = "not the same in every run";
        got[static_cast<std::size_t>(i)] = std::move(bits);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i] == expected[i]) << "thread " << i;
}

}  // namespace
}  // namespace ingot::engine
