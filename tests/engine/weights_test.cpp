// Weights of mapped files: read where they are, held once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "ingot/engine/session.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "ingot/ops/builder.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"

namespace ingot::engine {
namespace {

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

constexpr std::int64_t kSize = 1500;
constexpr int kLayers = 8;
constexpr double kMegabytes = kLayers * kSize * kSize * 4 / 1e6;

/// Products with 72 MB of weights, at any alignment as protobuf has it.
void write_model(const std::string& path) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  GraphBuilder g(*model.graph);
  Value* y = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, kSize}));
  std::vector<float> weight(static_cast<std::size_t>(kSize * kSize));
  for (int i = 0; i < kLayers; ++i) {
    for (std::size_t k = 0; k < weight.size(); ++k)
      weight[k] = static_cast<float>((k * 7 + static_cast<std::size_t>(i)) % 13) / 5000.0f;
    y = g.op("MatMul", {y, g.constant(Tensor::of<float>({kSize, kSize}, weight))});
    y->producer()->name = std::string(static_cast<std::size_t>(i), 'n');  // moves what follows by a byte
  }
  model.graph->add_output(y);
  onnx::write(model, path);
}

TEST(Weights, OfAFileAreHeldOnceAndNotBeforeTheyAreUsed) {
  if (test::kIsSanitized) GTEST_SKIP() << "sanitizers have memory of their own";
  const test::TempDir directory;
  const std::string path = directory / "large.onnx";
  write_model(path);
  const double before = resident_megabytes();
  const Model model = onnx::read(path);
  const Session session(model, {.threads = 1});
  EXPECT_LT(resident_megabytes() - before, 0.2 * kMegabytes) << "planning reads the weights";
  const Array x = Array::of<float>({2, kSize}, std::vector<float>(static_cast<std::size_t>(2 * kSize), 1.0f));
  const auto first = session.run({{"x", x}});
  EXPECT_LT(resident_megabytes() - before, 0.2 * kMegabytes) << "the first run packs the weights or keeps the file's";
  const auto second = session.run({{"x", x}});
  EXPECT_TRUE(std::ranges::equal(first[0].value.array()->data<float>(), second[0].value.array()->data<float>()));
  EXPECT_LT(resident_megabytes() - before, 1.3 * kMegabytes) << "weights are in memory twice";
  const auto again = Session(model, {.threads = 2}).run({{"x", x}});
  EXPECT_TRUE(std::ranges::equal(first[0].value.array()->data<float>(), again[0].value.array()->data<float>()));
}

}  // namespace
}  // namespace ingot::engine
