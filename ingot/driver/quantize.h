#pragma once
#include <string>
#include <vector>

#include "ingot/driver/agreement.h"
#include "ingot/driver/calibrate.h"
#include "ingot/passes/quantize/quantize.h"

namespace ingot::driver {

using passes::QuantizeForm;
using passes::QuantizeMethod;
using passes::QuantizeOptions;
using passes::QuantizeReport;

struct QuantizeRequest {
  QuantizeOptions options{};
  CalibrationOptions calibration{};
  Samples samples{};       // for the ranges
  Samples held_back{};     // to judge the result by; none: it is not judged
  std::int64_t opset = 0;  // 0: the model's own, or the first that has the words
  Budget* budget = nullptr;
};

struct LayerError {
  std::string node, op, value;
  Agreement agreement;
};

struct QuantizeResult {
  QuantizeReport report;
  std::vector<LayerError> layers;   // in the order of the graph
  std::vector<LayerError> outputs;  // of the model
  std::int64_t opset = 0;
};

/// Optimizes a model, quantises it, and runs both on the data that was held back.
QuantizeResult quantize(Model& model, const QuantizeRequest& request);

/// Ranges of inputs, where the model itself is one: inputs of values as they come.
Samples random_samples(const Model& model, std::size_t count, std::uint32_t first_seed);

}  // namespace ingot::driver
