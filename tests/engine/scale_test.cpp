// Models of very many nodes.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "ingot/engine/session.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "ingot/ops/builder.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"

namespace ingot::engine {
namespace {

using Clock = std::chrono::steady_clock;

struct Seconds {
  double passed = 1e9, computed = 1e9;  // the machine may do something else meanwhile
};

/// Writes a chain of so many nodes; operators alternate so that it does not become one fused kernel's list of equals.
std::string chain_file(const test::TempDir& directory, int nodes) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  GraphBuilder g(*model.graph);
  Value* y = model.graph->add_input("x", Type::tensor(DType::f32, Shape{4}));
  for (int i = 0; i < nodes; ++i) y = i % 2 ? g.op("Neg", {y}) : g.op("Transpose", {y});
  model.graph->add_output(y);
  const std::string path = directory / ("chain" + std::to_string(nodes) + ".onnx");
  onnx::write(model, path);
  return path;
}

/// Loads and runs it; `best` becomes the least that was seen.
void measure(const std::string& path, Seconds& best) {
  const auto start = Clock::now();
  const std::clock_t cpu_start = std::clock();
  const Session session(onnx::read(path), {.threads = 1});
  const auto outputs = session.run({{session.model().graph->inputs()[0]->name(), Array::of<float>({4}, {1, 2, 3, 4})}});
  EXPECT_EQ(std::abs(outputs[0].value.array()->data<float>()[3]), 4);
  best.passed = std::min(best.passed, std::chrono::duration<double>(Clock::now() - start).count());
  best.computed = std::min(best.computed, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
}

TEST(Scale, ChainOf50000NodesLoadsAndRunsInASecond) {
  const test::TempDir directory;
  const std::string whole = chain_file(directory, 50'000), small = chain_file(directory, 12'500);
  Seconds best, best_small;
  for (int i = 0; i < 3; ++i) {
    measure(small, best_small);
    measure(whole, best);
  }
  std::printf("12,500 nodes: %.3f s, 50,000 nodes: %.3f s\n", best_small.passed, best.passed);
#ifdef NDEBUG
  EXPECT_LT(best.passed, 1);
#else
  EXPECT_LT(best.passed, test::kIsSanitized ? 100 : 10);
#endif
  EXPECT_LT(best.computed, 10 * best_small.computed) << "four times the nodes: quadratic would be 16 times";
}

}  // namespace
}  // namespace ingot::engine
