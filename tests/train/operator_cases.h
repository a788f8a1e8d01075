#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/engine/session.h"
#include "ingot/ir/model.h"

namespace ingot::test {

/// One line of operator_cases.txt: an operator at one shape.
struct OperatorCase {
  std::string op, text, torch;  // text: the line; torch: the same in PyTorch, empty where it does not exist there
  Model model;                  // in double precision, output "y"
  std::vector<engine::NamedDatum> inputs;
};

/// The cases with their inputs drawn by `seed`.
std::vector<OperatorCase> operator_cases(std::uint64_t seed);

/// What the tests of gradients ran for one operator: numbers of derivatives.
struct Coverage {
  std::size_t differences = 0, torch = 0, second_order = 0;
};
/// By "domain:Operator", filled by the tests of this program as they run.
std::map<std::string, Coverage>& coverage();
/// Counts a derivative for the node's operator.
Coverage& coverage_of(const Node& node);

}  // namespace ingot::test
