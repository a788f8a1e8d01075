// As few parts as there can be, then as few bytes between them.
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "ingot/passes/partition/partition.h"

namespace ingot::passes {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Links {
  explicit Links(const Pieces& pieces) : before(pieces.colours.size()), after(pieces.colours.size()) {
    for (const auto& e : pieces.edges) {
      before[e.to].push_back(e.from);
      after[e.from].push_back(e.to);
    }
  }
  std::vector<std::vector<std::size_t>> before, after;
};

/// Takes parts off the front: a part is all that is ready in one colour, and what that makes ready.
class Peeling {
 public:
  Peeling(const Pieces& pieces, const Links& links) : pieces_(pieces), links_(links) {}

  struct State {
    std::vector<std::size_t> part_of, waits;
    std::vector<std::size_t> colours;
    std::vector<std::set<std::size_t>> ready;  // by colour, in running order
    std::size_t left = 0;
  };

  State start(std::size_t colours) const {
    const std::size_t count = pieces_.colours.size();
    State s{std::vector<std::size_t>(count, kNone), {}, {}, std::vector<std::set<std::size_t>>(colours), count};
    for (std::size_t i = 0; i < count; ++i) {
      s.waits.push_back(links_.before[i].size());
      if (links_.before[i].empty()) s.ready[pieces_.colours[i]].insert(i);
    }
    return s;
  }

  /// The colour must have something ready.
  void peel(State& s, std::size_t colour) const {
    std::set<std::size_t>& ready = s.ready[colour];
    std::set<std::size_t> put_off;
    const std::size_t part = s.colours.size();
    s.colours.push_back(colour);
    const std::uint64_t limit = colour < pieces_.limits.size() ? pieces_.limits[colour] : 0;
    std::uint64_t used = 0;
    bool is_first = true;
    while (!ready.empty()) {
      const std::size_t i = *ready.begin();
      ready.erase(ready.begin());
      const std::uint64_t more = i < pieces_.weights.size() ? pieces_.weights[i] : 0;
      if (limit && !is_first && used + more > limit) {
        put_off.insert(i);
        continue;
      }
      is_first = false;
      used += more;
      s.part_of[i] = part;
      --s.left;
      for (const std::size_t n : links_.after[i])
        if (--s.waits[n] == 0) s.ready[pieces_.colours[n]].insert(n);
    }
    ready = std::move(put_off);
  }

 private:
  const Pieces& pieces_;
  const Links& links_;
};

std::size_t colour_count(const Pieces& pieces) {
  std::size_t most = 0;
  for (const std::size_t c : pieces.colours) most = std::max(most, c + 1);
  return most;
}

/// Orders of colours with the fewest parts.
class Sequences {
 public:
  Sequences(const Pieces& pieces, const Peeling& peeling)
      : peeling_(peeling), colours_(colour_count(pieces)), start_(peeling.start(colours_)) {}

  std::vector<Peeling::State> shortest() const {
    constexpr std::size_t kFew = 256;
    return start_.left <= kFew ? all() : greedy();
  }

 private:
  /// Level by level, as long as there are few ways.
  std::vector<Peeling::State> all() const {
    std::vector<Peeling::State> open{start_};
    constexpr std::size_t kWidest = 64;
    while (!open.empty()) {
      std::vector<Peeling::State> done, next;
      for (const auto& s : open) {
        if (s.left == 0) done.push_back(s);
        for (std::size_t c = 0; c < colours_; ++c)
          if (!s.ready[c].empty()) peeling_.peel(next.emplace_back(s), c);
      }
      if (!done.empty()) return done;
      // Those that are farthest: with two colours each has one way on, and none is lost.
      std::ranges::stable_sort(next, {}, &Peeling::State::left);
      if (next.size() > kWidest) next.resize(kWidest);
      open = std::move(next);
    }
    return {};
  }

  /// From each colour on, whichever has most ready.
  std::vector<Peeling::State> greedy() const {
    std::vector<Peeling::State> found;
    for (std::size_t first = 0; first < colours_; ++first) {
      if (start_.ready[first].empty()) continue;
      Peeling::State s = start_;
      peeling_.peel(s, first);
      while (s.left) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < colours_; ++c)
          if (s.ready[c].size() > s.ready[best].size()) best = c;
        peeling_.peel(s, best);
      }
      found.push_back(std::move(s));
    }
    std::size_t fewest = kNone;
    for (const auto& s : found) fewest = std::min(fewest, s.colours.size());
    std::erase_if(found, [&](const auto& s) { return s.colours.size() > fewest; });
    return found;
  }

  const Peeling& peeling_;
  std::size_t colours_;
  Peeling::State start_;
};

