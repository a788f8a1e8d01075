// How much of a model's results is rounding.
#include "ingot/verify/rounding.h"

#include "ingot/base/error.h"
#include "ingot/passes/shake.h"
#include "ingot/passes/widen.h"
#include "ingot/verify/contender.h"

namespace ingot::verify {

Model in_double(const Model& model) {
  Model twin = model.clone();
  passes::widen_floats(twin);
  return twin;
}

std::optional<Model> with_shaken_steps(const Model& model, std::uint32_t seed) {
  Model twin = model.clone();
  if (passes::shake_quantization(twin, seed) == 0) return std::nullopt;
  return twin;
}

std::optional<Distance> noise_of(const RoundedValues& values, const std::string& name) {
  const auto it = values.find(name);
  if (it == values.end()) return std::nullopt;
  std::optional<Distance> noise;
  for (std::size_t i = 1; i < it->second.size(); ++i) {
    const Array *plain = it->second[0].array(), *twin = it->second[i].array();
    const auto d = plain && twin ? distance(*plain, *twin) : std::nullopt;
    if (d && (!noise || d->value > noise->value)) noise = d;
  }
  return noise;
}

void Rounding::make_twins() {
  if (has_twins_) return;
  has_twins_ = true;
  constexpr std::uint32_t kSeeds[] = {1, 2};
  try {
    twins_.push_back(in_double(model_));
    for (const std::uint32_t seed : kSeeds)
      if (auto shaken = with_shaken_steps(model_, seed)) twins_.push_back(std::move(*shaken));
  } catch (const Error& error) {
    why_not_ = error.message();
  }
}

RoundedValues Rounding::values(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
  make_twins();
  RoundedValues all;
  const auto add = [&](const Model& model) {
    Contender::Answer answer = run_in_ingot(model, inputs, points, budget_);
    if (!answer.error.empty()) {
      why_not_ = answer.error;
      return false;
    }
    for (auto* list : {&answer.outputs, &answer.points})
      for (engine::NamedDatum& value : *list) all[value.name].push_back(std::move(value.value));
    return true;
  };
  if (!add(model_)) return {};
  for (const Model& twin : twins_) add(twin);
  return all;
}

}  // namespace ingot::verify
