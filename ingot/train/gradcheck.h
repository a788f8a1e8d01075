#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/engine/session.h"

namespace ingot::train {

/// The model with all real numbers in double precision, in the newest operator sets.
Model in_double(const Model& model);
/// The same for a value.
Datum in_double(const Datum& datum);

/// Takes the rounding out of what is quantised and made real again, which differences cannot follow; returns at how
/// many places. The model is one of in_double().
std::size_t leave_out_rounding(Model& model);

/// One directional derivative: the gradient's, and the one that central differences give.
struct GradientCheck {
  std::string input;
  double analytic = 0, numeric = 0;
  /// Left and right of the point the slopes differ: no derivative can be right there.
  bool is_at_kink = false;
  bool passed() const;
};

struct GradientCheckOptions {
  std::uint64_t seed = 1;
  /// The inputs are moved at random by about this much first, away from ties and kinks.
  double jitter = 0;
  /// Names of inputs to differentiate by; empty: all real ones.
  std::vector<std::string> wrt;
};

/// Compares v.J.u with central differences in double precision, for random v and, for each real input, a random
/// direction u. The model is one of in_double(); inputs are by name. Initializers count as constants.
std::vector<GradientCheck> check_gradients(const Model& model, std::vector<engine::NamedDatum> inputs,
                                           const GradientCheckOptions& options = {});

}  // namespace ingot::train
