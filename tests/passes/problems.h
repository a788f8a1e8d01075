#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ingot/onnx/text.h"
#include "ingot/passes/check/check.h"

namespace ingot::test {

/// What check says, a line each, without the hints, which must be there.
inline std::vector<std::string> lines(const std::vector<passes::Problem>& problems) {
  std::vector<std::string> result;
  for (const passes::Problem& p : problems) {
    EXPECT_FALSE(p.hint.empty()) << p.str();
    result.push_back(p.str().substr(0, p.str().find('\n')));
  }
  return result;
}

inline std::vector<std::string> problems_of(const Model& model) { return lines(passes::check(model)); }
inline std::vector<std::string> problems_of(std::string_view text) { return problems_of(onnx::parse_text(text)); }

/// The graph in a model of IR version 10 and opset 21.
inline std::vector<std::string> problems_in(std::string_view graph) {
  return problems_of(R"(<ir_version: 10, opset_import: ["": 21]>)" + std::string(graph));
}

}  // namespace ingot::test
