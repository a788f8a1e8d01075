#pragma once
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/passes/partition/partition.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

using passes::Fallback;
using passes::PartitionTarget;

/// Names of targets that Ingot knows: runtimes' published tables, formats it can write, and "ingot" itself.
std::vector<std::string> known_targets();

/// A target by its name, or a file of the form that docs/partition.md tells. The model is what a format's writer is
/// asked about; it must outlive the target.
PartitionTarget find_target(const std::string& name_or_file, const Model& model, Budget* budget);

/// The text of a target file.
PartitionTarget parse_target(const std::string& text, Budget* budget);

}  // namespace ingot::driver
