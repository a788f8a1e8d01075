#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ops/pace.h"

namespace ingot::ops {

/// The rules by which BlingFire cuts texts, as its compiler writes them: an automaton over characters, and what is done
/// where it ends: a piece is found, or other rules go on within what matched. It is read where it is needed; whatever
/// does not fit throws Error(bad_attribute).
class SentenceModel {
 public:
  explicit SentenceModel(std::string bytes);

  /// Places of the last characters of the pieces, in the order in which they were found.
  std::vector<std::ptrdiff_t> ends(std::u32string_view text, Pace& pace) const;
  bool ignores_case() const { return ignores_case_; }

 private:
  /// Lists of numbers by their keys.
  struct Lists {
    std::uint64_t places = 0, values = 0;  // where they stand
    std::uint64_t keys = 0, place_size = 0, value_size = 0;
  };
  /// A state of the automaton. Which parts it has depends on its kind.
  struct State {
    std::uint64_t kind = 0, size = 0;             // of a character in it
    std::uint64_t count = 0, base = 0;            // of characters; the first of a table
    std::uint64_t first = 0, last = 0, next = 0;  // where they stand: characters, ends of ranges, states behind them
    std::uint64_t end = 0, action_size = 0;       // where its action stands
    bool is_final = false;
  };
  struct Match {
    std::int64_t state = -1;
    std::ptrdiff_t end = -1;  // the place of its last character; -1: nothing matches
  };
  struct Search;

  std::uint64_t little(std::uint64_t at, std::uint64_t size) const;
  std::int64_t little_signed(std::uint64_t at, std::uint64_t size) const;
  std::uint64_t big(std::uint64_t at, std::uint64_t size) const;
  std::uint64_t count_up_to(std::uint64_t value, std::uint64_t at, std::uint64_t count, std::uint64_t size) const;

  Lists lists(std::uint64_t block) const;
  std::vector<std::int64_t> list(const Lists& lists, std::int64_t key) const;
  void read_settings(const std::vector<std::uint64_t>& blocks);
  void read_automaton(std::uint64_t block);

  std::int64_t class_of(std::uint32_t symbol) const;
  State state(std::int64_t at) const;
  std::int64_t step(std::int64_t from, std::uint32_t symbol) const;
  std::int64_t step_or_any(std::int64_t from, std::uint32_t symbol) const;
  std::int64_t action(std::int64_t state) const;
  Match match(std::int64_t initial, std::u32string_view text, std::ptrdiff_t from, Pace& pace) const;
  void search(Search& search, std::int64_t initial, std::u32string_view text, std::ptrdiff_t offset, std::int64_t depth,
              bool is_once) const;

  std::string bytes_;
  Lists actions_;
  std::uint64_t automaton_ = 0, next_size_ = 3;
  std::uint64_t classes_ = 0, class_count_ = 0, class_size_ = 0;  // where classes of characters stand, if there are any
  std::int64_t initial_ = 0, functions_ = -1;                     // states: of the rules, of all others
  std::int64_t depth_ = 2, longest_ = 300;
  bool ignores_case_ = false;
};

}  // namespace ingot::ops
