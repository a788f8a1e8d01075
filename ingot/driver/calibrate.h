#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/passes/quantize/quantize.h"

namespace ingot {
class Budget;
}

namespace ingot::driver {

/// Inputs of several runs, made when they are needed.
struct Samples {
  std::size_t count = 0;
  std::function<std::vector<engine::NamedDatum>(std::size_t)> batch;
};

enum class Calibration : std::uint8_t {
  extremes,    // the least and the most that was seen
  percentile,  // without the few that lie farthest out
  entropy,     // where the distribution loses the least by what is cut off and by steps
};

struct CalibrationOptions {
  Calibration method = Calibration::extremes;
  double percentile = 99.99;
  Budget* budget = nullptr;
};

/// A copy of a model whose outputs are also the values named.
Model with_outputs(const Model& model, const std::vector<std::string>& values);

/// The largest size of the float values that nodes of the model's graph make, by name, over runs on samples.
std::vector<std::pair<std::string, double>> largest_values(const Model& model, const Samples& samples, Budget* budget);

/// The ranges of values, by name, over runs on samples.
passes::ValueRanges calibrate(const Model& model, const std::vector<std::string>& values, const Samples& samples,
                              const CalibrationOptions& options);

}  // namespace ingot::driver
