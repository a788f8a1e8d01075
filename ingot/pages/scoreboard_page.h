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

/// The matrix of operators and columns, and a page per operator with its cases. Keys are file names.
std::map<std::string, Page> scoreboard_pages(const std::vector<std::string>& columns, const std::vector<ScoreRow>& rows,
                                             const std::string& title);

}  // namespace ingot::pages
