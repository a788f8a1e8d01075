#pragma once
#include <string>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/ops/infer.h"

// What canonicalize and convert_version are made of.

namespace ingot::passes {

/// Why one node cannot move to the operator set asked for.
struct Obstacle {
  const Node* node = nullptr;
  std::string text;  // "node 'a' (Gelu): ..."
  std::string hint;
};

struct VersionReport {
  std::size_t nodes_changed = 0, nodes_added = 0;
  std::vector<std::string> casts;  // a line for each operator whose own definition casts, in older versions
};

/// Moves the nodes of a graph, written in `imports`, to the versions that `targets` names, and returns what it is
/// written in then. With a session, whose types are those of the newest operator sets, types are inferred on the way.
/// What cannot move stays and is listed.
OpsetImports move_nodes(Graph& graph, const OpsetImports& imports, const OpsetImports& targets,
                        ops::InferSession* session, VersionReport& report, std::vector<Obstacle>& obstacles);
/// The same for all graphs of a model but the bodies of its functions.
void move_nodes(Model& model, const OpsetImports& targets, ops::InferSession* session, VersionReport& report,
                std::vector<Obstacle>& obstacles);

/// Moves the bodies of functions where that takes no more than other version numbers, or where all that steps ask for
/// is known in them. Else false, and all stay as they are.
bool move_functions(Model& model, const OpsetImports& targets, VersionReport& report);

/// Throws one Error that lists every obstacle, if there are any.
void refuse(const std::vector<Obstacle>& obstacles, Code code, const std::string& goal);

/// As users know it: ai.onnx for the standard's own.
std::string domain_name(std::string_view domain);

}  // namespace ingot::passes
