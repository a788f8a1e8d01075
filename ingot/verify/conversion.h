#pragma once
#include <optional>

#include "ingot/driver/convert.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {

/// On which inputs; see VerifyRequest.
struct ConversionInputs {
  std::vector<std::string> given{};
  std::uint32_t seed = 1, seeds = 0;
};

/// Runs the source of a conversion in its own runtime and the result beside it: what a ConvertRequest takes. The
/// verdict is left in `verdict`, which must outlive the conversion; what keeps a comparison from being made is no
/// error.
driver::Verifier verifier(const Peers& peers, std::optional<Verdict>& verdict, const ConversionInputs& inputs = {});

}  // namespace ingot::verify
