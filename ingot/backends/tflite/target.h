#pragma once
#include "ingot/backends/tflite/export.h"
#include "ingot/passes/legalize/target.h"

namespace ingot::backends::tflite {

/// What TFLite has, for the legaliser. Functions and states of a model at hand are the exporter's to add.
passes::legalize::Target target_for(const ExportOptions& options);

}  // namespace ingot::backends::tflite
