#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "ingot/passes/check/check.h"

namespace ingot::passes::rules {

/// Gathers the problems of a model, each once.
class Report {
 public:
  explicit Report(std::size_t most) : most_(most) {}

  void error(Code code, std::string place, std::string message, std::string hint = {});
  void warning(Code code, std::string place, std::string message, std::string hint = {});
  void note(Code code, std::string place, std::string message, std::string hint = {});

  /// The problem reported at another place has its cause, or its effect, here too.
  void mark(std::string place) { places_with_errors_.insert(std::move(place)); }
  bool has_error_at(const std::string& place) const { return places_with_errors_.contains(place); }
  /// Once there are that many errors, looking for more is in vain.
  bool is_full() const { return error_count_ >= most_; }
  /// In the order in which they were found.
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  void add(Problem problem);

  std::size_t most_;
  std::size_t error_count_ = 0;
  std::vector<Problem> problems_;
  std::unordered_set<std::string> known_;  // place and message
  std::unordered_set<std::string> places_with_errors_;
};

}  // namespace ingot::passes::rules
