#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/onnx/data.h"

namespace ingot::test {

/// One case of the official backend suite with the data of its first data set.
struct BackendCase {
  std::string name;
  Model model;
  std::vector<onnx::Data> inputs, outputs;  // in graph order; shorter where the suite stores less
};

/// Calls `visit` for each case of the suite. Skips, loudly, where the shared directory is absent.
void for_each_backend_case(const std::function<void(BackendCase&)>& visit);

}  // namespace ingot::test
