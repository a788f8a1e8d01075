#pragma once
#include <vector>

#include "ingot/passes/move_nodes.h"

namespace ingot::passes {

/// Brings every operator of the model to its newest version and infers types on the way.
/// What has no newer form (operators of unknown domains) stays. Functions whose bodies change are inlined. Throws with
/// all obstacles.
void canonicalize(Model& model);
/// The same without functions, which stay as they are.
void canonicalize_graphs(Model& model);
/// The same for as many nodes as it can; those in the way are listed and left as they are, and so are functions: their
/// calls are inferred.
void canonicalize(Model& model, ops::InferSession& session, std::vector<Obstacle>& obstacles);
/// The newest versions of these domains, and of ai.onnx.
OpsetImports newest_imports(const OpsetImports& from);

}  // namespace ingot::passes
