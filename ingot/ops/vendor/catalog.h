#pragma once
#include <span>
#include <string_view>

#include "ingot/ops/op_def.h"

// Operators that ONNX does not define and that files have all the same. Their schemas are in schema_data.inc.

namespace ingot::ops {

struct Schema;

namespace defs {
namespace contrib {}      // namespace contrib
namespace experiments {}  // namespace experiments
namespace microsoft {}    // namespace microsoft
namespace nchwc {}        // namespace nchwc
namespace own {}          // namespace own
#define INGOT_VENDOR(group, name) \
  namespace group {               \
  extern const OpDef name;        \
  }
#include "ingot/ops/vendor/catalog.def"
#undef INGOT_VENDOR
}  // namespace defs

inline constexpr std::string_view kMicrosoft = "com.microsoft", kNchwc = "com.microsoft.nchwc";
/// ONNX Runtime's extensions; kExtensions has some of the same operators.
inline constexpr std::string_view kContrib = "ai.onnx.contrib", kExtensions = "com.microsoft.extensions";
/// What TensorFlow has and ONNX lacks: operators of Ingot's own.
inline constexpr std::string_view kOwn = "ingot";

/// The domain under which another name of it is listed.
std::string_view vendor_domain(std::string_view domain);
/// The definition of an operator of another domain, or null.
const OpDef* find_vendor(std::string_view domain, std::string_view name);
/// By domain and name.
std::span<const OpDef* const> vendor_operators();

/// The schemas of these domains, by domain and name; some have no definition here.
std::span<const Schema> vendor_schemas();

/// Why ONNX's own operators do not define an operator of these domains; empty: they do, or nothing is known of it.
std::string_view why_undefined(std::string_view domain, std::string_view name);

}  // namespace ingot::ops
