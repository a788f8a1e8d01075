// Where the nodes of a converted model come from.
#include "ingot/driver/provenance.h"

#include "ingot/passes/fit_ir_version.h"

namespace ingot::driver {

void restore_provenance(Model& model) { passes::restore_node_metadata(model); }

}  // namespace ingot::driver
