#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::train {

struct GradientModelOptions {
  std::string of;                // an output, or any value; empty: the first output
  std::vector<std::string> wrt;  // inputs, initializers or any values; empty: all real inputs
  bool keeps_forward = false;    // the model's own outputs stay
};

/// A model for inference that computes d(of)/d(wrt), in the newest operator sets: outputs "d<of>/d<wrt>". Of a value
/// with several elements, the gradient of their sum.
Model gradient_model(const Model& model, const GradientModelOptions& options);

}  // namespace ingot::train
