// Where do two models part?
#include "ingot/verify/inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_set>

#include "ingot/verify/element_text.h"
#include "ingot/verify/points.h"
#include "ingot/verify/randomness.h"
#include "ingot/verify/saturation.h"

namespace ingot::verify {
namespace {

constexpr std::size_t kFirstAtOnce = 48, kMostAtOnce = 8192;  // values that a run gives in addition
constexpr std::size_t kBytesAtOnce = std::size_t{64} << 20;

using Inputs = std::vector<engine::NamedDatum>;

/// What follows from a value of a graph, by name.
std::unordered_set<std::string> followers(const Graph& graph, const std::string& name) {
  std::unordered_map<const Graph*, const Node*> holders;  // of the nested graphs
  for (const Node& node : graph.nodes())
    for_each_subgraph(node,
                      [&](Graph& nested) { for_each_graph(nested, [&](Graph& inner) { holders[&inner] = &node; }); });
  std::unordered_set<std::string> names;
  std::vector<const Value*> pending;
  if (const Value* v = graph.find(name)) pending.push_back(v);
  while (!pending.empty()) {
    const Value* v = pending.back();
    pending.pop_back();
    for (const Use& use : v->uses()) {
      const Graph* where = use.node ? &use.node->graph() : use.graph;
      const auto holder = holders.find(where);
      const Node* node = holder == holders.end() ? use.node : holder->second;
      if (!node) continue;
      for (const Value* out : node->outputs())
        if (out && names.insert(out->name()).second) pending.push_back(out);
    }
  }
  return names;
}

/// The largest number of float stands for infinity where a runtime has none, in masks above all: a value that is
/// infinite in one and as large as can be in the other is the same.
std::pair<Array, Array> without_stand_ins(const Array& a, const Array& b) {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::pair<Array, Array> both{a, b};
  if (a.dtype() != DType::f32 || b.dtype() != DType::f32) return both;
  const auto is_infinite = [](float x) { return std::isinf(x); };
  if (std::ranges::any_of(a.data<float>(), is_infinite) == std::ranges::any_of(b.data<float>(), is_infinite))
    return both;
  for (Array* array : {&both.first, &both.second}) {
    std::vector<float> values(array->data<float>().begin(), array->data<float>().end());
    for (float& x : values)
      if (std::abs(x) == kMost) x = std::copysign(std::numeric_limits<float>::infinity(), x);
    *array = Array::of<float>(array->dims(), values);
  }
  return both;
}

class Inside {
 public:
  Inside(Contender& a, const Inputs& a_inputs, Contender& b, const Inputs& b_inputs, PairNoise& noise,
         const InsideOptions& options, Verdict& verdict)
      : a_(a), b_(b), a_inputs_(a_inputs), b_inputs_(b_inputs), noise_(noise), options_(options), verdict_(verdict) {}

  InsideAnswer run() {
    const std::vector<PointPair> pairs = pair_points(a_, b_);
    if (pairs.empty()) {
      verdict_.why_not_bisected = "no value inside of one is known to be a value of the other";
      return {};
    }
    a_values_ = values_of_points(a_);
    b_values_ = values_of_points(b_);
    random_ = random_values(b_.model());
    std::size_t at_once = kFirstAtOnce;
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
      end = std::min(pairs.size(), begin + at_once);
      bytes_ = 0;
      compare_some(
          {pairs.begin() + static_cast<std::ptrdiff_t>(begin), pairs.begin() + static_cast<std::ptrdiff_t>(end)});
      if (has_difference_ && options_.outputs_differ) break;
      const std::size_t each = std::max<std::size_t>(1, bytes_ / (end - begin));
      at_once = std::clamp<std::size_t>(kBytesAtOnce / each, 8, kMostAtOnce);
    }
    verdict_.compared_inside = std::max(verdict_.compared_inside, compared_);
    answer_.differs = settle();
    return std::move(answer_);
  }

