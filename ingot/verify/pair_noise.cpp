// What of the difference between two runtimes is rounding.
#include "ingot/verify/pair_noise.h"

#include <unordered_set>

#include "ingot/passes/infer.h"
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
  noise.range = range_of(b_name);
  if (const auto wide = exact(a_name, a, b_name, b)) {
    noise.in_a = wide->in_a;
    noise.in_b = wide->in_b;
  }
  return noise;
}

double PairNoise::range_of(const std::string& b_name) const {
  const Node* function = bounded_function(b_.model(), b_name);
  return function && !function->is("Tanh") ? 1 : 0;
}

std::optional<PairNoise::Exact> PairNoise::exact(const std::string& a_name, const Array& a, const std::string& b_name,
                                                 const Array& b) const {
  const auto a_exact = a_exact_.find(a_name);
  const auto b_runs = b_runs_.find(b_name);
  if (a_exact == a_exact_.end() || b_runs == b_runs_.end() || b_runs->second.size() < 2) return std::nullopt;
  const Array *a_wide = a_exact->second.array(), *b_wide = b_runs->second[1].array();
  auto a_match = a_wide ? nearest(a, *a_wide) : std::nullopt, b_match = b_wide ? nearest(b, *b_wide) : std::nullopt;
  if (!a_match || !b_match) return std::nullopt;
  return Exact{std::move(a_match->form), std::move(b_match->form), a_match->distance.value, b_match->distance.value};
}

std::optional<PartThatDiffers> PairNoise::small_part(const std::string& a_name, const Array& a,
                                                     const std::string& b_name, const Array& b) {
  if (a.dtype() != DType::f32 || b.dtype() != DType::f32 || a.dims() != b.dims()) return std::nullopt;
  if (!is_measured_) measure({}, {});
  const auto wide = exact(a_name, a, b_name, b);
  if (!wide || wide->a.dims() != a.dims() || wide->b.dims() != a.dims()) return std::nullopt;
  return find_small_part({a, b, wide->a, wide->b, range_of(b_name)});
}

DType PairNoise::way_to(const std::string& b_name) {
  if (!typed_b_) {
    typed_b_ = b_.model().clone();
    passes::InferOptions options;
    options.tolerate_errors = true;
    passes::infer(*typed_b_, options);
  }
  std::unordered_set<const Value*> seen;
  std::vector<const Value*> open{typed_b_->graph->find(b_name)};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (!v || v->initializer || !seen.insert(v).second) continue;
    if (v->type.is_tensor() && is_float(v->type.elem) && v->type.elem != DType::f64) return DType::f32;
    if (!v->producer() || v->producer()->is("Constant")) continue;
    for (const Value* input : v->producer()->inputs()) open.push_back(input);
  }
  return DType::undefined;
}

const RoundedValues& PairNoise::runs_of_b() {
  if (!is_measured_) measure({}, {});
  return b_runs_;
}

}  // namespace ingot::verify
