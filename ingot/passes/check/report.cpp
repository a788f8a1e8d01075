// The list of problems while it grows.
#include "ingot/passes/check/report.h"

#include <algorithm>

namespace ingot::passes::rules {

void Report::error(Code code, std::string place, std::string message, std::string hint) {
  if (is_full()) return;
  places_with_errors_.insert(place);
  add({code, Severity::error, std::move(place), std::move(message), std::move(hint)});
}

void Report::warning(Code code, std::string place, std::string message, std::string hint) {
  add({code, Severity::warning, std::move(place), std::move(message), std::move(hint)});
}

void Report::note(Code code, std::string place, std::string message, std::string hint) {
  add({code, Severity::note, std::move(place), std::move(message), std::move(hint)});
}

void Report::add(Problem problem) {
  const bool is_error = problem.severity == Severity::error;
  if (is_full() || (problems_.size() >= most_ && !is_error)) return;
  if (!known_.insert(problem.place + '\n' + problem.message).second) return;
  if (problems_.size() >= most_) {
    const auto is_minor = [](const Problem& p) { return p.severity != Severity::error; };
    const auto last = std::find_if(problems_.rbegin(), problems_.rend(), is_minor);
    problems_.erase(std::next(last).base());
  }
  error_count_ += is_error;
  problems_.push_back(std::move(problem));
}

}  // namespace ingot::passes::rules