/// Moves nodes between parts of their colour so that fewer bytes cross.
class Settling {
 public:
  Settling(const Pieces& pieces, const Links& links, Division division)
      : pieces_(pieces),
        links_(links),
        best_(std::move(division)),
        readers_(pieces.bytes.size()),
        makers_(pieces.bytes.size(), kNone),
        values_(pieces.colours.size()) {
    for (const auto& e : pieces.edges) {
      readers_[e.value].push_back(e.to);
      makers_[e.value] = e.from;
      values_[e.to].push_back(e.value);
    }
    for (std::size_t v = 0; v < makers_.size(); ++v)
      if (makers_[v] != kNone) values_[makers_[v]].push_back(v);
    for (auto& list : values_) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  Division run() {
    if (std::ranges::any_of(pieces_.limits, [](std::uint64_t l) { return l != 0; })) return best_;
    improve();
    if (is_small()) search();
    return best_;
  }

 private:
  std::uint64_t cost_of(std::size_t value, const std::vector<std::size_t>& part_of) const {
    if (makers_[value] == kNone) return 0;
    std::vector<std::size_t> parts;
    for (const std::size_t r : readers_[value])
      if (part_of[r] != part_of[makers_[value]]) parts.push_back(part_of[r]);
    std::ranges::sort(parts);
    const auto last = std::unique(parts.begin(), parts.end());
    return pieces_.bytes[value] * static_cast<std::uint64_t>(last - parts.begin());
  }

  std::vector<std::size_t> choices(std::size_t node, const std::vector<std::size_t>& part_of) const {
    std::size_t first = 0, last = best_.colours.size() - 1;
    for (const std::size_t b : links_.before[node]) first = std::max(first, part_of[b]);
    for (const std::size_t a : links_.after[node]) last = std::min(last, part_of[a]);
    std::vector<std::size_t> parts;
    for (std::size_t p = first; p <= last && p < best_.colours.size(); ++p)
      if (best_.colours[p] == pieces_.colours[node]) parts.push_back(p);
    return parts;
  }

  std::uint64_t cost_around(std::size_t node) const {
    std::uint64_t sum = 0;
    for (const std::size_t v : values_[node]) sum += cost_of(v, best_.part_of);
    return sum;
  }

  /// One node after the other, forth and back.
  void improve() {
    constexpr int kRounds = 4;
    std::vector<std::size_t> count(best_.colours.size(), 0);
    for (const std::size_t p : best_.part_of) ++count[p];
    for (int round = 0; round < kRounds; ++round) {
      bool changed = false;
      for (std::size_t k = 0; k < best_.part_of.size(); ++k) {
        const std::size_t node = round % 2 ? k : best_.part_of.size() - 1 - k;
        const std::size_t home = best_.part_of[node];
        const auto parts = choices(node, best_.part_of);
        if (parts.size() < 2 || count[home] < 2) continue;
        std::uint64_t least = cost_around(node);
        std::size_t where = home;
        for (const std::size_t p : parts) {
          best_.part_of[node] = p;
          const std::uint64_t cost = cost_around(node);
          if (cost < least) {
            least = cost;
            where = p;
          }
        }
        best_.part_of[node] = where;
        --count[home];
        ++count[where];
        changed |= where != home;
      }
      if (!changed) return;
    }
  }

  bool is_small() const {
    constexpr std::size_t kNodes = 14, kParts = 8;
    return pieces_.colours.size() <= kNodes && best_.colours.size() <= kParts;
  }

  /// All divisions into these parts.
  void search() {
    least_ = crossing_bytes(pieces_, best_);
    std::vector<std::size_t> part_of(pieces_.colours.size(), kNone);
    place(0, part_of);
  }

  void place(std::size_t node, std::vector<std::size_t>& part_of) {
    if (node == part_of.size()) {
      const Division found{best_.colours, part_of};
      const std::uint64_t cost = crossing_bytes(pieces_, found);
      if (cost < least_ && uses_all(part_of)) {
        least_ = cost;
        best_.part_of = part_of;
      }
      return;
    }
    std::size_t first = 0;
    for (const std::size_t b : links_.before[node]) first = std::max(first, part_of[b]);
    for (std::size_t p = first; p < best_.colours.size(); ++p) {
      if (best_.colours[p] != pieces_.colours[node]) continue;
      part_of[node] = p;
      place(node + 1, part_of);
    }
  }

  bool uses_all(const std::vector<std::size_t>& part_of) const {
    std::set<std::size_t> used(part_of.begin(), part_of.end());
    return used.size() == best_.colours.size();
  }

  const Pieces& pieces_;
  const Links& links_;
  Division best_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::size_t> makers_;
  std::vector<std::vector<std::size_t>> values_;
  std::uint64_t least_ = 0;
};

}  // namespace

std::uint64_t crossing_bytes(const Pieces& pieces, const Division& division) {
  std::set<std::pair<std::size_t, std::size_t>> crossings;  // value, part
  std::uint64_t sum = 0;
  for (const auto& e : pieces.edges) {
    const std::size_t to = division.part_of[e.to];
    if (to != division.part_of[e.from] && crossings.emplace(e.value, to).second) sum += pieces.bytes[e.value];
  }
  return sum;
}

Division divide(const Pieces& pieces) {
  if (pieces.colours.empty()) return {};
  const Links links(pieces);
  const Peeling peeling(pieces, links);
  Division best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  constexpr std::size_t kTried = 8;
  auto states = Sequences(pieces, peeling).shortest();
  if (states.size() > kTried) states.resize(kTried);
  for (const auto& s : states) {
    const Division division = Settling(pieces, links, {s.colours, s.part_of}).run();
    const std::uint64_t cost = crossing_bytes(pieces, division);
    if (cost < least) {
      least = cost;
      best = division;
    }
  }
  return best;
}

}  // namespace ingot::passes
