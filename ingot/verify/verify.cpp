// Do two models give the same numbers?
#include "ingot/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/work.h"
#include "ingot/verify/comparison.h"
#include "ingot/verify/counterparts.h"
#include "ingot/verify/likeness.h"

namespace ingot::verify {
namespace {

using Inputs = std::vector<engine::NamedDatum>;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSeeds = 3;          // where nothing else is asked for
constexpr std::uint32_t kSeedsToDecide = 8;  // for quantised models that one input does not decide
constexpr std::uint32_t kSeedsOfSlowOnes = 3;
// Operations of a run; in double, kernels are some fifty times slower. Up to the first, all values inside are run in
// double too; up to the second, there are several seeds; up to the third, the outputs are run in double.
constexpr double kCheap = 1e8, kModerate = 1e9, kBearable = 1e10;

/// Inputs that were given stay; the others are drawn.
class InputSource {
 public:
  InputSource(const VerifyRequest& request, const Contender& a)
      : a_(a), shaped_(a.model().clone()), given_(shaped_inputs(request)) {}

  /// By what there is to compute, never by the clock: the answer must not depend on how busy the machine is.
  bool is_cheap() const { return operations_ <= kCheap; }
  bool allows_seeds() const { return operations_ <= kModerate; }
  Effort effort() const { return {.measures_outputs = operations_ <= kBearable, .measures_inside = is_cheap()}; }
  bool draws() const { return driver::random_inputs(shaped_, 1, given_).size() > 0; }

  /// In the order of the file: some runtimes go by it. `factor` makes drawn floats smaller.
  Inputs inputs(std::uint32_t seed, double factor) const {
    Inputs all = given_;
    for (engine::NamedDatum& drawn : driver::random_inputs(shaped_, seed, given_)) {
      const Array* array = drawn.value.array();
      if (factor != 1 && array && array->dtype() == DType::f32) drawn.value = scaled(*array, factor);
      all.push_back(std::move(drawn));
    }
    Inputs ordered;
    for (const Value* v : fed_inputs(a_.model()))
      if (const auto it = std::ranges::find(all, v->name(), &engine::NamedDatum::name); it != all.end())
        ordered.push_back(*it);
    return ordered;
  }

  /// For people: "x: float[1,3], drawn from the seed 1".
  std::vector<std::string> described(const Inputs& inputs, const std::string& seeds) const {
    std::vector<std::string> texts;
    for (const engine::NamedDatum& input : inputs) {
      const Array* array = input.value.array();
      const bool is_given = std::ranges::find(given_, input.name, &engine::NamedDatum::name) != given_.end();
      if (array)
        texts.push_back(
            fmt::format("{}: {}, {}", input.name, array->type().str(), is_given ? "as given" : "drawn from " + seeds));
    }
    return texts;
  }

 private:
  Inputs shaped_inputs(const VerifyRequest& request) {
    driver::set_input_shapes(shaped_, request.input_shapes);
    Inputs given = driver::load_inputs(shaped_, request.inputs, request.a.load).values;
    operations_ = operations(given);
    return given;
  }

  /// Of a run on what is given and, else, on sizes of 1. Throws where these do not fit the model.
  double operations(const Inputs& given) const {
    Model typed = shaped_.clone();
    for (Value* v : typed.graph->inputs()) {
      if (!v->type.shape) continue;
      const auto it = std::ranges::find(given, v->name(), &engine::NamedDatum::name);
      if (const Array* array = it == given.end() ? nullptr : it->value.array()) v->type.shape = array->type().shape;
      for (Dim& d : *v->type.shape) d = d.as_int().value_or(1);
    }
    driver::AdjustOptions types;
    types.infer_types = true;
    driver::adjust(typed, types);
    return driver::work_of(typed).operations;
  }

  static Array scaled(const Array& array, double factor) {
    std::vector<float> values;
    for (const float v : array.data<float>()) values.push_back(static_cast<float>(v * factor));
    return Array::of<float>(array.dims(), values);
  }

