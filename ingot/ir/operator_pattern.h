#pragma once
#include <optional>
#include <string_view>

namespace ingot {

/// Operators as users name them: "Op", of any domain, or "Op:domain". Views the text it was parsed from.
struct OperatorPattern {
  std::string_view op;
  std::optional<std::string_view> domain;

  static constexpr OperatorPattern parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return {text, std::nullopt};
    return {text.substr(0, colon), text.substr(colon + 1)};
  }

  constexpr bool matches(std::string_view other_op, std::string_view other_domain) const {
    return op == other_op && (!domain || *domain == other_domain);
  }
};

}  // namespace ingot
