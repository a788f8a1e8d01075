#pragma once
#include <string>
#include <vector>

#include "ingot/verify/contender.h"
#include "ingot/verify/rounding.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {

/// Looks through the values inside of two models that give different results, in a's order, for the first that differs
/// by more than rounding. Fills in the verdict's `first`, or why there is none.
void bisect(Contender& a, const std::vector<engine::NamedDatum>& a_inputs, Contender& b,
            const std::vector<engine::NamedDatum>& b_inputs, Rounding& rounding, Verdict& verdict);

}  // namespace ingot::verify
