#pragma once
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/move_nodes.h"

namespace ingot::passes {

/// Moves the model, its functions and its training graphs to other versions of the operator sets named in `targets`,
/// up or down; sets the imports. Domains not named stay. Throws one Error that lists every obstacle.
VersionReport convert_version(Model& model, const OpsetImports& targets);

}  // namespace ingot::passes
