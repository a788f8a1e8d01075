// Where do two models part?
#include "ingot/verify/bisect.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "ingot/verify/alignment.h"
#include "ingot/verify/element_text.h"

namespace ingot::verify {
namespace {

constexpr std::size_t kAtOnce = 24;  // values that a run gives in addition: each takes memory

/// A value of a, and those of b that may be the same one, the most likely first.
struct Pair {
  Point a;
  std::vector<std::string> b;
};

std::vector<Pair> pair_points(const Contender& a, const Contender& b) {
  std::unordered_map<std::string, std::vector<std::string>> by_source;
  std::unordered_map<std::string, std::string> by_name;
  for (const Point& point : b.points()) {
    by_name.emplace(point.name, point.name);
    if (!point.source.empty()) by_source[point.source].push_back(point.name);
  }
  std::vector<Pair> pairs;
  for (const Point& point : a.points()) {
    Pair pair{point, {}};
    if (const auto it = by_source.find(point.name); it != by_source.end()) {
      // Of the nodes that one became, the last has its value; those before it are steps on the way.
      pair.b.assign(it->second.rbegin(), it->second.rend());
    } else if (const auto same = by_name.find(point.name); same != by_name.end()) {
      pair.b = {same->second};
    } else if (const auto origin = by_name.find(point.source); origin != by_name.end() && !point.source.empty()) {
      pair.b = {origin->second};
    }
    if (!pair.b.empty()) pairs.push_back(std::move(pair));
  }
  // Several values of a may stand for one of b: the last of them has its value.
  std::unordered_map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].a.name != pairs[i].b[0]) last[pairs[i].b[0]] = i;
  std::vector<Pair> kept;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto it = last.find(pairs[i].b[0]);
    if (it == last.end() || it->second == i) kept.push_back(std::move(pairs[i]));
  }
  return kept;
}

/// The nearest form of b's value, and how far it is from a's.
struct Match {
  Array b;
  Distance distance;
};

std::optional<Match> nearest(const Array& a, const Array& b) {
  std::optional<Match> best;
  for (Array& form : in_layouts(b, a.dims())) {
    const auto d = distance(a, form);
    if (d && (!best || d->value < best->distance.value)) best = Match{std::move(form), *d};
  }
  return best;
}

const Datum* find(const std::vector<engine::NamedDatum>& values, const std::string& name) {
  const auto it = std::ranges::find(values, name, &engine::NamedDatum::name);
  return it == values.end() ? nullptr : &it->value;
}

/// The values that a side gives; where it refuses some, those that are left when they are asked for apart.
std::vector<engine::NamedDatum> values_of(Contender& side, const std::vector<engine::NamedDatum>& inputs,
                                          const std::vector<std::string>& names) {
  std::vector<engine::NamedDatum> values;
  std::vector<std::vector<std::string>> pending{names};
  for (std::size_t runs = 0; !pending.empty() && runs < 2 * kAtOnce; ++runs) {
    const std::vector<std::string> some = std::move(pending.back());
    pending.pop_back();
    Contender::Answer answer = side.run(inputs, some);
    if (answer.error.empty()) {
      std::ranges::move(answer.points, std::back_inserter(values));
    } else if (some.size() > 1) {
      const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
      pending.emplace_back(middle, some.end());
      pending.emplace_back(some.begin(), middle);
    }
  }
  return values;
}

FirstDifference described(const Pair& pair, const std::string& b_name, const Array& a, const Match& match,
                          const Threshold& threshold) {
  FirstDifference first;
  first.name = pair.a.name;
  first.op = pair.a.op;
  first.b_name = b_name;
  const std::int64_t at = std::max<std::int64_t>(0, match.distance.worst);
  first.place = position_text(a.dims(), at);
  first.a_value = element_text(a, at);
  first.b_value = element_text(match.b, at);
  first.figure = text_of(match.distance);
  first.threshold = text_of(threshold, match.distance);
  first.source = threshold.source;
  return first;
}

}  // namespace

void bisect(Contender& a, const std::vector<engine::NamedDatum>& a_inputs, Contender& b,
            const std::vector<engine::NamedDatum>& b_inputs, Rounding& rounding, Verdict& verdict) {
  const std::vector<Pair> pairs = pair_points(a, b);
  if (pairs.empty()) {
    verdict.why_not_bisected = "no value inside of one is known to be a value of the other";
    return;
  }
  std::size_t compared = 0;
  std::string last_agreeing;
  for (std::size_t begin = 0; begin < pairs.size(); begin += kAtOnce) {
    const std::size_t end = std::min(pairs.size(), begin + kAtOnce);
    std::vector<std::string> a_names, b_names;
    for (std::size_t i = begin; i < end; ++i) {
      a_names.push_back(pairs[i].a.name);
      b_names.insert(b_names.end(), pairs[i].b.begin(), pairs[i].b.end());
    }
    const auto a_points = values_of(a, a_inputs, a_names), b_points = values_of(b, b_inputs, b_names);
    RoundedValues noise;
    bool has_noise = false;
    for (std::size_t i = begin; i < end; ++i) {
      const Datum* a_value = find(a_points, pairs[i].a.name);
      if (!a_value || !a_value->array()) continue;
      std::optional<Match> best;
      std::string b_name;
      for (const std::string& name : pairs[i].b) {
        const Datum* b_value = find(b_points, name);
        if (!b_value || !b_value->array()) continue;
        auto match = nearest(*a_value->array(), *b_value->array());
        if (!match || (best && match->distance.value >= best->distance.value)) continue;
        best = std::move(match);
        b_name = name;
      }
      if (!best) continue;
      ++compared;
      Threshold threshold = threshold_for(best->distance);
      if (best->distance.value > threshold.value) {
        if (!has_noise) noise = rounding.values(b_inputs, b_names);
        has_noise = true;
        threshold = threshold_for(best->distance, noise_of(noise, b_name));
      }
      if (!(best->distance.value > threshold.value)) {
        last_agreeing = pairs[i].a.name;
        continue;
      }
      verdict.first = described(pairs[i], b_name, *a_value->array(), *best, threshold);
      verdict.first->compared = compared - 1;
      verdict.first->last_agreeing = last_agreeing;
      return;
    }
  }
  verdict.why_not_bisected = compared ? "all " + std::to_string(compared) +
                                            " values inside that both have agree; what follows the last differs"
                                      : "no value inside can be compared";
}

}  // namespace ingot::verify
