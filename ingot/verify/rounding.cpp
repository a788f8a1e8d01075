// How much of a model's results is rounding.
#include "ingot/verify/rounding.h"

#include "ingot/base/error.h"
#include "ingot/ir/graph.h"
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

namespace {

bool is_rounded(const Type& type) { return type.is_tensor() && is_float(type.elem) && type.elem != DType::f64; }

/// Whether a model in double still computes something in less.
bool rounds(const Model& twin) {
  bool found = false;
  for_each_graph(*twin.graph, [&](Graph& graph) {
    for (const Node& node : graph.nodes()) {
      // What was a float in the file is the same one again.
      if (node.is("Cast") && node.input(0) && (node.input(0)->initializer || node.input(0)->is_input())) continue;
      for (const Value* v : node.outputs()) found |= v && (is_rounded(v->type) || !v->type);
    }
  });
  return found;
}

}  // namespace

void Rounding::make_twins() {
  if (has_twins_) return;
  has_twins_ = true;
  constexpr std::uint32_t kSeeds[] = {1, 2};
  try {
    twins_.push_back(in_double(model_));
    is_whole_ = !rounds(twins_[0]);
    for (const std::uint32_t seed : kSeeds)
      if (auto shaken = with_shaken_steps(model_, seed)) twins_.push_back(std::move(*shaken));
  } catch (const Error& error) {
    why_not_ = error.message();
  }
}

bool Rounding::is_whole() {
  make_twins();
  return is_whole_;
}

bool Rounding::is_quantized() {
  make_twins();
  return twins_.size() > 1;
}

std::map<std::string, Datum> Rounding::exact(const std::vector<engine::NamedDatum>& inputs,
                                             const std::vector<std::string>& points) {
  make_twins();
  std::map<std::string, Datum> values;
  if (twins_.empty()) return values;
  Answer answer = run_in_ingot(twins_[0], inputs, points, budget_);
  for (auto* list : {&answer.outputs, &answer.points})
    for (engine::NamedDatum& value : *list) values[value.name] = std::move(value.value);
  return values;
}

RoundedValues Rounding::values(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
  make_twins();
  RoundedValues all;
  const auto add = [&](const Model& model) {
    Answer answer = run_in_ingot(model, inputs, points, budget_);
    if (!answer.error.empty()) {
      why_not_ = answer.error;
      return false;
    }
    std::map<std::string, Datum> values;  // an output may be asked for as a point too
    for (auto* list : {&answer.outputs, &answer.points})
      for (engine::NamedDatum& value : *list) values[value.name] = std::move(value.value);
    for (auto& [name, value] : values) all[name].push_back(std::move(value));
    return true;
  };
  if (!add(model_)) return {};
  for (const Model& twin : twins_) add(twin);
  return all;
}

}  // namespace ingot::verify
