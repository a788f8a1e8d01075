#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot {
class Graph;
}

namespace ingot::passes {

/// What may be done about element types that an operator lacks: nothing, computing in a wider type, or also in a
/// narrower one, which may lose digits.
enum class CastRule : std::uint8_t { none, up, all };

/// Puts casts around operators whose element types are not allowed in this version of ai.onnx. The graph must be of the
/// newest operator set with types inferred. Returns a line for each operator that changed; what no rule helps stays.
std::vector<std::string> cast_types(Graph& graph, std::int64_t opset, CastRule rule);

}  // namespace ingot::passes