  const Contender& a_;
  Model shaped_;
  double operations_ = 0;
  Inputs given_;
};

/// What a note is about: its figures differ from one input to the next.
std::string_view subject_of(std::string_view note) { return note.substr(0, note.find(" (")); }

double excess_of(const OutputVerdict& output) { return output.distance ? output.distance->value : 0; }

/// What further inputs told: a difference is the answer, an answer replaces none, and of those that agree the worst is
/// shown.
void merge(Verdict& all, Verdict&& one) {
  const std::size_t runs = all.runs + one.runs, compared = std::max(all.compared_inside, one.compared_inside);
  const bool is_better = one.answer == Verdict::Answer::different ||
                         (all.answer == Verdict::Answer::unknown && one.answer == Verdict::Answer::same);
  if (is_better) {
    std::swap(all, one);
  } else if (all.answer == one.answer) {
    for (std::size_t i = 0; i < std::min(all.outputs.size(), one.outputs.size()); ++i)
      if (excess_of(one.outputs[i]) > excess_of(all.outputs[i])) all.outputs[i] = std::move(one.outputs[i]);
    for (std::string& note : one.notes)
      if (std::ranges::none_of(all.notes, [&](const std::string& n) { return subject_of(n) == subject_of(note); }))
        all.notes.push_back(std::move(note));
  }
  for (LayerSteps& layer : one.layers) {
    const auto known = std::ranges::find(all.layers, layer.name, &LayerSteps::name);
    if (known == all.layers.end())
      all.layers.push_back(std::move(layer));
    else if (layer.steps > known->steps || layer.largest > known->largest)
      *known = std::move(layer);
  }
  all.runs = runs;
  all.compared_inside = compared;
}

/// A quantised network whose outputs rounding alone moves far: over many inputs, is b as like a as it is like itself
/// with its roundings shaken?
void decide_quantized(const VerifyRequest& request, Contender& a, Contender& b, const InputSource& source,
                      PairNoise& noise, Verdict& verdict) {
  const std::uint32_t most = source.is_cheap() ? kSeedsToDecide : kSeedsOfSlowOnes;
  std::vector<Likeness> pairs(verdict.outputs.size()), shaken(verdict.outputs.size());
  std::uint32_t runs = 0;
  for (; runs < most; ++runs) {
    Verdict notes;
    const Inputs a_inputs = source.inputs(request.seed + runs, 1);
    const Inputs b_inputs = inputs_for_b(a, b, a_inputs, notes);
    const Answer a_answer = a.run(a_inputs), b_answer = b.run(b_inputs);
    if (!a_answer.error.empty() || !b_answer.error.empty()) return;
    noise.set_inputs(a_inputs, b_inputs);
    const RoundedValues& twins = noise.runs_of_b();
    for (std::size_t i = 0; i < verdict.outputs.size(); ++i) {
      const auto value = [](const std::vector<engine::NamedDatum>& values, const std::string& name) -> const Array* {
        const auto it = std::ranges::find(values, name, &engine::NamedDatum::name);
        return it == values.end() ? nullptr : it->value.array();
      };
      const Array* in_a = value(a_answer.outputs, verdict.outputs[i].a_name);
      const Array* in_b = value(b_answer.outputs, verdict.outputs[i].b_name);
      const auto twin = twins.find(verdict.outputs[i].b_name);
      if (!in_a || !in_b || in_a->dims() != in_b->dims() || twin == twins.end()) return;
      pairs[i].add(*in_a, *in_b);
      for (std::size_t run = 1; run < twin->second.size(); ++run)
        if (const Array* plain = twin->second[0].array(), *other = twin->second[run].array(); plain && other)
          shaken[i].add(*plain, *other);
    }
  }
  verdict.why_unknown.clear();
  verdict.answer = Verdict::Answer::same;
  for (std::size_t i = 0; i < verdict.outputs.size(); ++i) {
    OutputVerdict& output = verdict.outputs[i];
    if (output.is_decided) continue;
    output.is_decided = true;
    output.agrees = is_as_alike(pairs[i], shaken[i]);
    output.figure = pairs[i].text();
    output.threshold.clear();
    output.source = fmt::format("over {} inputs; roundings that fall the other way alone: {}", runs, shaken[i].text());
    if (!output.agrees) verdict.answer = Verdict::Answer::different;
  }
  verdict.runs = std::max<std::size_t>(verdict.runs, runs);
}

std::string seeds_text(std::uint32_t first, std::size_t count) {
  if (count < 2) return fmt::format("the seed {}", first);
  if (count == 2) return fmt::format("the seeds {} and {}", first, first + 1);
  return fmt::format("the seeds {} to {}", first, first + static_cast<std::uint32_t>(count) - 1);
}

bool is_open_by_rounding(const Verdict& verdict) {
  return verdict.answer == Verdict::Answer::unknown && verdict.runs > 0 &&
         std::ranges::any_of(verdict.outputs,
                             [](const OutputVerdict& o) { return !o.is_decided && !o.threshold.empty(); });
}

}  // namespace

Verdict verify(const VerifyRequest& request) {
  const auto start = Clock::now();
  driver::LoadOptions a_load = request.a.load;
  a_load.import.input_shapes.insert(a_load.import.input_shapes.end(), request.input_shapes.begin(),
                                    request.input_shapes.end());
  Contender a(request.a.file, request.a.runtimes, a_load, request.peers, Contender::Role::reference);
  Contender b(request.b.file, request.b.runtimes, request.b.load, request.peers, Contender::Role::candidate);
  const InputSource source(request, a);
  PairNoise noise(a, b, request.a.load.budget, request.b.load.budget);
  const std::uint32_t usual = source.allows_seeds() ? kSeeds : 1;
  const std::uint32_t most = !source.draws() ? 1 : request.seeds ? request.seeds : usual;
  Verdict verdict;
  double factor = 1;
  for (std::uint32_t i = 0; i < most; ++i) {
    Verdict one;
    const Inputs a_inputs = source.inputs(request.seed + i, factor);
    const Inputs b_inputs = inputs_for_b(a, b, a_inputs, one);
    Comparison comparison(request, a, b, noise, source.effort(), one);
    comparison.run(a_inputs, b_inputs);
    const bool is_answer = one.answer == Verdict::Answer::different;
    const std::string smaller = factor == 1 ? "" : fmt::format(", times {:g}", factor);
    one.inputs = source.described(
        a_inputs,
        (is_answer ? fmt::format("the seed {}", request.seed + i) : seeds_text(request.seed, i + 1)) + smaller);
    // Inputs nearer to zero show what a saturated function hides.
    if (comparison.has_saturated()) factor /= 10;
    const auto seen = one.inputs;
    if (i == 0)
      verdict = std::move(one);
    else
      merge(verdict, std::move(one));
    if (verdict.answer != Verdict::Answer::different) verdict.inputs = seen;
    if (verdict.answer == Verdict::Answer::different || verdict.runs == 0) break;
  }
  if (is_open_by_rounding(verdict) && noise.is_quantized()) decide_quantized(request, a, b, source, noise, verdict);
  verdict.is_independent = a.runtime() != Runtime::ingot;
  verdict.a_runtime = a.runtime_text();
  verdict.b_runtime = b.runtime_text();
  verdict.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return verdict;
}

}  // namespace ingot::verify
