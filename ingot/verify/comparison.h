#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingot/verify/contender.h"
#include "ingot/verify/pair_noise.h"
#include "ingot/verify/ties.h"
#include "ingot/verify/verify.h"

namespace ingot::verify {

/// Of which values the noise is measured, which takes runs in double; of the others only where the types' own tolerance
/// is exceeded.
struct Effort {
  bool measures_outputs = true, measures_inside = true;
};

/// Two models on one set of inputs.
class Comparison {
 public:
  Comparison(const VerifyRequest& request, Contender& a, Contender& b, PairNoise& noise, const Effort& effort,
             Verdict& verdict)
      : request_(request), a_(a), b_(b), noise_(noise), verdict_(verdict), effort_(effort) {}

  /// Fills in the verdict.
  void run(const std::vector<engine::NamedDatum>& a_inputs, const std::vector<engine::NamedDatum>& b_inputs);
  /// After a run: whether an output tells nothing about what led to it.
  bool has_saturated() const { return !saturated_.empty(); }

 private:
  Answer answer(Contender& side, const std::vector<engine::NamedDatum>& inputs);
  void compare_outputs(const Answer& a, const Answer& b);
  void compare(const Datum& a, const Datum& b, OutputVerdict& output);
  void judge(const Array& a, const Array& b, const Distance& d, OutputVerdict& output);
  void judge_parts(const Array& a, const Array& b, OutputVerdict& output);
  void settle(const Array& a, const Array& b, const Distance& d, const Threshold& threshold, OutputVerdict& output);
  void settle_rows();
  void tell_silence();
  void leave_random();
  void conclude();
  void look_inside(const std::vector<engine::NamedDatum>& a_inputs, const std::vector<engine::NamedDatum>& b_inputs);

  const VerifyRequest& request_;
  Contender &a_, &b_;
  PairNoise& noise_;
  Verdict& verdict_;
  std::set<std::string> random_;                          // outputs of b that depend on random numbers
  std::vector<std::string> saturated_;                    // outputs of b
  std::vector<std::pair<std::string, std::string>> silent_;  // outputs of a that are equal and tell nothing, and why
  std::vector<std::pair<std::size_t, RowsOfBoth>> rows_;  // with the place of the output's verdict
  Effort effort_;
  bool has_complained_ = false, has_moved_rows_ = false;
  DType rounded_to_ = DType::undefined;  // what the numbers of one side were rounded to, and those of the other not
};

}  // namespace ingot::verify
