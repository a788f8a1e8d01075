#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ingot {

/// How progress is shown; for_terminal() looks at stderr.
struct ProgressOptions {
  enum class Style { quiet, lines, bar };
  enum class Unit { items, bytes };

  Style style = Style::quiet;
  Unit unit = Unit::items;
  int width = 80;
  /// Where it is written and what time it is; tests have their own. By default stderr and the steady clock.
  std::function<void(std::string_view)> write;
  std::function<std::chrono::steady_clock::time_point()> now;

  /// A bar if stderr is a terminal, lines if not, nothing if `quiet`.
  static ProgressOptions for_terminal(bool quiet, Unit unit = Unit::items);
};

/// Progress of work that may take long: nothing within the first second; then a bar with rate and remaining time that
/// is redrawn, or a line every ten seconds. The bar is wiped at the end. Belongs to one thread.
class Progress {
 public:
  /// `total` 0: not known.
  Progress(std::string title, std::uint64_t total, ProgressOptions options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` of `total` so far.
  void update(std::uint64_t done);

 private:
  std::string line(std::uint64_t done, double seconds) const;

  std::string title_;
  std::uint64_t total_;
  ProgressOptions options_;
  std::chrono::steady_clock::time_point start_, next_;
  bool drawn_ = false;
};

}  // namespace ingot
