// Values inside of two models that are the same one.
#include "ingot/verify/points.h"

#include <algorithm>
#include <iterator>

#include "ingot/ir/source_notes.h"
#include "ingot/verify/alignment.h"

namespace ingot::verify {
namespace {

constexpr std::size_t kMostRefusals = 48;

}  // namespace

std::vector<PointPair> pair_points(const Contender& a, const Contender& b) {
  std::unordered_map<std::string, std::vector<std::string>> by_source;
  std::unordered_map<std::string, std::string> by_name;
  for (const Point& point : b.points()) {
    by_name.emplace(point.name, point.name);
    if (!point.source.empty()) by_source[point.source].push_back(point.name);
  }
  std::vector<PointPair> pairs;
  for (const Point& point : a.points()) {
    PointPair pair{point, {}};
    if (const auto it = by_source.find(point.name); it != by_source.end()) {
      // Of the nodes that one became, the last has its value; those before it are steps on the way.
      pair.b.assign(it->second.rbegin(), it->second.rend());
    } else if (const auto same = by_name.find(point.name); same != by_name.end()) {
      pair.b = {same->second};
    } else if (const auto origin = by_name.find(point.source); origin != by_name.end() && !point.source.empty()) {
      // Unless a has that value itself, an output that is no point: then this is a step on the way to it.
      if (!a.model().graph->find(point.source)) pair.b = {origin->second};
    }
    if (!pair.b.empty()) pairs.push_back(std::move(pair));
  }
  // Several values of a may stand for one of b: the last of them has its value.
  std::unordered_map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].a.name != pairs[i].b[0]) last[pairs[i].b[0]] = i;
  std::vector<PointPair> kept;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto it = last.find(pairs[i].b[0]);
    if (it == last.end() || it->second == i) kept.push_back(std::move(pairs[i]));
  }
  return kept;
}

std::unordered_map<std::string, std::string> values_of_points(const Contender& side) {
  std::unordered_map<std::string, std::string> values;
  for (const Node& node : side.model().graph->nodes())
    if (const std::string source(note_of(node.metadata, kSource)); !source.empty() && node.output())
      values[source] = node.output()->name();
  for (const Node& node : side.model().graph->nodes())
    for (const Value* v : node.outputs())
      if (v && !v->name().empty()) values[v->name()] = v->name();
  return values;
}

std::optional<Match> nearest(const Array& wanted, const Array& array) {
  std::optional<Match> best;
  for (Array& form : in_layouts(array, wanted.dims())) {
    const auto d = distance(wanted, form);
    if (d && (!best || d->value < best->distance.value)) best = Match{std::move(form), *d};
  }
  return best;
}

std::unordered_map<std::string, Datum> values_of(Contender& side, const std::vector<engine::NamedDatum>& inputs,
                                                 const std::vector<std::string>& names) {
  std::unordered_map<std::string, Datum> values;
  std::vector<std::vector<std::string>> pending{names};
  for (std::size_t runs = 0; !pending.empty() && runs < kMostRefusals; ++runs) {
    const std::vector<std::string> some = std::move(pending.back());
    pending.pop_back();
    Answer answer = side.run(inputs, some);
    if (answer.error.empty()) {
      for (engine::NamedDatum& point : answer.points) values[point.name] = std::move(point.value);
    } else if (some.size() > 1) {
      const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
      pending.emplace_back(middle, some.end());
      pending.emplace_back(some.begin(), middle);
    }
  }
  return values;
}

}  // namespace ingot::verify
