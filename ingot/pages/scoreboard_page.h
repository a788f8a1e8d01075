#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/pages/page.h"

namespace ingot::pages {

/// What one case gave in each column.
struct ScoreRow {
  std::string name, op, types;
  std::int64_t opset = 0;
  std::vector<std::string> outcomes;  // "passed", "failed", "unsupported", "not run"
  std::vector<std::string> reasons;
};

/// How many cases passed in versions, and what changed since the last one.
struct ScoreHistory {
  struct Version {
    std::string label;
    std::size_t cases = 0;
    std::map<std::string, std::size_t> passed;  // by column
  };
  struct Change {
    std::string column;
    std::vector<std::string> gained, lost;  // names of cases
  };
  std::vector<Version> versions;  // the oldest first, this one last
  std::vector<Change> changes;
};

/// The matrix of operators and columns, the one of types and columns, what was before; and a page per operator with its
/// cases. Keys are file names.
std::map<std::string, Page> scoreboard_pages(const std::vector<std::string>& columns, const std::vector<ScoreRow>& rows,
                                             const std::string& title, const ScoreHistory& history = {});

}  // namespace ingot::pages
