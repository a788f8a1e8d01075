#pragma once
#include "ingot/ir/model.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"

namespace ingot::passes {

bool same_default(const ops::AttrSchema& a, const ops::AttrSchema& b);

/// How an operator gets to a version of it from its neighbours; null: as it is.
const ops::Step* step_to(const ops::OpDef& def, int since);

/// The first attribute that refers to one of the function, or null.
const Attribute* reference_in(const Node& node);

/// Steps may write ai.onnx operators into a graph that had none; it then needs the import.
void complete(OpsetImports& imports, const OpsetImports& targets);

/// `imports` with the versions of `targets`.
OpsetImports moved(const OpsetImports& imports, const OpsetImports& targets);

}  // namespace ingot::passes
