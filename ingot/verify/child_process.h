#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ingot::verify {

/// Another program that answers lines with lines. It runs in a directory of its own, with a bare environment, without
/// network where the system lets us take it away, and ends with this object.
class ChildProcess {
 public:
  /// `command[0]` must be an absolute path: nothing is looked up. `memory` limits what it may write to; 0: no limit.
  ChildProcess(const std::vector<std::string>& command, const std::string& directory, std::uint64_t memory = 0);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool is_running() const { return process_ > 0; }
  /// The answer, or nothing if the program ended, did not answer in time or `stops` holds; then it is ended.
  std::optional<std::string> ask(const std::string& line, std::chrono::milliseconds time,
                                 const std::function<bool()>& stops = nullptr);
  /// How it ended, for people: "it crashed (Segmentation fault)"; empty while it runs.
  const std::string& ending() const { return ending_; }

 private:
  void end(bool is_late);

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_, ending_;
};

}  // namespace ingot::verify
