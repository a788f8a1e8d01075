#pragma once
#include "ingot/driver/load.h"

namespace ingot::driver {

class OwnFunctions;

/// What every import goes through once it is translated, whatever the framework; notes go to `imported`.
void finish_import(Imported& imported, const ImportOptions& options, OwnFunctions& functions);

}  // namespace ingot::driver
