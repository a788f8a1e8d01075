#pragma once
#include <string>
#include <vector>

#include "ingot/ingot.h"

namespace ingot::python {

/// What Python knows as a Model: immutable, so that it can be read by several threads and shared with sessions.
struct HeldModel {
  Model model;
  std::string format = "onnx";
  std::vector<std::string> notes{};
};

}  // namespace ingot::python
