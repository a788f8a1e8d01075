#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "ingot/verify/contender.h"
#include "ingot/verify/pair_noise.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {

struct InsideOptions {
  bool outputs_differ = false;          // then the first difference is all that is wanted
  bool measures_noise = true;           // of every value; else only where the types' own tolerance is exceeded
  DType rounded_to = DType::undefined;  // as in VerifyRequest
};

struct InsideAnswer {
  bool differs = false;                    // in a way that counts
  std::unordered_set<std::string> agreed;  // values of b
};

/// Compares the values inside of two models, in a's order. Fills in the verdict's `first`, or why there is none, and
/// the layers of quantised models. A difference that nothing behind it shares, while it does lead somewhere, is a note
/// and does not count: what passes for the same value may be another one.
InsideAnswer compare_inside(Contender& a, const std::vector<engine::NamedDatum>& a_inputs, Contender& b,
                            const std::vector<engine::NamedDatum>& b_inputs, PairNoise& noise,
                            const InsideOptions& options, Verdict& verdict);

}  // namespace ingot::verify
