// Do two models give the same numbers?
#include "ingot/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/ir/source_notes.h"
#include "ingot/verify/alignment.h"
#include "ingot/verify/bisect.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/element_text.h"
#include "ingot/verify/randomness.h"
#include "ingot/verify/ties.h"

namespace ingot::verify {
namespace {

using Inputs = std::vector<engine::NamedDatum>;

constexpr double kDecidingNoise = 0.1;  // of the scale: beyond that, agreement means nothing

std::vector<const Value*> fed_inputs(const Model& model) {
  std::vector<const Value*> inputs;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer && !v->sparse_initializer) inputs.push_back(v);
  return inputs;
}

/// For each input or output of one, that of the other: by name, else those that are left in their order.
std::vector<std::size_t> paired(const std::vector<const Value*>& wanted, const std::vector<const Value*>& given) {
  std::vector<std::size_t> result(wanted.size(), given.size());
  std::vector<bool> is_taken(given.size(), false);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t j = 0; j < given.size(); ++j)
      if (!is_taken[j] && result[i] == given.size() && wanted[i]->name() == given[j]->name()) {
        result[i] = j;
        is_taken[j] = true;
      }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (result[i] != given.size()) continue;
    const auto free = std::ranges::find(is_taken, false);
    if (free == is_taken.end()) continue;
    result[i] = static_cast<std::size_t>(free - is_taken.begin());
    *free = true;
  }
  return result;
}

std::vector<const Value*> outputs_of(const Model& model) {
  const Values values = model.graph->outputs();
  return {values.begin(), values.end()};
}

ChannelPlace place_of(const Contender& side, const std::string& name, bool is_moved) {
  return is_moved ? ChannelPlace::last : stated_place(side.model(), name);
}

/// A place that one side does not state while the other's was moved is where ONNX has it.
void complete(ChannelPlace& a, ChannelPlace& b, bool is_moved) {
  if (!is_moved) return;
  if (a == ChannelPlace::unstated) a = ChannelPlace::first;
  if (b == ChannelPlace::unstated) b = ChannelPlace::first;
}

Inputs inputs_for_b(const Contender& a, const Contender& b, const Inputs& a_inputs, Verdict& verdict) {
  const auto a_values = fed_inputs(a.model()), b_values = fed_inputs(b.model());
  const auto pairs = paired(b_values, a_values);
  const bool is_moved = a.inputs_moved() || b.inputs_moved();
  Inputs inputs;
  for (std::size_t i = 0; i < b_values.size(); ++i) {
    if (pairs[i] == a_values.size())
      throw Error(Code::bad_usage, "input '" + b_values[i]->name() + "' has no counterpart in " + a.file())
          .in_file(b.file());
    const std::string& name = a_values[pairs[i]]->name();
    const auto given = std::ranges::find(a_inputs, name, &engine::NamedDatum::name);
    const Array* array = given == a_inputs.end() ? nullptr : given->value.array();
    if (!array) {
      if (given != a_inputs.end()) inputs.push_back({b_values[i]->name(), given->value});
      continue;
    }
    ChannelPlace from = place_of(a, name, a.inputs_moved());
    ChannelPlace to = place_of(b, b_values[i]->name(), b.inputs_moved());
    complete(from, to, is_moved);
    std::vector<std::string> changes;
    const auto fit = fitted(*array, from, b_values[i]->type, to, changes);
    if (!fit)
      throw Error(Code::bad_usage,
                  fmt::format("input '{}' is {}, and '{}' of {} is {}: the one does not fit the other",
                              b_values[i]->name(), b_values[i]->type.str(), name, a.file(), array->type().str()))
          .in_file(b.file());
    std::string note;
    if (name != b_values[i]->name()) note = fmt::format("is '{}' in {}", b_values[i]->name(), b.file());
    for (const std::string& change : changes) note += (note.empty() ? "" : ", ") + change;
    if (!note.empty()) verdict.notes.push_back("input '" + name + "' " + note);
    inputs.push_back({b_values[i]->name(), *fit});
  }
  return inputs;
}

class Comparison {
 public:
  Comparison(const VerifyRequest& request, Contender& a, Contender& b, Verdict& verdict)
      : request_(request), a_(a), b_(b), verdict_(verdict), rounding_(b.model(), request.b.load.budget) {}

