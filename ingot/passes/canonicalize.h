#pragma once
#include <vector>

#include "ingot/passes/move_nodes.h"

namespace ingot::passes {

/// Brings every operator of the model to its newest version and infers types on the way.
/// What has no newer form (operators of unknown domains) stays. Throws with all obstacles.
void canonicalize(Model& model, ops::InferSession& session);
void canonicalize(Model& model);
/// The same for as many nodes as it can; those in the way are listed and left as they are.
void canonicalize(Model& model, ops::InferSession& session, std::vector<Obstacle>& obstacles);

}  // namespace ingot::passes
