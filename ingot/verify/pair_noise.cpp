// What of the difference between two runtimes is rounding.
#include "ingot/verify/pair_noise.h"

#include "ingot/verify/points.h"
#include "ingot/verify/saturation.h"

namespace ingot::verify {
PairNoise::PairNoise(const Contender& a, const Contender& b, Budget* a_budget, Budget* b_budget)
    : b_(b), a_rounding_(a.model(), a_budget), b_rounding_(b.model(), b_budget), is_one_model_(a.file() == b.file()) {}

void PairNoise::set_inputs(const std::vector<engine::NamedDatum>& a_inputs,
                           const std::vector<engine::NamedDatum>& b_inputs) {
  a_inputs_ = &a_inputs;
  b_inputs_ = &b_inputs;
  is_measured_ = false;
}

void PairNoise::measure(const std::vector<std::string>& a_points, const std::vector<std::string>& b_points) {
  is_measured_ = true;
  b_runs_ = b_rounding_.values(*b_inputs_, b_points);
  a_exact_.clear();
  if (!b_rounding_.is_whole()) return;
  if (!is_one_model_ && a_rounding_.is_whole()) a_exact_ = a_rounding_.exact(*a_inputs_, a_points);
  if (is_one_model_)
    for (const auto& [name, runs] : b_runs_)
      if (runs.size() > 1) a_exact_[name] = runs[1];
}

Noise PairNoise::of(const std::string& a_name, const Array& a, const std::string& b_name, const Array& b) {
  if (!is_measured_) measure({}, {});
  Noise noise;
  noise.own = noise_of(b_runs_, b_name);
  const Node* function = bounded_function(b_.model(), b_name);
  noise.range = function && !function->is("Tanh") ? 1 : 0;
  const auto a_exact = a_exact_.find(a_name);
  const auto b_runs = b_runs_.find(b_name);
  if (a_exact == a_exact_.end() || b_runs == b_runs_.end() || b_runs->second.size() < 2) return noise;
  const Array *a_wide = a_exact->second.array(), *b_wide = b_runs->second[1].array();
  const auto a_match = a_wide ? nearest(a, *a_wide) : std::nullopt,
             b_match = b_wide ? nearest(b, *b_wide) : std::nullopt;
  if (!a_match || !b_match) return noise;
  noise.in_a = a_match->distance.value;
  noise.in_b = b_match->distance.value;
  return noise;
}

const RoundedValues& PairNoise::runs_of_b() {
  if (!is_measured_) measure({}, {});
  return b_runs_;
}

}  // namespace ingot::verify
