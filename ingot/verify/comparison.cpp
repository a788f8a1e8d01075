// Two models on the same inputs.
#include "ingot/verify/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/ir/source_notes.h"
#include "ingot/passes/infer.h"
#include "ingot/verify/compare.h"
#include "ingot/verify/counterparts.h"
#include "ingot/verify/element_text.h"
#include "ingot/verify/inside.h"
#include "ingot/verify/randomness.h"
#include "ingot/verify/saturation.h"

namespace ingot::verify {
namespace {

using Inputs = std::vector<engine::NamedDatum>;

constexpr double kDecidingNoise = 0.1;  // of the scale: beyond that, agreement means nothing
constexpr const char* kZero = "0 throughout";

std::vector<const Value*> outputs_of(const Model& model, std::size_t count) {
  const Values values = model.graph->outputs();
  std::vector<const Value*> outputs{values.begin(), values.end()};
  outputs.resize(std::min(outputs.size(), count));
  return outputs;
}

/// Whether an output is the next value of an input that was a variable in the model's source.
bool is_state(const Model& model, const std::string& output) {
  return std::ranges::any_of(model.graph->inputs(),
                             [&](const Value* v) { return note_of(v->metadata, kNextState) == output; });
}

/// The shortest type of half precision that a model computes in.
DType half_of(const Model& model) {
  Model known = model.clone();
  passes::InferOptions options;
  options.tolerate_errors = true;
  passes::infer(known, options);
  DType found = DType::undefined;
  for_each_graph(*known.graph, [&](Graph& graph) {
    for (const Node& node : graph.nodes())
      for (const Values& values : {node.inputs(), node.outputs()})
        for (const Value* v : values)
          if (v && v->type.is_tensor())
            if (v->type.elem == DType::bf16 || (v->type.elem == DType::f16 && found != DType::bf16))
              found = v->type.elem;
  });
  return found;
}

bool is_deciding(const std::optional<Distance>& noise) {
  return !noise || noise->unit != Distance::Unit::absolute || noise->value <= kDecidingNoise * noise->scale;
}

}  // namespace

void Comparison::run(const Inputs& a_inputs, const Inputs& b_inputs) {
  const Answer a = answer(a_, a_inputs);
  if (!verdict_.why_unknown.empty()) return;
  const Answer b = answer(b_, b_inputs);
  if (!verdict_.why_unknown.empty()) return;
  verdict_.runs = 1;
  rounded_to_ = request_.rounded_to;
  if (info_of(a_.runtime()).widens_halves != info_of(b_.runtime()).widens_halves && rounded_to_ == DType::undefined)
    rounded_to_ = half_of(info_of(a_.runtime()).widens_halves ? b_.model() : a_.model());
  noise_.set_inputs(a_inputs, b_inputs);
  compare_outputs(a, b);
  if (!request_.rtol && !request_.atol) settle_rows();
  leave_random();
  conclude();
  if (request_.bisects) look_inside(a_inputs, b_inputs);
  tell_silence();
}

/// That nothing differs means little where there is nothing.
void Comparison::tell_silence() {
  if (verdict_.answer != Verdict::Answer::same) return;
  for (const auto& [name, what] : silent_)
    verdict_.notes.push_back(fmt::format("output '{}' is {} on these inputs: that both agree says little", name, what));
  const auto is_told = [](const auto& silent) { return silent.second == kZero; };
  if (silent_.size() < verdict_.outputs.size() || verdict_.compared_inside > 0 || silent_.empty() ||
      std::ranges::any_of(silent_, is_told))
    return;
  verdict_.answer = Verdict::Answer::unknown;
  verdict_.why_unknown =
      fmt::format("on these inputs output '{}' is {}; take others with --in, --input-shape or --random",
                  silent_.front().first, silent_.front().second);
}

void Comparison::compare_outputs(const Answer& a, const Answer& b) {
  // The state that a model keeps between runs is an output of its import, and none of its own runtime.
  const auto a_values = outputs_of(a_.model(), a.outputs.size()), b_values = outputs_of(b_.model(), b.outputs.size());
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
  if (b_values.size() > a_values.size())
    verdict_.notes.push_back(fmt::format("{} has {} further outputs", b_.file(), b_values.size() - a_values.size()));
}

void Comparison::conclude() {
  const bool agrees = std::ranges::all_of(verdict_.outputs, &OutputVerdict::agrees);
  verdict_.answer = agrees ? Verdict::Answer::same : Verdict::Answer::different;
  const auto open = std::ranges::find(verdict_.outputs, false, &OutputVerdict::is_decided);
  if (!agrees || open == verdict_.outputs.end()) return;
  verdict_.answer = Verdict::Answer::unknown;
  if (random_.contains(open->b_name))
    verdict_.why_unknown = fmt::format("output '{}' {}", open->a_name, open->source);
  else
    verdict_.why_unknown = fmt::format(
        "on these inputs rounding alone decides what output '{}' is ({}); take others with --in, --input-shape or "
        "--random",
        open->a_name, open->source);
}

void Comparison::look_inside(const Inputs& a_inputs, const Inputs& b_inputs) {
  InsideOptions options;
  options.outputs_differ = verdict_.answer == Verdict::Answer::different;
  options.measures_noise = effort_.measures_inside;
  options.rounded_to = rounded_to_;
  const bool has_tolerance = request_.rtol || request_.atol;
  // Rows that changed places did so inside too.
  if ((has_tolerance || has_moved_rows_) && !options.outputs_differ) return;
  const InsideAnswer inside = compare_inside(a_, a_inputs, b_, b_inputs, noise_, options, verdict_);
  if (!options.outputs_differ) verdict_.why_not_bisected.clear();  // nobody asks
  if (inside.differs && !options.outputs_differ && rounded_to_ != DType::undefined) {
    // Each node rounds anew, and what comes of it is for the outputs to say.
    verdict_.notes.push_back(fmt::format("inside, '{}' differs by more than an output may ({}, at most {})",
                                         verdict_.first->name, verdict_.first->figure, verdict_.first->threshold));
    verdict_.first.reset();
  } else if (inside.differs) {
    verdict_.answer = Verdict::Answer::different;
  }
  for (const std::string& name : saturated_) {
    const Node* function = bounded_function(b_.model(), name);
    const Value* in = function ? function->input(0) : nullptr;
    verdict_.notes.push_back(
        fmt::format("output '{}' is saturated on these inputs: a {} that gives 0 and 1 hides what goes into it, {}",
                    name, function ? function->op : "",
                    in && inside.agreed.contains(in->name()) ? fmt::format("'{}', which agrees", in->name())
                                                             : "which is not known in both"));
  }
}

Answer Comparison::answer(Contender& side, const Inputs& inputs) {
  std::string refusals;
  for (;;) {
    Answer answer = side.run(inputs);
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

namespace {

/// Why equality with it means nothing; empty: it means something.
std::string silence_of(const Array& array, const Value* value) {
  const auto stated = value ? static_dims(value->type.shape) : std::nullopt;
  if (array.size() == 0) return stated && tensor_size(*stated) == 0 ? "" : "empty";
  if (!is_float(array.dtype())) return {};
  const std::vector<double> numbers = array.to_doubles();
  if (std::ranges::none_of(numbers, [](double x) { return std::isfinite(x); })) return "nowhere finite";
  const bool is_zero = numbers.size() > 1 && std::ranges::all_of(numbers, [](double x) { return x == 0; });
  return is_zero ? kZero : "";
}

}  // namespace

void Comparison::compare(const Datum& a, const Datum& b, OutputVerdict& output) {
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
  const DType way = d->dtype == DType::f64 ? noise_.way_to(output.b_name) : DType::undefined;
  judge(*a.array(), *fit, as_rounded(as_rounded(*d, rounded_to_), way), output);
  if (const std::string what = silence_of(*a.array(), a_.model().graph->find(output.a_name)); !what.empty())
    silent_.emplace_back(output.a_name, what);
  if (is_saturated(b_.model(), output.b_name, *a.array())) saturated_.push_back(output.b_name);
  if (changes.empty() && rows_of(*fit))
    rows_.emplace_back(verdict_.outputs.size(), RowsOfBoth{output.b_name, *a.array(), *fit});
}

/// Where rounding decides which of two rows comes first, all outputs are compared row by row.
void Comparison::settle_rows() {
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
    const auto settled = settle_ties(tables, noise_.runs_of_b());
    if (!settled) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      OutputVerdict& output = verdict_.outputs[places[i]];
      const TiedRows::Output& now = settled->outputs[i];
      output.is_decided = is_deciding(now.noise);
      settle(tables[i].a, now.b, now.distance, threshold_for(now.distance, {.own = now.noise}), output);
    }
    verdict_.notes.push_back(settled->note);
    has_moved_rows_ = true;
  }
}

/// What depends on random numbers cannot be compared: every runtime draws others.
void Comparison::leave_random() {
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

void Comparison::judge(const Array& a, const Array& b, const Distance& d, OutputVerdict& output) {
  if (request_.rtol || request_.atol) {
    const Tolerance given{.rtol = request_.rtol.value_or(0), .atol = request_.atol.value_or(0)};
    settle(a, b, d, {}, output);
    output.agrees = !difference(converted(b, a.dtype()), a, given);
    output.threshold = fmt::format("{:g} + {:g} of each element", given.atol, given.rtol);
    output.source = "as asked for";
    return;
  }
  Threshold threshold = threshold_for(d);
  // The model's own rounding costs several runs: where they are slow, only once it matters.
  if (effort_.measures_outputs || !is_within(d, threshold)) {
    const Noise noise = noise_.of(output.a_name, a, output.b_name, b);
    if (!is_within(d, threshold) && !noise_.why_not().empty() && !has_complained_) {
      verdict_.notes.push_back("the model's own rounding noise is not known: " + noise_.why_not());
      has_complained_ = true;
    }
    output.is_decided = is_within(d, threshold) || is_deciding(noise.own);
    threshold = threshold_for(d, noise);
  }
  settle(a, b, d, threshold, output);
  if (output.agrees && effort_.measures_outputs && request_.rounded_to == DType::undefined) judge_parts(a, b, output);
}

/// The largest numbers of an output must not hide an error in smaller ones.
void Comparison::judge_parts(const Array& a, const Array& b, OutputVerdict& output) {
  const auto part = noise_.small_part(output.a_name, a, output.b_name, b);
  if (!part) return;
  output.agrees = false;
  output.distance->worst = part->worst;
  output.figure = fmt::format("{:.3g} in {}, whose scale is {:.3g}", part->value, part->place, part->scale);
  output.threshold = fmt::format("{:.3g}", part->allowed);
  output.source =
      fmt::format("eight times what rounding does there; the whole has the scale {:.3g}", output.distance->scale);
  output.worst = fmt::format("{} is {}, and {} in {}", position_text(a.dims(), part->worst),
                             element_text(a, part->worst), element_text(b, part->worst), b_.file());
}

void Comparison::settle(const Array& a, const Array& b, const Distance& d, const Threshold& threshold,
                        OutputVerdict& output) {
  output.distance = d;
  output.figure = d.worst < 0 ? "equal" : text_of(d);
  output.worst.clear();
  if (d.worst >= 0)
    output.worst = fmt::format("{} is {}, and {} in {}", position_text(a.dims(), d.worst), element_text(a, d.worst),
                               element_text(b, d.worst), b_.file());
  output.threshold = text_of(threshold, d);
  output.source = threshold.source;
  output.agrees = is_within(d, threshold);
}

}  // namespace ingot::verify
