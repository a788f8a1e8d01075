#pragma once
#include "ingot/backends/tensorflow/export.h"
#include "ingot/passes/legalize/target.h"

namespace ingot::backends::tensorflow {

/// What TensorFlow, or TF.js, has, for the legaliser.
passes::legalize::Target target_for(const ExportOptions& options);

}  // namespace ingot::backends::tensorflow
