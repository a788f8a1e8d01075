#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/dtype.h"
#include "ingot/ir/dim.h"

namespace ingot {

using Shape = std::vector<Dim>;
using Metadata = std::vector<std::pair<std::string, std::string>>;  // in file order

/// What few types carry: kept apart so that the many stay small.
struct TypeNotes {
  std::string denotation;                    // of the type
  std::vector<std::string> dim_denotations;  // one per dimension, or empty
  std::string opaque_domain, opaque_name;    // Kind::opaque
  // Fields of a newer ONNX, as they stood in the file: of the type, of what it holds (tensor, sequence, ...), of the
  // shape, and of each dimension (one per dimension, or empty).
  std::string unknown, content_unknown, shape_unknown;
  std::vector<std::string> dim_unknown;
  friend bool operator==(const TypeNotes&, const TypeNotes&) = default;
};

/// The type of a value. `none` means nothing is known; an undefined element type or an absent
/// shape means that this part is not known.
struct Type {
  enum class Kind : std::uint8_t { none, tensor, sparse_tensor, sequence, map, optional, opaque };

  Kind kind = Kind::none;
  DType elem = DType::undefined;        // tensors: the element type; map: the key type
  std::optional<Shape> shape;           // tensors: absent = unknown rank, empty = scalar
  std::shared_ptr<const Type> element;  // sequence and optional: the element; map: the value
  std::shared_ptr<const TypeNotes> notes;

  static Type tensor(DType elem, std::optional<Shape> shape = std::nullopt);
  static Type sparse_tensor(DType elem, std::optional<Shape> shape = std::nullopt);
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);

  explicit operator bool() const { return kind != Kind::none; }
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_optional() const { return kind == Kind::optional; }
  /// The element of a sequence or optional, the value of a map; an unknown type when that is not known.
  const Type& inner() const;

  /// "tensor(float)", "seq(tensor(int64))", "optional(seq(tensor(string)))", "map(int64,tensor(float))": no shapes.
  std::string schema_name() const;
  /// "float[N,3]", "float" (scalar), "float[...]" (unknown rank), "seq(int64[?])": for people.
  std::string str() const;

  friend bool operator==(const Type&, const Type&);
};

/// False only if no value can have both types. On false `why`, if given, says what contradicts.
bool may_match(const Type& a, const Type& b, std::string* why = nullptr);

/// What is known when a value is known to have both types; contradictions resolve to `a`. A number beats a
/// name, a name beats unknown.
Type refine(const Type& a, const Type& b);

/// What is still known when a value may have either type (branches of If, elements of a sequence).
/// Contradicting kinds or element types give Kind::none.
Type common(const Type& a, const Type& b);

/// The dimensions as numbers, if all of them are known.
std::optional<std::vector<std::int64_t>> static_dims(const std::optional<Shape>& shape);

}  // namespace ingot
