#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ingot::frontends {

/// What the reader of a report should know: what was left out or assumed. A line each, each once.
class Notes {
 public:
  void add(std::string line) {
    if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace ingot::frontends
