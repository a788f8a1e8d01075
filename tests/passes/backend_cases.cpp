// The official backend suite as test data.
#include "tests/passes/backend_cases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/onnx/reader.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

std::vector<onnx::Data> read_all(const std::filesystem::path& directory, const std::string& stem,
                                 const std::vector<const Value*>& values) {
  std::vector<onnx::Data> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto path = directory / (stem + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(path)) break;
    all.push_back(onnx::read_data(path.string(), values[i]->type));
  }
  return all;
}

}  // namespace

void for_each_backend_case(const std::function<void(BackendCase&)>& visit) {
  const auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  for (const char* group : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    std::vector<std::filesystem::path> directories;
    for (const auto& entry : std::filesystem::directory_iterator(*shared / "onnx-backend-tests" / group))
      if (exists(entry.path() / "model.onnx")) directories.push_back(entry.path());
    std::ranges::sort(directories);
    for (const auto& directory : directories) {
      BackendCase one;
      one.name = directory.filename().string();
      SCOPED_TRACE(one.name);
      one.model = onnx::read((directory / "model.onnx").string());
      const auto inputs = one.model.graph->inputs();
      const Values outputs = one.model.graph->outputs();
      one.inputs = read_all(directory / "test_data_set_0", "input", {inputs.begin(), inputs.end()});
      one.outputs = read_all(directory / "test_data_set_0", "output", {outputs.begin(), outputs.end()});
      visit(one);
    }
  }
}

}  // namespace ingot::test
