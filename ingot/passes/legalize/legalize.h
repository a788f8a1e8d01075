#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/passes/cast_types.h"
#include "ingot/passes/legalize/obstacles.h"
#include "ingot/passes/legalize/target.h"

namespace ingot::passes::legalize {

/// What the caller allows and wishes, whatever the target.
struct Options {
  CastRule auto_cast = CastRule::none;      // where the target computes in other element types
  std::vector<std::string> allow_custom{};  // "Op" or "Op:domain": stays an operator that the runtime must bring
  std::optional<Layout> inputs_as{}, outputs_as{};
};

struct Report {
  std::vector<std::string> notes;  // each cast, approximation and change of inputs
  std::vector<Obstacle> obstacles;
};

/// Turns an ONNX model into one that the target has: functions are inlined, operators brought to their newest version,
/// said in others by the target's rewrites or their own decompositions and folded, until nothing changes; then casts
/// are placed as far as they are allowed. What remains in the way is listed. Throws on invalid models.
Report to_target(Model& model, const Target& target, const Options& options = {});

/// Gives inputs and outputs the layout that the caller wishes and all values the one that the target wants, with few
/// transposes (`choose_layout`). For graphs without obstacles; notes each input and output that changed.
LayoutReport lay_out(Graph& graph, const Target& target, const Options& options, std::vector<std::string>& notes);

/// Why a node cannot stay as it is; nothing: the target has it, or the caller allows it as a custom operator.
std::optional<Refusal> refusal_of(const Node& node, const Target& target, const Options& options);

/// Whether one of the target's rewrites is for this operator. Throws if the target names a rewrite that is not there.
bool has_rewrite(const Target& target, std::string_view op, std::string_view domain);

}  // namespace ingot::passes::legalize
