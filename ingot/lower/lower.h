#pragma once
#include <string>

#include "ingot/ir/model.h"
#include "ingot/lower/program.h"

namespace ingot::lower {

/// Brings a model into the operators that are lowered: the newest versions, functions inlined, the rest decomposed,
/// constants folded.
void legalize(Model& model);

/// A legalised model as a program called `name`. Throws Code::not_expressible with everything in the way.
Program lower(const Model& model, std::string name, const Kernels& kernels = {});

}  // namespace ingot::lower
