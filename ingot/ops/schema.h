#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/base/dtype.h"
#include "ingot/ir/attribute_type.h"

namespace ingot {
struct Type;
}

// The facts of every version of every standard operator: constant data, made by tools/generate_schemas.py.
namespace ingot::ops {

/// max_inputs and max_outputs of an operator that takes or gives any number.
inline constexpr int kUnbounded = std::numeric_limits<int>::max();

/// An attribute that an operator knows.
struct AttrSchema {
  std::string_view name;
  AttrType type = AttrType::undefined;
  bool required = false;
  /// An absent attribute then means the default below that fits `type`. Without default and not required, absence has
  /// a meaning of its own.
  bool has_default = false;
  std::int64_t int_default = 0;
  float float_default = 0;
  std::string_view string_default = {};
  std::span<const std::int64_t> ints_default = {};
  std::span<const float> floats_default = {};
  std::span<const std::string_view> strings_default = {};
};

/// map(key, tensor(value)), or a sequence of such maps.
struct MapForm {
  DType key;
  DType value;
  bool in_sequence;
};

/// What a formal parameter may be. Within one operator version, parameters that point to the same constraint have the
/// same type (except heterogeneous variadic ones).
struct TypeConstraint {
  std::string_view name;            ///< The type variable ("T"), or the one type it stands for ("tensor(int64)").
  TypeSet tensors = {};             ///< tensor(x)
  TypeSet sequences = {};           ///< seq(tensor(x))
  TypeSet optionals = {};           ///< optional(tensor(x))
  TypeSet optional_sequences = {};  ///< optional(seq(tensor(x)))
  std::span<const MapForm> maps = {};

  /// False only if the type is certainly not allowed: what is not known of it is taken to fit.
  bool allows(const Type& type) const;
  /// The element type, if a tensor of just this one is allowed and nothing else.
  std::optional<DType> only_tensor_type() const;
  /// All that is allowed, in ONNX's spelling: "tensor(float), tensor(double), seq(tensor(float))".
  std::string str() const;
};

enum class ParamOption : std::uint8_t { single, optional, variadic };
enum class Differentiable : std::uint8_t { unstated, no, yes };

/// A formal input or output.
struct ParamSchema {
  std::string_view name;
  const TypeConstraint* type;  ///< Never null.
  ParamOption option;          ///< Only the last parameter can be variadic.
  bool homogeneous;            ///< Of a variadic parameter: all of its values have one type.
  int min_arity;               ///< Least number of values: 1 when single, 0 when optional, stated when variadic.
  Differentiable differentiable;
};

/// One version of an operator.
struct Schema {
  std::string_view domain;  ///< "" is ai.onnx.
  std::string_view name;
  int since = 0;                         ///< First opset version in which the operator is like this.
  bool deprecated = false;               ///< Must not be used from `since` on.
  bool experimental = false;             ///< Never became part of the standard.
  bool has_function_body = false;        ///< The standard defines it by other operators.
  bool body_depends_on_context = false;  ///< That body depends on attributes, types or inputs given.
  bool unchecked_attributes = false;     ///< Attributes that are not listed are allowed.
  std::span<const AttrSchema> attributes = {};
  std::span<const ParamSchema> inputs = {};
  std::span<const ParamSchema> outputs = {};
  int min_inputs = 0, max_inputs = 0, min_outputs = 0, max_outputs = 0;
  std::span<const int> allowed_output_counts = {};  ///< Empty: any from min_outputs to max_outputs.

  /// Null if the operator has no such attribute.
  const AttrSchema* attribute(std::string_view attribute_name) const;
  /// The formal parameter of the i-th actual input; null if there are not so many.
  const ParamSchema* input(std::size_t i) const;
  const ParamSchema* output(std::size_t i) const;
};

/// All versions of all operators, by domain, name and version ascending.
std::span<const Schema> all_schemas();
/// The versions of one operator, ascending; empty if it is unknown. "ai.onnx" is "".
std::span<const Schema> versions_of(std::string_view domain, std::string_view name);
/// The version in force in an opset: the newest with since <= opset; null if there is none.
const Schema* schema_for(std::string_view domain, std::string_view name, std::int64_t opset);
/// Null if the operator is unknown.
const Schema* newest_schema(std::string_view domain, std::string_view name);

/// The newest version of a standard domain; 0 for other domains.
int newest_opset(std::string_view domain);
/// Whether ONNX itself defines the domain.
bool is_standard_domain(std::string_view domain);

}  // namespace ingot::ops
