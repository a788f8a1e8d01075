// What a mistyped word was meant to be.
#include "ingot/base/similar_word.h"

#include <algorithm>

namespace ingot {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// How many letters must be added, removed, changed or swapped with the next one to make one of the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::string similar_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 64;
  if (word.size() > kLongest) return {};
  const std::size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  std::string best;
  std::size_t fewest = 1 + std::min<std::size_t>(letters / 3, 3);  // one more than is taken for a slip
  for (const std::string& candidate : known) {
    // Half a word is meant too: --input for --input-shape, the shortest of them.
    const bool is_begun = letters >= 3 && candidate.starts_with(word);
    const std::size_t edits = is_begun ? 1 : edits_between(word, candidate);
    if (edits > fewest || (edits == fewest && (best.empty() || candidate.size() >= best.size()))) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}

}  // namespace ingot