  void run(const Inputs& a_inputs, const Inputs& b_inputs) {
    const Contender::Answer a = answer(a_, a_inputs);
    if (!verdict_.why_unknown.empty()) return;
    const Contender::Answer b = answer(b_, b_inputs);
    if (!verdict_.why_unknown.empty()) return;
    b_inputs_ = &b_inputs;
    // The state that a model keeps between runs is an output of its import, and none of its own runtime.
    auto a_values = outputs_of(a_.model()), b_values = outputs_of(b_.model());
    a_values.resize(std::min(a_values.size(), a.outputs.size()));
    b_values.resize(std::min(b_values.size(), b.outputs.size()));
    const auto pairs = paired(a_values, b_values);
    for (std::size_t i = 0; i < a_values.size(); ++i) {
      OutputVerdict output;
      output.a_name = a_values[i]->name();
      if (pairs[i] == b_values.size() && is_state(a_.model(), output.a_name)) {
        verdict_.notes.push_back(fmt::format("output '{}' is kept as a variable in {}", output.a_name, b_.file()));
        continue;
      }
      if (pairs[i] == b_values.size()) {
        output.figure = "missing";
        output.source = "it has no counterpart in " + b_.file();
      } else {
        output.b_name = b_values[pairs[i]]->name();
        compare(a.outputs[i].value, b.outputs[pairs[i]].value, output);
      }
      verdict_.outputs.push_back(std::move(output));
    }
    if (!request_.rtol && !request_.atol) settle_rows();
    leave_random();
    const bool agrees = std::ranges::all_of(verdict_.outputs, &OutputVerdict::agrees);
    if (b_values.size() > a_values.size())
      verdict_.notes.push_back(fmt::format("{} has {} further outputs", b_.file(), b_values.size() - a_values.size()));
    verdict_.answer = agrees ? Verdict::Answer::same : Verdict::Answer::different;
    const auto open = std::ranges::find(verdict_.outputs, false, &OutputVerdict::is_decided);
    if (agrees && open != verdict_.outputs.end()) {
      verdict_.answer = Verdict::Answer::unknown;
      verdict_.why_unknown = is_random(*open) ? fmt::format("output '{}' {}", open->a_name, open->source)
                                              : fmt::format(
                                                    "on these inputs rounding alone decides what output '{}' is ({}); "
                                                    "take others with --in, --input-shape or "
                                                    "--random",
                                                    open->a_name, open->source);
    }
    if (!agrees && request_.bisects) bisect(a_, a_inputs, b_, b_inputs, rounding_, verdict_);
  }

 private:
  /// Whether an output is the next value of an input that was a variable in the model's source.
  static bool is_state(const Model& model, const std::string& output) {
    return std::ranges::any_of(model.graph->inputs(),
                               [&](const Value* v) { return note_of(v->metadata, kNextState) == output; });
  }

  Contender::Answer answer(Contender& side, const Inputs& inputs) {
    std::string refusals;
    for (;;) {
      Contender::Answer answer = side.run(inputs);
      if (answer.error.empty()) {
        if (!refusals.empty()) verdict_.notes.push_back(refusals);
        return answer;
      }
      refusals += (refusals.empty() ? "" : "; ") +
                  fmt::format("{} does not run {}: {}", info_of(side.runtime()).title, side.file(), answer.error);
      if (side.try_next_runtime()) continue;
      verdict_.why_unknown = refusals;
      return answer;
    }
  }

  void compare(const Datum& a, const Datum& b, OutputVerdict& output) {
    if (!a.array() || !b.array()) {
      const auto text = difference(b, a, {.rtol = 1e-4, .atol = 1e-6, .scale = 1e-5, .steps = 0});
      output.agrees = !text;
      output.figure = text.value_or("equal");
      output.source = "no tensor: 1e-4 of each element";
      return;
    }
    ChannelPlace from = place_of(b_, output.b_name, b_.outputs_moved());
    ChannelPlace to = place_of(a_, output.a_name, a_.outputs_moved());
    complete(from, to, a_.outputs_moved() || b_.outputs_moved());
    std::vector<std::string> changes;
    const Array* other = b.array();
    Type wanted = a.array()->type();
    wanted.elem = DType::undefined;
    const auto fit = fitted(*other, from, wanted, to, changes);
    for (const std::string& change : changes)
      verdict_.notes.push_back(fmt::format("output '{}' of {}: {}", output.b_name, b_.file(), change));
    const auto d = fit ? distance(*a.array(), *fit) : std::nullopt;
    if (!d) {
      output.figure = fmt::format("{} and {}", a.array()->type().str(), other->type().str());
      output.source = "they have different types or shapes";
      return;
    }
    if (a.array()->dtype() != fit->dtype())
      verdict_.notes.push_back(fmt::format("output '{}' is {} in {} and {} in {}: compared as numbers", output.a_name,
                                           name_of(a.array()->dtype()), info_of(a_.runtime()).title,
                                           name_of(fit->dtype()), info_of(b_.runtime()).title));
    judge(*a.array(), *fit, *d, output);
    if (changes.empty() && rows_of(*fit))
      rows_.emplace_back(verdict_.outputs.size(), RowsOfBoth{output.b_name, *a.array(), *fit});
  }

  /// Where rounding decides which of two rows comes first, all outputs are compared row by row.
  void settle_rows() {
    std::set<std::int64_t> counts;
    for (const auto& [i, rows] : rows_)
      if (!verdict_.outputs[i].agrees || !verdict_.outputs[i].is_decided) counts.insert(rows_of(rows.a));
    for (const std::int64_t count : counts) {
      std::vector<std::size_t> places;
      std::vector<RowsOfBoth> tables;
      for (const auto& [i, rows] : rows_)
        if (rows_of(rows.a) == count) {
          places.push_back(i);
          tables.push_back(rows);
        }
      const auto settled = settle_ties(tables, noise_);
      if (!settled) continue;
      for (std::size_t i = 0; i < places.size(); ++i) {
        OutputVerdict& output = verdict_.outputs[places[i]];
        const TiedRows::Output& now = settled->outputs[i];
        output.is_decided = is_deciding(now.noise);
        settle(tables[i].a, now.b, now.distance, threshold_for(now.distance, now.noise), output);
      }
      verdict_.notes.push_back(settled->note);
    }
  }

