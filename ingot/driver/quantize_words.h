#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingot/driver/quantize.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {

/// How a model is to be quantised, in the words of 'ingot quantize'.
struct QuantizeWords {
  std::string method = "static";  // or "dynamic", "weights"
  std::string form{};             // "qdq" or "integer"; empty: what suits the method
  std::string activations = "int8", weights{};
  std::string calibration = "minmax";  // or "entropy", "percentile"
  double percentile = 99.99;
  std::int64_t bits = 8, block = 0, opset = 0;
  bool per_tensor = false, symmetric = false, full_range = false;
  std::vector<std::string> only{}, exclude{};
};

/// Refuses words that there are not. Samples are left to the caller.
QuantizeRequest quantize_request(const QuantizeWords& words);

/// The first `most` examples, in batches that the model takes.
Samples samples_of(std::shared_ptr<const train::Dataset> data, std::shared_ptr<const Model> model, std::uint64_t batch,
                   std::uint64_t most);

/// Ranges from some of the examples; the share that is held back judges the result.
void set_samples(QuantizeRequest& request, const Model& model, train::Dataset data, double hold_back,
                 std::uint64_t batch, std::uint64_t most);
/// Without data: inputs that are drawn. None for a method that needs ranges is refused.
void set_random_samples(QuantizeRequest& request, const Model& model, std::uint64_t count);

}  // namespace ingot::driver
