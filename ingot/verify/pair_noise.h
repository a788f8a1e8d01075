#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/verify/contender.h"
#include "ingot/verify/rounding.h"
#include "ingot/verify/small_parts.h"

namespace ingot::verify {

/// What rounding does to the values of two models in their runtimes, on the inputs at hand. What is asked for is run
/// and kept until other inputs are set.
class PairNoise {
 public:
  PairNoise(const Contender& a, const Contender& b, Budget* a_budget, Budget* b_budget);

  void set_inputs(const std::vector<engine::NamedDatum>& a_inputs, const std::vector<engine::NamedDatum>& b_inputs);
  /// Runs what is needed to know the noise of these values, beside that of the outputs.
  void measure(const std::vector<std::string>& a_points, const std::vector<std::string>& b_points);
  /// Of a value of both, `a` and `b` what their runtimes give. Runs what is needed to know that of the outputs.
  Noise of(const std::string& a_name, const Array& a, const std::string& b_name, const Array& b);

  /// Where both models in double tell all that rounds: the part of an output that differs though the whole agrees.
  std::optional<PartThatDiffers> small_part(const std::string& a_name, const Array& a, const std::string& b_name,
                                            const Array& b);

  /// What the numbers of one of b's values were rounded to on the way to it, where that has fewer digits than a double.
  DType way_to(const std::string& b_name);

  /// b's values in runs that differ by no more than rounding; the outputs at least.
  const RoundedValues& runs_of_b();
  bool is_quantized() { return b_rounding_.is_quantized(); }
  const std::string& why_not() const { return b_rounding_.why_not(); }

 private:
  /// In double, in the form of `a` and `b`; nothing where that is not known.
  struct Exact {
    Array a, b;
    double in_a, in_b;  // how far the runtimes are from it
  };
  std::optional<Exact> exact(const std::string& a_name, const Array& a, const std::string& b_name,
                             const Array& b) const;

  /// Of what its last function can give; 0: not bounded.
  double range_of(const std::string& b_name) const;

  const Contender& b_;
  Rounding a_rounding_, b_rounding_;
  bool is_one_model_;
  const std::vector<engine::NamedDatum>*a_inputs_ = nullptr, *b_inputs_ = nullptr;
  std::map<std::string, Datum> a_exact_;
  RoundedValues b_runs_;
  std::optional<Model> typed_b_;
  bool is_measured_ = false;
};

}  // namespace ingot::verify