 private:
  void compare_some(const std::vector<PointPair>& pairs) {
    std::vector<std::string> a_names, b_names, a_own, b_own;
    for (const PointPair& pair : pairs) {
      a_names.push_back(pair.a.name);
      b_names.insert(b_names.end(), pair.b.begin(), pair.b.end());
      if (const auto own = a_values_.find(pair.a.name); own != a_values_.end()) a_own.push_back(own->second);
      for (const std::string& name : pair.b) b_own.push_back(own_name_in_b(name));
    }
    const auto a_points = values_of(a_, a_inputs_, a_names), b_points = values_of(b_, b_inputs_, b_names);
    bool has_noise = false;
    const auto noise_for = [&](const PointPair& pair, const Array& a, const std::string& b_name, const Array& b) {
      if (!has_noise) noise_.measure(a_own, b_own);
      has_noise = true;
      return noise_.of(own_name(pair), a, own_name_in_b(b_name), b);
    };
    for (const PointPair& pair : pairs) {
      const auto a_value = a_points.find(pair.a.name);
      const Array* a = a_value == a_points.end() ? nullptr : a_value->second.array();
      if (!a) continue;
      bytes_ += a->byte_size();
      std::optional<Match> best;
      std::string b_name;
      for (const std::string& name : pair.b) {
        const auto b_value = b_points.find(name);
        if (b_value == b_points.end() || !b_value->second.array()) continue;
        const auto [plain, other] = without_stand_ins(*a, *b_value->second.array());
        auto match = nearest(plain, other);
        if (!match || (best && match->distance.value >= best->distance.value)) continue;
        best = std::move(match);
        b_name = name;
      }
      if (!best) continue;
      ++compared_;
      best->distance = as_rounded(best->distance, options_.rounded_to);
      if (best->distance.dtype == DType::f64)
        best->distance = as_rounded(best->distance, noise_.way_to(own_name_in_b(b_name)));
      Threshold threshold = threshold_for(best->distance);
      if (options_.measures_noise || !is_within(best->distance, threshold))
        threshold = threshold_for(best->distance, noise_for(pair, *a, b_name, best->form));
      if (best->distance.unit == Distance::Unit::steps) note_layer(pair, best->distance);
      const bool agrees = is_within(best->distance, threshold);
      // Rounding may decide which element is the largest, and outputs that agree say that it did.
      if (!options_.outputs_differ && best->distance.unit == Distance::Unit::elements && best->distance.differ > 0) {
        follows_decision_.merge(followers(*a_.model().graph, own_name(pair)));
        if (!agrees) continue;
      }
      if (!agrees && is_drawn(pair)) {
        has_random_ = true;
        continue;
      }
      seen_.push_back({own_name(pair), b_name, agrees,
                       agrees && is_saturated(b_.model(), own_name_in_b(b_name), best->form), std::nullopt});
      if (agrees) {
        if (!has_difference_) last_agreeing_ = pair.a.name;
        answer_.agreed.insert(b_name);
        continue;
      }
      has_difference_ = true;
      seen_.back().difference = described(pair, b_name, *a, *best, threshold);
      if (options_.outputs_differ) return;
    }
  }

  /// The name of a's value in the model as Ingot reads it.
  const std::string& own_name(const PointPair& pair) const {
    const auto own = a_values_.find(pair.a.name);
    return own == a_values_.end() ? pair.a.name : own->second;
  }
  const std::string& own_name_in_b(const std::string& name) const {
    const auto own = b_values_.find(name);
    return own == b_values_.end() ? name : own->second;
  }

  /// Whether a value is drawn by chance, or follows from one: each runtime has its own.
  bool is_drawn(const PointPair& pair) const {
    return std::ranges::any_of(pair.b, [&](const std::string& b) { return random_.contains(own_name_in_b(b)); });
  }

  /// A pair that was compared, in a's order.
  struct Seen {
    std::string a_own, b_name;  // of the model as Ingot reads it, of the file
    bool agrees = false, is_saturated = false;
    std::optional<FirstDifference> difference;
  };

  /// Whether the value of b is that of a: where an operator took in the next one, what passes for the same value is
  /// another one, and either agrees with another value of a, or the first value behind it that tells anything agrees.
  /// What a comparison moves by rounding alone, a mask and all that is masked, moves with it.
  bool counts(std::size_t i) const {
    if (options_.outputs_differ) return true;
    if (answer_.agreed.contains(seen_[i].b_name) || follows_decision_.contains(seen_[i].a_own)) return false;
    const auto following = followers(*a_.model().graph, seen_[i].a_own);
    const auto later = std::span(seen_).subspan(i + 1);
    for (const Seen& next : later) {
      if (!following.contains(next.a_own) || next.is_saturated) continue;
      if (next.agrees) return false;
      if (!answer_.agreed.contains(next.b_name)) return true;
    }
    return true;
  }

