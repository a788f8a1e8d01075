// Which operators stay as they are.
#include "ingot/frontends/custom_operators.h"

#include "ingot/ir/operator_pattern.h"

namespace ingot::frontends {

std::optional<std::string> CustomOperators::domain_of(std::string_view op) const {
  for (const std::string& text : asked_)
    if (const OperatorPattern pattern = OperatorPattern::parse(text); pattern.op == op)
      return std::string(pattern.domain.value_or(own_domain_));
  return std::nullopt;
}

}  // namespace ingot::frontends
