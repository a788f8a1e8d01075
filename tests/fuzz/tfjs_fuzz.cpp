// Fuzzes TF.js graph-models and the translation of their graphs. Weights are in a file of 64 bytes, "w".
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "ingot/frontends/tensorflow/import.h"

namespace {

using namespace ingot;

/// A directory of its own with the one file that models may refer to, gone when the program ends.
class WeightsDirectory {
 public:
  WeightsDirectory()
      : path_(std::filesystem::temp_directory_path() / ("ingot_tfjs_fuzz_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
    std::ofstream file(path_ / "w", std::ios::binary);
    for (int i = 0; i < 64; ++i) file.put(static_cast<char>(i));
  }
  ~WeightsDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WeightsDirectory(const WeightsDirectory&) = delete;
  WeightsDirectory& operator=(const WeightsDirectory&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const WeightsDirectory directory;
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(2), .nodes = 20'000});
  try {
    const Bytes file = Bytes::copy(std::as_bytes(std::span(data, size)));
    (void)formats::tfjs::looks_like_graph_model(file);
    const formats::tfjs::GraphModel model = formats::tfjs::read_graph_model(file, directory.path(), {}, budget);
    frontends::tensorflow::ImportOptions options;
    options.budget = &budget;
    check_invariants(frontends::tensorflow::import_graph(model.graph, options).model);
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