  void note_layer(const PointPair& pair, const Distance& d) {
    const double share = d.size ? static_cast<double>(d.differ) / static_cast<double>(d.size) : 0;
    const auto known = std::ranges::find(verdict_.layers, pair.a.name, &LayerSteps::name);
    if (known == verdict_.layers.end()) {
      verdict_.layers.push_back({pair.a.name, pair.a.op, d.value, d.largest, share});
    } else {
      known->steps = std::max(known->steps, d.value);
      known->largest = std::max(known->largest, d.largest);
      known->share = std::max(known->share, share);
    }
  }

  FirstDifference described(const PointPair& pair, const std::string& b_name, const Array& a, const Match& match,
                            const Threshold& threshold) const {
    FirstDifference first;
    first.name = pair.a.name;
    first.op = pair.a.op;
    first.b_name = b_name;
    const std::int64_t at = std::max<std::int64_t>(0, match.distance.worst);
    first.place = position_text(a.dims(), at);
    first.a_value = element_text(a, at);
    first.b_value = element_text(match.form, at);
    first.figure = text_of(match.distance);
    first.threshold = text_of(threshold, match.distance);
    first.source = threshold.source;
    first.compared = compared_ - 1;
    first.last_agreeing = last_agreeing_;
    return first;
  }

  bool settle() {
    bool is_noted = false;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      std::optional<FirstDifference>& difference = seen_[i].difference;
      if (!difference) continue;
      if (counts(i)) {
        verdict_.first = std::move(difference);
        return true;
      }
      const char* why = follows_decision_.contains(seen_[i].a_own)
                            ? "and follows from a comparison that rounding decides"
                            : "and nothing that follows from it does on these inputs";
      if (!is_noted)
        verdict_.notes.push_back("inside, '" + difference->name + "' differs (" + difference->figure + ", at most " +
                                 difference->threshold + "), " + why);
      is_noted = true;
    }
    if (has_random_) {
      verdict_.why_not_bisected = "the first value inside that differs depends on random numbers";
      return false;
    }
    verdict_.why_not_bisected = compared_ ? "all " + std::to_string(compared_) +
                                                " values inside that both have agree; what follows the last differs"
                                          : "no value inside can be compared";
    return false;
  }

  Contender &a_, &b_;
  const Inputs &a_inputs_, &b_inputs_;
  PairNoise& noise_;
  const InsideOptions& options_;
  Verdict& verdict_;
  std::unordered_map<std::string, std::string> a_values_, b_values_;  // by the names of the files
  std::size_t compared_ = 0, bytes_ = 0;
  std::string last_agreeing_;
  std::vector<Seen> seen_;
  std::unordered_set<std::string> follows_decision_;  // values of a behind whole numbers or bools that rounding moves
  std::unordered_set<std::string> random_;            // values of b that depend on random numbers
  bool has_difference_ = false, has_random_ = false;
  InsideAnswer answer_;
};

}  // namespace

InsideAnswer compare_inside(Contender& a, const Inputs& a_inputs, Contender& b, const Inputs& b_inputs,
                            PairNoise& noise, const InsideOptions& options, Verdict& verdict) {
  if (options.outputs_differ && a.runtime() != Runtime::ingot && pair_points(a, b).empty()) {
    // The other runtime shows nothing of what is inside: as Ingot reads the file, it has the same values there.
    Contender own = a.in_ingot();
    if (!pair_points(own, b).empty()) {
      verdict.notes.push_back(
          fmt::format("{} shows no values inside: those of {} are as Ingot reads it", a.runtime_text(), a.file()));
      return Inside(own, a_inputs, b, b_inputs, noise, options, verdict).run();
    }
  }
  return Inside(a, a_inputs, b, b_inputs, noise, options, verdict).run();
}

}  // namespace ingot::verify
