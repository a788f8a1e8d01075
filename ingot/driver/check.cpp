// The checker as a command uses it.
#include "ingot/driver/check.h"

namespace ingot::driver {

std::vector<Problem> check(const Model& model, Budget* budget) {
  passes::CheckOptions options;
  options.budget = budget;
  return passes::check(model, options);
}

}  // namespace ingot::driver
