#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot::test {

/// Calls `visit` for each readable .onnx model of the official backend tests and of the corpus, with the path relative
/// to the shared directory. Models that are damaged on purpose must be refused with the code that is listed for them,
/// all others must be read; each breach is a test failure. Skips, loudly, where the shared directory is absent.
void for_each_shared_model(const std::function<void(const std::string& name, const Model& model)>& visit);

}  // namespace ingot::test
