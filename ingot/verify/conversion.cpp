// Source and result of a conversion beside each other.
#include "ingot/verify/conversion.h"

#include "ingot/base/error.h"

namespace ingot::verify {

driver::Verifier verifier(const Peers& peers, std::optional<Verdict>& verdict, const ConversionInputs& inputs) {
  return [peers, inputs, &verdict](const driver::Comparison& files) -> std::string {
    VerifyRequest request;
    request.a.file = files.source;
    request.a.load = files.load_source;
    request.b.file = files.result;
    request.b.load = files.load_result;
    request.input_shapes = files.input_shapes;
    request.peers = peers;
    request.inputs = inputs.given;
    request.seed = inputs.seed;
    request.seeds = inputs.seeds;
    request.rounded_to = files.rounded_to;
    try {
      verdict = verify(request);
      return verdict->answer == Verdict::Answer::unknown ? verdict->why_unknown : "";
    } catch (const Error& error) {
      if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
      if (!inputs.given.empty()) throw;  // who names inputs wants to know what is wrong with them
      return error.message() + (error.hint_text().empty() ? "" : "; " + error.hint_text());
    }
  };
}

}  // namespace ingot::verify
