#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/verify/scoreboard.h"

namespace ingot::verify {

/// What a scoreboard counted once.
struct ScoreRecord {
  std::string label;  // its version
  std::size_t cases = 0;
  std::map<std::string, std::size_t> passed;  // by the column's title
};

/// A scoreboard's file of an earlier version, with what was before it.
struct EarlierScores {
  std::vector<ScoreRecord> records;  // the oldest first; the file itself is the last
  std::set<std::string> cases;
  std::map<std::string, std::set<std::string>> not_passed;  // by the column's title
};

/// Reads what `ingot scoreboard --json` wrote. Errors name the file.
EarlierScores read_scores(const std::string& path);

/// What changed in a column since then, of cases that were there.
struct ScoreChange {
  std::string column;
  std::vector<std::string> gained, lost;
};
std::vector<ScoreChange> changes_since(const EarlierScores& before, const Scoreboard& now);

}  // namespace ingot::verify
