// Large models: time and memory grow with the graph, not with the weights.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>

#include "ingot/base/sink.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "tests/support/files.h"

namespace ingot::onnx {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlack = 20;  // sanitizers
#elif defined(NDEBUG)
constexpr double kSlack = 1;
#else
constexpr double kSlack = 3;  // builds for development
#endif

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double resident_megabytes() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Writes a file and leaves holes where large pieces are, but for their ends: large models without waiting for disks.
class HoleySink final : public Sink {
 public:
  explicit HoleySink(const std::string& path) : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {}
  ~HoleySink() override { ::close(file_); }
  void write(std::span<const std::byte> bytes) override {
    constexpr std::size_t kKept = 4096;
    if (bytes.size() > 4 * kKept) {
      put(bytes.first(kKept));
      position_ += static_cast<off_t>(bytes.size() - 2 * kKept);
      bytes = bytes.last(kKept);
    }
    put(bytes);
  }
  off_t position() const { return position_; }

 private:
  void put(std::span<const std::byte> bytes) {
    ASSERT_EQ(::pwrite(file_, bytes.data(), bytes.size(), position_), static_cast<ssize_t>(bytes.size()));
    position_ += static_cast<off_t>(bytes.size());
  }
  int file_;
  off_t position_ = 0;
};

/// Zeros that take no memory.
Bytes zeros(std::size_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(data, MAP_FAILED);
  return Bytes(std::shared_ptr<const void>(data, [size](void* p) { ::munmap(p, size); }),
               static_cast<const std::byte*>(data), size);
}

/// A chain of matrix products with weights of that many bytes in all.
Model large_model(std::size_t weights, std::size_t bytes, std::size_t nodes) {
  Model model;
  model.ir_version = 8;
  model.opsets.set("", 17);
  model.graph->name = "large";
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{Dim(1), Dim(1)}));
  std::vector<Value*> all;
  for (std::size_t i = 0; i < weights; ++i) {
    const std::size_t size = bytes / weights / 4;
    all.push_back(model.graph->add_initializer("w" + std::to_string(i),
                                               Tensor(DType::f32, {static_cast<std::int64_t>(size)}, zeros(size * 4))));
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    Node* node = model.graph->add_node("Mul");
    node->name = "node" + std::to_string(i);
    node->add_input(x);
    node->add_input(all[i % all.size()]);
    x = node->add_output("y" + std::to_string(i));
  }
  model.graph->add_output(x);
  return model;
}

TEST(Scale, WeightsCostNeitherTimeNorMemory) {
  const test::TempDir dir;
  {
    HoleySink sink(dir / "large.onnx");
    write(large_model(60, 435'000'000, 500), sink);
    EXPECT_GT(sink.position(), 435'000'000);
  }
  const double memory = resident_megabytes(), start = cpu_seconds();
  const Model model = read(dir / "large.onnx");
  const double took = cpu_seconds() - start, grown = resident_megabytes() - memory;
  std::cout << "435 MB read in " << took * 1000 << " ms of CPU time, " << grown << " MB\n";
  EXPECT_LE(took, 0.05 * kSlack);
  EXPECT_LE(grown, 40);
  EXPECT_EQ(model.graph->node_count(), 500u);
}

TEST(Scale, FilesBeyondFourGibibytesAreReadAndWritten) {
  const test::TempDir dir;
  constexpr std::size_t kSize = std::size_t{5} << 30;
  {
    HoleySink sink(dir / "large.onnx");
    write(large_model(1, kSize, 3), sink);
    EXPECT_GT(sink.position(), static_cast<off_t>(kSize));
  }
  const Model model = read(dir / "large.onnx");
  EXPECT_EQ(model.graph->find("w0")->initializer->bytes().size(), kSize);
  off_t written = 0;
  {
    HoleySink sink(dir / "again.onnx");
    write(model, sink);
    written = sink.position();
  }
  const Model again = read(dir / "again.onnx");
  EXPECT_EQ(again.graph->find("w0")->initializer->bytes().size(), kSize);
  EXPECT_EQ(again.graph->node_count(), 3u);
  EXPECT_EQ(static_cast<std::uintmax_t>(written), std::filesystem::file_size(dir / "large.onnx"));
}

enum class Form { chain, fan_in, fan_out, initializers };

std::string many(Form form, std::size_t count) {
  Model model;
  model.ir_version = 8;
  model.opsets.set("", 17);
  Graph& g = *model.graph;
  g.name = "many";
  Value* x = g.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N")}));
  Node* last = nullptr;
  if (form == Form::fan_in) last = g.add_node("Sum");
  Value* previous = x;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string suffix = std::to_string(i);
    if (form == Form::initializers) {
      g.add_initializer("w" + suffix, Tensor::scalar(static_cast<float>(i)));
      continue;
    }
    Node* node = g.add_node("Relu", {}, last);
    node->name = "node" + suffix;
    node->add_input(form == Form::chain ? previous : x);
    previous = node->add_output("y" + suffix);
    if (last) last->add_input(previous);
  }
  g.add_output(last ? last->add_output("sum") : previous);
  return to_bytes(model);
}

double seconds_to_read(const std::string& bytes) {
  const Bytes file = Bytes::own(bytes);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = cpu_seconds();
    const Model model = read(file, "");
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

TEST(Scale, TimeToReadIsLinear) {
  const std::pair<const char*, Form> forms[] = {{"chain", Form::chain},
                                                {"fan-in", Form::fan_in},
                                                {"fan-out", Form::fan_out},
                                                {"initializers", Form::initializers}};
  for (const auto& [name, form] : forms) {
    const double once = seconds_to_read(many(form, 100'000));
    const double twice = seconds_to_read(many(form, 200'000));
    std::cout << name << ": 100,000 in " << once * 1000 << " ms, 200,000 in " << twice * 1000 << " ms\n";
    EXPECT_LE(once, 0.3 * kSlack) << name;
    EXPECT_LE(twice, once * 3 + 0.1) << name;  // quadratic would be 4
  }
}

}  // namespace
}  // namespace ingot::onnx
