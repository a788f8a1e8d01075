// Where a batch is in what a Reshape makes.
#include "ingot/passes/batch_reshape.h"

#include <algorithm>
#include <array>

namespace ingot::passes {
namespace {

using Ints = std::vector<std::int64_t>;

/// Other sizes that are open are taken to be primes: products tell them apart as names would.
std::optional<Ints> in_numbers(const Shape& shape, const BatchAxis& axis) {
  constexpr std::array<std::int64_t, 3> kPrimes = {1009, 2003, 4001};
  std::vector<std::string> others;
  Ints sizes;
  for (const Dim& dim : shape) {
    const Dim size = dim.substitute([&](std::string_view name) -> std::optional<Dim> {
      if (name == axis.batch.str()) return axis.old;
      auto known = std::ranges::find(others, name);
      if (known == others.end()) known = others.insert(others.end(), std::string(name));
      const auto place = static_cast<std::size_t>(known - others.begin());
      return place < kPrimes.size() ? std::optional<Dim>(kPrimes[place]) : std::nullopt;
    });
    if (!size.is_known() || size.value() <= 0) return std::nullopt;
    sizes.push_back(size.value());
  }
  return sizes;
}

std::int64_t product(const Ints& sizes, std::size_t begin, std::size_t end) {
  std::int64_t all = 1;
  for (std::size_t i = begin; i < end; ++i) all *= sizes[i];
  return all;
}

/// A Reshape in numbers, and where its data have the batch.
struct Regrouping {
  Ints from, to;
  std::size_t place;
  std::int64_t old;
  BatchGuess guess;

  std::int64_t before() const { return product(from, 0, place); }
  std::int64_t times() const { return from[place] / old; }  // what else is in the dimension

  /// Whether entry `i` may hold a batch that has `outer` elements before it.
  bool can_hold(std::size_t i, std::int64_t outer) const {
    const std::int64_t begin = product(to, 0, i), end = begin * to[i];
    return begin <= outer && outer % begin == 0 && end % (outer * old) == 0;
  }

  /// How likely it is that it does: nothing in the numbers of one example tells for sure.
  int likelihood(std::size_t i, std::int64_t outer) const {
    const std::int64_t begin = product(to, 0, i);
    int score = to[i] == old ? 8 : 0;
    if (guess == BatchGuess::earliest) return score;
    const bool is_last = i > 0 && i + 1 == to.size();
    if (to[i] == from[place] && !is_last) score += 4;
    if (outer == begin)
      score += place + 1 < from.size() && to[i] == from[place + 1] ? -1 : 1;
    else if (outer == begin * to[i])
      score += place > 0 && to[i] == from[place - 1] && !keeps_what_follows(i) ? -1 : keeps_what_follows(i) ? 1 : 0;
    if (is_last) score -= 3;
    return score;
  }

  bool keeps_what_follows(std::size_t i) const {
    return place + 1 < from.size() && i + 1 < to.size() && to[i + 1] == from[place + 1];
  }
};

}  // namespace

std::optional<std::size_t> batch_entry(const Shape& shape, std::size_t place, const Ints& target, bool copies,
                                       const BatchAxis& axis) {
  const auto from = in_numbers(shape, axis);
  if (!from || (*from)[place] % axis.old != 0) return std::nullopt;
  Regrouping whole{*from, target, place, axis.old, axis.guess};
  std::optional<std::size_t> rest;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == 0 && copies && i < from->size()) whole.to[i] = (*from)[i];
    if (target[i] == -1) rest = i;
    if (whole.to[i] == 0 || whole.to[i] < -1) return std::nullopt;
  }
  if (rest) {
    whole.to[*rest] = 1;
    whole.to[*rest] = product(*from, 0, from->size()) / product(whole.to, 0, target.size());
  }
  if (product(whole.to, 0, target.size()) != product(*from, 0, from->size())) return std::nullopt;
  std::optional<std::size_t> best;
  int most = 0;
  const bool begins_inside = axis.guess == BatchGuess::inner;
  for (const bool is_inner : {begins_inside, !begins_inside}) {
    const std::int64_t outer = whole.before() * (is_inner ? whole.times() : 1);
    for (std::size_t i = 0; i < target.size(); ++i) {
      const bool is_copy_of_another = target[i] == 0 && copies && i != place;
      if (is_copy_of_another || !whole.can_hold(i, outer)) continue;
      const int score = whole.likelihood(i, outer);
      if (best && score <= most) continue;
      best = i;
      most = score;
    }
  }
  return best;
}

}  // namespace ingot::passes