  /// What depends on random numbers cannot be compared: every runtime draws others.
  void leave_random() {
    for (OutputVerdict& output : verdict_.outputs) {
      if (output.agrees || !output.distance) continue;
      const std::string origin = random_origin(b_.model(), output.b_name);
      if (origin.empty()) continue;
      output.agrees = true;
      output.is_decided = false;
      output.threshold.clear();
      output.source = "depends on the random numbers of '" + origin + "', and every runtime draws its own";
      random_.insert(output.b_name);
    }
  }

  bool is_random(const OutputVerdict& output) const { return random_.contains(output.b_name); }

  static bool is_deciding(const std::optional<Distance>& noise) {
    return !noise || noise->unit != Distance::Unit::absolute || noise->value <= kDecidingNoise * noise->scale;
  }

  void judge(const Array& a, const Array& b, const Distance& d, OutputVerdict& output) {
    if (request_.rtol || request_.atol) {
      const Tolerance given{.rtol = request_.rtol.value_or(0), .atol = request_.atol.value_or(0)};
      settle(a, b, d, {}, output);
      output.agrees = !difference(converted(b, a.dtype()), a, given);
      output.threshold = fmt::format("{:g} + {:g} of each element", given.atol, given.rtol);
      output.source = "as asked for";
      return;
    }
    Threshold threshold = threshold_for(d);
    if (d.value > threshold.value) {
      // The model's own rounding costs several runs: only now does it matter.
      if (noise_.empty()) noise_ = rounding_.values(*b_inputs_);
      if (!rounding_.why_not().empty() && !has_complained_) {
        verdict_.notes.push_back("the model's own rounding noise is not known: " + rounding_.why_not());
        has_complained_ = true;
      }
      const auto noise = noise_of(noise_, output.b_name);
      threshold = threshold_for(d, noise);
      output.is_decided = is_deciding(noise);
    }
    settle(a, b, d, threshold, output);
  }

  void settle(const Array& a, const Array& b, const Distance& d, const Threshold& threshold, OutputVerdict& output) {
    output.distance = d;
    output.figure = d.worst < 0 ? "equal" : text_of(d);
    output.worst.clear();
    if (d.worst >= 0)
      output.worst = fmt::format("{} is {}, and {} in {}", position_text(a.dims(), d.worst), element_text(a, d.worst),
                                 element_text(b, d.worst), b_.file());
    output.threshold = text_of(threshold, d);
    output.source = threshold.source;
    output.agrees = !(d.value > threshold.value);
  }

  const VerifyRequest& request_;
  Contender &a_, &b_;
  Verdict& verdict_;
  Rounding rounding_;
  const Inputs* b_inputs_ = nullptr;
  RoundedValues noise_;
  std::set<std::string> random_;
  std::vector<std::pair<std::size_t, RowsOfBoth>> rows_;  // with the place of the output's verdict
  bool has_complained_ = false;
};

}  // namespace

Verdict verify(const VerifyRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict;
  driver::LoadOptions a_load = request.a.load;
  a_load.import.input_shapes.insert(a_load.import.input_shapes.end(), request.input_shapes.begin(),
                                    request.input_shapes.end());
  Contender a(request.a.file, request.a.runtimes, a_load, request.peers, Contender::Role::reference);
  Contender b(request.b.file, request.b.runtimes, request.b.load, request.peers, Contender::Role::candidate);
  Model shaped = a.model().clone();
  driver::set_input_shapes(shaped, request.input_shapes);
  Inputs a_inputs = driver::load_inputs(shaped, request.inputs, request.a.load).values;
  for (const engine::NamedDatum& given : a_inputs)
    if (const Array* array = given.value.array())
      verdict.inputs.push_back(fmt::format("{}: {}, as given", given.name, array->type().str()));
  for (engine::NamedDatum& drawn : driver::random_inputs(shaped, request.seed, a_inputs)) {
    if (const Array* array = drawn.value.array())
      verdict.inputs.push_back(
          fmt::format("{}: {}, drawn from the seed {}", drawn.name, array->type().str(), request.seed));
    a_inputs.push_back(std::move(drawn));
  }
  // In the order of the file: some runtimes go by it.
  Inputs ordered;
  for (const Value* v : fed_inputs(a.model()))
    if (const auto it = std::ranges::find(a_inputs, v->name(), &engine::NamedDatum::name); it != a_inputs.end())
      ordered.push_back(*it);
  const Inputs b_inputs = inputs_for_b(a, b, ordered, verdict);
  Comparison(request, a, b, verdict).run(ordered, b_inputs);
  verdict.a_runtime = a.runtime_text();
  verdict.b_runtime = b.runtime_text();
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace ingot::verify
