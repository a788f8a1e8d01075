#pragma once
#include "ingot/ir/model.h"

namespace ingot::frontends::torch {

/// A model in the newest operator sets with an empty graph of that name.
Model empty_model(const std::string& name);

/// Takes out what nobody reads, names nodes after their outputs and imports the domains in use.
void finish(Model& model);

}  // namespace ingot::frontends::torch
