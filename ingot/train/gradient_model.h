#pragma once
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::train {

struct GradientModelOptions {
  enum class Kind {
    gradient,        // of the sum of the elements of `of`
    jacobian,        // of each element of `of`: its dimensions first, then those of `wrt`
    hessian_vector,  // the second derivative times a further input, "v/<wrt>"
  };
  std::string of{};                     // an output, or any value; empty: the first output
  std::vector<std::string> wrt{};       // inputs, initializers or any values; empty: all real inputs
  std::vector<std::string> stops = {};  // values through which no gradient flows back
  Kind kind = Kind::gradient;
  bool keeps_forward = false;  // the model's own outputs stay
};

/// A model for inference that computes d(of)/d(wrt), in the newest operator sets: outputs "d<of>/d<wrt>"; of a
/// Hessian-vector product "H<of>v/<wrt>".
Model gradient_model(const Model& model, const GradientModelOptions& options);

}  // namespace ingot::train
