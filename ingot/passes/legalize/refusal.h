#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::passes::legalize {

/// Why a target lacks something of a model.
struct Refusal {
  /// What is in the way decides what may help.
  enum class Kind : std::uint8_t {
    unknown_operator,  // the target has no such operator at all
    element_type,      // it has the operator, not for elements of this type
    unknown_size,      // it needs a size or a rank that is not known before running
    dimensions,        // too many dimensions, or too few
    attribute_value,   // an attribute, or a result, that the target does not have
    not_constant,      // an input that the target must know before running is computed
    not_a_tensor,      // a sequence, a map or an optional
    sparse_weights,
    structure,  // a body, a state or an input that is missing or not as the target needs it
  };
  Kind kind;
  std::string text;
};

/// "unknown_operator", ...: for reports that programs read.
std::string_view name_of(Refusal::Kind kind);

}  // namespace ingot::passes::legalize
