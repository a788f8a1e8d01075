#pragma once
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ingot/verify/scoreboard.h"

namespace ingot::verify {

/// What a scoreboard has found so far, a line per case in a file, so that a run that was interrupted, or that a case
/// ended, goes on where it stopped. For one thread at a time.
class ScoreJournal {
 public:
  struct Kept {
    ScoreLine line;
    std::vector<std::string> versions;  // of the columns' runtimes
  };

  /// Takes what an earlier run left at `path`, if it was of the same columns and program. Empty: nothing is kept.
  ScoreJournal(const std::string& path, const std::vector<ScoreColumn>& columns, bool anew);

  /// The case as the earlier run found it; null: it did not come to it.
  const Kept* find(const std::string& name) const;
  /// How many runs ended, without a word, while the case was at work.
  int ends_of(const std::string& name) const;

  void begin(const std::string& name);
  void end(const ScoreLine& line, const std::vector<std::string>& versions);
  /// It was left in good order: an interruption is no fault of the case.
  void leave(const std::string& name);

 private:
  void read(const std::string& path, const std::string& key, std::size_t columns);
  void take(const std::string& text, std::size_t columns);
  void write(const std::string& line);

  std::map<std::string, Kept> kept_;
  std::map<std::string, int> ends_;
  std::ofstream file_;
};

}  // namespace ingot::verify
