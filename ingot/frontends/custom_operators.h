#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot::frontends {

/// Operators that stay as they are, as nodes of another domain, because the user asked for it: "Op" or "Op:domain".
class CustomOperators {
 public:
  /// `own_domain`: of those without a domain, the framework's. The texts must outlive this.
  CustomOperators(std::span<const std::string> asked, std::string_view own_domain)
      : asked_(asked), own_domain_(own_domain) {}

  /// The domain of the operator's custom node; nothing: it is to be translated.
  std::optional<std::string> domain_of(std::string_view op) const;

 private:
  std::span<const std::string> asked_;
  std::string_view own_domain_;
};

}  // namespace ingot::frontends
