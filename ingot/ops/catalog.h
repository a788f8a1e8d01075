#pragma once
#include <algorithm>
#include <span>
#include <string_view>

#include "ingot/ops/op_def.h"

namespace ingot::ops {

/// One constant per operator, defined in the operator's own file. A namespace of its own, since ONNX calls an operator
/// Shape as we call a type.
namespace defs {
#define INGOT_OP(name) extern const OpDef name;
#include "ingot/ops/catalog.def"
#undef INGOT_OP
}  // namespace defs

#define INGOT_OP(name) #name,
inline constexpr std::string_view kNames[] = {
#include "ingot/ops/catalog.def"
};
#undef INGOT_OP
static_assert(std::ranges::is_sorted(kNames), "keep catalog.def sorted: find() searches by halves");

/// The definition of an operator, or null when Ingot does not know it. No two domains of ONNX share a name.
const OpDef* find(std::string_view domain, std::string_view name);
const OpDef* find(const Node& node);
std::span<const OpDef* const> all();

/// The name of a known operator. From a literal it is checked by the compiler: a typo does not build.
class Name {
 public:
  template <std::size_t N> consteval Name(const char (&literal)[N]) : text(literal) {
    if (!std::ranges::binary_search(kNames, text)) throw "not in ops/catalog.def";
  }
  explicit constexpr Name(const OpDef& def) : text(def.name) {}
  std::string_view text;
};

}  // namespace ingot::ops
