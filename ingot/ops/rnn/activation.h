#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// An activation function of a recurrent layer with its two parameters.
struct RecurrentActivation {
  std::string_view name;  // in lower case: writers do not agree on it
  double (*function)(double x, double alpha, double beta) = nullptr;
  double alpha = 0, beta = 0;

  double operator()(double x) const { return function(x, alpha, beta); }
};

/// `defaults`, one name per function of a direction, or what attribute activations says; with activation_alpha and
/// activation_beta, which only functions with such a parameter consume. Refuses unknown names and too short lists.
std::vector<RecurrentActivation> read_activations(const KernelContext& c, const std::vector<std::string>& defaults,
                                                  std::size_t directions);

/// The same by attributes alone; what is wrong with them goes into `problem`.
std::vector<RecurrentActivation> read_activations(const Attributes& attributes,
                                                  const std::vector<std::string>& defaults, std::size_t directions,
                                                  std::string& problem);

}  // namespace ingot::ops
