#pragma once
#include <string>

#include "ingot/driver/load.h"
#include "ingot/ir/array.h"

namespace ingot::driver {

/// A value as the official test data stores it (input_0.pb). The file does not say what it holds: `type` does.
/// An empty optional is an empty Datum.
Datum load_datum(const std::string& path, const Type& type, const LoadOptions& options = {});

/// The same on the way out; `type` tells optionals from what they hold, and what an empty sequence is of.
void save_datum(const Datum& datum, const Type& type, const std::string& path, const std::string& name = {});

}  // namespace ingot::driver
