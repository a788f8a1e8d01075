#pragma once
#include <filesystem>

#include "tests/frontends/tensorflow/operator_cases.h"

namespace ingot::test {

/// Operators whose values were compared with a reference and agreed, with sizes and with open dimensions: those of the
/// stored graphs and of the operator cases. One with attributes of its own counts only if another value than the
/// default of one of them was seen (attributes.txt).
std::set<std::string> covered_operators(const Operators& seen);

/// What the operator cases see.
Operators operators_of_cases();

/// How many translations the operators have: names that share one count once.
std::size_t distinct_translations(const std::set<std::string>& operators);

}  // namespace ingot::test
