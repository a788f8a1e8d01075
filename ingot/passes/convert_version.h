#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/ops/infer.h"

namespace ingot::passes {

/// Why one node cannot move to the operator set asked for.
struct Obstacle {
  const Node* node = nullptr;
  std::string text;  // "node 'a' (Gelu): ..."
  std::string hint;
};

/// Brings every operator of the model to its newest version and infers types on the way.
/// What has no newer form (operators of unknown domains) stays. Throws with all obstacles.
void canonicalize(Model& model, ops::InferSession& session);
void canonicalize(Model& model);
/// The same for as many nodes as it can; those in the way are listed and left as they are.
void canonicalize(Model& model, ops::InferSession& session, std::vector<Obstacle>& obstacles);

struct VersionReport {
  std::size_t nodes_changed = 0, nodes_added = 0;
  std::vector<std::string> casts;  // a line for each operator whose own definition casts, in older versions
};

/// Moves the model, its functions and its training graphs to other versions of the operator sets named in `targets`,
/// up or down; sets the imports. Domains not named stay. Throws one Error that lists every obstacle.
VersionReport convert_version(Model& model, const OpsetImports& targets);

}  // namespace ingot::passes
