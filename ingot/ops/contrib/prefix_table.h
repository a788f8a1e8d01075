#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::ops {

/// Texts with numbers, found by what a longer text begins with. Of equal texts the one added first counts.
class PrefixTable {
 public:
  void add(std::string text, std::int64_t value) { entries_.push_back({std::move(text), value}); }
  /// Once, after the last was added.
  void seal() {
    std::ranges::stable_sort(entries_, {}, &Entry::text);
    const auto is_same = [](const Entry& a, const Entry& b) { return a.text == b.text; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), is_same), entries_.end());
  }
  bool empty() const { return entries_.empty(); }

  /// Calls `found(length, value)` for all entries that `text` begins with, the shortest first.
  template <class Found> void for_each_prefix(std::string_view text, Found found) const {
    auto first = entries_.begin(), last = entries_.end();
    for (std::size_t depth = 0; first != last; ++depth) {
      if (first->text.size() == depth) {  // the shortest of those that begin alike stands first
        if (depth) found(depth, first->value);
        ++first;
      }
      if (depth == text.size()) return;
      const auto byte = [&](const Entry& e) { return static_cast<unsigned char>(e.text[depth]); };
      const auto wanted = static_cast<unsigned char>(text[depth]);
      last = std::ranges::upper_bound(first, last, wanted, {}, byte);
      first = std::ranges::lower_bound(first, last, wanted, {}, byte);
    }
  }

  struct Match {
    std::size_t length = 0;  // 0: there is none
    std::int64_t value = 0;
  };
  Match longest(std::string_view text) const {
    Match best;
    for_each_prefix(text, [&](std::size_t length, std::int64_t value) { best = {length, value}; });
    return best;
  }

 private:
  struct Entry {
    std::string text;
    std::int64_t value;
  };
  std::vector<Entry> entries_;
};

}  // namespace ingot::ops
