#pragma once
#include "ingot/ir/model.h"

namespace ingot::driver {

/// Files below IR version 10 have no metadata on nodes; a converted one keeps what its nodes come from in one property
/// of the model. Puts that back on the nodes.
void restore_provenance(Model& model);

}  // namespace ingot::driver
